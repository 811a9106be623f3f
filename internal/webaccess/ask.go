package webaccess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"

	"liminal/internal/fault"
)

// maxReply is how much of an answer to a request is read.
const maxReply = 256 << 10

// Request asks a server for a tool: whoever wrote the tool named the host.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
}

// Reply is what a server said.
type Reply struct {
	Host   string
	Status int
	Header http.Header
	Body   []byte
}

// Unsent is the reason of a fault of a request that never left: the server has
// seen nothing of it.
const Unsent = "unsent"

// Ask makes a request where Fetch would read a page: the same hosts, and the same
// addresses; and addresses of an own network that the list of hosts writes out with
// their port, for who writes tools is an administrator. It follows no redirect,
// since what the header holds is for this host alone, and an answer larger than
// 256 KiB is refused.
func (c *Client) Ask(ctx context.Context, r Request) (Reply, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return Reply{}, fault.New(fault.Invalid, "The address of the request cannot be read: it is no URL.")
	}
	if err := c.checkServer(u); err != nil {
		return Reply{}, err
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return Reply{}, fault.New(fault.Invalid, "The address of the request cannot be read: it is no URL.")
	}
	for name, v := range r.Header {
		req.Header[name] = v
	}
	req.Header.Set("User-Agent", agent)
	req.GetBody = nil // it is sent once: what a server has seen is not sent again
	res, err := c.servers.Do(req)
	if err != nil {
		return Reply{}, unasked(unread(ctx, err), sent.Load())
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	if err != nil {
		return Reply{}, unread(ctx, err)
	}
	if len(body) > maxReply {
		return Reply{}, fault.New(fault.Invalid, "%s answered with more than %d bytes.", u.Hostname(), maxReply)
	}
	return Reply{Host: u.Hostname(), Status: res.StatusCode, Header: res.Header, Body: body}, nil
}

// unasked says of a failure that nothing was sent, where it was not.
func unasked(err error, sent bool) error {
	known, ok := errors.AsType[*fault.Error](err)
	if !ok || sent || known.Details != nil {
		return err
	}
	return known.With(map[string]any{"reason": Unsent})
}

// Servers is the client that Ask asks by, for what speaks HTTP by itself: it judges
// every address, and follows no redirect.
func (c *Client) Servers() *http.Client {
	own := *c.servers
	own.Transport = judging{c, c.servers.Transport}
	return &own
}

// Reachable says why Servers would not ask at an address, as far as that is known
// before it is dialled; nil: it may.
func (c *Client) Reachable(u *url.URL) error { return c.checkServer(u) }

// judging asks about the address of each request before it is made.
type judging struct {
	client *Client
	next   http.RoundTripper
}

func (j judging) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := j.client.checkServer(r.URL); err != nil {
		return nil, err
	}
	return j.next.RoundTrip(r)
}

// checkServer is check for what an administrator names: an address of an own
// network passes as well, as far as the list of hosts writes it out.
func (c *Client) checkServer(u *url.URL) error {
	if a, port, ok := literal(u); ok && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && c.hosts.names(a, port) {
		return nil
	}
	return c.check(u)
}

// literal is the address that a URL writes out as its host.
func literal(u *url.URL) (a netip.Addr, port string, ok bool) {
	a, err := netip.ParseAddr(u.Hostname())
	return a, portOf(u), err == nil
}

// names reports whether the list writes an address out with its port, and no entry
// of the other list closes it. What hands out the credentials of a machine never
// passes.
func (h hosts) names(a netip.Addr, port string) bool {
	is := func(p pattern) bool { return p.host == a.String() && p.port == port }
	return Servable(a) && slices.ContainsFunc(h.allow, is) && !slices.ContainsFunc(h.deny, func(p pattern) bool {
		return p.matches(a.String()) && (p.port == "" || p.port == port)
	})
}

// controlServers is control for what an administrator names.
func (c *Client) controlServers(ctx context.Context, network, address string, raw syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err == nil && c.hosts.names(target.Addr().Unmap(), strconv.Itoa(int(target.Port()))) {
		return nil
	}
	return c.control(ctx, network, address, raw)
}
