// Package webaccess is the rest of the internet, as far as this program reaches
// it for a person: reading a page whose address somebody gave, and asking a
// search provider.
//
// Whoever names an address must not reach what only this machine reaches: the
// address that is dialled is the one that is checked, after every look-up and
// at every redirect (TOOL-06, SAFE-05). Whatever comes back is data of a
// stranger: Frame is how it is shown to a model (SAFE-06).
//
// It may import fault and redact, and libraries that read HTML. Pages and PDFs it
// does not read itself: Options name who does.
package webaccess

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"liminal/internal/fault"
)

// The bounds of one request (TOOL-06).
const (
	ConnectTimeout = 10 * time.Second
	TotalTimeout   = 30 * time.Second

	// MaxBytes is how much of a page is read, after decompression, when Options
	// name no bound of their own.
	MaxBytes = 4 << 20

	maxRedirects = 5
	maxURL       = 4096     // bytes
	maxHeader    = 64 << 10 // bytes of a response's header
)

// agent is how requests introduce themselves.
const agent = "Mozilla/5.0 (compatible; Liminal)"

// Options say where a Client may go; the zero value goes to every public
// address on ports 80 and 443.
type Options struct {
	// Allow, when it is not empty, refuses every host it does not name; Deny
	// refuses those it names, whatever Allow says (SAFE-05). An entry is a host
	// ("example.org": that host alone), a wildcard ("*.example.org": every host
	// below it, itself not) or "*"; with ":8443" behind it, it allows that port
	// as well.
	Allow, Deny []string
	// Proxy is asked for every connection when it is set: it then looks hosts
	// up and keeps people out of its own network. Nothing is taken from the
	// environment.
	Proxy string
	// MaxBytes bounds a page after decompression; 0: MaxBytes.
	MaxBytes int64
	// HTML reads a page that was found at address: its title, and its content as
	// Markdown with absolute links. nil: HTML is refused. What a page is read as
	// is still a stranger's, and may hold signs that nobody sees.
	HTML func(ctx context.Context, text, address string) (title, markdown string, err error)
	// PDF reads the text of a PDF; nil: PDFs are refused.
	PDF func(ctx context.Context, raw []byte) (text string, err error)
	// Now is the clock of what says when it was read; nil: time.Now.
	Now func() time.Time

	// AllowLoopback lets tests reach servers of their own, on any port.
	AllowLoopback bool
	// Resolver looks hosts up; nil: the system's.
	Resolver *net.Resolver
}

// Client reads pages of the internet. It is safe for concurrent use.
type Client struct {
	options Options
	hosts   hosts
	http    *http.Client
	servers *http.Client // of Ask
}

// New returns a client. The error names the entry of a list, or the proxy,
// that cannot be read.
func New(o Options) (*Client, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h, err := readHosts(o.Allow, o.Deny)
	if err != nil {
		return nil, err
	}
	c := &Client{options: o, hosts: h}
	transport, err := c.transport(c.control)
	if err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: transport, Timeout: TotalTimeout, CheckRedirect: c.redirect}
	if transport, err = c.transport(c.controlServers); err != nil {
		return nil, err
	}
	c.servers = &http.Client{
		Transport: transport, Timeout: TotalTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// transport dials only what may be dialled. Connections are not kept: the next
// request looks its host up, and has it checked, anew.
func (c *Client) transport(control func(context.Context, string, string, syscall.RawConn) error) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: ConnectTimeout, Resolver: c.options.Resolver, ControlContext: control}
	t := &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: ConnectTimeout, ForceAttemptHTTP2: true,
		DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader, ResponseHeaderTimeout: TotalTimeout,
	}
	if c.options.Proxy == "" {
		return t, nil
	}
	proxy, err := url.Parse(c.options.Proxy)
	if err != nil || proxy.Host == "" {
		return nil, fault.New(fault.Invalid, "The proxy of the web tools is no URL such as http://proxy:3128.")
	}
	dialer.ControlContext = nil
	t.Proxy = http.ProxyURL(proxy)
	return t, nil
}

// redirect checks each hop as if it had been asked for.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fault.New(fault.Invalid, "The page was not read: it redirects more than %d times.", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fault.New(fault.Forbidden, "The page was not read: it redirects from https to %s.", req.URL.Scheme)
	}
	req.Header.Del("Referer") // an address may hold what is nobody else's business
	return c.check(req.URL)
}
