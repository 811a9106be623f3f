package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"liminal/internal/fault"
)

// unreachable is a connection that failed or broke off; a cancelled context
// is its own error.
func (e *Embedder) unreachable(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.Wrap(fault.Internal, cause, "The embedding server at %s cannot be reached, or broke off its answer. Try again; if it stays, check that it runs.", e.place()).
		With(map[string]any{"reason": fault.Upstream})
}

// senseless is an answer that is not what the protocol says.
func (e *Embedder) senseless(cause error) error {
	return fault.Wrap(fault.Internal, cause, "The embedding server at %s gave an answer that makes no sense. Check that %q is an embedding model and that the server speaks the %s protocol.", e.place(), e.o.Model, e.o.Style).
		With(map[string]any{"reason": fault.Upstream})
}

// refused makes a fault of a status that is not 200.
func (e *Embedder) refused(res *http.Response) error {
	said := e.said(res.Body)
	status := res.StatusCode
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.New(fault.Internal, "The key of the embedding server at %s is refused. Check it and what it may be used for.", e.place()).
			With(map[string]any{"reason": fault.NotConfigured})
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == 529:
		return fault.New(fault.RateLimited, "The embedding server at %s is busy. Try again a little later.", e.place()).
			With(map[string]any{"reason": fault.Upstream, "retry_after_ms": after(res.Header, time.Now()).Milliseconds()})
	case status >= 400 && status < 500:
		return fault.New(fault.Invalid, "The embedding server at %s refused the request for the model %q (status %d)%s.", e.place(), e.o.Model, status, said)
	}
	return fault.New(fault.Internal, "The embedding server at %s failed (status %d). Try again; if it stays, look into its log.", e.place(), status).
		With(map[string]any{"reason": fault.Upstream})
}

// place is the host people know the server by.
func (e *Embedder) place() string {
	_, rest, _ := strings.Cut(e.url, "://")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:] // a name and password before it are nobody's business
	}
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// said is what the server gave as its reason, as ": …" of at most 200
// characters, or nothing. A reason that repeats the key is left out.
func (e *Embedder) said(body io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(body, 64<<10)) // what came counts
	var a struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return ""
	}
	var inner struct {
		Message string `json:"message"`
	}
	text := a.Message
	if json.Unmarshal(a.Error, &inner) == nil && inner.Message != "" {
		text = inner.Message
	} else {
		_ = json.Unmarshal(a.Error, &text) // Ollama's is a plain string; anything else says nothing
	}
	text = strings.Join(strings.Fields(text), " ")
	if text == "" || e.o.APIKey != "" && strings.Contains(text, e.o.APIKey) {
		return ""
	}
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return ": " + strings.TrimRight(text, ".")
}

// after is how long the server asks to wait; 0 when it does not say.
func after(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
