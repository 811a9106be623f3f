package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"liminal/internal/fault"
)

// statusOverloaded is the API's own status of a server that has too much to do.
const statusOverloaded = 529

// failure is why a stream broke off, as a fault with a sentence a person can
// act on. A nil err is a stream that ended without its own end.
func (p *provider) failure(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	if err == nil {
		return upstream(errors.New("the stream ended without message_stop"), "Anthropic's answer broke off before its end. Try again.")
	}
	refused, ok := errors.AsType[*sdk.Error](err)
	err = p.unkeyed(err)
	switch {
	case !ok:
		return upstream(err, "The connection to Anthropic failed. Try again; if it stays, check the network of this server and ANTHROPIC_BASE_URL.")
	case refused.StatusCode < http.StatusBadRequest:
		return upstream(err, "Anthropic broke its answer off with an error. Try again.")
	}
	return p.refusal(err, refused)
}

// refusal is an answer with a status of 400 or above.
func (p *provider) refusal(err error, refused *sdk.Error) error {
	said := p.said(refused)
	if refused.StatusCode == http.StatusPaymentRequired || strings.Contains(said, "credit balance") {
		return fault.Wrap(fault.Internal, err, "The account at Anthropic has no credit left. Whoever runs this server adds some there.").
			With(map[string]any{"reason": fault.NotConfigured})
	}
	switch refused.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Wrap(fault.Internal, err, "The key of Anthropic is refused. Whoever runs this server checks ANTHROPIC_API_KEY and what it may use.").
			With(map[string]any{"reason": fault.NotConfigured})
	case http.StatusTooManyRequests:
		return p.busy(err, refused, "Anthropic lets this server ask no more for the moment. Try again a little later.")
	case statusOverloaded, http.StatusServiceUnavailable:
		return p.busy(err, refused, "Anthropic has too much to do at the moment. Try again a little later.")
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return invalid(err, refused.StatusCode, said)
	default:
		return upstream(err, "Anthropic could not answer (status %d). Try again.", refused.StatusCode)
	}
}

func invalid(err error, status int, said string) error {
	long := strings.Contains(strings.ToLower(said), "too long") || strings.Contains(said, "exceed context limit")
	switch {
	case long || status == http.StatusRequestEntityTooLarge:
		return fault.Wrap(fault.Invalid, err, "What the model was to read is too long for it. Ask with less text or fewer documents, or choose a model with a larger window.")
	case status == http.StatusNotFound:
		return fault.Wrap(fault.Invalid, err, "Anthropic has no such model for this key: %s. Name another one in policy.models or LIMINAL_MODEL.", said)
	}
	return fault.Wrap(fault.Invalid, err, "Anthropic refused the request: %s.", said)
}

func upstream(err error, format string, args ...any) error {
	return fault.Wrap(fault.Internal, err, format, args...).With(map[string]any{"reason": fault.Upstream})
}

// busy is a refusal that time heals; it says how long the API asks to wait.
func (p *provider) busy(err error, refused *sdk.Error, format string, args ...any) error {
	details := map[string]any{"reason": fault.Upstream}
	if wait := p.wait(refused.Response); wait > 0 {
		details["retry_after_ms"] = wait.Milliseconds()
	}
	return fault.Wrap(fault.RateLimited, err, format, args...).With(details)
}

// wait is how long the response asks to wait; 0 when it does not say.
func (p *provider) wait(r *http.Response) time.Duration {
	if r == nil {
		return 0
	}
	if ms, err := strconv.ParseFloat(r.Header.Get("Retry-After-Ms"), 64); err == nil && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	after := r.Header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(after); err == nil {
		return at.Sub(p.Now())
	}
	return 0
}

// maxSaid bounds the server's own words in ours, in bytes.
const maxSaid = 300

// said is the server's own sentence.
func (p *provider) said(refused *sdk.Error) string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(refused.RawJSON()), &body) != nil || body.Error.Message == "" {
		return "it gave no reason (status " + strconv.Itoa(refused.StatusCode) + ")"
	}
	return strings.TrimRight(p.clean(body.Error.Message), ".")
}

// unkeyed is an error for the log, without the key wherever a server repeats
// it, and with little of what else it repeats.
func (p *provider) unkeyed(err error) error { return errors.New(p.clean(err.Error())) }

// clean is the beginning of a text on one line, without secrets.
func (p *provider) clean(text string) string {
	for _, secret := range p.secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return text
}
