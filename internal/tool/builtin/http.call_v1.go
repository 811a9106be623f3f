package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
)

// callHTTP asks a server as the spec it is called as says.
type callHTTP struct {
	web         Servers
	secrets     SourceSecrets // nil: there are none
	connections Connections   // nil: nobody connects anything
}

func (callHTTP) Name() string { return tool.RunnerHTTP }

var place = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

func (t callHTTP) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	if c.Spec.Via == nil || c.Spec.Via.HTTP == nil {
		return nil, fault.New(fault.Invalid, "%s is called by tools that ask a server.", t.Name())
	}
	h := c.Spec.Via.HTTP
	req := webaccess.Request{Method: h.Method, URL: address(h.URL, c.Inputs), Header: http.Header{}}
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		v := place.ReplaceAllStringFunc(h.Headers[name], func(p string) string { return text(c.Inputs[p[1:len(p)-1]]) })
		if strings.ContainsAny(v, "\r\n\x00") {
			return nil, fault.New(fault.Invalid, "The header %s may not hold a line break.", name)
		}
		req.Header.Set(name, v)
	}
	if h.Credential == nil || h.Credential.Connection == "" {
		if err := t.sign(ctx, h, req.Header); err != nil {
			return nil, err
		}
		out, err := t.ask(ctx, c, h, req, "")
		return out, unconfirmed(c.Spec, "the server", err)
	}
	return t.askAs(ctx, c, h, req)
}

// askAs asks with the account that the call's person connected. A server that
// refuses its token has done nothing: it is asked once more with another.
func (t callHTTP) askAs(ctx context.Context, c *tool.Call, h *tool.HTTP, req webaccess.Request) (map[string]any, error) {
	name := h.Credential.Connection
	if t.connections == nil {
		return nil, fault.New(fault.Internal, "Nothing here connects to %q: an administrator sets it up first.", name).With(map[string]any{"reason": fault.NotConfigured})
	}
	access, err := t.connections.Access(ctx, c.Viewer, name, req.URL)
	if err != nil {
		return nil, err
	}
	out, err := t.ask(ctx, c, h, signedAs(req, access), access.AccountID)
	if !errors.Is(err, fault.Unauthorized) {
		return out, unconfirmed(c.Spec, access.Title, err)
	}
	if access, err = t.connections.Renew(ctx, c.Viewer, name, access); err != nil {
		return nil, err
	}
	out, err = t.ask(ctx, c, h, signedAs(req, access), access.AccountID)
	if errors.Is(err, fault.Unauthorized) {
		return nil, t.connections.Refuse(ctx, c.Viewer, name, access)
	}
	return out, unconfirmed(c.Spec, access.Title, err)
}

// signedAs is a request with an account's token.
func signedAs(req webaccess.Request, access connect.Access) webaccess.Request {
	req.Header = req.Header.Clone()
	for name, v := range access.Headers {
		req.Header.Set(name, v)
	}
	req.Header.Set("Authorization", "Bearer "+access.Token)
	return req
}

// unconfirmed says of a request that may have changed something whether it did:
// after what is no answer, or one of a server that failed, nobody knows.
func unconfirmed(spec tool.Spec, title string, err error) error {
	reason := fault.Reason(err)
	if err == nil || spec.IsIdempotent() || reason == webaccess.Unsent || reason == answeredNo || reason == fault.NotConfigured {
		return err
	}
	return fault.Wrap(fault.Internal, err, "It is not known whether this was done: %s gave no answer that says so. Look there before it is tried again.", title).
		With(map[string]any{"reason": fault.Uncertain})
}

// answeredNo is the reason of a fault of a server that says that it did nothing.
const answeredNo = "refused"

// ask makes the request, with the body as its spec says.
func (t callHTTP) ask(ctx context.Context, c *tool.Call, h *tool.HTTP, req webaccess.Request, account string) (map[string]any, error) {
	if h.Body != nil {
		escape := func(v any) any { return v }
		if h.Escape == "little" {
			escape = littleText
		}
		raw, err := json.Marshal(tool.PutAll(h.Body, map[string]func(string) (any, bool){
			"$input":   func(name string) (any, bool) { v, ok := c.Inputs[name]; return escape(v), ok },
			"$account": func(string) (any, bool) { return account, account != "" },
		}))
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "The body of the request cannot be written as JSON.")
		}
		req.Body = raw
		req.Header.Set("Content-Type", "application/json")
	}
	if t.web == nil {
		return nil, fault.New(fault.Internal, "This server reaches no other: whoever runs it sets LIMINAL_WEB_ALLOW.").With(map[string]any{"reason": fault.NotConfigured})
	}
	answer, err := t.web.Ask(ctx, req)
	if err != nil {
		return nil, err
	}
	return answered(h, answer, c.Locale)
}

// sign adds the credential. It is in no history: it is read here, and the spec
// names it only.
func (t callHTTP) sign(ctx context.Context, h *tool.HTTP, into http.Header) error {
	if h.Credential == nil {
		return nil
	}
	if t.secrets == nil {
		return fault.New(fault.Internal, "The secret %q is not set here.", h.Credential.Secret).With(map[string]any{"reason": fault.NotConfigured})
	}
	secret, err := t.secrets.Secret(ctx, h.Credential.Secret)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The secret %q is not set: an administrator sets it.", h.Credential.Secret).With(map[string]any{"reason": fault.NotConfigured})
	}
	name, prefix := h.Credential.Header, "Bearer "
	if name == "" {
		name = "Authorization"
	}
	if h.Credential.Prefix != nil {
		prefix = *h.Credential.Prefix
	}
	into.Set(name, prefix+secret)
	return nil
}

// address writes inputs into a URL, each encoded for where it stands: no value
// begins another part of the path, or another parameter.
func address(pattern string, inputs map[string]any) string {
	path, query, _ := strings.Cut(pattern, "?")
	fill := func(in string, encode func(string) string) string {
		return place.ReplaceAllStringFunc(in, func(p string) string { return encode(text(inputs[p[1:len(p)-1]])) })
	}
	out := fill(path, func(s string) string {
		if s == "." || s == ".." { // a server would take them for another folder
			return strings.ReplaceAll(s, ".", "%2E")
		}
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") // a colon and the like too: it is one value
	})
	if query == "" {
		return out
	}
	var kept []string
	for _, pair := range strings.Split(query, "&") {
		m := place.FindStringSubmatch(pair)
		if m != nil && inputs[m[1]] == nil && strings.HasSuffix(pair, "="+m[0]) {
			continue // an input that is not given
		}
		kept = append(kept, fill(pair, url.QueryEscape))
	}
	if len(kept) == 0 {
		return out
	}
	return out + "?" + strings.Join(kept, "&")
}

// text is an input as it stands in an address.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	raw, _ := json.Marshal(v) // a value of JSON
	return string(raw)
}

// little are the signs that little text gives a meaning.
var little = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `{`, `\{`, `}`, `\}`, `@`, `\@`, `[`, `\[`, `]`, `\]`, `(`, `\(`, `)`, `\)`,
	`<`, `\<`, `>`, `\>`, `#`, `\#`, `*`, `\*`, `_`, `\_`, `~`, `\~`)

func littleText(v any) any {
	switch v := v.(type) {
	case string:
		return little.Replace(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, inner := range v {
			out[k] = littleText(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = littleText(inner)
		}
		return out
	}
	return v
}

// answered is a server's answer as the tool's result.
func answered(h *tool.HTTP, a webaccess.Reply, locale string) (map[string]any, error) {
	var body any = string(a.Body)
	if d := json.NewDecoder(bytes.NewReader(a.Body)); json.Valid(a.Body) {
		if err := d.Decode(&body); err != nil {
			return nil, err
		}
	}
	if a.Status < 200 || a.Status > 299 {
		return nil, refusedBy(h, a, locale)
	}
	if h.Result == nil {
		return map[string]any{"status": float64(a.Status), "body": body}, nil
	}
	out, _ := tool.PutAll(h.Result, map[string]func(string) (any, bool){
		"$output": func(at string) (any, bool) { return tool.At(body, at) },
		"$header": func(name string) (any, bool) { v := a.Header.Get(name); return v, v != "" },
	}).(map[string]any)
	return out, nil
}

// refusedBy is an answer that is no success.
func refusedBy(h *tool.HTTP, a webaccess.Reply, locale string) error {
	code := fault.Invalid
	switch {
	case a.Status == http.StatusUnauthorized && h.Credential != nil && h.Credential.Connection != "":
		code = fault.Unauthorized
	case a.Status == http.StatusNotFound:
		code = fault.NotFound
	case a.Status == http.StatusTooManyRequests:
		code = fault.RateLimited
	case a.Status >= http.StatusInternalServerError:
		code = fault.Internal
	}
	said := webaccess.Plain(string(a.Body))
	if len(said) > 300 {
		said = strings.ToValidUTF8(said[:300], "") + "…"
	}
	err := fault.New(code, "%s answered %d: %s", a.Host, a.Status, said)
	if words, ok := h.Refusals[strconv.Itoa(a.Status)]; ok {
		err = fault.New(code, "%s", words.In(locale))
	}
	if a.Status >= http.StatusBadRequest && a.Status < http.StatusInternalServerError && a.Status != http.StatusRequestTimeout {
		err = err.With(map[string]any{"reason": answeredNo})
	}
	return err
}
