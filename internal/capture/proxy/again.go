package proxy

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"liminal/internal/capture"
	"liminal/internal/view"
)

// mostRefusal is what is read of an answer that refuses a request, in bytes.
const mostRefusal = 64 << 10

// again is the way to the backend. A request that a view changed, and that the backend
// refuses for that, is sent once more as the client meant it.
type again struct {
	http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a again) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.RoundTripper.RoundTrip(r)
	x := exchangeOf(r.Context())
	for err == nil && x.sent != nil && resp.StatusCode == http.StatusBadRequest {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, mostRefusal)) // then without the rest
		next := x.instead(gjson.GetBytes(said, "error.message").Str)
		if next == nil {
			resp.Body = passing{io.MultiReader(bytes.NewReader(said), resp.Body), resp.Body}
			break
		}
		_ = resp.Body.Close() // nothing more is wanted of it
		once := r.Clone(r.Context())
		once.Body, once.ContentLength = io.NopCloser(bytes.NewReader(next.body)), int64(len(next.body))
		if delete(once.Header, "Anthropic-Beta"); x.head.Header["Anthropic-Beta"] != nil {
			once.Header["Anthropic-Beta"] = x.head.Header["Anthropic-Beta"]
		}
		if next.beta {
			withBeta(once.Header)
		}
		x.sent = next
		resp, err = a.RoundTripper.RoundTrip(once)
		x.tell()
	}
	if err == nil && x.sent != nil && x.sent.Refused != "" {
		x.proxy.viewer.settled(x.sent, resp.StatusCode)
	}
	return resp, err
}

// instead is what is sent after a refusal; nil: nothing is.
func (x *exchange) instead(message string) (next *forwarded) {
	x.guarded(func() { next = x.proxy.viewer.instead(x.sent, message) })
	return next
}

// unknownField is how a backend refuses what it does not know.
const unknownField = "extra inputs are not permitted"

// instead is what is sent after a backend refused what a view made; nil where that was
// not because of the view, or nothing is left to try.
func (v *viewer) instead(f *forwarded, message string) *forwarded {
	said := strings.ToLower(message)
	if f.tries > 1 {
		return nil
	}
	if f.beta && strings.Contains(said, "block_binding") && strings.Contains(said, unknownField) {
		v.mu.Lock()
		err := v.unaware.add(f.model, v.now())
		v.mu.Unlock()
		if err != nil {
			v.log.Warn("a model that does not know how to drop bound thinking is forgotten when this proxy ends", "model", f.model, "error", err)
		}
		v.log.Info("a model does not know how to drop bound thinking; it is left out for it", "model", f.model)
		return v.unbound(f, message)
	}
	if f.Why != capture.SentView || !ours(said) {
		return nil
	}
	c := f.client
	c.mu.Lock()
	defer c.mu.Unlock()
	return v.raw(f, message)
}

// ours reports whether a refusal is about what messages say.
func ours(said string) bool {
	for _, about := range []string{"messages", "signature", "tool_use", "tool_result", "thinking"} {
		if strings.Contains(said, about) {
			return true
		}
	}
	return false
}

// raw is the client's own body, with the wish that bound thinking be dropped.
func (v *viewer) raw(f *forwarded, message string) *forwarded {
	next := &forwarded{Sent: capture.Sent{Client: f.Client, Why: capture.SentRaw}, client: f.client, raw: f.raw, body: f.raw, model: f.model, tries: f.tries + 1}
	if b, err := view.ReadBody(f.raw); err == nil {
		if l := v.left(f.client, b, nil); l != nil {
			next.Edits, next.body, next.beta = l.Edits, l.body, true
		}
	}
	next.Epoch, next.Refused = f.Epoch, message
	return next
}

// unbound is the same view for a model that does not know how to drop thinking.
func (v *viewer) unbound(f *forwarded, message string) *forwarded {
	c := f.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, err := view.ReadBody(f.raw); err == nil && f.Why == capture.SentView {
		if e := c.current(); e != nil && e.Number == f.Epoch {
			if next, _ := v.splice(c, b, e, true); next != nil {
				next.tries, next.Refused = f.tries+1, message
				return next
			}
		}
	}
	return v.raw(f, message)
}

// settled ends an epoch whose request was refused, where the client's own was not.
func (v *viewer) settled(f *forwarded, status int) {
	if f.Why != capture.SentRaw || status == http.StatusBadRequest {
		return
	}
	c := f.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.current(); e != nil && e.Number == f.Epoch {
		v.counts.refused.Add(1)
		v.log.Warn("the backend refused what a view made of a request, and took the client's own; the view ends", "client", c.key, "epoch", f.Epoch, "said", f.Refused)
		v.end(c, f.Refused)
	}
}
