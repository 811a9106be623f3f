package speech

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"liminal/internal/fault"
)

// unreachable is a connection that failed or broke off; a context that somebody
// cancelled is its own error.
func (e endpoint) unreachable(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fault.Wrap(fault.Internal, cause, "The speech server at %s cannot be reached, or took too long. Try again; if it stays, check that it runs.", e.place()).
		With(map[string]any{"reason": fault.Upstream})
}

// senseless is an answer that is not what the protocol says.
func (e endpoint) senseless() error {
	return fault.New(fault.Internal, "The speech server at %s gave an answer that makes no sense. Check that %q is a model for this and that the server speaks OpenAI's protocol of audio.", e.place(), e.server.Model).
		With(map[string]any{"reason": fault.Upstream})
}

// refused makes a fault of a status that is not 200.
func (e endpoint) refused(res *http.Response) error {
	status := res.StatusCode
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.New(fault.Internal, "The key of the speech server at %s is refused. Whoever runs this server has to check it.", e.place()).
			With(map[string]any{"reason": fault.NotConfigured})
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return fault.New(fault.RateLimited, "The speech server at %s is busy. Try again a little later.", e.place()).
			With(map[string]any{"reason": fault.Upstream, "retry_after_ms": after(res.Header).Milliseconds()})
	case status == http.StatusNotFound || status >= 300 && status < 400 || status >= 500:
		return fault.New(fault.Internal, "The speech server at %s failed (status %d). Try again; if it stays, check its address and the model %q.", e.place(), status, e.server.Model).
			With(map[string]any{"reason": fault.Upstream})
	}
	return fault.New(fault.Invalid, "The speech server at %s refused the request (status %d)%s.", e.place(), status, e.said(res.Body))
}

// place is the host people know the server by.
func (e endpoint) place() string {
	_, rest, _ := strings.Cut(e.url, "://")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:] // a name and password before it are nobody's business
	}
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// said is what the server gave as its reason, as ": …" of at most 200
// characters, or nothing. A reason that repeats the key is left out.
func (e endpoint) said(body io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(body, 64<<10)) // what came counts
	var a struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return ""
	}
	text := strings.Join(strings.Fields(a.Error.Message), " ")
	if text == "" || e.server.APIKey != "" && strings.Contains(text, e.server.APIKey) {
		return ""
	}
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return ": " + strings.TrimRight(text, ".")
}

// after is how long the server asks to wait; 0 when it does not say.
func after(h http.Header) time.Duration {
	s, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
