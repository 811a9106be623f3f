package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/data"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
)

// step is one step of an agent node's loop: the model speaks, and may name
// tools it wants called. The machine calls them and asks for the next step
// with the transcript grown by both.
type step struct {
	completer
	catalog Catalog
	absent  map[string]bool // tools this program cannot run
}

func (step) Name() string { return "llm.step_v1" }

func (t step) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	offered, specs, err := t.offered(ctx, c)
	if err != nil {
		return nil, err
	}
	strangers := strange(specs)
	for _, brought := range callerTools(c.Inputs["caller_tools"]) {
		offered, strangers[brought.Name] = append(offered, brought), true
	}
	talk, err := t.dialogue(ctx, c, toldBeside(c, offered))
	if err != nil {
		return nil, err
	}
	if text := words(c, "message"); text != "" {
		talk.messages = append(talk.messages, says(model.User, text))
	}
	transcript, err := t.transcript(c.Inputs["transcript"])
	if err != nil {
		return nil, err
	}
	if t.gate, err = t.gated(ctx, c, specs, transcript, talk); err != nil {
		return nil, err
	}
	rule := ""
	if t.on(c).model.Generative() && (frame(transcript, strangers) || len(strangers) > 0) {
		rule = webaccess.Rule
	}
	s, err := t.speak(ctx, c, model.Request{
		Model: words(c, "model"), Task: "agent", System: paragraphs(words(c, "system"), rule, talk.note),
		Messages: append(talk.messages, transcript...), Tools: offered, MaxTokens: number(c, "max_tokens", 0),
	})
	if err != nil {
		return nil, err
	}
	if c.Final && len(s.calls) > 0 && s.text.Len() > 0 {
		// What a model says before it calls tools is not the answer, but for what
		// an earlier step has shown of it.
		s.takeBack(c)
	}
	return t.outputs(s)
}

// toldBeside is how many tokens a model is told with the conversation, where the turn
// is held to a number of them.
func toldBeside(c *tool.Call, offered []model.Tool) int {
	if c.Bounds == nil {
		return 0
	}
	n := tokens(words(c, "system"))
	for _, t := range offered {
		n += tokens(t.Name + t.Description + string(t.InputSchema))
	}
	return n
}

// takeBack drops the words of a step that goes on with tools.
func (s *completion) takeBack(c *tool.Call) {
	c.Emit(stream.ResetData{Reason: stream.ResetTools})
	said, ok := graph.Said(c.Inputs)
	if !ok {
		return
	}
	s.text.Reset()
	if s.records = nil; said != "" {
		c.Emit(stream.TokenData(said))
	}
	s.goOn(c)
	for _, r := range saidRecords(c) {
		c.Emit(chat.Chip(r))
	}
}

// saidRecords are the links of what an earlier step has shown.
func saidRecords(c *tool.Call) []model.Record {
	said, _ := c.Inputs["said"].(map[string]any)
	list, _ := said["citations"].([]any)
	return chat.ReadRecords(list)
}

// strange are the tools whose results are nobody's here (TOOL-08).
func strange(specs map[string]tool.Spec) map[string]bool {
	strangers := map[string]bool{}
	for name, s := range specs {
		if s.Strange() {
			strangers[name] = true
		}
	}
	return strangers
}

// offered finds the tools the model may ask for, as it sees them, and their
// specs. One that is gone meanwhile, or that this program cannot run, is not
// offered.
func (t step) offered(ctx context.Context, c *tool.Call) (tools []model.Tool, specs map[string]tool.Spec, err error) {
	names := texts(c.Inputs["tools"])
	if len(names) == 0 || t.catalog == nil {
		return nil, nil, nil
	}
	bound, err := t.catalog.Tools(ctx, c.Viewer, names...)
	if err != nil {
		return nil, nil, err
	}
	specs = map[string]tool.Spec{}
	for _, name := range names {
		if b, ok := bound[name]; ok && !t.absent[name] {
			specs[name] = b.Spec
			tools = append(tools, offer(b.Spec))
		}
	}
	return tools, specs, nil
}

// callerTools are the tools that the program brought which began the run, and makes
// the calls of. What it says came of them is a stranger's word.
func callerTools(v any) []model.Tool {
	list, _ := v.([]any)
	tools := make([]model.Tool, 0, len(list))
	for _, one := range list {
		t, _ := one.(map[string]any)
		name, _ := t["name"].(string)
		description, _ := t["description"].(string)
		schema, err := json.Marshal(t["parameters"])
		if name == "" || err != nil {
			continue
		}
		if t["parameters"] == nil {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		tools = append(tools, model.Tool{Name: graph.CallerTool(name), Description: description, InputSchema: schema})
	}
	return tools
}

// offer is a tool as a model sees it.
func offer(s tool.Spec) model.Tool {
	t := model.Tool{Name: s.Name, Description: s.Description, InputSchema: s.InputSchema, ReadOnly: s.ReadOnly}
	if plain := withoutHints(s.InputSchema); plain != nil {
		t.InputSchema, t.Hints = plain, s.InputSchema
	}
	for _, e := range s.Examples {
		if len(e.Asks) > 0 {
			t.Examples = append(t.Examples, model.ToolExample{Asks: e.Asks, Inputs: e.Inputs})
		}
	}
	if len(s.Shows) > 0 {
		t.Tell = func(out map[string]any, locale string) []model.ToolRecords { return recordsOf(s, out, locale) }
	}
	return t
}

// withoutHints is an input schema without what is for the keyless model only, the
// members x-…: a server may refuse keywords it does not know. nil: it has none.
func withoutHints(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"x-`)) {
		return nil
	}
	var doc any
	if json.Unmarshal(schema, &doc) != nil {
		return nil
	}
	plain, err := json.Marshal(hintless(doc))
	if err != nil {
		return nil
	}
	return plain
}

func hintless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			if !strings.HasPrefix(name, "x-") {
				out[name] = hintless(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = hintless(inner)
		}
		return out
	}
	return v
}

// recordsOf are the records of a result as people read them, with the pages its
// source gives them.
func recordsOf(s tool.Spec, out map[string]any, locale string) []model.ToolRecords {
	name, entities := entitiesOf(s)
	told := make([]model.ToolRecords, 0, len(s.Shows))
	for _, shown := range s.Shows {
		kind := model.ToolRecords{Heading: shown.Heading.In(locale), Empty: shown.Empty.In(locale)}
		for _, r := range shown.Records(out, locale) {
			one := model.Record{Entity: r.Entity, ID: r.ID, Title: r.Title, Line: r.Line}
			if e, known := entities[r.Entity]; known && r.ID != "" {
				one.Source, one.Href = name, data.PageOf(name, r.Entity, e, r.ID)
			}
			kind.Records = append(kind.Records, one)
		}
		told = append(told, kind)
	}
	return told
}

// entitiesOf are the kinds of records with pages of a tool's source.
func entitiesOf(s tool.Spec) (source string, entities map[string]data.Entity) {
	for s.Via != nil && s.Via.Tool != nil && s.Over != nil && s.Over.Spec != nil {
		s = *s.Over.Spec
	}
	if s.Via == nil || s.Via.Query == nil || s.Over == nil {
		return "", nil
	}
	d, err := data.Decode(s.Over.Source)
	if err != nil {
		return "", nil
	}
	return s.Via.Query.Source, d.Entities
}

// frame wraps what strangers' tools returned as data (SAFE-06), and reports
// whether there was any: a tool whose spec says so, or a result that does.
func frame(transcript []model.Message, strangers map[string]bool) (framed bool) {
	by := map[string]string{} // the tool of a use
	for _, m := range transcript {
		for i := range m.Content {
			b := &m.Content[i]
			switch b.Type {
			case model.ToolUse:
				by[b.ID] = b.Name
			case model.ToolResult:
				name, known := by[b.ID]
				if strangers[name] || !known && len(strangers) > 0 || foreign(b.Text) {
					b.Text, framed = webaccess.Frame(name, b.Text), true
				}
			default:
			}
		}
	}
	return framed
}

// foreign: the result itself says that a stranger wrote it.
func foreign(result string) bool {
	var said struct {
		ContentType string `json:"content_type"`
	}
	return json.Unmarshal([]byte(result), &said) == nil && said.ContentType == stranger
}

// entry is one message of the transcript as the machine keeps it: the blocks
// this tool returned as content, or the results of the tools.
type entry struct {
	Role    model.Role `json:"role"`
	Content []struct {
		model.Block
		ToolUseID string          `json:"tool_use_id"`
		Result    json.RawMessage `json:"content"`
	} `json:"content"`
}

func (step) transcript(v any) ([]model.Message, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var entries []entry
	if err := json.Unmarshal(doc, &entries); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The transcript is not readable: it is a list of {role, content}, content being a list of blocks.")
	}
	messages := make([]model.Message, 0, len(entries))
	for _, e := range entries {
		m := model.Message{Role: e.Role}
		for _, b := range e.Content {
			block := b.Block
			if block.Type == model.ToolResult {
				block.ID, block.Text = b.ToolUseID, resultText(b.Result)
			}
			m.Content = append(m.Content, block)
		}
		if len(m.Content) > 0 {
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// resultText is a tool's result as text: a JSON string is itself.
func resultText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func (t step) outputs(s *completion) (map[string]any, error) {
	calls := make([]any, 0, len(s.calls))
	blocks := slices.Clone(s.blocks)
	for i, call := range s.calls {
		given, object := map[string]any{}, true
		if len(call.Input) > 0 {
			object = json.Unmarshal(call.Input, &given) == nil && given != nil
		}
		one := map[string]any{"id": callID(call, i), "name": call.Name, "arguments": given}
		if !object {
			// The machine tells the model so, as the call's error (CLAUDE-13); servers
			// take objects only where the call is told back to them.
			one["arguments"] = string(call.Input)
			for k := range blocks {
				if b := &blocks[k]; b.Type == model.ToolUse && b.ID == call.ID && b.Name == call.Name {
					b.Input = json.RawMessage(`{}`)
				}
			}
		}
		calls = append(calls, one)
	}
	if blocks == nil {
		blocks = []model.Block{}
	}
	out := s.result(t.model)
	out["text"], out["content"], out["tool_calls"] = out["answer"], blocks, calls
	delete(out, "answer")
	if len(s.records) > 0 {
		out["citations"] = linked(s.records)
	}
	if t.gate != nil {
		t.gate.grounds(out, s)
	}
	return out, nil
}

// linked are records as they travel through a run, beside quotes: chat.ReadRecords
// reads them.
func linked(records []model.Record) []any {
	list := make([]any, len(records))
	for i, r := range records {
		list[i] = map[string]any{"record": map[string]any{"source": r.Source, "entity": r.Entity, "id": r.ID, "title": r.Title, "href": r.Href}}
		if r.Action != "" {
			list[i].(map[string]any)["record"].(map[string]any)["action"] = r.Action
		}
	}
	return list
}

// callID is the provider's id, or one by place for those that give none.
func callID(call model.Event, place int) string {
	if call.ID != "" {
		return call.ID
	}
	return fmt.Sprintf("call_%d", place+1)
}
