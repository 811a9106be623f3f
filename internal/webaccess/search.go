package webaccess

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"liminal/internal/fault"
)

// The bounds of a search.
const (
	MaxQuery   = 400 // bytes; one provider takes no more
	MaxResults = 20

	maxAnswer = 2 << 20 // bytes of a provider's answer
	maxText   = 2000    // bytes of one result's text
)

// Query is what is searched for.
type Query struct {
	Text   string
	Limit  int    // results at most; 1 to MaxResults
	Locale string // "en", "de"; empty: the provider's own choice
}

// Result is a page a provider found. Title and Text are a stranger's.
type Result struct {
	Title string
	URL   string // http or https
	Text  string // what the provider quotes of it, without markup
	Score float64
}

// Provider searches the web (TOOL-13). Errors are faults, with no key in them:
//
//   - Internal, reason not_configured: it refuses our key or our way of asking
//   - RateLimited, reason upstream: it has had enough for now
//   - Internal, reason upstream: it failed or could not be reached
//   - Invalid: it does not take the query
//   - ctx's own error
type Provider interface {
	Name() string
	Search(ctx context.Context, q Query) ([]Result, error)
}

// ProviderOptions are what a provider may be given. Its address comes from the
// operator, so it may well be in a private network: the guard of Client is not
// for it.
type ProviderOptions struct {
	BaseURL string       // empty: the provider's own
	Key     string       // what opens it
	HTTP    *http.Client // nil: one that connects within 10 s and follows no redirects
}

// endpoint is a provider as all of them are asked.
type endpoint struct {
	name string
	base string
	http *http.Client
}

func newEndpoint(name, standard string, o ProviderOptions) (endpoint, error) {
	base := strings.TrimRight(strings.TrimSpace(o.BaseURL), "/")
	if base == "" {
		base = standard
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, fault.New(fault.Invalid, "The address of the search provider %s is no URL such as https://search.example.org.", name)
	}
	e := endpoint{name: name, base: base, http: o.HTTP}
	if e.http == nil {
		e.http = &http.Client{
			Timeout: TotalTimeout,
			// A redirect would take the key along.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				DialContext:         (&net.Dialer{Timeout: ConnectTimeout}).DialContext,
				TLSHandshakeTimeout: ConnectTimeout, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
				MaxResponseHeaderBytes: maxHeader, MaxIdleConnsPerHost: 2,
			},
		}
	}
	return e, nil
}

// ask sends a request and reads its JSON answer into out.
func (e endpoint) ask(ctx context.Context, method, path string, header http.Header, body, out any) error {
	var payload io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, payload)
	if err != nil {
		return err
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", agent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := e.http.Do(req)
	if err != nil {
		return e.silent(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := e.refusal(res); err != nil {
		return err
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return e.silent(ctx, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return e.upstream("its answer could not be read")
	}
	return nil
}

// silent: there was no answer. What the transport says is not passed on, since
// it names the address with the query.
func (e endpoint) silent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return e.upstream("it did not answer in time")
	}
	return e.upstream("it could not be reached")
}

func (e endpoint) upstream(why string) error {
	return fault.New(fault.Internal, "The web was not searched: the provider %s failed (%s). Try again.", e.name, why).
		With(map[string]any{"reason": fault.Upstream})
}

// refusal reads a status that is no success.
func (e endpoint) refusal(res *http.Response) error {
	switch status := res.StatusCode; {
	case status >= 200 && status <= 299:
		return nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		return fault.New(fault.Internal, "The web was not searched: %s refuses the key it was given (%d). Whoever runs this server has to look at it.", e.name, status).
			With(map[string]any{"reason": fault.NotConfigured})
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable,
		status == 432 || status == 433: // Tavily's own: a plan, or what may be paid beyond it, is used up
		return e.enough(res.Header.Get("Retry-After"))
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return fault.New(fault.Invalid, "The web was not searched: %s does not take this query (%d). Write a shorter or plainer one.", e.name, status)
	default:
		return e.upstream("it answered " + strconv.Itoa(status))
	}
}

// enough: the provider wants fewer requests.
func (e endpoint) enough(after string) error {
	details := map[string]any{"reason": fault.Upstream}
	if n, err := strconv.Atoi(strings.TrimSpace(after)); err == nil && n >= 0 {
		details["retry_after_ms"] = int64(n) * 1000
	}
	return fault.New(fault.RateLimited, "The web was not searched: %s takes no more requests for now. Try again later.", e.name).With(details)
}

// tidied drops results nobody can follow, and those that come twice, and takes
// out markup and what nobody sees.
func tidied(found []Result, limit int) []Result {
	out, seen := []Result{}, map[string]bool{}
	for _, r := range found {
		u, err := url.Parse(strings.TrimSpace(r.URL))
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || seen[u.String()] || len(out) == limit {
			continue
		}
		seen[u.String()] = true
		r.URL, r.Title, r.Text = u.String(), oneLine(unmarked(r.Title), maxTitle), oneLine(unmarked(r.Text), maxText)
		if r.Title == "" {
			r.Title = u.Hostname()
		}
		out = append(out, r)
	}
	return out
}

// unmarked is the text of a fragment of HTML.
func unmarked(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		default:
		}
	}
}

func clamped(n int) int { return min(max(n, 1), MaxResults) }

// short is a query as providers take it.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= MaxQuery {
		return text
	}
	cut := strings.ToValidUTF8(text[:MaxQuery], "")
	if at := strings.LastIndexByte(cut, ' '); at > MaxQuery/2 {
		cut = cut[:at]
	}
	return cut
}
