package builtin

import (
	"context"
	"encoding/json"
	"fmt"

	"liminal/internal/fault"
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
	offered, strangers, err := t.offered(ctx, c)
	if err != nil {
		return nil, err
	}
	talk, err := t.dialogue(ctx, c)
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
		// What a model says before it calls tools is not the answer.
		c.Emit(stream.ResetData{Reason: stream.ResetTools})
	}
	return t.outputs(s)
}

// offered finds the tools the model may ask for, as it sees them. One that is
// gone meanwhile, or that this program cannot run, is not offered. strangers
// are those whose results are nobody's here (TOOL-08).
func (t step) offered(ctx context.Context, c *tool.Call) (tools []model.Tool, strangers map[string]bool, err error) {
	names := texts(c.Inputs["tools"])
	if len(names) == 0 || t.catalog == nil {
		return nil, nil, nil
	}
	bound, err := t.catalog.Tools(ctx, c.Viewer, names...)
	if err != nil {
		return nil, nil, err
	}
	strangers = map[string]bool{}
	for _, name := range names {
		if b, ok := bound[name]; ok && !t.absent[name] {
			if b.ContentType == stranger {
				strangers[name] = true
			}
			tools = append(tools, model.Tool{Name: b.Name, Description: b.Description, InputSchema: b.InputSchema, ReadOnly: b.ReadOnly})
		}
	}
	return tools, strangers, nil
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
	for i, call := range s.calls {
		arguments := map[string]any{}
		if len(call.Input) > 0 {
			if err := json.Unmarshal(call.Input, &arguments); err != nil {
				return nil, fault.Wrap(fault.Internal, err, "The model called %s with arguments that are no JSON object.", call.Name)
			}
		}
		calls = append(calls, map[string]any{"id": callID(call, i), "name": call.Name, "arguments": arguments})
	}
	blocks := s.blocks
	if blocks == nil {
		blocks = []model.Block{}
	}
	out := s.result(t.model)
	out["text"], out["content"], out["tool_calls"] = out["answer"], blocks, calls
	delete(out, "answer")
	return out, nil
}

// callID is the provider's id, or one by place for those that give none.
func callID(call model.Event, place int) string {
	if call.ID != "" {
		return call.ID
	}
	return fmt.Sprintf("call_%d", place+1)
}
