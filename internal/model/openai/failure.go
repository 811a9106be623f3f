package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"liminal/internal/fault"
)

// refusal is an answer that is none.
type refusal struct {
	status                     int
	message, code, kind, param string
	after                      time.Duration // until it may be asked again; 0: not said
}

// maxRefusal bounds how much of an error's body is read, in bytes.
const maxRefusal = 64 << 10

func read(resp *http.Response) refusal {
	doc, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what could not be read says nothing
	r := refusalOf(doc)
	r.status, r.after = resp.StatusCode, retryAfter(resp.Header)
	return r
}

// refusalOf reads the forms errors have: OpenAI's {"error": {…}}, Ollama's
// {"error": "…"}, vLLM's older one without "error" around it, and FastAPI's
// {"detail": …}.
func refusalOf(doc []byte) refusal {
	type fields struct {
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Param   json.RawMessage `json:"param"`
	}
	var body struct {
		fields
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(doc, &body) != nil {
		return refusal{message: string(doc)}
	}
	f := body.fields
	message := word(body.Error)
	if inner := (fields{}); message == "" && json.Unmarshal(body.Error, &inner) == nil && !empty(body.Error) {
		f = inner
	}
	code := strings.Trim(string(f.Code), `"`)
	if empty(f.Code) {
		code = ""
	}
	detail := word(body.Detail)
	if detail == "" && !empty(body.Detail) {
		detail = string(body.Detail)
	}
	return refusal{
		message: cmp.Or(message, word(f.Message), detail), code: code,
		kind: word(f.Type), param: word(f.Param),
	}
}

func (r refusal) text() string {
	return strings.Join([]string{r.message, r.code, r.kind, r.param}, " ")
}

func (r refusal) says(words ...string) bool {
	text := strings.ToLower(r.text())
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// tooLong reports whether the question is larger than the model's window.
func (r refusal) tooLong() bool {
	return r.status == http.StatusRequestEntityTooLarge || r.says(
		"context_length_exceeded", "context length", "context size", "context window", "exceed_context",
		"maximum context", "prompt is too long", "too many tokens", "input is too long", "max_input_length", "max_total_tokens")
}

// filtered reports whether a filter before the model has refused the question.
func (r refusal) filtered() bool {
	return r.says("content_filter", "content management policy", "responsibleaipolicyviolation")
}

// unpaid reports whether an account is empty: no waiting helps.
func (r refusal) unpaid() bool {
	return r.status == http.StatusPaymentRequired || r.says("insufficient_quota", "billing_hard_limit", "insufficient balance")
}

// retryAfter is how long a server asks to wait, in the three forms it may say
// so; 0 when it does not.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date")) // its clock, not ours
	if err != nil {
		return 0
	}
	return max(0, until.Sub(now))
}

// failure says a refusal so that a person can act on it (LORA-25).
func (p *provider) failure(q *question, r refusal) error {
	cause := errors.New(p.clean(fmt.Sprintf("HTTP %d: %s", r.status, r.text())))
	switch {
	case r.status == 401 || r.status == 403:
		return fault.Wrap(fault.Internal, cause, "The key for the model at %s is refused. Whoever runs this server must set a valid one, with access to the model %s.", p.host(), q.name()).
			With(map[string]any{"reason": fault.NotConfigured})
	case r.unpaid():
		return fault.Wrap(fault.Internal, cause, "The account at %s has no credit left. Whoever runs this server must see to it.", p.host()).
			With(map[string]any{"reason": fault.NotConfigured})
	case r.status == 429, r.status == 503, r.status == 529:
		return p.busy(r, cause)
	case r.status == 500 && r.tooLong(): // Ollama and llama.cpp say so of what one person asked
		return p.refused(q, r, cause)
	case r.status >= 500, r.status == 408, r.status == 409, r.status < 400:
		return p.upstream(cause, "%s failed with HTTP status %d. Try again; if it stays, whoever runs this server must look at it.", p.host(), r.status)
	}
	return p.refused(q, r, cause)
}

// refused is a request that the server does not take, for what it asks.
func (p *provider) refused(q *question, r refusal, cause error) error {
	switch {
	case q.model == "" && r.says("model"):
		return fault.Wrap(fault.Internal, cause, "No model is named for %s. Whoever runs this server must choose one.", p.host()).
			With(map[string]any{"reason": fault.NotConfigured})
	case r.tooLong():
		return fault.Wrap(fault.Invalid, cause, "This is too long for the model %s: the conversation and what was found for it do not fit into one request. Ask in a new conversation, or about fewer documents.", q.name())
	case r.filtered():
		return fault.Wrap(fault.Invalid, cause, "The content filter of %s refuses this message. Put it in other words.", p.host())
	case r.status == 404:
		return fault.Wrap(fault.Invalid, cause, "%s does not know the model %s. Check the model's name and the server's address.%s", p.host(), q.name(), p.says(r))
	}
	return fault.Wrap(fault.Invalid, cause, "%s cannot take this request to the model %s.%s", p.host(), q.name(), p.says(r))
}

// busy is a server that may answer later.
func (p *provider) busy(r refusal, cause error) error {
	details := map[string]any{"reason": fault.Upstream}
	what := "is overloaded"
	if r.status == 429 {
		what = "takes no more requests for now"
	}
	if r.after > 0 {
		details["retry_after_ms"] = r.after.Milliseconds()
	}
	if r.after > 0 && r.after <= time.Hour {
		return fault.Wrap(fault.RateLimited, cause, "%s %s. Try again in %d seconds.", p.host(), what, int((r.after+time.Second-1)/time.Second)).With(details)
	}
	when := "in a moment"
	if r.after > 0 {
		when = "later"
	}
	return fault.Wrap(fault.RateLimited, cause, "%s %s. Try again %s.", p.host(), what, when).With(details)
}

func (p *provider) upstream(cause error, format string, args ...any) error {
	return fault.Wrap(fault.Internal, cause, format, args...).With(map[string]any{"reason": fault.Upstream})
}

// unreachable is a server that gave no answer at all.
func (p *provider) unreachable(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // without the URL, which may hold a secret
	}
	return p.upstream(errors.New(p.clean(err.Error())),
		"%s cannot be reached. Try again; if it stays, check that the model's server runs and that its address is right.", p.host())
}

// errPage is an answer for browsers.
var errPage = errors.New("it sent a web page")

// broken is an answer that cannot be read to its end.
func (p *provider) broken(err error) error {
	cause := errors.New(p.clean(err.Error()))
	if torn, ok := errors.AsType[tornCall](err); ok {
		return p.upstream(cause, "The language model called the tool %s with arguments that are no JSON. Try again.", string(torn))
	}
	if errors.Is(err, errPage) {
		return p.upstream(cause, "%s answers, but not as a model's server does. Whoever runs this server must check its address.", p.host())
	}
	return p.upstream(cause, "The answer of %s broke off or cannot be read. Try again.", p.host())
}

func (p *provider) host() string { return p.base.Host }

func (q *question) name() string {
	return cmp.Or(q.model, "of its own choice")
}

// says quotes the server.
func (p *provider) says(r refusal) string {
	if strings.TrimSpace(r.message) == "" {
		return ""
	}
	return " It says: " + p.clean(r.message)
}

// maxSaid bounds a quoted sentence, in characters.
const maxSaid = 300

// clean makes one line of a server's words and takes our secrets out of them.
func (p *provider) clean(text string) string {
	for _, secret := range p.secrets() {
		text = strings.ReplaceAll(text, secret, "…")
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(text); len(runes) > maxSaid {
		text = string(runes[:maxSaid]) + "…"
	}
	return text
}

func (p *provider) secrets() []string {
	var out []string
	if p.APIKey != "" {
		out = append(out, p.APIKey)
	}
	for _, values := range p.Header {
		for _, v := range values {
			if len(v) >= 8 {
				out = append(out, v, strings.TrimPrefix(v, "Bearer "))
			}
		}
	}
	return out
}
