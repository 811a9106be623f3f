package palace

import (
	"encoding/json"
	"strings"

	"liminal/internal/capture"
)

// What OpenAI's clients say is read into the parts that Anthropic's are: a text, a use
// of a tool and its result are the same there, by other names. The bytes of a part are
// those of the body all the same.

// leading reports whether a role is one that instructs, which at the beginning of a
// history is its system prompt.
func leading(role string) bool { return role == "system" || role == "developer" }

// split takes what instructs from the beginning of messages.
func (a *asked) split() {
	n := 0
	for n < len(a.messages) && leading(a.messages[n].role) {
		n++
	}
	for i := range n {
		a.messages[i].typ = System
	}
	a.system, a.messages = append(a.system, a.messages[:n]...), a.messages[n:]
}

// readOpenAI reads what both of OpenAI's protocols have in common.
func (a *asked) readOpenAI(body []byte, name string, v capture.Span) {
	raw := body[v.From:v.To]
	switch name {
	case "model":
		_ = json.Unmarshal(raw, &a.model) // then without one
	case "stream":
		_ = json.Unmarshal(raw, &a.stream) // then none
	case "tools":
		a.tools = toolsPart(body, v)
	}
}

// toolsPart is the list of tools; none: there are none.
func toolsPart(body []byte, v capture.Span) []part {
	if v.To-v.From <= len("[]") {
		return nil
	}
	return []part{{typ: Tools, role: "system", hash: hashOfBlock("tools", decoded(body[v.From:v.To])), label: "tools", span: v}}
}

// readChat reads a request for a chat completion.
func readChat(body []byte) (a asked) {
	for name, v := range capture.Members(body, 0) {
		if name != "messages" {
			a.readOpenAI(body, name, v)
			continue
		}
		a.messages = nil
		for e := range capture.Elements(body, v.From) {
			a.messages = append(a.messages, chatMessage(body, e)...)
		}
	}
	a.split()
	return a
}

// chatMessage are the parts of one message of chat completions.
func chatMessage(body []byte, at capture.Span) (out []part) {
	role, result := "", ""
	var content, calls, reasoning capture.Span
	for name, v := range capture.Members(body, at.From) {
		raw := body[v.From:v.To]
		switch name {
		case "role":
			_ = json.Unmarshal(raw, &role) // then nobody's
		case "tool_call_id":
			_ = json.Unmarshal(raw, &result) // then of no use
		case "content":
			content = v
		case "tool_calls":
			calls = v
		case "reasoning_content", "reasoning": // of backends that show it
			reasoning = v
		}
	}
	if role == "tool" || role == "function" {
		return append(out, partOf(chatResult(map[string]any{"tool_call_id": result, "content": decoded(body[content.From:content.To])}), "user", at))
	}
	if text, ok := decoded(body[reasoning.From:reasoning.To]).(string); ok && text != "" {
		out = append(out, partOf(map[string]any{"type": "thinking", "thinking": text}, role, reasoning))
	}
	out = append(out, openAIContent(body, content, role)...)
	if calls.To > calls.From {
		for e := range capture.Elements(body, calls.From) {
			var c chatCall
			_ = json.Unmarshal(body[e.From:e.To], &c) // then one without a name
			out = append(out, partOf(c.use(), role, e))
		}
	}
	return out
}

// chatCall is a use of a tool in chat completions.
type chatCall struct {
	ID       string
	Function struct{ Name, Arguments string }
	Custom   struct{ Name, Input string }
}

func (c chatCall) use() map[string]any {
	if c.Custom.Name != "" {
		return useOf(c.ID, c.Custom.Name, c.Custom.Input)
	}
	return useOf(c.ID, c.Function.Name, c.Function.Arguments)
}

// useOf is a use of a tool, whose input is JSON, or a text that is none.
func useOf(id, name, input string) map[string]any {
	v := decoded([]byte(input))
	if v == nil {
		v = input
	}
	return map[string]any{"type": "tool_use", "id": id, "name": name, "input": v}
}

// openAIContent are the parts of a content, which may be a text.
func openAIContent(body []byte, at capture.Span, role string) (out []part) {
	if at.To <= at.From {
		return nil
	}
	switch v := decoded(body[at.From:at.To]).(type) {
	case string:
		if v != "" { // beside uses of tools
			out = append(out, partOf(map[string]any{"type": "text", "text": v}, role, at))
		}
	case []any:
		for e := range capture.Elements(body, at.From) {
			v, _ := decoded(body[e.From:e.To]).(map[string]any)
			out = append(out, partOf(contentPart(v), role, e))
		}
	}
	return out
}

// contentPart is a part of a content in Anthropic's terms.
func contentPart(v map[string]any) map[string]any {
	switch kind, _ := v["type"].(string); kind {
	case "text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text":
		return map[string]any{"type": "text", "text": textOf(v)}
	case "image_url", "input_image":
		return renamed(v, "image")
	case "file", "input_file", "input_audio":
		return renamed(v, "document")
	}
	return v
}

// renamed is v with another type, and what it was beside it.
func renamed(v map[string]any, kind string) map[string]any {
	out := map[string]any{}
	for name, value := range v {
		out[name] = value
	}
	out["type"], out["openai_type"] = kind, v["type"]
	return out
}

// textOf is what a content says in words.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		for _, name := range []string{"text", "refusal"} {
			if s, ok := v[name].(string); ok {
				return s
			}
		}
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(textOf(e))
		}
		return b.String()
	}
	return ""
}

// readResponses reads a request for a response.
func readResponses(body []byte) (a asked) {
	for name, v := range capture.Members(body, 0) {
		raw := body[v.From:v.To]
		switch name {
		case "instructions":
			a.system = openAIContent(body, v, "system")
		case "previous_response_id", "conversation":
			a.continued = string(raw) != "null"
		case "input":
			a.messages = nil
			if raw[0] == '"' {
				a.messages = openAIContent(body, v, "user")
				continue
			}
			for e := range capture.Elements(body, v.From) {
				item, _ := decoded(body[e.From:e.To]).(map[string]any)
				a.messages = append(a.messages, itemParts(body, item, e)...)
			}
		default:
			a.readOpenAI(body, name, v)
		}
	}
	a.split()
	return a
}

// itemParts are the parts of an item of a response's input or output.
func itemParts(body []byte, item map[string]any, at capture.Span) (out []part) {
	kind, _ := item["type"].(string)
	role, _ := item["role"].(string)
	if kind == "message" || kind == "" && role != "" {
		if role == "" {
			role = "assistant"
		}
		for name, v := range capture.Members(body, at.From) {
			if name == "content" {
				return openAIContent(body, v, role)
			}
		}
		return nil
	}
	v, of := itemValue(item)
	return append(out, partOf(v, of, at))
}

// itemValue is an item that is no message, in Anthropic's terms, and the role of who says
// it.
func itemValue(item map[string]any) (v map[string]any, role string) {
	text := func(name string) string { s, _ := item[name].(string); return s }
	switch kind := text("type"); {
	case kind == "reasoning":
		// It is sent again with what is encrypted of it, and without its id where the
		// backend keeps nothing.
		sign := text("encrypted_content")
		if sign == "" {
			sign = text("id")
		}
		return map[string]any{"type": "thinking", "thinking": textOf(item["summary"]) + textOf(item["content"]), "signature": sign}, "assistant"
	case strings.HasSuffix(kind, "_call_output"):
		return map[string]any{"type": "tool_result", "tool_use_id": text("call_id"), "content": outputOf(item["output"])}, "user"
	case strings.HasSuffix(kind, "_call"):
		id, name, input := text("call_id"), text("name"), text("arguments")+text("input")
		if id == "" { // of a tool that the backend runs itself
			id = text("id")
		}
		if name == "" {
			name = strings.TrimSuffix(kind, "_call")
		}
		if input == "" {
			raw, _ := json.Marshal(item["action"]) // of what was JSON
			input = string(raw)
		}
		return useOf(id, name, input), "assistant"
	default:
		return map[string]any{"type": kind, "item": item}, text("role")
	}
}

// inAnthropicTerms is what the JSON of a block says, in Anthropic's terms, whichever protocol it
// came in.
func inAnthropicTerms(raw []byte) any {
	whole := decoded(raw)
	v, ok := whole.(map[string]any)
	if !ok {
		return whole
	}
	kind, _ := v["type"].(string)
	role, _ := v["role"].(string)
	_, function := v["function"].(map[string]any)
	_, custom := v["custom"].(map[string]any)
	switch {
	case role == "tool", role == "function":
		return chatResult(v)
	case function, custom:
		var c chatCall
		_ = json.Unmarshal(raw, &c) // then one without a name
		return c.use()
	case kind == "message":
		return map[string]any{"type": "text", "text": textOf(v["content"])}
	case kind == "reasoning", strings.HasSuffix(kind, "_call"), strings.HasSuffix(kind, "_call_output"):
		v, _ = itemValue(v)
		return v
	}
	return contentPart(v)
}

// chatResult is a message of chat completions that is the result of a tool.
func chatResult(message map[string]any) map[string]any {
	use, _ := message["tool_call_id"].(string) // without it, of no use
	return map[string]any{"type": "tool_result", "tool_use_id": use, "content": textOf(message["content"])}
}

// outputOf is the content of a result: a text, or parts as they are.
func outputOf(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, e := range list {
		if m, ok := e.(map[string]any); ok {
			out[i] = contentPart(m)
		}
	}
	return out
}
