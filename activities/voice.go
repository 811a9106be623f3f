package activities

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"liminal/internal/stream"
	"liminal/internal/tool"
)

// voice is what a call says on the run's stream while it runs.
type voice struct {
	set     *Set
	in      CallInput
	started time.Time
	kind    string // content type of what the tool returns

	mu    sync.Mutex // a tool may emit from several goroutines
	text  strings.Builder
	began bool // the first word is out

	removed []tool.Redaction
}

// statusData says that a step began, or has done.
type statusData struct {
	Node      string `json:"node"`
	Message   string `json:"message"`
	Done      bool   `json:"done"`
	DocsFound any    `json:"docs_found,omitempty"`
	WebQuery  any    `json:"web_query,omitempty"`
}

type toolCallData struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

type toolResultData struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Summary    string `json:"summary"`
	DurationMS int64  `json:"duration_ms"`
	// ContentType is the tool's own: "html_untrusted" is what a client must
	// sanitise (STREAM-30).
	ContentType string `json:"content_type,omitempty"`
}

// begin announces the call. Text of an earlier attempt, or of an earlier step
// that spoke, is dropped first (STREAM-32).
func (v *voice) begin(ctx context.Context, inputs map[string]any) {
	var events []stream.Event
	if v.in.Final && v.in.Reset {
		events = v.add(events, stream.Reset, "reset", map[string]string{"reason": "retry"})
	}
	if !v.in.Quiet {
		events = v.add(events, stream.Status, "begin", statusData{Node: v.shownAs(), Message: v.message()})
	}
	if !v.in.Model {
		events = v.add(events, stream.ToolCall, "call", toolCallData{
			ID: v.in.Effect, Name: v.in.Tool.Name, Arguments: shown(inputs),
		})
	}
	v.say(ctx, events...)
}

// end announces what came of it.
func (v *voice) end(ctx context.Context, out map[string]any, err error) {
	var events []stream.Event
	if !v.in.Model {
		events = v.add(events, stream.ToolResult, "result", v.result(out, err))
	}
	if !v.in.Quiet && v.in.Stage == "" && err == nil { // a step is not the end of its stage
		events = v.add(events, stream.Status, "end", statusData{
			Node: v.in.Node, Message: v.message(), Done: true, DocsFound: docsFound(out), WebQuery: out["web_query"],
		})
	}
	v.say(context.WithoutCancel(ctx), events...)
}

func (v *voice) result(out map[string]any, err error) toolResultData {
	r := toolResultData{ID: v.in.Effect, Name: v.in.Tool.Name, Status: "ok", DurationMS: v.elapsed(), ContentType: v.kind}
	switch {
	case err != nil:
		r.Status, r.Summary = "error", codeOf(err)
	case tool.Asks(out):
		r.Summary = "asks"
	default:
		r.Summary, _ = out["summary"].(string)
	}
	return r
}

// stopped is the result of a call the person cancelled.
func (v *voice) stopped(ctx context.Context, out map[string]any) CallResult {
	v.mu.Lock()
	partial := v.text.String()
	v.mu.Unlock()
	if partial == "" && v.in.Final {
		partial, _ = out["answer"].(string)
	}
	if !v.in.Model {
		v.say(context.WithoutCancel(ctx), v.add(nil, stream.ToolResult, "result", toolResultData{
			ID: v.in.Effect, Name: v.in.Tool.Name, Status: "error", Summary: "stopped", DurationMS: v.elapsed(),
		})...)
	}
	return CallResult{Output: out, MS: v.elapsed(), Stopped: true, Partial: partial, Spoke: partial != "", Redactions: v.redactions()}
}

// emitter passes on what the tool says. Only the call whose text is the answer
// may show text.
func (v *voice) emitter(ctx context.Context) func(stream.Kind, any) {
	return func(kind stream.Kind, data any) {
		if kind == stream.Token {
			piece, ok := data.(string)
			if !ok || !v.in.Final || ctx.Err() != nil {
				return
			}
			v.mu.Lock()
			first := !v.began
			v.began = true
			v.text.WriteString(piece)
			v.mu.Unlock()
			if first {
				v.firstWord()
			}
		}
		if kind == stream.Reset { // what readers have dropped is no part of an answer
			v.mu.Lock()
			v.text.Reset()
			v.mu.Unlock()
		}
		v.say(ctx, v.add(nil, kind, "", data)...)
	}
}

// say appends events. A stream that is down costs its readers something to
// see and never the run.
func (v *voice) say(ctx context.Context, events ...stream.Event) {
	if err := v.set.tell(ctx, v.in.Run.RunID, events...); err != nil && ctx.Err() == nil {
		v.set.logger().WarnContext(ctx, "the stream took no events", "run", v.in.Run.RunID, "node", v.in.Node, "error", err)
	}
}

// add appends an event; key names it within this attempt, so that a repeated
// attempt does not repeat it. What an attempt says after the next one has begun
// is not heard.
func (v *voice) add(events []stream.Event, kind stream.Kind, key string, data any) []stream.Event {
	e, err := event(kind, v.in.Node, data)
	if err != nil {
		return events
	}
	e.Attempt, e.Call = max(1, v.in.Attempt), v.in.Effect
	if key != "" {
		e.Key = key + ":" + v.in.Effect + ":" + strconv.Itoa(e.Attempt)
	}
	return append(events, e)
}

// shownAs is the node people see while the call runs.
func (v *voice) shownAs() string {
	if v.in.Stage != "" {
		return v.in.Stage
	}
	return v.in.Node
}

func (v *voice) message() string {
	if v.in.Description == "" {
		return v.shownAs()
	}
	return v.in.Description
}

func (v *voice) elapsed() int64 { return v.set.now().Sub(v.started).Milliseconds() }

func (v *voice) spoke() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text.Len() > 0
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

// docsFound are the documents a step found, as {id, title} (STREAM-18).
func docsFound(out map[string]any) any {
	list, ok := out["documents"].([]any)
	if !ok {
		return nil
	}
	found := []map[string]any{}
	for _, item := range list {
		if d, ok := item.(map[string]any); ok && d["id"] != nil && d["title"] != nil {
			found = append(found, map[string]any{"id": d["id"], "title": d["title"]})
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}
