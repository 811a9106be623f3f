package capturetest

import (
	"encoding/json"
	"fmt"
)

// History is what a client says and was told, which it sends as a whole each time.
type History struct {
	Model  string
	Tools  []string
	Thinks bool
	// Cached has the last message marked as the end of what is cached.
	Cached bool

	messages []map[string]any
}

// Use is a call of a tool that the model asked for.
type Use struct {
	ID    string
	Name  string
	Input map[string]any
}

// Says adds what the user says.
func (h *History) Says(text string) {
	h.messages = append(h.messages, map[string]any{"role": "user", "content": text})
}

// Answered adds the answer of the model, a message as JSON, and returns what it calls.
func (h *History) Answered(message []byte) (uses []Use, err error) {
	var m struct {
		Type    string
		Content []map[string]any
	}
	if err := json.Unmarshal(message, &m); err != nil || m.Type != "message" {
		return nil, fmt.Errorf("no message: %s (%w)", message, err)
	}
	content := []any{}
	for _, p := range m.Content {
		content = append(content, p)
		if p["type"] == "tool_use" {
			u := Use{}
			u.ID, _ = p["id"].(string)
			u.Name, _ = p["name"].(string)
			u.Input, _ = p["input"].(map[string]any)
			uses = append(uses, u)
		}
	}
	h.messages = append(h.messages, map[string]any{"role": "assistant", "content": content})
	return uses, nil
}

// Result is what a tool said.
type Result struct{ ID, Text string }

// Ran adds the results of tools.
func (h *History) Ran(results ...Result) {
	var content []any
	for _, r := range results {
		content = append(content, map[string]any{"type": "tool_result", "tool_use_id": r.ID, "content": r.Text})
	}
	h.messages = append(h.messages, map[string]any{"role": "user", "content": content})
}

// Len is how many messages there are.
func (h *History) Len() int { return len(h.messages) }

// Cut forgets all but the first messages.
func (h *History) Cut(to int) { h.messages = h.messages[:to] }

// Body is the request that the client sends.
func (h *History) Body() []byte {
	doc := map[string]any{"model": h.Model, "max_tokens": 1000, "system": "An invented system prompt.", "messages": h.messages}
	tools := []any{}
	for _, name := range h.Tools {
		tools = append(tools, map[string]any{"name": name, "input_schema": map[string]any{"type": "object"}})
	}
	if len(tools) > 0 {
		doc["tools"] = tools
	}
	if h.Thinks {
		doc["thinking"] = map[string]any{"type": "adaptive"}
	}
	if h.Cached && len(h.messages) > 0 {
		doc["messages"] = append(h.messages[:len(h.messages)-1:len(h.messages)-1], marked(h.messages[len(h.messages)-1]))
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err) // of what was JSON
	}
	return raw
}

// marked is a message whose last block is the end of what is cached.
func marked(m map[string]any) map[string]any {
	content := list(m["content"])
	out := append([]any{}, content...)
	last, _ := out[len(out)-1].(map[string]any)
	with := map[string]any{"cache_control": map[string]any{"type": "ephemeral"}}
	for name, v := range last {
		with[name] = v
	}
	out[len(out)-1] = with
	return map[string]any{"role": m["role"], "content": out}
}
