package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"liminal/internal/model"
)

// answer reads a stream: what the API says of a message that grows becomes
// events of ours.
type answer struct {
	*question
	block  *growing // being written; nil between blocks
	usage  model.Usage
	reason model.StopReason
	called bool   // a tool was called, or gave the answer
	aside  string // said beside an answer that a tool gives
	size   int    // of what was said, in characters
	over   bool   // the stream's own end has come
	torn   string // a tool that was called with half of its input; empty: none
}

// growing is a block that is being written.
type growing struct {
	kind  string
	id    string
	name  string
	input strings.Builder
	cites []sdk.CitationsDeltaCitationUnion
}

// read gives the events an event of the API's becomes. Those nobody knows
// become none.
func (a *answer) read(e sdk.MessageStreamEventUnion) []model.Event {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		a.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	case "content_block_start":
		return a.begin(e.ContentBlock)
	case "content_block_delta":
		return a.grow(e.Delta)
	case "content_block_stop":
		return a.end()
	case "message_delta":
		u := e.Usage // what was used up to here, not since
		a.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
		if e.Delta.StopReason != "" {
			a.reason = a.stop(e.Delta.StopReason)
		}
	case "message_stop":
		return a.finish()
	}
	return nil
}

// count takes in the tokens of each class; a class that is not told again
// stays as it was.
func (a *answer) count(input, output, read, written int64) {
	for to, n := range map[*int]int64{
		&a.usage.Input: input, &a.usage.Output: output, &a.usage.CacheRead: read, &a.usage.CacheWrite: written,
	} {
		if n > 0 {
			*to = int(n)
		}
	}
}

func (a *answer) begin(b sdk.ContentBlockStartEventContentBlockUnion) []model.Event {
	a.block = &growing{kind: b.Type, id: b.ID, name: b.Name}
	switch b.Type {
	case "text":
		return a.text(b.Text)
	case "thinking":
		return a.thought(b.Thinking, b.Signature)
	case "redacted_thinking":
		return a.thought("", redacted+b.Data)
	case "tool_use":
		if input, ok := b.Input.(map[string]any); ok && len(input) > 0 { // all at once
			raw, _ := json.Marshal(input) // it was JSON
			return a.argument(string(raw))
		}
	}
	return nil
}

func (a *answer) grow(d sdk.MessageStreamEventUnionDelta) []model.Event {
	if a.block == nil {
		return nil
	}
	switch d.Type {
	case "text_delta":
		return a.text(d.Text)
	case "thinking_delta":
		return a.thought(d.Thinking, "")
	case "signature_delta":
		return a.thought("", d.Signature)
	case "input_json_delta":
		return a.argument(d.PartialJSON)
	case "citations_delta":
		a.block.cites = append(a.block.cites, d.Citation)
	}
	return nil
}

func (a *answer) text(text string) []model.Event {
	if text == "" {
		return nil
	}
	a.size += utf8.RuneCountInString(text)
	if a.forced {
		a.aside += text
		return nil
	}
	return []model.Event{{Type: model.TextDelta, Text: text}}
}

func (a *answer) thought(text, signature string) []model.Event {
	if text == "" && signature == "" {
		return nil
	}
	a.size += utf8.RuneCountInString(text)
	return []model.Event{{Type: model.ThinkingDelta, Text: text, Signature: signature}}
}

// argument is a piece of a tool's input, cut anywhere.
func (a *answer) argument(piece string) []model.Event {
	a.size += utf8.RuneCountInString(piece)
	if a.forced && a.names.Receive(a.block.name) == answerTool && piece != "" {
		a.called = true
		return []model.Event{{Type: model.TextDelta, Text: piece}}
	}
	a.block.input.WriteString(piece)
	return nil
}

// end closes a block: a tool call is whole, and the text that was cited has
// been said, whichever came first.
func (a *answer) end() []model.Event {
	b := a.block
	a.block = nil
	switch {
	case b == nil:
		return nil
	case b.kind == "tool_use" && !a.forced:
		return a.call(b)
	}
	var events []model.Event
	for _, c := range b.cites {
		if e, ok := a.citation(c); ok {
			events = append(events, e)
		}
	}
	return events
}

// call is a tool call that is whole. At the limit of its tokens an answer may
// end within one, and its block is closed all the same.
func (a *answer) call(b *growing) []model.Event {
	input := cmp.Or(strings.TrimSpace(b.input.String()), "{}")
	name := a.names.Receive(b.name)
	if !json.Valid([]byte(input)) {
		a.torn = name
		return nil
	}
	a.called = true
	return []model.Event{{Type: model.ToolCall, ID: b.id, Name: name, Input: json.RawMessage(input)}}
}

// stop is why the answer ended, in our words. Of a turn the API pauses, and of
// a window that is full, there would be more.
func (a *answer) stop(r sdk.StopReason) model.StopReason {
	switch r {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded, sdk.StopReasonPauseTurn:
		return model.MaxTokens
	case sdk.StopReasonRefusal:
		return model.Refusal
	case sdk.StopReasonToolUse:
		if !a.forced {
			return model.ToolCalls
		}
	default: // an end of its own, or one nobody knows yet
	}
	return model.EndTurn
}

// finish is the end of the answer. Tokens the server did not count are
// estimated.
func (a *answer) finish() []model.Event {
	a.over = true
	var events []model.Event
	if a.forced && !a.called && a.aside != "" {
		events = append(events, model.Event{Type: model.TextDelta, Text: a.aside})
	}
	if a.usage.Tokens() == 0 {
		a.usage = model.Usage{Input: estimate(a.question.size), Output: estimate(a.size)}
	}
	if a.reason == "" {
		a.reason = model.EndTurn
	}
	events = append(events, model.Event{Type: model.UsageReport, Usage: a.usage})
	if a.unusable() {
		return events
	}
	return append(events, model.Event{Type: model.Stop, Reason: a.reason})
}

// unusable reports whether the model has called a tool with what is no JSON,
// though nothing cut it off.
func (a *answer) unusable() bool {
	return a.torn != "" && a.reason != model.MaxTokens && a.reason != model.Refusal
}

// estimate is how many tokens so many characters are, about.
func estimate(characters int) int { return characters/4 + 1 }
