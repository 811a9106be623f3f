package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// The events of STREAM-22, one struct each: their names are those of the events.
type (
	// GroundedMeta begins a stream.
	GroundedMeta struct {
		TurnID string `json:"turn_id"`
		Model  string `json:"model"`
	}
	// GroundedDelta is a piece of the answer.
	GroundedDelta struct {
		Text string `json:"text"`
	}
	// GroundedCall says that a tool is called. What it is given is a hash.
	GroundedCall struct {
		Name     string `json:"name"`
		ArgsHash string `json:"args_hash"`
		Status   string `json:"status"` // running
	}
	// GroundedResult says that the call is over.
	GroundedResult struct {
		Name    string `json:"name"`
		Status  string `json:"status"` // ok, error
		Summary string `json:"summary"`
	}
	// GroundedChip is a link into the data.
	GroundedChip struct {
		Kind   string `json:"kind"`
		Action string `json:"action"`
		ID     string `json:"id"`
	}
	// GroundedEnd ends a stream. ErrorCode is of a turn that ended before its
	// answer did, in the words of the audit; empty: it is whole.
	GroundedEnd struct {
		InputTokens  int    `json:"input_tokens"`
		OutputTokens int    `json:"output_tokens"`
		ToolCalls    int    `json:"tool_calls"`
		ErrorCode    string `json:"error_code,omitempty"`
	}
	// GroundedError ends a stream of a turn that failed.
	GroundedError struct {
		ErrorCode string `json:"error_code"`
		Message   string `json:"message"`
	}
)

// groundedSchema documents the events.
func (s *server) groundedSchema() *huma.Schema {
	events := map[string]any{}
	for kind, event := range map[string]any{
		"meta": GroundedMeta{}, "content_delta": GroundedDelta{}, "tool_call": GroundedCall{}, "tool_result": GroundedResult{},
		"chip": GroundedChip{}, "end": GroundedEnd{}, "error": GroundedError{}, "ping": struct{}{},
	} {
		events[kind] = s.huma.OpenAPI().Components.Schemas.Schema(typeOf(event), true, "Ping")
	}
	return &huma.Schema{
		Type: "string", Description: "lines `event: <name>`, `data: {json}`, `id: <seq>`; comments keep it open",
		Extensions: map[string]any{"x-events": events},
	}
}

// groundedEncoder puts the log of one run into the events of STREAM-22
// (STREAM-28). It is given the log from its beginning and says what comes after
// the event that the reader has seen: what was sent cannot be taken back, so it
// must know what that was.
type groundedEncoder struct {
	turn, model string
	locale      string // of whom is asked back
	after       int64

	words settled
	began bool
	over  bool
	calls map[string]bool // that have been told; each attempt is a call, and one is enough
	ended map[string]bool
	chips map[GroundedChip]bool
	asked []run.Interrupt // the questions that wait
}

type groundedEvent struct {
	name string
	data any
}

// encode implements encoder.
func (g *groundedEncoder) encode(e stream.Event) ([][]byte, error) {
	if g.over {
		return nil, nil
	}
	var events []groundedEvent
	if !g.began {
		g.began = true
		if g.after == 0 {
			events = append(events, groundedEvent{"meta", GroundedMeta{g.turn, g.model}})
		}
	}
	events = append(events, g.events(e)...)
	if e.Seq > 0 && e.Seq <= g.after {
		return nil, nil // the reader has these
	}
	out := make([][]byte, 0, len(events))
	for i, one := range events {
		raw, err := json.Marshal(one.data)
		if err != nil {
			return nil, err
		}
		line := "event: " + one.name + "\ndata: " + string(raw) + "\n"
		if e.Seq > 0 && i == len(events)-1 { // whoever has seen it has seen what stands before it
			line = "id: " + strconv.FormatInt(e.Seq, 10) + "\n" + line
		}
		out = append(out, []byte(line+"\n"))
	}
	return out, nil
}

// events are what one event of the log becomes; often none.
func (g *groundedEncoder) events(e stream.Event) []groundedEvent {
	switch e.Kind {
	case stream.Token:
		piece, _ := stream.Read[stream.TokenData](e.Data)
		text, err := g.words.say(string(piece))
		if err != nil {
			return g.changed()
		}
		return g.texts(text)
	case stream.Reset:
		reset, _ := stream.Read[stream.ResetData](e.Data)
		g.words.reset(reset.Reason)
		if reset.Reason == stream.ResetGap {
			g.asked = nil // what waits is told anew
		}
	case stream.ToolCall:
		call, _ := stream.Read[stream.ToolCallData](e.Data)
		g.words.part()
		if addOnce(&g.calls, call.ID) {
			return []groundedEvent{{"tool_call", GroundedCall{call.Name, chat.ArgsHash(call.Arguments), "running"}}}
		}
	case stream.ToolResult:
		r, _ := stream.Read[stream.ToolResultData](e.Data)
		if r.Summary != "later" && addOnce(&g.ended, r.ID) {
			return []groundedEvent{{"tool_result", GroundedResult{r.Name, r.Status, r.Summary}}}
		}
	case stream.Chip:
		c, _ := stream.Read[stream.ChipData](e.Data)
		if chip := (GroundedChip{c.Kind, c.Action, c.ID}); addOnce(&g.chips, chip) {
			return []groundedEvent{{"chip", chip}}
		}
	case stream.Interrupt:
		q, _ := stream.Read[stream.InterruptData](e.Data)
		if !slices.ContainsFunc(g.asked, func(one run.Interrupt) bool { return one.ID == q.ID }) { // a step tried again tells it again
			g.asked = append(g.asked, questionOf(q))
		}
	case stream.Paused:
		if g.words.pause() != nil {
			return g.changed()
		}
		return append(g.question(), g.end(GroundedEnd{ToolCalls: len(g.calls)})...)
	case stream.Resumed:
		g.asked = nil
	case stream.MessageDone:
		return g.done(e)
	case stream.CancelAck:
		ack, _ := stream.Read[stream.CancelAckData](e.Data)
		end := GroundedEnd{ToolCalls: len(g.calls), ErrorCode: chat.EndAborted}
		if ack.Answer != nil {
			end = g.figures(*ack.Answer, chat.EndAborted)
		}
		return g.end(end)
	case stream.Error:
		reason, _ := stream.Read[stream.RunError](e.Data)
		code := reason.Reason
		if code == "" {
			code = reason.Code
		}
		g.over = true
		return []groundedEvent{{"error", GroundedError{chat.EndOf(code), reason.Message}}}
	default: // status and traces have no words here
	}
	return nil
}

// addOnce reports whether one is new, and remembers it.
func addOnce[K comparable](seen *map[K]bool, one K) bool {
	if (*seen)[one] {
		return false
	}
	if *seen == nil {
		*seen = map[K]bool{}
	}
	(*seen)[one] = true
	return true
}

func (g *groundedEncoder) texts(text string) []groundedEvent {
	if text == "" {
		return nil
	}
	if g.words.next { // a part of its own was sent before
		g.words.next = false
		text = "\n\n" + text
	}
	return []groundedEvent{{"content_delta", GroundedDelta{text}}}
}

// done ends a turn that has its answer. Whoever comes back when the log is gone
// has the beginning of an answer, nobody knows how much of it: for the stream the
// turn is over (STREAM-24).
func (g *groundedEncoder) done(e stream.Event) []groundedEvent {
	d, _ := stream.Read[stream.MessageDoneData](e.Data)
	var events []groundedEvent
	if late := e.Seq == 0 && g.after > 0 && g.words.sent.Len() == 0; !d.Suppressed && !late {
		rest, err := g.words.rest(d.Content)
		if err != nil {
			return g.changed()
		}
		events = g.texts(rest)
	}
	var said struct {
		Code string `json:"error_code"`
	}
	_ = json.Unmarshal(d.Data, &said) // most say nothing
	if said.Code != chat.EndLoop && said.Code != chat.EndTokens {
		said.Code = ""
	}
	return append(events, g.end(g.figures(d.Answer, said.Code))...)
}

func (g *groundedEncoder) figures(a stream.Answer, code string) GroundedEnd {
	var used stream.UsageData
	_ = json.Unmarshal(a.Usage, &used) // what is not known is 0
	end := GroundedEnd{InputTokens: used.InputTokens + used.CacheReadTokens + used.CacheWriteTokens, OutputTokens: used.OutputTokens, ToolCalls: len(g.calls), ErrorCode: code}
	if end.ToolCalls == 0 {
		var c chat.Content
		_ = json.Unmarshal(a.ContentStruct, &c)
		for _, s := range c.Segments {
			if s.Type == chat.SegmentToolCall {
				end.ToolCalls++
			}
		}
	}
	return end
}

func (g *groundedEncoder) end(end GroundedEnd) []groundedEvent {
	g.over = true
	return []groundedEvent{{"end", end}}
}

// question is what the run pauses with: this protocol has no word for it but text.
func (g *groundedEncoder) question() []groundedEvent {
	if len(g.asked) == 0 {
		return nil
	}
	g.words.next = g.words.spoken()
	return g.texts(askedAll(g.asked, g.locale))
}

// changed ends a stream whose words cannot be taken back, and would have to be.
func (g *groundedEncoder) changed() []groundedEvent {
	g.over = true
	return []groundedEvent{{"error", GroundedError{chat.EndUpstream, fmt.Sprintf("The answer was begun again and differs from what was sent. It is the turn %s.", g.turn)}}}
}

func (g *groundedEncoder) ping() []byte { return []byte("event: ping\ndata: {}\n\n") }
