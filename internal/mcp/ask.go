package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/fault"
	"liminal/internal/webaccess"
)

const (
	// maxAsked bounds how many things a server asks in one call.
	maxAsked = 10
	// maxState bounds what a call that waits for a person keeps, in bytes: it stands
	// in the history of the run.
	maxState = 64 << 10
	// maxQuestion bounds the words of a question, in bytes.
	maxQuestion = 2000
	// maxFields bounds the fields of a form.
	maxFields = 30
	// maxBusy bounds how often a server that has too much to do is asked again, and
	// busyPause is how long after, in milliseconds.
	maxBusy, busyPause = 5, 2000
)

// question is something a server asked, as it is kept until it is answered.
type question struct {
	ID     string           `json:"id,omitempty"` // as the server knows it
	Params sdk.ElicitParams `json:"params"`
	Answer *reply           `json:"answer,omitempty"`
}

// reply is what a person said to it.
type reply struct {
	Action  string         `json:"action"` // accept, decline, cancel
	Content map[string]any `json:"content,omitempty"`
}

// waiting is where a call stands that asked: all there is of it until a person has
// answered. How the call goes on depends on whether the server ended it.
type waiting struct {
	State     string     `json:"request_state,omitempty"` // the server's own
	Ended     bool       `json:"ended,omitempty"`         // it goes on by State; else it is made again from its beginning
	Questions []question `json:"questions,omitempty"`
	Busy      int        `json:"busy,omitempty"` // how often the server had too much to do
}

// resumed reads what a call wanted back, and takes the answer to its first question
// that has none.
func resumed(resume any) (waiting, error) {
	var w waiting
	r, _ := resume.(map[string]any)
	if r == nil {
		return w, nil
	}
	raw, err := json.Marshal(r["state"])
	if err == nil {
		err = json.Unmarshal(raw, &w)
	}
	if err != nil {
		return w, fault.Wrap(fault.Internal, err, "What this call waits for cannot be read.")
	}
	answer, answered := r["answer"]
	if q := w.open(); q != nil && answered {
		q.Answer = q.said(answer)
	}
	return w, nil
}

// open is the first question without an answer.
func (w *waiting) open() *question {
	i := slices.IndexFunc(w.Questions, func(q question) bool { return q.Answer == nil })
	if i < 0 {
		return nil
	}
	return &w.Questions[i]
}

// ask is the tool's result that asks a person (GRAPH-27).
func (w *waiting) ask(title string) (map[string]any, error) {
	if len(w.Questions) > maxAsked {
		return nil, fault.New(fault.Invalid, "%s asks more than %d things in one call.", title, maxAsked).With(map[string]any{"reason": Refused})
	}
	interrupt, err := w.open().interrupt(title)
	if err != nil {
		return nil, err
	}
	state, err := w.kept(title)
	interrupt["state"] = state
	return map[string]any{"interrupt": interrupt}, err
}

// later is the tool's result that puts it off: the server has too much to do.
func (w *waiting) later(title string) (map[string]any, error) {
	if w.Busy++; w.Busy > maxBusy {
		return nil, fault.New(fault.RateLimited, "%s has too much to do.", title).With(map[string]any{"reason": Refused})
	}
	state, err := w.kept(title)
	return map[string]any{"later": map[string]any{"after_ms": float64(busyPause), "state": state}}, err
}

func (w *waiting) kept(title string) (any, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxState {
		return nil, fault.New(fault.Invalid, "%s wants more than %d KiB kept while it waits for an answer.", title, maxState>>10).With(map[string]any{"reason": Refused})
	}
	var state any
	return state, json.Unmarshal(raw, &state)
}

// isURL reports whether a person is to open a page.
func (q *question) isURL() bool { return q.Params.Mode == "url" || q.Params.URL != "" }

// interrupt is the question as people are asked.
func (q *question) interrupt(title string) (map[string]any, error) {
	message := words(q.Params.Message, maxQuestion)
	if q.isURL() {
		return q.page(title, message)
	}
	schema, err := form(title, q.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	asks := map[string]any{"en": title + " asks: " + message, "de": title + " fragt: " + message}
	if schema == nil {
		return map[string]any{"interrupt_type": "action_choice", "message": asks, "options": yesOrNo("Yes", "Ja")}, nil
	}
	return map[string]any{"interrupt_type": "text_input", "message": asks, "answer_schema": schema}, nil
}

// page asks to open a page elsewhere. Its host is told as a fact, what the server
// says of it as its claim; only an encrypted page is.
func (q *question) page(title, message string) (map[string]any, error) {
	u, err := url.Parse(q.Params.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(q.Params.URL) > maxQuestion || strings.ContainsFunc(q.Params.URL, unprintable) {
		return nil, fault.New(fault.Forbidden, "%s wants a page opened whose address is not one of https.", title).With(map[string]any{"reason": Refused})
	}
	return map[string]any{
		"interrupt_type": "action_choice",
		"message": map[string]any{
			"en": title + " wants you to open a page at " + u.Host + " and says: " + message + "\n\n" + q.Params.URL,
			"de": title + " bittet darum, eine Seite bei " + u.Host + " zu öffnen, und sagt: " + message + "\n\n" + q.Params.URL,
		},
		"options": yesOrNo("I have opened "+u.Host, "Ich habe "+u.Host+" geöffnet"),
	}, nil
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// The ids of options.
const (
	optionYes = "accept"
	optionNo  = "decline"
)

func yesOrNo(en, de string) []any {
	return []any{
		map[string]any{"id": optionYes, "label": map[string]any{"en": en, "de": de}},
		map[string]any{"id": optionNo, "label": map[string]any{"en": "No", "de": "Nein"}},
	}
}

// said is what a person's answer means to the server. A question that was skipped,
// or whose time was up, was declined.
func (q *question) said(answer any) *reply {
	switch a := answer.(type) {
	case map[string]any:
		return &reply{Action: "accept", Content: a}
	case string:
		if a == optionYes {
			return &reply{Action: "accept"}
		}
	}
	return &reply{Action: "decline"}
}

// result is the answer as the protocol has it.
func (r *reply) result() *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: r.Action, Content: r.Content}
}

// same reports whether a server asks again what it was answered.
func (q *question) same(p *sdk.ElicitParams) bool { return mark(&q.Params) == mark(p) }

func mark(p *sdk.ElicitParams) string {
	raw, _ := json.Marshal([]any{p.Mode, p.Message, p.RequestedSchema, p.URL}) // it was read from JSON
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// words is a stranger's text in so many bytes at most.
func words(text string, limit int) string {
	if text = webaccess.Plain(text); len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// form is a server's schema of a form, as it is shown here: fields of plain values,
// and nothing else of it. nil: it has no fields.
func form(title string, requested any) (map[string]any, error) {
	schema, _ := requested.(map[string]any)
	fields, _ := schema["properties"].(map[string]any)
	if len(fields) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	refused := fault.New(fault.Invalid, "%s asks for what no form here can be.", title).With(map[string]any{"reason": Refused})
	if len(fields) > maxFields {
		return nil, refused
	}
	out := map[string]any{}
	for name, raw := range fields {
		field, _ := raw.(map[string]any)
		kept := fieldOf(field)
		if kept == nil || len(name) > 100 || webaccess.Plain(name) != name {
			return nil, refused
		}
		out[name] = kept
	}
	required := []any{}
	list, _ := schema["required"].([]any)
	for _, one := range list {
		if name, ok := one.(string); ok && out[name] != nil {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": out, "required": required}, nil
}

// fieldOf is one field; nil: it is of a kind that forms do not have.
func fieldOf(field map[string]any) map[string]any {
	kind, _ := field["type"].(string)
	out := map[string]any{"type": kind}
	for _, key := range []string{"title", "description"} {
		if s, ok := field[key].(string); ok && s != "" {
			out[key] = words(s, 300)
		}
	}
	copied := map[string][]string{
		"string":  {"minLength", "maxLength", "default"},
		"number":  {"minimum", "maximum", "default"},
		"integer": {"minimum", "maximum", "default"},
		"boolean": {"default"},
		"array":   {"minItems", "maxItems", "default"},
	}
	keys, known := copied[kind]
	if !known {
		return nil
	}
	for _, key := range keys {
		switch v := field[key].(type) {
		case float64, bool:
			out[key] = v
		case string:
			out[key] = words(v, 1000)
		case []any:
			out[key] = v
		}
	}
	if kind == "string" && field["format"] == "date" {
		out["format"] = "date"
	}
	choices := choicesOf(field)
	if kind == "array" {
		items, _ := field["items"].(map[string]any)
		if choices = choicesOf(items); choices == nil {
			return nil
		}
		out["items"], out["uniqueItems"] = choices, true
		return out
	}
	for key, v := range choices {
		out[key] = v
	}
	return out
}

// choicesOf is what a value is one of, in the ways a server may write it; nil: of
// no list.
func choicesOf(field map[string]any) map[string]any {
	var named []any
	add := func(value, title any) {
		v, ok := value.(string)
		label, _ := title.(string)
		if label = words(label, 200); label == "" {
			label = words(v, 200)
		}
		if ok {
			named = append(named, map[string]any{"const": v, "title": label})
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		list, _ := field[key].([]any)
		for _, one := range list {
			choice, _ := one.(map[string]any)
			add(choice["const"], choice["title"])
		}
	}
	values, _ := field["enum"].([]any)
	titles, _ := field["enumNames"].([]any)
	for i, v := range values {
		var title any
		if i < len(titles) {
			title = titles[i]
		}
		add(v, title)
	}
	if len(named) == 0 || len(named) > 100 {
		return nil
	}
	return map[string]any{"oneOf": named}
}
