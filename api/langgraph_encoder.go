package api

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// place is a piece of a stream: of an event of the log the piece n, from 0. It is
// what a reader says that lost its connection.
type place struct {
	seq int64
	n   int
}

// lastPiece is after all pieces of an event.
const lastPiece = math.MaxInt

func (p place) String() string { return strconv.FormatInt(p.seq, 10) + "-" + strconv.Itoa(p.n) }

// before reports whether a reader who has seen p has not seen q.
func (p place) before(q place) bool { return p.seq < q.seq || p.seq == q.seq && p.n < q.n }

// placeOf reads what String wrote; "" and -1, from the beginning, are the zero one.
func placeOf(text string) (p place, err error) {
	if text == "" || text == "-1" {
		return p, nil
	}
	seq, n, pieces := strings.Cut(text, "-")
	p.seq, err = strconv.ParseInt(seq, 10, 64)
	if p.n = lastPiece; err == nil && pieces {
		p.n, err = strconv.Atoi(n)
	}
	if err != nil || p.seq < 0 || p.n < 0 {
		return p, fault.New(fault.Invalid, "Last-Event-ID must be the id of an event.")
	}
	return p, nil
}

// langgraphEncoder puts the log of one run into the words of the Agent Protocol. It
// reads the log from the first event on, and says what comes after since: what is
// said next depends on what was said.
type langgraphEncoder struct {
	run       run.Run
	modes     map[string]bool
	since     place
	messageID string // of the answer

	state func() ([]LangGraphMessage, error)
	asked func() ([]run.Interrupt, error)

	out    [][]byte
	at     place // of the next piece
	over   bool  // the run's last event: a reader who has seen it is told again how it ended
	words  settled
	all    strings.Builder // sent under messageID, and not taken back
	called map[string]bool
	chips  []stream.ChipData
	node   string // that spoke last
	lost   bool   // what was said last is not known: tokens are not told until they begin again
}

// next reports whether the next piece is to be told; mode "": whatever is asked for.
func (e *langgraphEncoder) next(mode string) bool {
	at := e.at
	e.at.n++
	return (mode == "" || e.modes[mode]) && (at.seq == 0 || e.since.before(at))
}

// write tells a piece; it is the one before e.at.
func (e *langgraphEncoder) write(event string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		event, raw = "error", []byte(`{"error":"server_error","message":"The event cannot be told."}`)
	}
	var b []byte
	if e.at.seq > 0 {
		b = append(append(b, "id: "...), place{e.at.seq, e.at.n - 1}.String()+"\n"...)
	}
	b = append(append(b, "event: "...), event...)
	e.out = append(e.out, append(append(append(b, "\ndata: "...), raw...), "\n\n"...))
}

func (e *langgraphEncoder) tell(mode, event string, data any) {
	if e.next(mode) {
		e.write(event, data)
	}
}

// head is what a stream begins with: which run it is, and the state before it.
func (e *langgraphEncoder) head() ([]byte, error) {
	e.write("metadata", map[string]any{"run_id": e.run.ID, "thread_id": e.run.ConversationID, "attempt": 1})
	if e.modes["values"] {
		messages, err := e.state()
		if err != nil {
			return nil, err
		}
		e.write("values", LangGraphValues{Messages: messages})
	}
	var b []byte
	for _, piece := range e.out {
		b = append(b, piece...)
	}
	e.out = nil
	return b, nil
}

// encode implements encoder.
func (e *langgraphEncoder) encode(event stream.Event) ([][]byte, error) {
	e.out, e.at = nil, place{seq: event.Seq}
	if event.Seq == 0 && e.since.seq > 0 && e.since.n != lastPiece {
		e.lost = true // the log is gone, and with it what of the answer was told
	}
	if event.Node != "" {
		e.node = event.Node
	}
	err := e.tellEvent(event)
	if err == nil && event.Kind.Ends() {
		err = errOver
	}
	return e.out, err
}

func (e *langgraphEncoder) tellEvent(event stream.Event) error {
	switch event.Kind {
	case stream.Status, stream.Chip, stream.Progress:
		e.custom(event)
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
	case stream.Resumed:
		e.takeBack()
	case stream.Paused:
		return e.paused()
	case stream.MessageDone:
		done, _ := stream.Read[stream.MessageDoneData](event.Data)
		return e.done(done.Content, done.Answer, "success")
	case stream.CancelAck:
		stopped, _ := stream.Read[stream.CancelAckData](event.Data)
		return e.done(stopped.Content, value(stopped.Answer), "interrupted")
	case stream.Error:
		reason, _ := stream.Read[stream.RunError](event.Data)
		e.tell("", "error", e.failed(reason))
	default: // questions are told when they hold the run; traces have no words here
	}
	return nil
}

// custom tells what the protocol has no word for, in ours.
func (e *langgraphEncoder) custom(event stream.Event) {
	var data map[string]any
	if json.Unmarshal(event.Data, &data) != nil || data == nil {
		data = map[string]any{}
	}
	data["event"] = event.Kind
	e.tell("custom", "custom", data)
	switch event.Kind {
	case stream.Chip:
		chip, _ := stream.Read[stream.ChipData](event.Data)
		e.chips = append(e.chips, chip)
	case stream.Status:
		if done, _ := data["done"].(bool); done {
			delete(data, "event")
			e.tell("updates", "updates", map[string]any{e.step(): data})
		}
	}
}

// step is the node of an update.
func (e *langgraphEncoder) step() string {
	if e.node == "" {
		return "agent"
	}
	return e.node
}

// message tells a message of the answer, with what it belongs to.
func (e *langgraphEncoder) message(m LangGraphMessage) {
	e.tell("messages-tuple", "messages", []any{m, map[string]any{
		"run_id": e.run.ID, "thread_id": e.run.ConversationID, "langgraph_node": e.step(), "tags": []string{},
	}})
}

func (e *langgraphEncoder) chunk(text string) {
	if text == "" {
		return
	}
	e.all.WriteString(text)
	e.message(langgraphMessage("AIMessageChunk", e.messageID, text))
}

// takeBack takes back what was sent of the answer.
func (e *langgraphEncoder) takeBack() {
	if e.all.Len() > 0 {
		e.message(langgraphMessage("remove", e.messageID, ""))
	}
	e.all.Reset()
	e.words.part()
}

func (e *langgraphEncoder) token(piece string) {
	if e.lost {
		return
	}
	text, err := e.words.say(piece)
	if err != nil { // it was begun again and is another answer now
		text = e.words.again.String()
		e.takeBack()
		text, _ = e.words.say(text)
	}
	e.chunk(text)
}

func (e *langgraphEncoder) reset(reason string) {
	switch reason {
	case stream.ResetGap:
		e.lost = true
		return
	case stream.ResetRetry:
		e.words.reset(reason)
	default: // what was said before a tool is told again with its call; other words nobody may see
		before := e.all.String()
		e.takeBack()
		if reason == stream.ResetTools && strings.TrimSpace(before) != "" {
			e.message(langgraphMessage("ai", id.Derive(e.run.ID, "before", strconv.Itoa(len(e.called))), before))
		}
	}
	e.chips, e.lost = nil, false
}

// call tells of a tool's call, once.
func (e *langgraphEncoder) call(call stream.ToolCallData) {
	if e.called[call.ID] {
		return
	}
	if e.called == nil {
		e.called = map[string]bool{}
	}
	e.called[call.ID] = true
	if call.Arguments == nil {
		call.Arguments = map[string]any{}
	}
	m := langgraphMessage("ai", id.Derive(e.run.ID, "call", call.ID), "")
	m.ToolCalls = &[]LangGraphToolCall{{ID: call.ID, Name: call.Name, Args: call.Arguments, Type: "tool_call"}}
	e.message(m)
	e.tell("updates", "updates", map[string]any{e.step(): LangGraphValues{Messages: []LangGraphMessage{m}}})
}

func (e *langgraphEncoder) result(result stream.ToolResultData, attempt int) {
	m := langgraphMessage("tool", id.Derive(e.run.ID, "result", result.ID, strconv.Itoa(attempt)), result.Summary)
	m.ToolCallID, m.Name, m.Status = result.ID, &result.Name, "success"
	if result.Status == stream.ToolError {
		m.Status = "error"
	}
	m.Response["duration_ms"] = result.DurationMS
	if result.ContentType != "" {
		m.Response["content_type"] = result.ContentType
	}
	e.message(m)
	e.tell("updates", "updates", map[string]any{"tools": LangGraphValues{Messages: []LangGraphMessage{m}}})
}

// paused tells the questions that hold the run.
func (e *langgraphEncoder) paused() error {
	e.since = place{} // who has seen it is told again: it is where things stand
	open, err := e.asked()
	if err != nil {
		return err
	}
	asks := make([]LangGraphInterrupt, 0, len(open))
	for _, q := range open {
		if q.RunID == e.run.ID {
			asks = append(asks, langgraphInterrupt(q))
		}
	}
	e.tell("updates", "updates", map[string]any{"__interrupt__": asks})
	switch {
	case e.next("values"):
		messages, err := e.state()
		if err != nil {
			return err
		}
		e.write("values", LangGraphValues{Messages: messages, Interrupts: asks})
	case !e.modes["updates"]:
		e.write("values", map[string]any{"__interrupt__": asks})
	}
	e.end("interrupted")
	return nil
}

// done tells the end of an answer.
func (e *langgraphEncoder) done(content string, known stream.Answer, status string) error {
	if known.Suppressed {
		content = ""
	}
	rest, err := e.words.rest(content)
	if e.lost || err != nil {
		e.all.WriteString("?") // something was sent, whatever it was
		e.takeBack()
		rest = content
	}
	e.chunk(rest)
	m := langgraphMessage("AIMessageChunk", e.messageID, "")
	m.Usage = langgraphUsage(known.Usage)
	if cited := citationsOf(known); len(cited) > 0 {
		m.Kwargs["citations"] = cited
	}
	if len(e.chips) > 0 {
		m.Kwargs["chips"] = e.chips
	}
	if known.Model != "" {
		m.Response["model_name"] = known.Model
	}
	m.Response["finish_reason"] = map[bool]string{false: "stop", true: "length"}[known.Truncated]
	if content != "" {
		e.message(m)
		whole := m
		whole.Type, whole.Content = "ai", content
		e.tell("updates", "updates", map[string]any{e.step(): LangGraphValues{Messages: []LangGraphMessage{whole}}})
	}
	e.since = place{}
	if e.next("values") {
		messages, err := e.state()
		if err != nil {
			return err
		}
		e.write("values", LangGraphValues{Messages: messages})
	}
	e.end(status)
	return nil
}

func citationsOf(known stream.Answer) (cited []chat.Citation) {
	if len(known.Citations) > 0 && json.Unmarshal(known.Citations, &cited) != nil {
		return nil
	}
	return cited
}

func (e *langgraphEncoder) end(status string) {
	e.tell("", "end", map[string]any{"run_id": e.run.ID, "status": status})
}

func (e *langgraphEncoder) failed(reason stream.RunError) LangGraphError {
	e.since = place{}
	return LangGraphError{Error: reason.Code, Message: reason.Message, RunID: e.run.ID, Node: reason.Node, Reason: reason.Reason}
}

func (e *langgraphEncoder) ping() []byte { return []byte(": heartbeat\n\n") }

// outcomeEncoder tells nothing but the state in the end.
type outcomeEncoder struct{ *langgraphEncoder }

// encode implements encoder.
func (e *outcomeEncoder) encode(event stream.Event) ([][]byte, error) {
	if !event.Kind.Ends() {
		return nil, nil
	}
	var out LangGraphOutcome
	var err error
	if event.Kind == stream.Paused {
		open, err := e.asked()
		if err != nil {
			return nil, err
		}
		for _, q := range open {
			out.Interrupts = append(out.Interrupts, langgraphInterrupt(q))
		}
	}
	if out.Messages, err = e.state(); err != nil {
		return nil, err
	}
	if event.Kind == stream.Error {
		reason, _ := stream.Read[stream.RunError](event.Data)
		failed := e.failed(reason)
		out.Error = &failed
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return [][]byte{raw}, errOver
}

func (e *outcomeEncoder) ping() []byte { return []byte("\n") }
