package api

import (
	"encoding/json"
	"strconv"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// eventsEach is how many of the protocol's events one of a run's may become, but for
// its last: their numbers are the run's, so many apart, and so a reader can go on from
// any of them, whatever process tells it.
const eventsEach = 16

// responseEncoder puts the log of one part of a run into the words of the Responses
// API.
type responseEncoder struct {
	part         string
	locale, base string
	about        Response

	// asked are the questions that the part ends with.
	asked func() ([]run.Interrupt, error)
	// ended hears all that was said.
	ended func(answer string)

	last  int64 // the number of the last event
	seen  int64 // the reader has those up to it; -1: none
	lost  bool  // the log has not all of the part any more: its words come whole at the end
	begun bool
	words settled
	all   strings.Builder // of what was said

	message *ResponseItem // that is being said; nil: none
	text    strings.Builder
	calls   map[string]int // items of tools that are at work, by their calls
	out     [][]byte
}

// ping implements encoder.
func (e *responseEncoder) ping() []byte { return []byte(": ping\n\n") }

// send adds an event, unless its reader has it.
func (e *responseEncoder) send(event ResponseEvent) {
	e.last++
	event.Sequence = e.last
	if event.Sequence <= e.seen || e.lost && e.seen >= 0 && (event.Delta != nil || strings.HasSuffix(event.Type, ".added")) {
		return
	}
	raw, err := json.Marshal(event)
	if err != nil {
		return // of texts and numbers: it cannot fail
	}
	e.out = append(e.out, []byte("event: "+event.Type+"\ndata: "+string(raw)+"\n\n"))
}

// take gives what is to be sent.
func (e *responseEncoder) take() [][]byte {
	out := e.out
	e.out = nil
	return out
}

// encode implements encoder.
func (e *responseEncoder) encode(event stream.Event) ([][]byte, error) {
	if !e.begun {
		e.begun = true
		// The first number is the one the part begins after: a reader of an event that
		// the log does not have was read from before.
		e.lost = e.seen > e.last+2 && (event.Seq == 0 || event.Seq*eventsEach > e.seen)
		e.state("response.created", statusInProgress)
		e.state("response.in_progress", statusInProgress)
	}
	e.last = max(e.last, event.Seq*eventsEach-1)
	if event.Seq == 0 {
		e.last = max(e.last, e.seen)
	}
	err := e.tell(event)
	return e.take(), err
}

func (e *responseEncoder) tell(event stream.Event) error {
	switch {
	case event.Kind == stream.Token && e.lost:
	case event.Kind == stream.Token:
		piece, _ := stream.Read[stream.TokenData](event.Data)
		text, err := e.words.say(string(piece))
		if err != nil {
			return e.broken("server_error", e.changed())
		}
		e.say(text)
	case event.Kind == stream.Reset:
		reset, _ := stream.Read[stream.ResetData](event.Data)
		e.words.reset(reset.Reason)
		switch reset.Reason {
		case stream.ResetTools:
			e.closeMessage(nil)
		case stream.ResetGap:
			e.lost = e.seen >= 0 // who reads from the beginning has what was said, which the rest is told after
		}
	case event.Kind == stream.ToolCall:
		e.words.part()
		e.closeMessage(nil)
		e.toolCalled(event)
	case event.Kind == stream.ToolResult:
		e.toolDone(event)
	case event.Kind == stream.Error:
		reason, _ := stream.Read[stream.RunError](event.Data)
		return e.broken(reason.Code, reason.Message)
	case event.Kind.Ends():
		f, err := e.end(event)
		if err != nil {
			return err
		}
		if event.Kind == stream.Paused && e.words.pause() != nil {
			return e.broken("server_error", e.changed())
		}
		if event.Kind != stream.Paused && !e.lost {
			if f.rest, err = e.words.rest(f.rest); err != nil && f.reason != "content_filter" {
				return e.broken("server_error", e.changed())
			}
		}
		e.finish(f)
		return errOver
	}
	return nil
}

// response is a part by its last event, as one answer.
func (e *responseEncoder) response(event stream.Event) (Response, error) {
	if event.Kind == stream.Error {
		reason, _ := stream.Read[stream.RunError](event.Data)
		e.about.Status, e.about.Error = statusFailed, Nullable[ResponseError]{&ResponseError{Code: "server_error", Message: reason.Message}}
		return e.about, nil
	}
	f, err := e.end(event)
	if err == nil {
		e.finish(f)
		e.out = nil
	}
	return e.about, err
}

// whole implements dialect.
func (e *responseEncoder) whole(event stream.Event) (any, error) { return e.response(event) }

// now is a part of which nothing is known yet but that it is under way.
func (e *responseEncoder) now(status run.Status) Response {
	e.about.Status = statusInProgress
	if status == run.Queued {
		e.about.Status = statusQueued
	}
	return e.about
}

// responseEnd is how a part ended.
type responseEnd struct {
	finish
	asked []run.Interrupt // questions that wait, the one that is answered next first
}

// end is what the last event of a part says.
func (e *responseEncoder) end(event stream.Event) (f responseEnd, err error) {
	if event.Kind == stream.Paused {
		if f.asked, err = e.asked(); err != nil || len(f.asked) == 0 {
			return f, err
		}
		view := interruptView(f.asked[0])
		e.about.Liminal.Interrupt = &view
		if f.calls = clientCalls(f.asked[0]); len(f.calls) == 0 {
			f.rest = askedAll(f.asked, e.locale)
		}
		return f, nil
	}
	f.finish, err = endTold(event)
	if event.Kind == stream.CancelAck {
		f.reason = statusCancelled
	}
	return f, err
}

// finish tells the end.
func (e *responseEncoder) finish(f responseEnd) {
	if len(f.asked) > 0 && e.message != nil {
		e.closeMessage(nil) // a question is a message of its own
	}
	if f.rest != "" || e.all.Len() == 0 && len(f.calls) == 0 && f.reason != "content_filter" {
		e.say(f.rest)
	}
	e.closeMessage(f.cited)
	for _, c := range f.calls {
		e.function(c)
	}
	if len(f.asked) > 0 && confirms(f.asked[0]) {
		e.approval(f.asked[0])
	}
	e.about.Usage = responseUsage(f.usage)
	e.ended(strings.TrimSpace(e.all.String()))
	switch f.reason {
	case "length":
		e.about.Incomplete = Nullable[ResponseIncomplete]{&ResponseIncomplete{Reason: "max_output_tokens"}}
		e.state("response.incomplete", statusIncomplete)
	case "content_filter":
		e.about.Incomplete = Nullable[ResponseIncomplete]{&ResponseIncomplete{Reason: "content_filter"}}
		e.state("response.incomplete", statusIncomplete)
	case statusCancelled:
		e.state("response.incomplete", statusCancelled)
	default:
		e.state("response.completed", statusCompleted)
	}
}

// broken ends a stream with the protocol's error.
func (e *responseEncoder) broken(code, message string) error {
	if code != "rate_limit_exceeded" {
		code = "server_error" // the protocol's list of codes is closed
	}
	e.about.Error = Nullable[ResponseError]{&ResponseError{Code: code, Message: message}}
	e.state("response.failed", statusFailed)
	return errOver
}

func (e *responseEncoder) changed() string {
	return "The answer was begun again and differs from what was sent. The run " + e.about.Liminal.RunID + " has it whole, and so has a response that is asked for again."
}

// state tells where the response stands.
func (e *responseEncoder) state(kind, status string) {
	e.about.Status = status
	now := e.about
	now.Output = append([]ResponseItem{}, e.about.Output...)
	e.send(ResponseEvent{Type: kind, Response: &now})
}

// opened adds an item and tells so.
func (e *responseEncoder) opened(item ResponseItem) int {
	at := len(e.about.Output)
	e.about.Output = append(e.about.Output, item)
	e.send(ResponseEvent{Type: "response.output_item.added", OutputIndex: &at, Item: &item})
	return at
}

// closed tells that an item is whole.
func (e *responseEncoder) closed(at int, item ResponseItem) {
	e.about.Output[at] = item
	e.send(ResponseEvent{Type: "response.output_item.done", OutputIndex: &at, Item: &item})
}

// say adds words to the message.
func (e *responseEncoder) say(text string) {
	if e.message == nil {
		item := ResponseItem{
			ID: "msg_" + e.part + "_" + strconv.Itoa(len(e.about.Output)), Type: "message", Role: "assistant", Status: statusInProgress, Content: []ResponsePart{},
		}
		e.opened(item)
		e.message = &item
		e.text.Reset()
		e.within(ResponseEvent{Type: "response.content_part.added", Part: outputText("", nil)})
	}
	if text == "" {
		return
	}
	e.text.WriteString(text)
	e.all.WriteString(text)
	e.within(ResponseEvent{Type: "response.output_text.delta", Delta: &text, Logprobs: &noLogprobs})
}

// within sends an event of the message that is being said.
func (e *responseEncoder) within(event ResponseEvent) {
	at, first := len(e.about.Output)-1, 0
	event.ItemID, event.OutputIndex, event.ContentIndex = e.message.ID, &at, &first
	e.send(event)
}

// closeMessage ends the message that is being said, if there is one.
func (e *responseEncoder) closeMessage(cited []chat.Citation) {
	if e.message == nil {
		return
	}
	text := e.text.String()
	marks := responseMarks(annotations(e.base, cited, text))
	for i := range marks {
		e.within(ResponseEvent{Type: "response.output_text.annotation.added", AnnotationIndex: &i, Annotation: &marks[i]})
	}
	e.within(ResponseEvent{Type: "response.output_text.done", Text: &text, Logprobs: &noLogprobs})
	part := outputText(text, marks)
	e.within(ResponseEvent{Type: "response.content_part.done", Part: part})
	item := *e.message
	item.Status, item.Content = statusCompleted, []ResponsePart{*part}
	e.message = nil
	e.closed(len(e.about.Output)-1, item)
}

// function tells a call of one of the caller's tools.
func (e *responseEncoder) function(c clientCall) {
	item := ResponseItem{ID: "fc_" + strings.TrimPrefix(c.ID, "call_"), Type: "function_call", Status: statusInProgress, CallID: c.ID, Name: c.Name, Arguments: new(string)}
	at := e.opened(item)
	e.send(ResponseEvent{Type: "response.function_call_arguments.delta", ItemID: item.ID, OutputIndex: &at, Delta: &c.Arguments})
	e.send(ResponseEvent{Type: "response.function_call_arguments.done", ItemID: item.ID, OutputIndex: &at, Name: c.Name, Arguments: &c.Arguments})
	item.Status, item.Arguments = statusCompleted, &c.Arguments
	e.closed(at, item)
}

// approval tells a question that is answered by yes or no in the protocol's word.
func (e *responseEncoder) approval(q run.Interrupt) {
	name, arguments := confirmedCall(q)
	item := ResponseItem{ID: approvalPrefix + q.ID, Type: "mcp_approval_request", ServerLabel: serverLabel, Name: name, Arguments: &arguments}
	e.closed(e.opened(item), item)
}

// serverLabel is what the program's own tools are told to be of.
const serverLabel = "liminal"

// toolCalled tells a call of one of the workflow's tools. A call that is made again is
// told once.
func (e *responseEncoder) toolCalled(event stream.Event) {
	call, ok := stream.Read[stream.ToolCallData](event.Data)
	if _, told := e.calls[call.ID]; !ok || told {
		return
	}
	arguments := asJSON(call.Arguments)
	item := ResponseItem{ID: "mcp_" + call.ID, Type: "mcp_call", Status: statusInProgress, ServerLabel: serverLabel, Name: call.Name, Arguments: &arguments}
	at := e.opened(item)
	if e.calls == nil {
		e.calls = map[string]int{}
	}
	e.calls[call.ID] = at
	e.send(ResponseEvent{Type: "response.mcp_call.in_progress", ItemID: item.ID, OutputIndex: &at})
	e.send(ResponseEvent{Type: "response.mcp_call_arguments.done", ItemID: item.ID, OutputIndex: &at, Arguments: &arguments})
}

// toolDone tells that such a call is over.
func (e *responseEncoder) toolDone(event stream.Event) {
	done, _ := stream.Read[stream.ToolResultData](event.Data)
	at, told := e.calls[done.ID]
	if !told || e.about.Output[at].Status != statusInProgress {
		return
	}
	item, kind := e.about.Output[at], "response.mcp_call.completed"
	item.Status, item.Output = statusCompleted, &done.Summary
	if done.Status == stream.ToolError {
		item.Status, item.Output, kind = statusFailed, nil, "response.mcp_call.failed"
		item.Failed = &done.Summary
	}
	e.send(ResponseEvent{Type: kind, ItemID: item.ID, OutputIndex: &at})
	e.closed(at, item)
}
