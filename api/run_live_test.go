package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/workflows"
)

// inside are runs that can be looked into, and who looked.
type inside struct {
	state workflows.State

	mu     sync.Mutex
	looked []string
}

// open lets an engine's runs be looked into: what they say has the mark in
// every member that could tell of a person.
func (h *house) open(artifact string) *inside {
	began := time.Unix(1_790_000_000, 0).UTC()
	in := &inside{state: workflows.State{
		Pins: []run.Pin{{ArtifactID: artifact, Name: "greeter", Version: 1}}, Nodes: []string{"which"}, Vars: []string{mark}, Paused: true,
		Trace: []graph.Step{
			{Node: "route", Type: graph.Switch, Visit: 1, Started: began, Ended: began, Outcome: graph.ResultOK, Condition: "input.message contains 'name'", Values: map[string]any{"input.message": mark}},
			{Node: "find", Type: graph.ToolCall, Effect: "find#1", Visit: 1, Attempt: 1, Started: began, Ended: began, Outcome: graph.ResultAsked, Detail: mark + " bob@example.org"},
			{Node: "find", Type: graph.ToolCall, Effect: "find#1.a1", Visit: 1, Started: began},
		},
		Calls: []run.TraceCall{{
			Effect: "find#1", Attempt: 1, Node: "find", Tool: "rag.search_v1", Status: "ok", MS: 7,
			Args: json.RawMessage(`{"question":"` + mark + ` of bob@example.org"}`), Result: json.RawMessage(`{"answer":"` + mark + `"}`),
		}},
		Pending: []workflows.PendingEffect{{ID: "find#1.a1", Node: "find", Kind: graph.KindAsk, Since: began, Says: mark + " of bob@example.org?"}},
		Error:   mark,
	}}
	h.engine.state = func(_ context.Context, v identity.Viewer, _ string) (json.RawMessage, error) {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.looked = append(in.looked, v.UserID)
		return json.Marshal(in.state)
	}
	return in
}

// follows changes what the runs say they are pinned to.
func (in *inside) follows(pins []run.Pin) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.state.Pins = pins
}

func (in *inside) who() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]string{}, in.looked...)
}

// paused is a turn of a person that waits for an answer to its question.
func (p *person) paused() (runID, interrupt string) {
	p.Helper()
	asked := p.post("/v1/chat", map[string]any{"message": "ask Which?"}).ok()
	return asked["run_id"].(string), asked["interrupt"].(map[string]any)["interrupt_id"].(string)
}

// callsOf are the calls of tools in a run's trace.
func callsOf(r map[string]any) (list []map[string]any) {
	for _, c := range r["trace"].(map[string]any)["calls"].([]any) {
		list = append(list, c.(map[string]any))
	}
	return list
}

// awaited is what a run says it waits for; it must say it.
func awaited(t *testing.T, r map[string]any) map[string]any {
	t.Helper()
	live, _ := r["live"].(map[string]any)
	if live["known"] != true || len(live["awaits"].([]any)) != 1 {
		t.Fatalf("it stands at %v", live)
	}
	return live["awaits"].([]any)[0].(map[string]any)
}

// Requirements: GRAPH-26, GRAPH-18 (order), ISO-01
func TestARunUnderWayTellsItsWaySoFar(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	runID, question := h.bob.paused()
	inside := h.open(greeter)

	r := h.bob.one(runID)
	if at := awaited(t, r); at["node"] != "find" || at["kind"] != "ask" || at["since"] != "2026-09-21T14:13:20Z" || at["says"] != mark+" of bob@example.org?" {
		t.Errorf("it waits for %v", at)
	}
	if steps := stepsOf(r); r["status"] != "waiting" || len(steps) != 3 || steps[1]["detail"] != mark+" bob@example.org" || steps[2]["ended"] != nil {
		t.Errorf("its way so far: %v", steps)
	}
	if call := callsOf(r)[0]; call["tool"] != "rag.search_v1" || call["arguments"].(map[string]any)["question"] != mark+" of bob@example.org" || call["result"] == nil {
		t.Errorf("its calls so far: %v", call)
	}
	if pin, _ := r["artifact"].(map[string]any); pin["id"] != greeter {
		t.Errorf("a turn whose row has no pins yet follows %v", r["artifact"])
	}

	h.pia.get("/v1/runs/"+runID).fails(404, "not_found")
	got := h.ada.get("/v1/runs/" + runID)
	if strings.Contains(string(got.body), mark) {
		t.Errorf("an administrator is told what was said: %s", got.body)
	}
	theirs := got.ok()["run"].(map[string]any)
	if at := awaited(t, theirs); theirs["limited"] != true || at["node"] != "find" || at["since"] == nil {
		t.Errorf("to an administrator it waits for %v", at)
	}
	if call := callsOf(theirs)[0]; call["tool"] != "rag.search_v1" || call["arguments"] != nil || call["result"] != nil || call["result_bytes"] == 0.0 {
		t.Errorf("to an administrator its calls so far: %v", call)
	}
	if s := stepsOf(theirs); len(s) != 3 || s[0]["condition"] != "input.message contains 'name'" || s[0]["values"] != nil {
		t.Errorf("to an administrator its way so far is %v", s)
	}

	for _, path := range []string{"/v1/runs", "/v1/runs?status=waiting"} {
		if list := items(h.bob.get(path).ok()); len(list) != 1 || list[0]["live"] != nil || list[0]["trace"] != nil {
			t.Errorf("%s: %v", path, list)
		}
	}
	h.bob.post("/v1/chat/resume", map[string]any{"interrupt_id": question, "resume_value": map[string]any{"type": "doc_choice", "value": "one"}}).ok()
	h.bob.follow(runID, 0).all()
	if r := h.bob.one(runID); r["status"] != "done" || r["live"] != nil || len(r["trace"].([]any)) != 1 {
		t.Errorf("when it is over: %v", r)
	}
	if who := fmt.Sprint(inside.who()); who != fmt.Sprint([]string{h.bob.id, identity.System().UserID}) {
		t.Errorf("it was looked into by %v", who)
	}
}

// What the switches of a person's own workflow say is theirs while it runs too,
// and of a run that does not know yet what it follows they are nobody else's.
//
// Requirements: ISO-01
func TestConditionsOfARunUnderWayAreShownToWhoMayReadThem(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	own := h.bob.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "bobs", "schema": greets}).ok()["id"].(string)
	runID, _ := h.bob.paused()
	inside := h.open(own)
	for _, pins := range [][]run.Pin{inside.state.Pins, nil, {{ArtifactID: h.greeter(), Version: 1}, {ArtifactID: own, Version: 1}}} {
		inside.follows(pins)
		for who, shown := range map[*person]bool{h.ada: false, h.bob: true} {
			if s := stepsOf(who.one(runID))[0]; s["node"] != "route" || (s["condition"] != nil) != shown {
				t.Errorf("pinned to %v, %s sees %v", pins, who.id, s)
			}
		}
	}
}

// Requirements: GRAPH-26
func TestARunThatDoesNotAnswerIsShownAsItsRowHasIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	runID, _ := h.bob.paused()
	for what, state := range map[string]func(context.Context) (json.RawMessage, error){
		"away": func(ctx context.Context) (json.RawMessage, error) {
			if due, bounded := ctx.Deadline(); !bounded || time.Until(due) > lookLimit {
				t.Errorf("it may take until %v", due)
			}
			return nil, context.DeadlineExceeded
		},
		"broken":  func(context.Context) (json.RawMessage, error) { return nil, errors.New("no workflow") },
		"unread":  func(context.Context) (json.RawMessage, error) { return json.RawMessage(`{"trace":7}`), nil },
		"nothing": func(context.Context) (json.RawMessage, error) { return nil, nil },
	} {
		h.engine.state = func(ctx context.Context, _ identity.Viewer, _ string) (json.RawMessage, error) { return state(ctx) }
		for _, who := range []*person{h.bob, h.ada} {
			r := who.one(runID)
			live, _ := r["live"].(map[string]any)
			if r["status"] != "waiting" || r["trace"] != nil || live["known"] != false || len(live["awaits"].([]any)) != 0 {
				t.Errorf("%s: %v", what, r)
			}
		}
	}
}

// Requirements: GRAPH-26
func TestARunThatHasNotBegunIsNotLookedInto(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	inside := h.open(h.greeter())
	r := run.Run{ID: id.New(), Kind: run.KindGraph, WorkflowID: "graph:" + id.New(), UserID: h.bob.id, RequestID: id.New(), Status: run.Queued}
	h.must(h.store.CreateRun(h.Context(), h.bob.viewer(), r))
	if got := h.bob.one(r.ID); got["status"] != "queued" || got["live"] != nil || len(inside.who()) != 0 {
		t.Errorf("queued: %v", got)
	}
}

// Requirements: SAFE-08, GRAPH-26
func TestARunUnderWayIsShownRedactedWhereAnOperatorWantsIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *Options) { o.Redacted = true })
	runID, _ := h.bob.paused()
	h.open(h.greeter())
	got := h.bob.get("/v1/runs/" + runID)
	r := got.ok()["run"].(map[string]any)
	if at := awaited(t, r); strings.Contains(string(got.body), "bob@example.org") || !strings.Contains(at["says"].(string), "[email]") {
		t.Errorf("shown: %s", got.body)
	}
}
