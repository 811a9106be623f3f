package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/webaccess"
)

// talk is one conversation with a server: it is opened for a call, or a listing,
// and closed after.
type talk struct {
	session *sdk.ClientSession
	web     *web // nil: a program
	end     func()
	title   string
}

// elicited is told of what a server asks within a call.
type elicited func(ctx context.Context, p *sdk.ElicitParams) (*sdk.ElicitResult, error)

// open reaches a server. Its errors are faults: nothing was asked of the server.
func (c *Client) open(ctx context.Context, s Server, asked elicited) (*talk, error) {
	t := &talk{title: s.Title, end: func() {}}
	transport, err := c.transport(ctx, s, t)
	if err != nil {
		return nil, err
	}
	o := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{
			Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{},
		}},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	}
	if asked != nil {
		o.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return asked(ctx, r.Params)
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "liminal", Version: "1"}, o)
	t.session, err = client.Connect(ctx, transport, nil)
	if err != nil {
		t.end()
		return nil, unsent(t.failed(ctx, err))
	}
	return t, nil
}

func (c *Client) transport(ctx context.Context, s Server, t *talk) (sdk.Transport, error) {
	if s.Stdio != nil {
		p, err := c.start(s.Stdio.Name)
		if err != nil {
			return nil, err
		}
		t.end = p.end
		return &sdk.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: maxMessage}, nil
	}
	w, err := c.reach(ctx, s)
	if err != nil {
		return nil, err
	}
	t.web = w
	return &sdk.StreamableClientTransport{
		Endpoint: s.HTTP.URL, HTTPClient: &http.Client{Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxMessage,
	}, nil
}

// close ends it. A server that does not let go is left behind.
func (t *talk) close() {
	if t.web != nil {
		t.web.leave()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = t.session.Close() // nothing follows
	}()
	late := time.NewTimer(time.Second)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
	t.end()
}

// tools reads all pages, and for how long they stand.
func (t *talk) tools(ctx context.Context) (tools []Tool, ttl time.Duration, err error) {
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := t.session.ListTools(ctx, params)
		if err != nil {
			return nil, 0, unsent(t.failed(ctx, err))
		}
		if ms := page.GetTTLMs(); ms > 0 && ms < int(longestAge.Milliseconds()) {
			ttl = time.Duration(ms) * time.Millisecond
		}
		for _, one := range page.Tools {
			read, err := toolOf(one)
			if err != nil || len(tools) == maxTools {
				return nil, 0, unsent(fault.New(fault.Invalid, "%s has more than %d tools, or tells them in a way that cannot be read.", t.title, maxTools))
			}
			tools = append(tools, read)
		}
		if page.NextCursor == "" {
			return tools, ttl, nil
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, 0, unsent(fault.New(fault.Invalid, "%s has more than %d pages of tools.", t.title, maxPages))
}

// failed is a failure in words. What refused an address, or a token, says so itself.
func (t *talk) failed(ctx context.Context, err error) error {
	if t.web != nil {
		if known := t.web.fault(); known != nil {
			return known
		}
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	if ctx.Err() != nil {
		return fault.Wrap(fault.Internal, ctx.Err(), "%s did not answer in time.", t.title)
	}
	if said, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fault.New(fault.Invalid, "%s refused the call: %s", t.title, clipped(said.Message, 300)).With(map[string]any{"reason": Refused})
	}
	if text := err.Error(); strings.Contains(text, "maximum line length") || strings.Contains(text, "SSE event exceeded") { // the library has no other word for it
		return tooLarge(t.title)
	}
	return fault.Wrap(fault.Internal, err, "%s does not answer as an MCP server does.", t.title)
}

func tooLarge(title string) error {
	return fault.New(fault.Invalid, "%s answered with more than %d KiB.", title, maxMessage>>10)
}

// clipped is a stranger's text on one line, in so many bytes at most.
func clipped(text string, limit int) string {
	text = strings.Join(strings.Fields(webaccess.Plain(text)), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// operatedClient reaches what the operator's file names, which may be in their own
// network. What hands out the credentials of a machine is refused all the same.
func operatedClient() *http.Client {
	dialer := &net.Dialer{Timeout: webaccess.ConnectTimeout, ControlContext: webaccess.DialServer}
	return &http.Client{
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: webaccess.ConnectTimeout, ForceAttemptHTTP2: true, DisableKeepAlives: true},
	}
}

// web makes the requests of one talk: to the server's own origin, with what goes
// along, and with answers of a bounded size.
type web struct {
	next    http.RoundTripper
	origin  string
	title   string
	headers map[string]string
	renew   func(ctx context.Context) (map[string]string, error) // after a 401; nil: there is no other
	refuse  func(ctx context.Context) error                      // what a second 401 means; nil: nothing

	mu   sync.Mutex
	err  error
	left bool
}

// reach is how a server is asked over HTTP.
func (c *Client) reach(ctx context.Context, s Server) (*web, error) {
	at, err := url.Parse(s.HTTP.URL)
	if err != nil {
		return nil, unsent(fault.New(fault.Invalid, "The address of the MCP server %s is no URL.", s.Name))
	}
	w := &web{origin: at.Scheme + "://" + at.Host, title: s.Title, headers: map[string]string{}}
	switch e, operated := c.entryAt(s.HTTP.URL); {
	case operated:
		w.next, w.headers = c.operated.Transport, e.Headers
	case c.o.Public == nil:
		return nil, notHere("This server reaches no other: whoever runs it sets LIMINAL_WEB_ALLOW, or names %s in LIMINAL_MCP_FILE.", w.origin)
	default:
		w.next = c.o.Public.Transport
	}
	return w, c.sign(ctx, s, w)
}

// entryAt is the entry of the operator's file with an address.
func (c *Client) entryAt(address string) (Entry, bool) {
	for _, e := range c.o.Operator {
		if e.URL != "" && e.URL == address {
			return e, true
		}
	}
	return Entry{}, false
}

// sign adds what goes along. No token is in a history: it is read here.
func (c *Client) sign(ctx context.Context, s Server, w *web) error {
	with := func(more map[string]string, token string) map[string]string {
		headers := map[string]string{}
		for name, v := range w.headers {
			headers[name] = v
		}
		for name, v := range more {
			headers[name] = v
		}
		headers["Authorization"] = "Bearer " + token
		return headers
	}
	switch {
	case s.Auth.Secret != "":
		if c.o.Secret == nil {
			return notHere("The secret %q is not set here.", s.Auth.Secret)
		}
		secret, err := c.o.Secret(ctx, s.Auth.Secret)
		if err != nil {
			return notHere("The secret %q of the MCP server %s is not set: whoever runs this server sets it in LIMINAL_SOURCES_FILE.", s.Auth.Secret, s.Name)
		}
		w.headers = with(nil, secret)
	case s.Auth.Connection != "":
		if c.o.Connections == nil {
			return notHere("Nothing here connects to %q: an administrator sets it up first.", s.Auth.Connection)
		}
		access, err := c.o.Connections.Access(ctx, s.Viewer, s.Auth.Connection, s.HTTP.URL)
		if err != nil {
			return err
		}
		w.headers = with(access.Headers, access.Token)
		c.renewal(s, w, access, with)
	}
	return nil
}

func (c *Client) renewal(s Server, w *web, access connect.Access, with func(map[string]string, string) map[string]string) {
	w.renew = func(ctx context.Context) (map[string]string, error) {
		next, err := c.o.Connections.Renew(ctx, s.Viewer, s.Auth.Connection, access)
		if err != nil {
			return nil, err
		}
		access = next
		return with(next.Headers, next.Token), nil
	}
	w.refuse = func(ctx context.Context) error {
		return c.o.Connections.Refuse(ctx, s.Viewer, s.Auth.Connection, access)
	}
}

// RoundTrip implements http.RoundTripper. A server that refuses a token has done
// nothing: it is asked once more with another.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := w.fault(); err != nil { // the protocol's library tries an older way then, which is as vain
		return nil, err
	}
	if r.URL.Scheme+"://"+r.URL.Host != w.origin {
		return nil, w.keep(fault.New(fault.Forbidden, "%s was asked at another address than its own.", w.title))
	}
	res, err := w.send(r)
	if err != nil || res.StatusCode != http.StatusUnauthorized || w.isLeft() {
		return res, err
	}
	w.mu.Lock()
	renew, refuse := w.renew, w.refuse
	w.renew = nil
	w.mu.Unlock()
	if renew == nil || r.GetBody == nil && r.Body != nil {
		_ = res.Body.Close()
		if refuse != nil {
			return nil, w.keep(refuse(r.Context()))
		}
		return nil, w.keep(fault.New(fault.Forbidden, "%s wants to know who asks (401): its auth is missing, or is taken no more.", w.title).With(map[string]any{"reason": Refused}))
	}
	_ = res.Body.Close()
	headers, err := renew(r.Context())
	if err != nil {
		return nil, w.keep(err)
	}
	w.mu.Lock()
	w.headers = headers
	w.mu.Unlock()
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, w.keep(err)
		}
	}
	return w.RoundTrip(again)
}

func (w *web) send(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	w.mu.Lock()
	for name, v := range w.headers {
		own.Header.Set(name, v)
	}
	w.mu.Unlock()
	own.Header.Set("User-Agent", "Liminal")
	res, err := w.next.RoundTrip(own)
	if err != nil {
		if known, ok := errors.AsType[*fault.Error](err); ok {
			return nil, w.keep(known)
		}
		return nil, err
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		_ = res.Body.Close()
		return nil, w.keep(fault.New(fault.Forbidden, "%s leads elsewhere (%d), and is not followed there.", w.title, res.StatusCode))
	}
	res.Body = &bounded{ReadCloser: res.Body, left: 2 * maxMessage, over: func() error { return w.keep(tooLarge(w.title)) }}
	return res, nil
}

// keep remembers the first fault: the protocol's library tells failures in words of
// its own.
func (w *web) keep(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && !w.left {
		w.err = err
	}
	return err
}

func (w *web) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *web) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = true
}

func (w *web) isLeft() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left
}

// bounded is a body that ends with an error where it is too large.
type bounded struct {
	io.ReadCloser
	left int
	over func() error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w", b.over())
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
