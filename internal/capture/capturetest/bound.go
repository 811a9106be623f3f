package capturetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Binding has a backend hold a request against what Anthropic's documentation says of
// tools and of thinking that is bound to what stood before it: a signature names the
// system prompt, the tools and the messages that it was made behind, and the thinking
// before it. Where cache breakpoints stand is not part of that.
type Binding struct {
	// Unaware are models that do not check what thinking is bound to, and do not know
	// block_binding.
	Unaware []string
}

// Judged is what a backend found of a request.
type Judged struct {
	Path string
	// Problem is why it was refused; "": it was not.
	Problem string
	// Dropped is how many blocks of thinking were left out.
	Dropped int
	// Paths are where they stood, and Told says that the backend tells so.
	Paths []string
	Told  bool
}

// transformations are what a message says of them; nil: nothing.
func (j Judged) transformations() []any {
	if !j.Told {
		return nil
	}
	out := []any{}
	for _, path := range j.Paths {
		out = append(out, map[string]any{"type": "thinking_dropped", "path": path, "reason": "prefix_binding_mismatch"})
	}
	return out
}

// bindingBeta is the value of anthropic-beta with which block_binding is known.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// Judged is what was found of the requests so far, where the backend looks.
func (u *Upstream) Judged() []Judged {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.judged)
}

// judge holds a request against the rules, if the backend does so.
func (u *Upstream) judge(r *http.Request, body []byte) (j Judged) {
	if u.Binding == nil {
		return j
	}
	j.Path = r.URL.Path
	var b bound
	if err := b.read(body); err != nil {
		j.Problem = err.Error()
	} else {
		b.unaware = slices.Contains(u.Binding.Unaware, b.model)
		beta := strings.Join(r.Header.Values("Anthropic-Beta"), ",")
		j.Problem, j.Paths = b.judge(beta)
		j.Dropped, j.Told = len(j.Paths), b.thinks && !b.unaware && strings.Contains(beta, bindingBeta)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.judged = append(u.judged, j)
	return j
}

// thought is a block of thinking that is bound to a request; nil where it asks for none.
func (u *Upstream) thought(body []byte, n int) map[string]any {
	var b bound
	if u.Binding == nil || b.read(body) != nil || !b.thinks {
		return nil
	}
	before := ""
	for _, m := range b.messages {
		for _, p := range m.content {
			if s, ok := bindingOf(p); ok {
				before = s.id
			}
		}
	}
	return map[string]any{"type": "thinking", "thinking": fmt.Sprintf("An invented thought, number %d.", n), "signature": binding{b.prefix(len(b.messages)), fmt.Sprint(n), before}.String()}
}

// binding is what a signature says: what it was made behind, its own name, and that of
// the thinking before it.
type binding struct{ prefix, id, before string }

func (b binding) String() string { return "B." + b.prefix + "." + b.id + "." + b.before }

func bindingOf(block map[string]any) (b binding, ok bool) {
	text, _ := block["signature"].(string)
	f := strings.Split(text, ".")
	if block["type"] != "thinking" || len(f) != 4 || f[0] != "B" {
		return b, false
	}
	return binding{f[1], f[2], f[3]}, true
}

// bound is a request as the rules see it.
type bound struct {
	model    string
	system   any
	tools    []any
	messages []boundMessage
	thinks   bool
	unaware  bool
	binding  map[string]any // thinking.block_binding
}

type boundMessage struct {
	role    string
	content []map[string]any
	doc     map[string]any
}

func (b *bound) read(body []byte) error {
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		return err
	}
	b.model, _ = doc["model"].(string)
	b.system = list(doc["system"])
	for _, t := range list(doc["tools"]) {
		if tool, _ := t.(map[string]any); tool["defer_loading"] != true {
			b.tools = append(b.tools, t)
		}
	}
	thinking, _ := doc["thinking"].(map[string]any)
	b.thinks = thinking["type"] == "adaptive" || thinking["type"] == "enabled"
	b.binding, _ = thinking["block_binding"].(map[string]any)
	for _, m := range list(doc["messages"]) {
		one := boundMessage{}
		one.doc, _ = m.(map[string]any)
		one.role, _ = one.doc["role"].(string)
		for _, p := range list(one.doc["content"]) {
			block, _ := p.(map[string]any)
			one.content = append(one.content, block)
		}
		b.messages = append(b.messages, one)
	}
	return nil
}

// list is a content as a list: a text is one block.
func list(v any) []any {
	if text, ok := v.(string); ok {
		return []any{map[string]any{"type": "text", "text": text}}
	}
	out, _ := v.([]any)
	return out
}

// prefix names what stands before a message.
func (b *bound) prefix(to int) string {
	var messages []any
	for _, m := range b.messages[:to] {
		var content []any
		for _, p := range m.content {
			if p["type"] != "thinking" && p["type"] != "redacted_thinking" {
				content = append(content, settled(p))
			}
		}
		messages = append(messages, map[string]any{"role": m.role, "content": content})
	}
	raw, err := json.Marshal([]any{settled(b.system), settled(b.tools), messages})
	if err != nil {
		panic(err) // of what was JSON
	}
	return Sum(raw)[:16]
}

// settled is a value without cache breakpoints, with texts as lists.
func settled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			switch {
			case name == "cache_control":
			case name == "content":
				out[name] = settled(list(value))
			default:
				out[name] = settled(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = settled(e)
		}
		return out
	}
	return v
}

// judge says what is wrong with a request, or which thinking is left out of it.
func (b *bound) judge(beta string) (problem string, dropped []string) {
	if b.binding != nil && (b.unaware || !strings.Contains(beta, bindingBeta)) {
		return "thinking.adaptive.block_binding: Extra inputs are not permitted", nil
	}
	if problem := b.pairs(); problem != "" {
		return problem, nil
	}
	last, any := binding{}, false
	for i, m := range b.messages {
		for j, p := range m.content {
			s, ok := bindingOf(p)
			if !ok || b.unaware || !b.thinks {
				continue
			}
			if any && s.before != last.id {
				return fmt.Sprintf("messages.%d.content.%d: thinking blocks must form one contiguous run", i, j), nil
			}
			last, any = s, true
			if s.prefix == b.prefix(i) {
				continue
			}
			if b.binding["prefix_mismatch_behavior"] != "drop_block" {
				return fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation.", i, j), nil
			}
			dropped = append(dropped, fmt.Sprintf("messages.%d.content.%d", i, j))
		}
	}
	return "", dropped
}

// pairs checks the forms of messages, and that calls of tools have their results.
func (b *bound) pairs() string {
	open := map[string]bool{}
	for i, m := range b.messages {
		switch {
		case i == 0 && m.role != "user":
			return "messages: first message must use the \"user\" role"
		case len(m.content) == 0 && m.doc["output_config"] == nil:
			return fmt.Sprintf("messages.%d: all messages must have non-empty content", i)
		case m.role == "system":
			continue
		case m.role == "assistant" && m.content[len(m.content)-1]["type"] == "thinking":
			return fmt.Sprintf("messages.%d: the final block in an assistant message cannot be `thinking`", i)
		}
		next := map[string]bool{}
		for j, p := range m.content {
			switch id, _ := p["tool_use_id"].(string); p["type"] {
			case "tool_result":
				if !open[id] {
					return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, j, id)
				}
				delete(open, id)
			case "tool_use":
				id, _ := p["id"].(string)
				next[id] = true
			}
		}
		for id := range open {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, id)
		}
		open = next
	}
	return ""
}
