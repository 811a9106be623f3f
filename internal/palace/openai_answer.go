package palace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/capture"
)

// openAIUsage is a usage of either protocol of OpenAI. What was read from the cache,
// and written to it where a backend counts that, is within what was read.
type openAIUsage struct {
	Prompt     int64        `json:"prompt_tokens"`
	Completion int64        `json:"completion_tokens"`
	Input      int64        `json:"input_tokens"`
	Output     int64        `json:"output_tokens"`
	PromptHas  cachedTokens `json:"prompt_tokens_details"`
	InputHas   cachedTokens `json:"input_tokens_details"`
}

type cachedTokens struct {
	Read  int64 `json:"cached_tokens"`
	Write int64 `json:"cache_write_tokens"`
}

func (d openAIUsage) usage() Usage {
	read, write := d.PromptHas.Read+d.InputHas.Read, d.PromptHas.Write+d.InputHas.Write
	return Usage{Input: max(0, d.Prompt+d.Input-read-write), Read: read, Write5m: write, Output: d.Completion + d.Output}
}

// toolStops are the reasons that a chat completion ends for where it asks for tools.
var toolStops = []string{"tool_calls", "function_call"}

// stopOf names a reason as Anthropic does, where there is one of the same meaning.
func stopOf(reason string) string {
	switch {
	case slices.Contains(toolStops, reason):
		return "tool_use"
	case reason == "stop", reason == "completed":
		return "end_turn"
	case reason == "length", reason == "max_output_tokens":
		return "max_tokens"
	case reason == "content_filter":
		return "refusal"
	}
	return reason
}

// chunkDoc is an event of a chat completion's stream.
type chunkDoc struct {
	Model   string
	Usage   *openAIUsage
	Choices []struct {
		Index int
		Delta struct {
			Content   string
			Refusal   string
			Reasoning string `json:"reasoning_content"`
			Calls     []struct {
				Index int
				chatCall
			} `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
}

// chatStream puts the parts of a streamed chat completion together. Of several choices
// the first is the one that a history goes on with.
type chatStream struct {
	thought, said strings.Builder
	at            map[string]capture.Span // where the events of a part stand
	calls         []*chatCall
}

func callPart(i int) string { return "call " + strconv.Itoa(i) }

func (s *chatStream) note(part string, f frame) {
	span, ok := s.at[part]
	if !ok {
		span.From = f.From
	}
	span.To = f.To
	s.at[part] = span
}

func (s *chatStream) add(c chunkDoc, f frame) {
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if d := choice.Delta; d.Reasoning != "" {
			s.thought.WriteString(d.Reasoning)
			s.note("thinking", f)
		}
		if text := choice.Delta.Content + choice.Delta.Refusal; text != "" {
			s.said.WriteString(text)
			s.note("text", f)
		}
		for _, more := range choice.Delta.Calls {
			if more.Index < 0 || more.Index > len(s.calls) {
				continue
			}
			if more.Index == len(s.calls) {
				s.calls = append(s.calls, &chatCall{})
			}
			call := s.calls[more.Index]
			call.ID += more.ID
			call.Function.Name += more.Function.Name
			call.Function.Arguments += more.Function.Arguments
			call.Custom.Name += more.Custom.Name
			call.Custom.Input += more.Custom.Input
			s.note(callPart(more.Index), f)
		}
	}
}

// blocks are its parts as values, each with where its events stand.
func (s *chatStream) blocks(yield func(v map[string]any, at capture.Span)) {
	if s.thought.Len() > 0 {
		yield(map[string]any{"type": "thinking", "thinking": s.thought.String()}, s.at["thinking"])
	}
	if s.said.Len() > 0 {
		yield(map[string]any{"type": "text", "text": s.said.String()}, s.at["text"])
	}
	for i, c := range s.calls {
		yield(c.use(), s.at[callPart(i)])
	}
}

// readChatStream reads events of a chat completion.
func readChatStream(body []byte) (s chatStream, a answered) {
	s.at, a.form = map[string]capture.Span{}, FormSSE
	for f := range frames(body) {
		var c chunkDoc
		if len(f.data) == 0 || json.Unmarshal(f.data, &c) != nil { // [DONE] is none
			continue
		}
		if c.Model != "" {
			a.model = c.Model
		}
		if c.Usage != nil {
			a.usage = c.Usage.usage()
		}
		for _, choice := range c.Choices {
			if choice.Index == 0 && choice.Finish != "" {
				a.stop = stopOf(choice.Finish)
			}
		}
		s.add(c, f)
	}
	return s, a
}

// readChatAnswer reads a chat completion: a stream, or JSON.
func readChatAnswer(kind string, body []byte) (a answered) {
	if strings.HasPrefix(kind, "text/event-stream") {
		s, a := readChatStream(body)
		s.blocks(func(v map[string]any, at capture.Span) { a.parts = append(a.parts, partOf(v, "assistant", at)) })
		return a
	}
	a.form = FormJSON
	var doc struct {
		Model   string
		Usage   openAIUsage
		Choices []struct {
			Finish string `json:"finish_reason"`
		}
	}
	if json.Unmarshal(body, &doc) != nil {
		return a
	}
	a.model, a.usage = doc.Model, doc.Usage.usage()
	if len(doc.Choices) == 0 {
		return a
	}
	a.stop = stopOf(doc.Choices[0].Finish)
	for name, v := range capture.Members(body, 0) {
		if name != "choices" {
			continue
		}
		n := 0
		for e := range capture.Elements(body, v.From) {
			if n++; n > 1 {
				break
			}
			for name, m := range capture.Members(body, e.From) {
				if name == "message" {
					a.parts = chatMessage(body, m)
				}
			}
		}
	}
	return a
}

// responseDoc is a response, which is whole at the end only.
type responseDoc struct {
	Model      string
	Status     string
	Usage      *openAIUsage
	Incomplete struct{ Reason string } `json:"incomplete_details"`
}

func (d responseDoc) into(a *answered) {
	if d.Model != "" {
		a.model = d.Model
	}
	if d.Usage != nil {
		a.usage = d.Usage.usage()
	}
	switch d.Status {
	case "completed":
		a.stop = stopOf(d.Status)
		if slices.ContainsFunc(a.parts, func(p part) bool { return p.typ == ToolUse }) {
			a.stop = "tool_use"
		}
	case "incomplete":
		a.stop = stopOf(d.Incomplete.Reason)
	}
}

// itemEvent is an event of a response's stream.
type itemEvent struct {
	Type     string
	Index    int `json:"output_index"`
	Item     json.RawMessage
	Response responseDoc
}

// readResponsesAnswer reads a response: a stream, or JSON.
func readResponsesAnswer(kind string, body []byte) (a answered) {
	if !strings.HasPrefix(kind, "text/event-stream") {
		return readResponseObject(body)
	}
	a.form = FormSSE
	began := map[int]int{}
	for f := range frames(body) {
		var e itemEvent
		if len(f.data) == 0 || json.Unmarshal(f.data, &e) != nil {
			continue
		}
		switch e.Type {
		case "response.output_item.added":
			began[e.Index] = f.From
		case "response.output_item.done":
			from, ok := began[e.Index]
			if !ok {
				from = f.From
			}
			item, _ := decoded(e.Item).(map[string]any)
			for _, p := range itemParts(e.Item, item, capture.Span{To: len(e.Item)}) {
				p.span = capture.Span{From: from, To: f.To}
				a.parts = append(a.parts, p)
			}
		case "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed":
			e.Response.into(&a)
		}
	}
	return a
}

// readResponseObject reads a response that came at once.
func readResponseObject(body []byte) (a answered) {
	a.form = FormJSON
	var doc responseDoc
	if json.Unmarshal(body, &doc) != nil {
		return a
	}
	for name, v := range capture.Members(body, 0) {
		if name != "output" {
			continue
		}
		for e := range capture.Elements(body, v.From) {
			item, _ := decoded(body[e.From:e.To]).(map[string]any)
			a.parts = append(a.parts, itemParts(body, item, e)...)
		}
	}
	doc.into(&a)
	return a
}

// assembledOpenAI is the block whose events these are, as JSON; nil: they are none of
// OpenAI's protocol. key is what the block is known again by.
func assembledOpenAI(events []byte, t Type, key string) []byte {
	var item json.RawMessage
	index, isItem, isChunk := 0, false, false
	for f := range frames(events) {
		var e struct {
			itemEvent
			Object string
		}
		if json.Unmarshal(f.data, &e) != nil {
			continue
		}
		switch {
		case e.Object == "chat.completion.chunk":
			isChunk = true
		case !strings.HasPrefix(e.Type, "response.output_item."):
		case !isItem:
			index, isItem, item = e.Index, true, e.Item
		case e.Index == index:
			item = e.Item
		}
	}
	if isItem {
		return item
	}
	if !isChunk {
		return nil
	}
	s, _ := readChatStream(events)
	var found map[string]any
	s.blocks(func(v map[string]any, at capture.Span) {
		p := partOf(v, "assistant", at)
		if p.typ == t && (found == nil || p.ident != "" && (key == p.ident || strings.HasPrefix(key, p.ident+"#"))) {
			found = v
		}
	})
	out, err := json.Marshal(found)
	if err != nil {
		panic(err) // of what was JSON
	}
	return out
}
