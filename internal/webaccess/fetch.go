package webaccess

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"liminal/internal/fault"
)

// Page is a page as it was read.
type Page struct {
	URL       string // where it was in the end, after redirects, without a fragment
	Title     string // on one line; empty when it has none
	Text      string // Markdown of the main content, or the text as it came
	MIME      string // of the page, without parameters
	Fetched   time.Time
	Truncated bool // there was more than the client reads
}

// Fetch reads a page. A site's own failures are fault.Invalid and NotFound:
// they say nothing about this program. Others:
//
//   - Forbidden: the host or address is closed to us (TOOL-06, SAFE-05)
//   - ctx's own error when the caller gave up
func (c *Client) Fetch(ctx context.Context, address string) (Page, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return Page{}, fault.New(fault.Invalid, "The address of the page cannot be read: it is no URL.")
	}
	if err := c.check(u); err != nil {
		return Page{}, err
	}
	u.Fragment, u.RawFragment = "", ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return Page{}, fault.New(fault.Invalid, "The address of the page cannot be read: it is no URL.")
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain, application/json, application/pdf;q=0.8, */*;q=0.5")
	res, err := c.http.Do(req)
	if err != nil {
		return Page{}, unread(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	return c.read(ctx, res)
}

// Document reads what a server says of itself at an address that a stranger names: as
// it comes, at that address and no other, and not more than it may be. It fails as
// Fetch does.
func (c *Client) Document(ctx context.Context, address string, most int64) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The address of the document cannot be read: it is no URL.")
	}
	if err := c.check(u); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The address of the document cannot be read: it is no URL.")
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "application/json")
	still := *c.http
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := still.Do(req)
	if err != nil {
		return nil, unread(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := answered(res); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return nil, unread(ctx, err)
	case int64(len(raw)) > most:
		return nil, fault.New(fault.Invalid, "%s sent more than %d bytes.", u.Hostname(), most)
	}
	return raw, nil
}

// read makes a page of an answer.
func (c *Client) read(ctx context.Context, res *http.Response) (Page, error) {
	if err := answered(res); err != nil {
		return Page{}, err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, c.options.MaxBytes+1))
	if err != nil {
		return Page{}, unread(ctx, err)
	}
	final := *res.Request.URL
	final.Fragment, final.RawFragment = "", ""
	page := Page{URL: final.String(), Fetched: c.options.Now().UTC()}
	if int64(len(raw)) > c.options.MaxBytes {
		raw, page.Truncated = raw[:c.options.MaxBytes], true
	}
	return c.content(ctx, page, raw, res.Header.Get("Content-Type"))
}

// answered refuses an answer that is not the page.
func answered(res *http.Response) error {
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		return fault.New(fault.NotFound, "There is no such page: %s answered %d.", res.Request.URL.Hostname(), res.StatusCode)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return fault.New(fault.Invalid, "The page was not read: %s answered %d.", res.Request.URL.Hostname(), res.StatusCode)
	case res.Header.Get("Content-Encoding") != "":
		// The transport has undone what it asked for; the rest nobody asked for.
		return fault.New(fault.Invalid, "The page was not read: %s sent it in an encoding nobody asked for.", res.Request.URL.Hostname())
	}
	return nil
}

// unread says why there was no answer. A refusal of ours is handed on as it
// is; of the rest no more is told than the kind, since a person chose the
// address.
func unread(ctx context.Context, err error) error {
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok && lookup.IsNotFound {
		return fault.Wrap(fault.Invalid, err, "The page was not read: there is no host of that name.")
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(fault.Invalid, err, "The page was not read: its host did not answer in time.")
	}
	return fault.Wrap(fault.Invalid, err, "The page was not read: its host could not be reached, or broke off.")
}
