package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// canAsk reports whether a client shows its person forms.
func (c *mcpCall) canAsk() bool {
	can := c.req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// forms are questions as the protocol asks them, by their ids; false: one of them
// asks for more than its forms can say.
func (c *mcpCall) forms(open []run.Interrupt) (map[string]*mcp.ElicitParams, bool) {
	all := make(map[string]*mcp.ElicitParams, len(open))
	titled := c.req.ProtocolVersion() >= titledSince
	for _, q := range open {
		schema, ok := mcpForm(q, titled)
		if !ok {
			return nil, false
		}
		all[q.ID] = &mcp.ElicitParams{Mode: "form", Message: q.Message, RequestedSchema: schema}
	}
	return all, true
}

// answerField is the one field of a form for a question that is no form itself.
const answerField = "answer"

// mcpForm is a question as a form of the protocol, whose fields are texts, numbers,
// yes or no, and choices.
func mcpForm(q run.Interrupt, titled bool) (map[string]any, bool) {
	one := func(field map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": map[string]any{answerField: field}, "required": []string{answerField}}
	}
	if len(q.Options) > 0 {
		ids, names := make([]string, len(q.Options)), make([]string, len(q.Options))
		for i, o := range q.Options {
			ids[i], names[i] = o.ID, o.Label
		}
		return one(choice(ids, names, titled)), true
	}
	if len(q.AnswerSchema) == 0 {
		return one(map[string]any{"type": "string", "minLength": 1}), true
	}
	f := formOf(q)
	if f.Type != "object" {
		var whole map[string]any
		if json.Unmarshal(q.AnswerSchema, &whole) != nil {
			return nil, false
		}
		field, ok := mcpField(whole, titled)
		return one(field), ok
	}
	fields := map[string]any{}
	for name, p := range f.Properties {
		field, ok := mcpField(p, titled)
		if ok {
			fields[name] = field
		} else if slices.Contains(f.Required, name) {
			return nil, false
		}
	}
	return map[string]any{"type": "object", "properties": fields, "required": append([]string{}, f.Required...)}, len(fields) > 0
}

func choice(ids, names []string, titled bool) map[string]any {
	if !titled {
		return map[string]any{"type": "string", "enum": ids, "enumNames": names}
	}
	options := make([]map[string]string, len(ids))
	for i := range ids {
		options[i] = map[string]string{"const": ids[i], "title": names[i]}
	}
	return map[string]any{"type": "string", "oneOf": options}
}

// kept are the members of a field's schema that the protocol has too.
var keptOfField = map[string][]string{
	"string":  {"title", "description", "default", "minLength", "maxLength", "format"},
	"number":  {"title", "description", "default", "minimum", "maximum"},
	"integer": {"title", "description", "default", "minimum", "maximum"},
	"boolean": {"title", "description", "default"},
}

// mcpField is a field as the protocol has it; false: it has none such.
func mcpField(p map[string]any, titled bool) (map[string]any, bool) {
	kind, _ := p["type"].(string)
	field := map[string]any{"type": kind}
	ids, names := choicesOf(p)
	switch {
	case len(ids) > 0:
		field = choice(ids, names, titled)
		kind = "string"
	case kind == "array":
		items, _ := p["items"].(map[string]any)
		if ids, names = choicesOf(items); len(ids) == 0 || !titled {
			return nil, false
		}
		options := choice(ids, names, true)["oneOf"]
		return map[string]any{"type": "array", "items": map[string]any{"anyOf": options}}, true
	case keptOfField[kind] == nil:
		return nil, false
	}
	for _, name := range keptOfField[kind] {
		v, there := p[name]
		format, _ := v.(string)
		if there && (name != "format" || slices.Contains([]string{"email", "uri", "date", "date-time"}, format)) {
			field[name] = v
		}
	}
	return field, true
}

// choicesOf are the texts a field is one of, with what each is called.
func choicesOf(p map[string]any) (ids, names []string) {
	ids = constants(p)
	names = slices.Clone(ids)
	options, _ := p["oneOf"].([]any)
	for _, o := range options {
		one, _ := o.(map[string]any)
		id, _ := one["const"].(string)
		if title, ok := one["title"].(string); ok {
			if i := slices.Index(ids, id); i >= 0 {
				names[i] = title
			}
		}
	}
	return ids, names
}

// elicited is a person's answer to a question by what their client sent; false: they
// left it open.
func elicited(q run.Interrupt, said *mcp.ElicitResult) (run.Answer, bool) {
	switch {
	case said == nil:
	case said.Action == "decline":
		return run.Answer{Cancel: true}, true
	case said.Action == "accept" && (len(q.Options) > 0 || len(q.AnswerSchema) == 0 || formOf(q).Type != "object"):
		return run.Answer{Value: said.Content[answerField]}, true
	case said.Action == "accept":
		value := map[string]any{}
		for name, v := range said.Content {
			value[name] = v
		}
		return run.Answer{Value: value}, true
	}
	return run.Answer{}, false
}

// take gives a person's answer to the run. One that was given elsewhere meanwhile
// counts, and this one does not.
func (c *mcpCall) take(ctx context.Context, q run.Interrupt, a run.Answer) error {
	raw, err := json.Marshal(a.Value)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The answer is no JSON.")
	}
	if err := checkJSON(raw); err != nil {
		return err
	}
	_, err = c.Engine.Answer(ctx, c.viewer, q.ID, a)
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// elicit asks the person through their client, while the call waits. left: a
// question stays open, as they or their client did not say.
func (c *mcpCall) elicit(ctx context.Context, open []run.Interrupt, forms map[string]*mcp.ElicitParams) (left bool, err error) {
	for _, q := range open {
		said, elsewhere := c.show(ctx, q, forms[q.ID])
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		a, ok := elicited(q, said)
		switch {
		case elsewhere:
		case !ok:
			left = true
		default:
			if err := c.take(ctx, q, a); err != nil {
				return true, err
			}
		}
	}
	return left, nil
}

// show shows a form until it is answered, here or elsewhere, or nobody does. nil:
// nobody did here.
func (c *mcpCall) show(ctx context.Context, q run.Interrupt, form *mcp.ElicitParams) (said *mcp.ElicitResult, elsewhere bool) {
	asking, stop := context.WithTimeout(ctx, c.waits)
	defer stop()
	var settled atomic.Bool
	go func() {
		look := time.NewTicker(c.looks)
		defer look.Stop()
		for {
			select {
			case <-asking.Done():
				return
			case <-look.C:
				if now, err := c.Interrupts.Interrupt(asking, c.viewer, q.ID); err == nil && now.Status != run.Pending {
					settled.Store(true)
					stop()
				}
			}
		}
	}()
	said, err := c.req.Session.Elicit(asking, form)
	if err != nil {
		if ctx.Err() == nil && asking.Err() == nil {
			c.Logger.WarnContext(ctx, "a client of the Model Context Protocol could not ask", "error", err)
		}
		return nil, settled.Load()
	}
	return said, false
}

// asked is what a client holds between a question and the call that answers it.
type mcpState struct {
	Run     string    `json:"run"`
	IDs     []string  `json:"ids"`
	After   int64     `json:"after"`
	Expires time.Time `json:"expires"`
}

// mcpStateLife is how long a call may take to come back with an answer. The
// question itself may wait longer.
const mcpStateLife = 24 * time.Hour

// sealedTo binds a state to its person.
func sealedTo(v identity.Viewer) string { return "state " + v.UserID }

// inputRequired is the result that asks for answers in the next call.
func (c *mcpCall) inputRequired(r run.Run, forms map[string]*mcp.ElicitParams) *mcp.CallToolResult {
	ctx := context.Background()
	state := mcpState{Run: r.ID, After: c.lastSeq(ctx, r.ID), Expires: c.Now().Add(mcpStateLife)}
	requests := mcp.InputRequestMap{}
	for id, form := range forms {
		state.IDs = append(state.IDs, id)
		requests[id] = form
	}
	slices.Sort(state.IDs)
	return &mcp.CallToolResult{
		InputRequests: requests,
		RequestState:  base64.RawURLEncoding.EncodeToString(c.state.Seal(sealedTo(c.viewer), asJSON(state))),
	}
}

// resumed goes on with a call that was asked for answers; again: this is such a
// call. What the rest of it says does not count.
func (c *mcpCall) resumed(ctx context.Context) (res *mcp.CallToolResult, again bool, err error) {
	if c.req.Params.RequestState == "" {
		return nil, false, nil
	}
	var state mcpState
	sealed, err := base64.RawURLEncoding.DecodeString(c.req.Params.RequestState)
	if err == nil {
		var raw string
		if raw, err = c.mcpServer.state.Open(sealedTo(c.viewer), sealed); err == nil {
			err = json.Unmarshal([]byte(raw), &state)
		}
	}
	if err != nil || !c.Now().Before(state.Expires) {
		return nil, true, fault.New(fault.Invalid, "This answer comes too late, or belongs to another call. The tools runs and run say what waits.")
	}
	r, err := c.Runs.Run(ctx, c.viewer, state.Run)
	if err != nil {
		return nil, true, err
	}
	left := []run.Interrupt{}
	for _, id := range state.IDs {
		q, err := c.Interrupts.Interrupt(ctx, c.viewer, id)
		if err != nil {
			return nil, true, err
		}
		said, _ := c.req.Params.InputResponses[id].(*mcp.ElicitResult)
		a, ok := elicited(q, said)
		switch {
		case q.Status != run.Pending: // answered elsewhere
		case !ok:
			left = append(left, q)
		default:
			if err := c.take(ctx, q, a); err != nil {
				return nil, true, err
			}
		}
	}
	if len(left) > 0 {
		return c.waiting(r, left), true, nil
	}
	res, err = c.follow(ctx, r, state.After)
	return res, true, err
}
