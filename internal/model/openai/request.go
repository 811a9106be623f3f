package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"liminal/internal/model"
	"liminal/internal/words"
)

// question is a request as it is sent, and what reading its answer needs.
type question struct {
	model     string // asked; empty: the server's choice
	req       model.Request
	system    string
	applied   model.Applied
	names     *model.ToolNames
	passages  []model.Block
	dialect   dialect
	lacks     map[string]bool
	plainJSON bool // the server refused to be bound by the schema: it is only told
}

// dialect is what of the protocol differs by backend.
type dialect struct {
	model.Backend
	param string // of adapter ids
	own   bool   // the server is OpenAI's or Azure's, and no other that speaks like it
}

// question says a request in the protocol's words.
func (p *provider) question(ctx context.Context, req model.Request) *question {
	applied := model.Apply(p.Backend, req.Adapters)
	d := dialect{p.Backend, cmp.Or(p.AdapterParam, "adapter_id"), p.own()}
	applied = d.servable(applied)
	applied.Approximate = d.approximates(applied.Params)
	model.TellApplied(ctx, applied)
	ours := cmp.Or(req.Model, p.Model)
	for _, lost := range applied.Dropped {
		p.Logger.InfoContext(ctx, "adapter_dropped",
			"adapter", lost.ID, "reason", lost.Reason, "weight", lost.Weight, "backend", p.Backend.Name, "model", ours)
	}
	q := &question{
		model: cmp.Or(applied.Model, d.asModel(applied), ours), req: req, applied: applied,
		names: &model.ToolNames{}, passages: model.Passages(req.Messages), dialect: d,
	}
	for _, t := range req.Tools {
		q.names.Send(t.Name) // before names in the dialogue, so that they keep theirs from turn to turn
	}
	q.system = q.instructions()
	q.lacks = p.lacks.of(q.model)
	return q
}

// instructions are the system text with what adapters and citing add to it.
func (q *question) instructions() string {
	texts := []string{q.req.System, q.applied.System}
	if q.cites() {
		texts = append(texts, model.CiteByNumber)
	}
	return joined(texts...)
}

// cites reports whether markers in the answer are citations. In JSON brackets
// are lists.
func (q *question) cites() bool { return len(q.passages) > 0 && q.req.Schema == nil }

func joined(texts ...string) string {
	var out []string
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n\n")
}

// message is one message as it is sent. Content is a plain string: not every
// server takes a list of parts.
type message struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	ToolCalls []sentCall `json:"tool_calls,omitempty"`
	ToolID    string     `json:"tool_call_id,omitempty"`
}

type sentCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function sentFunction `json:"function"`
}

type sentFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type sentTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// body is the request without what the server is known to refuse.
func (q *question) body() (string, error) {
	out := map[string]any{"messages": q.messages(), "stream": true}
	set := func(name string, value any, wanted bool) {
		if wanted && !q.lacks[name] {
			out[name] = value
		}
	}
	set("model", q.model, q.model != "")
	set("stream_options", map[string]any{"include_usage": true}, true)
	set("temperature", q.req.Temperature, q.req.Temperature != nil)
	set("top_p", q.req.TopP, q.req.TopP != nil)
	set("user", q.req.User, q.req.User != "")
	set(q.limit(), q.req.MaxTokens, q.req.MaxTokens > 0)
	set("tools", q.tools(), len(q.req.Tools) > 0)
	set("response_format", q.format(), q.req.Schema != nil && !q.plainJSON)
	q.dialect.adapters(out, q.applied.Params)
	doc, err := json.Marshal(out)
	return string(doc), err
}

// frame is about what templates put around one message, in tokens.
const frame = 4

// tokens estimates the size of what was sent.
func (q *question) tokens() int {
	n := 0
	for _, m := range q.messages() {
		n += frame
		if m.Content != nil {
			n += words.Tokens(*m.Content)
		}
		for _, c := range m.ToolCalls {
			n += words.Tokens(c.Function.Name) + words.Tokens(c.Function.Arguments)
		}
	}
	for _, t := range q.req.Tools {
		n += frame + words.Tokens(t.Name) + words.Tokens(t.Description) + words.Tokens(string(t.InputSchema))
	}
	return max(1, n)
}

// The two names of the limit of an answer. OpenAI's newer models refuse the
// older; many other servers pass over the newer without a word.
const (
	olderLimit = "max_tokens"
	newerLimit = "max_completion_tokens"
)

func (q *question) limit() string {
	if q.dialect.own && !q.lacks[newerLimit] || q.lacks[olderLimit] {
		return newerLimit
	}
	return olderLimit
}

func (q *question) tools() []sentTool {
	var out []sentTool
	for _, t := range q.req.Tools {
		s := sentTool{Type: "function"}
		s.Function.Name, s.Function.Description, s.Function.Parameters = q.names.Send(t.Name), t.Description, t.InputSchema
		if len(t.InputSchema) == 0 {
			s.Function.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, s)
	}
	return out
}

// messages are the dialogue. Several of one role in a row are joined: the
// templates of many open models refuse them.
func (q *question) messages() []message {
	var out []message
	system := q.system
	if q.plainJSON {
		system = joined(system, asJSON(q.req.Schema))
	}
	if system != "" {
		out = append(out, message{Role: "system", Content: &system})
	}
	n := 0
	for _, m := range q.req.Messages {
		for _, next := range q.message(m, &n) {
			last := len(out) - 1
			if last >= 0 && out[last].joins(next) {
				text := joined(*out[last].Content, *next.Content)
				out[last].Content = &text
				continue
			}
			out = append(out, next)
		}
	}
	return out
}

// joins reports whether both are plain words of one side.
func (m message) joins(next message) bool {
	plain := func(m message) bool { return m.Content != nil && m.ToolCalls == nil && m.ToolID == "" }
	return m.Role == next.Role && m.Role != "system" && plain(m) && plain(next)
}

// message says one message of ours; results of tools are messages of their
// own and come first. n counts the passages.
func (q *question) message(m model.Message, n *int) []message {
	var results []message
	var texts []string
	var calls []sentCall
	for _, b := range m.Content {
		switch b.Type {
		case model.Text:
			texts = append(texts, b.Text)
		case model.Passage:
			*n++
			texts = append(texts, model.Numbered(*n, b))
		case model.ToolUse:
			calls = append(calls, sentCall{b.ID, "function", sentFunction{q.names.Send(b.Name), cmp.Or(string(b.Input), "{}")}})
		case model.ToolResult:
			text := b.Text
			if b.IsError {
				text = "Error: " + text
			}
			results = append(results, message{Role: "tool", Content: &text, ToolID: b.ID})
		default: // thoughts are not sent back
		}
	}
	text := joined(texts...)
	own := message{Role: string(m.Role), ToolCalls: calls}
	if text != "" {
		own.Content = &text
	}
	if text == "" && calls == nil {
		return results
	}
	return append(results, own)
}
