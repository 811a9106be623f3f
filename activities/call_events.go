package activities

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"liminal/internal/chat"
	"liminal/internal/graph"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// callEvents are what a call says on the run's stream while it runs.
type callEvents struct {
	set     *Set
	in      CallInput
	started time.Time
	kind    string // content type of what the tool returns
	spec    *tool.Spec

	mu    sync.Mutex // a tool may emit from several goroutines
	text  strings.Builder
	began bool // the first word is out

	removed []tool.Redaction
}

// begin announces the call. Text of an earlier attempt, or of an earlier step
// that spoke, is dropped first (STREAM-32).
func (e *callEvents) begin(ctx context.Context, inputs map[string]any) {
	var events []stream.Event
	said := e.continues(inputs)
	if e.in.Final && e.in.Reset {
		events = e.add(events, "reset", stream.ResetData{Reason: stream.ResetRetry})
		for i, data := range said {
			events = e.add(events, "said"+strconv.Itoa(i), data)
		}
	}
	if e.in.Final && inline(ctx) {
		// Where a worker dies the workflow makes an inline call again, as the
		// same attempt: what was heard of it is dropped then.
		from := len(events)
		events = e.add(events, "", stream.ResetData{Reason: stream.ResetRetry})
		for _, data := range said {
			events = e.add(events, "", data)
		}
		for i := from; i < len(events); i++ {
			events[i].Again = true
		}
	}
	if !e.in.Quiet {
		events = e.add(events, "begin", stream.StatusData{Node: e.shownAs(), Message: e.message()})
	}
	if !e.in.Model {
		events = e.add(events, "call", stream.ToolCallData{
			ID: e.in.Effect, Name: e.in.Tool.Name, Arguments: shown(inputs),
		})
	}
	e.say(ctx, events...)
}

// continues is what readers have of the answer that this call goes on from, to be
// said again where it is dropped.
func (e *callEvents) continues(inputs map[string]any) (said []stream.Payload) {
	if e.in.Tool.Name != graph.StepTool || !e.in.Final {
		return nil
	}
	text, ok := graph.Said(inputs)
	if !ok || text == "" {
		return nil
	}
	e.mu.Lock()
	e.text.WriteString(text)
	e.mu.Unlock()
	said = append(said, stream.TokenData(text))
	object, _ := inputs["said"].(map[string]any)
	list, _ := object["citations"].([]any)
	for _, r := range chat.ReadRecords(list) {
		said = append(said, chat.Chip(r))
	}
	return said
}

// end announces what came of it.
func (e *callEvents) end(ctx context.Context, out map[string]any, err error) {
	var events []stream.Event
	if !e.in.Model {
		events = e.add(events, "result", e.result(out, err))
	}
	if !e.in.Quiet && e.in.Stage == "" && err == nil && !tool.Later(out) { // a step is not the end of its stage
		events = e.add(events, "end", stream.StatusData{
			Node: e.in.Node, Message: e.message(), Done: true, DocsFound: docsFound(out), WebQuery: searched(out),
		})
	}
	e.say(context.WithoutCancel(ctx), events...)
}

func (e *callEvents) result(out map[string]any, err error) stream.ToolResultData {
	r := stream.ToolResultData{ID: e.in.Effect, Name: e.in.Tool.Name, Status: stream.ToolOK, DurationMS: e.elapsed(), ContentType: e.kind}
	switch {
	case err != nil:
		r.Status, r.Summary = stream.ToolError, codeOf(err)
	case tool.Asks(out):
		r.Summary = "asks"
	case tool.Later(out):
		r.Summary = "later"
	default:
		r.Summary = e.summary(out)
	}
	return r
}

// summary is a result in a few words: the tool's own, or as its spec shows it
// (GRND-20).
func (e *callEvents) summary(out map[string]any) string {
	said, _ := out["summary"].(string)
	if said == "" && e.spec != nil {
		said = e.spec.Summarise(out, e.in.Locale)
	}
	return said
}

// stopped is the result of a call the person cancelled.
func (e *callEvents) stopped(ctx context.Context, out map[string]any) CallResult {
	e.mu.Lock()
	partial := e.text.String()
	e.mu.Unlock()
	if partial == "" && e.in.Final {
		partial, _ = out["answer"].(string)
	}
	if !e.in.Model {
		e.say(context.WithoutCancel(ctx), e.add(nil, "result", stream.ToolResultData{
			ID: e.in.Effect, Name: e.in.Tool.Name, Status: stream.ToolError, Summary: "stopped", DurationMS: e.elapsed(),
		})...)
	}
	return CallResult{Output: out, MS: e.elapsed(), Stopped: true, Partial: partial, Spoke: partial != "", Redactions: e.redactions()}
}

// emitter passes on what the tool says. Only the call whose text is the answer
// may show text.
func (e *callEvents) emitter(ctx context.Context) func(stream.Payload) {
	return func(data stream.Payload) {
		switch data := data.(type) {
		case stream.TokenData:
			if !e.in.Final || ctx.Err() != nil {
				return
			}
			e.mu.Lock()
			first := !e.began
			e.began = true
			e.text.WriteString(string(data))
			e.mu.Unlock()
			if first {
				e.firstWord()
			}
		case stream.ResetData: // what readers have dropped is no part of an answer
			e.mu.Lock()
			e.text.Reset()
			e.mu.Unlock()
		default:
		}
		e.say(ctx, e.add(nil, "", data)...)
	}
}

// say appends events. A stream that is down costs its readers something to
// see and never the run.
func (e *callEvents) say(ctx context.Context, events ...stream.Event) {
	if err := e.set.tell(ctx, e.in.Run.RunID, events...); err != nil && ctx.Err() == nil {
		e.set.logger().WarnContext(ctx, "the stream took no events", "run", e.in.Run.RunID, "node", e.in.Node, "error", err)
	}
}

// add appends an event; key names it within this attempt, so that a repeated
// attempt does not repeat it. What an attempt says after the next one has begun
// is not heard.
func (e *callEvents) add(events []stream.Event, key string, data stream.Payload) []stream.Event {
	one, err := stream.New(e.in.Node, data)
	if err != nil {
		return events
	}
	one.Attempt, one.Call = max(1, e.in.Attempt), e.in.Effect
	if key != "" {
		one.Key = key + ":" + e.in.Effect + ":" + strconv.Itoa(one.Attempt)
	}
	return append(events, one)
}

// shownAs is the node people see while the call runs.
func (e *callEvents) shownAs() string {
	if e.in.Stage != "" {
		return e.in.Stage
	}
	return e.in.Node
}

func (e *callEvents) message() string {
	if e.in.Description == "" {
		return e.shownAs()
	}
	return e.in.Description
}

func (e *callEvents) elapsed() int64 { return e.set.now().Sub(e.started).Milliseconds() }

func (e *callEvents) spoke() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.Len() > 0
}

// shown are arguments as a reader of the stream sees them: long ones are cut.
func shown(inputs map[string]any) map[string]any {
	out := make(map[string]any, len(inputs))
	for key, value := range inputs {
		out[key] = cut(value, 2<<10)
	}
	return out
}

// cut bounds a value to so many bytes of JSON; a longer one becomes its
// beginning as text.
func cut(value any, limit int) any {
	switch x := value.(type) {
	case nil, bool, float64:
		return x
	case string:
		return cutText(x, limit)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	if len(raw) <= limit {
		return value
	}
	return cutText(string(raw), limit)
}

func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// docsFound are the documents a step found (STREAM-18).
func docsFound(out map[string]any) (found []stream.FoundDocument) {
	list, _ := out["documents"].([]any)
	for _, item := range list {
		d, _ := item.(map[string]any)
		id, named := d["id"].(string)
		title, titled := d["title"].(string)
		if named && titled {
			found = append(found, stream.FoundDocument{ID: id, Title: title})
		}
	}
	return found
}

// searched is what a step searched the web for; nil: it did not.
func searched(out map[string]any) *string {
	if query, ok := out["web_query"].(string); ok {
		return &query
	}
	return nil
}
