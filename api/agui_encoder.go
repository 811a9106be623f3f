package api

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// aguiEncoder puts the log of one run into the events of AG-UI. It reads the log
// from the first event on, and says what comes after since.
type aguiEncoder struct {
	thread, id string // as the client calls them
	run        run.Run
	before     []AGUIMessage // that the client holds
	since      int64

	asked func() ([]run.Interrupt, error)

	out    [][]byte
	silent bool // the event was told in an earlier run of the client's
	words  settled
	text   strings.Builder // of the message under way
	part   int             // messages begun, so that each has an id of its own
	open   bool            // one is under way
	lost   bool            // what was said last is not known
	steps  []string        // under way
	called map[string]bool
	own    []map[string]any // messages of this run that are complete
}

// event is an event as it is written.
func (e *aguiEncoder) event(kind string, members map[string]any) {
	if e.silent {
		return
	}
	if members == nil {
		members = map[string]any{}
	}
	members["type"] = kind
	e.out = append(e.out, dataLine(members))
}

func (e *aguiEncoder) started() map[string]any {
	return map[string]any{"type": "RUN_STARTED", "threadId": e.thread, "runId": e.id, "protocolVersion": aguiVersion}
}

// head is what a stream begins with; tools says that the client brings some, which
// are not called.
func (e *aguiEncoder) head(tools bool) (b []byte) {
	about := map[string]any{"conversation_id": e.run.ConversationID, "run_id": e.run.ID, "message_id": answerID(e.run)}
	if tools {
		about["ignored"] = []string{"tools"}
	}
	b = append(b, dataLine(e.started())...)
	return append(b, dataLine(map[string]any{"type": "CUSTOM", "name": "liminal", "value": about})...)
}

// encode implements encoder.
func (e *aguiEncoder) encode(event stream.Event) ([][]byte, error) {
	e.out, e.silent = nil, event.Seq > 0 && event.Seq <= e.since && event.Kind != stream.Paused
	switch event.Kind {
	case stream.Status:
		status, _ := stream.Read[stream.StatusData](event.Data)
		e.step(status)
	case stream.Token:
		piece, _ := stream.Read[stream.TokenData](event.Data)
		e.token(string(piece))
	case stream.Reset:
		reset, _ := stream.Read[stream.ResetData](event.Data)
		e.reset(reset.Reason)
	case stream.ToolCall:
		call, _ := stream.Read[stream.ToolCallData](event.Data)
		e.call(call)
	case stream.ToolResult:
		result, _ := stream.Read[stream.ToolResultData](event.Data)
		e.result(result, event.Attempt)
	case stream.Chip, stream.Progress:
		e.custom(string(event.Kind), event.Data)
	case stream.Resumed: // what was said before the question was told as a message
		e.close()
	case stream.Paused:
		err := e.paused()
		return e.out, err
	case stream.MessageDone:
		done, _ := stream.Read[stream.MessageDoneData](event.Data)
		e.done(done.Content, done.Answer, map[string]any{"type": "success"})
	case stream.CancelAck:
		stopped, _ := stream.Read[stream.CancelAckData](event.Data)
		e.done(stopped.Content, value(stopped.Answer), map[string]any{"type": "cancelled"})
	case stream.Error:
		reason, _ := stream.Read[stream.RunError](event.Data)
		e.silent = false
		e.close()
		e.event("RUN_ERROR", map[string]any{"message": reason.Message, "code": reason.Code, "metadata": map[string]any{"node": reason.Node, "reason": reason.Reason, "run_id": e.run.ID}})
	default: // questions are told when they hold the run; traces have no words here
	}
	if event.Kind.Ends() {
		return e.out, errOver
	}
	return e.out, nil
}

func (e *aguiEncoder) custom(name string, v any) {
	e.event("CUSTOM", map[string]any{"name": name, "value": v})
}

// step tells that a step began, or that it is done.
func (e *aguiEncoder) step(s stream.StatusData) {
	if e.silent {
		return // it was told, and finished, in the client's run before
	}
	under := slices.Index(e.steps, s.Node)
	switch {
	case s.Done && under >= 0:
		e.steps = slices.Delete(e.steps, under, under+1)
		e.event("STEP_FINISHED", map[string]any{"stepName": s.Node})
	case !s.Done && under < 0 && s.Node != "":
		e.steps = append(e.steps, s.Node)
		e.event("STEP_STARTED", map[string]any{"stepName": s.Node, "metadata": map[string]any{"message": s.Message}})
	}
}

// messageID is of the message under way: each of a run has its own.
func (e *aguiEncoder) messageID() string { return id.Derive(e.run.ID, "part", strconv.Itoa(e.part)) }

func (e *aguiEncoder) say(text string) {
	if text == "" {
		return
	}
	if !e.open {
		e.open = true
		e.event("TEXT_MESSAGE_START", map[string]any{"messageId": e.messageID(), "role": "assistant"})
	}
	e.text.WriteString(text)
	e.event("TEXT_MESSAGE_CONTENT", map[string]any{"messageId": e.messageID(), "delta": text})
}

// keep notes a message that is complete; what was told in the client's run before is
// among those it brings.
func (e *aguiEncoder) keep(m map[string]any) {
	if !e.silent {
		e.own = append(e.own, m)
	}
}

// close ends the message under way.
func (e *aguiEncoder) close() {
	e.words.part()
	if !e.open {
		return
	}
	e.event("TEXT_MESSAGE_END", map[string]any{"messageId": e.messageID()})
	e.keep(map[string]any{"id": e.messageID(), "role": "assistant", "content": e.text.String()})
	e.open = false
	e.part++
	e.text.Reset()
}

// takeBack takes back the message under way: the client is given all that stays.
func (e *aguiEncoder) takeBack() {
	if e.words.part(); !e.open {
		return
	}
	e.event("TEXT_MESSAGE_END", map[string]any{"messageId": e.messageID()})
	e.open = false
	e.part++
	e.text.Reset()
	all := make([]any, 0, len(e.before)+len(e.own))
	for _, m := range e.before {
		all = append(all, m.raw)
	}
	for _, m := range e.own {
		all = append(all, m)
	}
	e.event("MESSAGES_SNAPSHOT", map[string]any{"messages": all})
}

func (e *aguiEncoder) token(piece string) {
	if e.lost {
		return
	}
	text, err := e.words.say(piece)
	if err != nil { // it was begun again and is another answer now
		text = e.words.again.String()
		e.takeBack()
		text, _ = e.words.say(text)
	}
	e.say(text)
}

func (e *aguiEncoder) reset(reason string) {
	switch reason {
	case stream.ResetGap:
		e.lost = true
		return
	case stream.ResetTools:
		e.close()
	case stream.ResetRetry:
		e.words.reset(reason)
	default: // nobody may see it
		e.takeBack()
	}
	e.lost = false
}

// call tells of a tool's call, once.
func (e *aguiEncoder) call(call stream.ToolCallData) {
	e.close()
	if e.called[call.ID] {
		return
	}
	if e.called == nil {
		e.called = map[string]bool{}
	}
	e.called[call.ID] = true
	arguments := "{}"
	if raw, err := json.Marshal(call.Arguments); err == nil && call.Arguments != nil {
		arguments = string(raw)
	}
	messageID := id.Derive(e.run.ID, "call", call.ID)
	e.event("TOOL_CALL_START", map[string]any{"toolCallId": call.ID, "toolCallName": call.Name, "parentMessageId": messageID})
	e.event("TOOL_CALL_ARGS", map[string]any{"toolCallId": call.ID, "delta": arguments})
	e.event("TOOL_CALL_END", map[string]any{"toolCallId": call.ID})
	e.keep(map[string]any{"id": messageID, "role": "assistant", "toolCalls": []any{
		map[string]any{"id": call.ID, "type": "function", "function": map[string]any{"name": call.Name, "arguments": arguments}},
	}})
}

func (e *aguiEncoder) result(result stream.ToolResultData, attempt int) {
	messageID := id.Derive(e.run.ID, "result", result.ID, strconv.Itoa(attempt))
	e.event("TOOL_CALL_RESULT", map[string]any{
		"messageId": messageID, "toolCallId": result.ID, "content": result.Summary, "role": "tool",
		"metadata": map[string]any{"status": result.Status, "duration_ms": result.DurationMS},
	})
	e.keep(map[string]any{"id": messageID, "role": "tool", "toolCallId": result.ID, "content": result.Summary})
}

// paused ends the run with the questions that hold it.
func (e *aguiEncoder) paused() error {
	open, err := e.asked()
	if err != nil {
		return err
	}
	asks := make([]map[string]any, 0, len(open))
	for _, q := range open {
		if q.RunID == e.run.ID {
			asks = append(asks, aguiInterrupt(q))
		}
	}
	e.silent = false
	e.finish(map[string]any{"type": "interrupt", "interrupts": asks}, stream.Answer{}, "")
	return errOver
}

// aguiInterrupt is a question as the protocol has it.
func aguiInterrupt(q run.Interrupt) map[string]any {
	out := map[string]any{"id": q.ID, "reason": "input_required", "message": q.Message, "metadata": map[string]any{"liminal": interruptView(q)}}
	if calledIn(q) != "" {
		out["reason"] = "tool_call"
	}
	schema := map[string]any{"type": "string"}
	switch {
	case len(q.Options) > 0:
		options := []any{}
		for _, o := range q.Options {
			options = append(options, map[string]any{"const": o.ID, "title": o.Label})
		}
		schema["oneOf"] = options
	case len(q.AnswerSchema) > 0:
		schema = map[string]any{}
		_ = json.Unmarshal(q.AnswerSchema, &schema) // one that is no object asks for anything
	}
	out["responseSchema"] = schema
	if !q.ExpiresAt.IsZero() {
		out["expiresAt"] = q.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return out
}

// done ends the run with its answer.
func (e *aguiEncoder) done(content string, known stream.Answer, outcome map[string]any) {
	e.silent = false
	if known.Suppressed {
		content = ""
	}
	rest, err := e.words.rest(content)
	if e.lost || err != nil {
		e.takeBack()
		rest = content
	}
	e.say(rest)
	if cited := citationsOf(known); len(cited) > 0 {
		e.custom("citations", cited)
	}
	e.finish(outcome, known, content)
}

func (e *aguiEncoder) finish(outcome map[string]any, known stream.Answer, content string) {
	e.close()
	for _, name := range slices.Backward(e.steps) {
		e.event("STEP_FINISHED", map[string]any{"stepName": name})
	}
	e.steps = nil
	end := map[string]any{"threadId": e.thread, "runId": e.id, "outcome": outcome}
	if used := usageOf(known.Usage); used.Total > 0 {
		usage := map[string]any{"inputTokens": used.Prompt, "outputTokens": used.Completion, "totalTokens": used.Total}
		if known.Model != "" {
			usage["model"] = known.Model
		}
		end["usage"] = []any{usage}
	}
	if outcome["type"] == "success" {
		end["result"] = map[string]any{"content": content}
	}
	e.event("RUN_FINISHED", end)
}

func (e *aguiEncoder) ping() []byte { return []byte(": ping\n\n") }
