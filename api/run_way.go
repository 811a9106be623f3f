package api

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"liminal/internal/fault"
	"liminal/internal/redact"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// Way is all that an administrator is shown of another person's run: where it
// went, why and how long it took. What was said, given, found or asked is left
// out, and so is what routed it, which tells of the person (ISO-01).
type Way struct {
	Path  []WayStage `json:"path"`
	Steps []WayStep  `json:"steps"`
	Calls []WayCall  `json:"calls"`
}

// WayStage is a stage before the graph.
type WayStage struct {
	Name string `json:"name"`
	MS   int64  `json:"ms"`
}

// WayStep is a node the run came to.
type WayStep struct {
	Node      string    `json:"node"`
	Type      string    `json:"type"`
	Visit     int       `json:"visit"`
	Attempt   int       `json:"attempt,omitempty"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Outcome   string    `json:"outcome,omitempty"`
	Condition string    `json:"condition,omitempty"`
}

// WayCall is a tool that was called, with the bytes it was given and gave.
type WayCall struct {
	Node    string          `json:"node"`
	Tool    string          `json:"tool"`
	Attempt int             `json:"attempt"`
	Status  string          `json:"status"`
	MS      int64           `json:"ms"`
	Given   size            `json:"arguments_bytes"`
	Gave    size            `json:"result_bytes"`
	Args    json.RawMessage `json:"arguments,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

// size is a number of bytes.
type size = int

// toldToWhose stands for why another person's run failed.
const toldToWhose = "What went wrong is told to whose run it is."

// limited is a run as an administrator sees another person's.
func limited(out Run, r run.Run) Run {
	out.Limited, out.ConversationID, out.Result.V = true, nil, nil
	if out.Error.V != nil {
		out.Error.V = &stream.RunError{Code: out.Error.V.Code, Node: out.Error.V.Node, Reason: out.Error.V.Reason, Message: toldToWhose, Said: fault.Say(toldToWhose)}
	}
	out.Trace.V = nil
	if way, ok := wayOf(r.Trace); ok {
		out.Trace.V = way
	}
	return out
}

// hideConditions leaves out what the switches of a workflow say that is not the
// viewer's to read: it is a person's own. Of a run that does not say yet what it
// is pinned to, whose they are is not known.
func (s *server) hideConditions(ctx context.Context, r run.Run, out *Run) {
	way, ok := out.Trace.V.(Way)
	if !ok {
		return
	}
	readable := len(r.Pins) > 0
	for _, p := range r.Pins {
		if _, err := s.Artifacts.Get(ctx, viewerOf(ctx), p.ArtifactID); err != nil {
			readable = false
			break
		}
	}
	if !readable {
		for i := range way.Steps {
			way.Steps[i].Condition = ""
		}
	}
}

// wayOf takes from a trace what may be shown to others: a member that nobody
// thought of is left out.
func wayOf(trace json.RawMessage) (w Way, ok bool) {
	if len(trace) == 0 {
		return Way{}, false
	}
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(trace), []byte("[")) {
		err = json.Unmarshal(trace, &w.Steps)
	} else {
		err = json.Unmarshal(trace, &w)
	}
	for i := range w.Calls {
		c := &w.Calls[i]
		c.Given, c.Gave, c.Args, c.Result = len(c.Args), len(c.Result), nil, nil
	}
	w.Path, w.Steps, w.Calls = orList(w.Path), orList(w.Steps), orList(w.Calls)
	return w, err == nil
}

// shown is the trace of one's own run, with what its switches read where that
// is known, and, where the operator asks for it, redacted.
func (s *server) shown(trace json.RawMessage, why reasons) any {
	var whole map[string]any
	if !s.Redacted && len(why) == 0 || json.Unmarshal(trace, &whole) != nil {
		return orNull(trace)
	}
	for _, step := range objects(whole["steps"]) {
		if values := why.of(step); values != nil {
			step["values"] = values
		}
	}
	if s.Redacted {
		hide(objects(whole["steps"]), "detail", "values", "said")
		hide(objects(whole["calls"]), "arguments", "result", "error", "said")
	}
	return whole
}

// objects are the objects of a list.
func objects(list any) (found []map[string]any) {
	items, _ := list.([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			found = append(found, o)
		}
	}
	return found
}

// hide redacts members of objects.
func hide(list []map[string]any, members ...string) {
	for _, o := range list {
		for _, member := range members {
			if v, there := o[member]; there {
				o[member] = redacted(v)
			}
		}
	}
}

// redacted is a JSON value whose texts name no people and no secrets. A member
// that is a secret by its name is one whatever it holds.
func redacted(v any) any {
	switch v := v.(type) {
	case string:
		return redact.Text(v)
	case []any:
		for i := range v {
			v[i] = redacted(v[i])
		}
	case map[string]any:
		for key, value := range v {
			if kind, secret := redact.KindOf(key); secret {
				v[key] = "[" + string(kind) + "]"
				continue
			}
			v[key] = redacted(value)
		}
	default:
	}
	return v
}
