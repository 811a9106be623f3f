package api

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// clerk plays the workflow of a patch over a real desk and a real store: it
// makes the checks when it is told to, and puts the next question as soon as
// one is answered.
type clerk struct {
	world *world
	desk  *changes.Desk
}

func (w *world) newClerk(library *artifacts.Library) *clerk {
	c := &clerk{world: w}
	c.desk = changes.New(changes.Options{
		Store: w.store, Library: library, Recordings: w.store, Limits: quota.NewLimits(generous{w.memory}), Send: c.answered,
		Who: func(ctx context.Context, userID string) (identity.User, error) {
			u, _, err := w.store.User(ctx, userID)
			return u, err
		},
	})
	return c
}

// works checks and rehearses a patch, and asks for the decision where there is
// one to make.
func (c *clerk) works(of int64) {
	w := c.world
	w.Helper()
	checked, err := c.desk.StepCheck(w.Context(), of)
	if w.must(err); !checked.OK {
		return
	}
	rehearsed, err := c.desk.StepRehearse(w.Context(), of)
	if w.must(err); rehearsed.Open {
		c.asks(of, "decide")
	}
}

func (c *clerk) asks(of int64, what string) {
	w := c.world
	p, err := w.store.Patch(w.Context(), identity.Steward(), of)
	w.must(err)
	w.must(w.store.Ask(w.Context(), identity.Steward(), true, run.Interrupt{
		ID: id.Derive(p.RunID, what), RunID: p.RunID, WorkflowID: fmt.Sprint(patchWorkflow, of), EffectID: what,
		Type: "action_choice", Message: fmt.Sprintf("Patch %d: %s?", of, what), Options: []run.Option{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}},
	}))
}

// answered is what the workflow does with an answer.
func (c *clerk) answered(ctx context.Context, q run.Interrupt) {
	w := c.world
	w.must(w.store.Deliver(ctx, identity.Steward(), q.RunID, q.ID))
	of := patchOf(q.WorkflowID)
	next := map[string]string{`"approve"`: "apply", `"apply"`: "watch"}[string(q.Answer)]
	if next != "" {
		c.asks(*of, next)
		return
	}
	w.must(w.store.EndRun(ctx, identity.Steward(), q.RunID, run.End{Status: run.Done}))
}

// house is a world with the people whom changes pass.
type house struct {
	*world
	ada, eve, pia, bob *person // two administrators, one who may propose, one who may not
}

func newHouse(t *testing.T, change ...func(*Options)) *house {
	t.Helper()
	return settle(newWorld(t, change...))
}

// settle gives a world its people.
func settle(w *world) *house {
	w.Helper()
	h := &house{world: w, ada: w.signUp("ada@example.org")}
	h.eve, h.pia, h.bob = h.with("eve@example.org", "admin"), h.with("pia@example.org", "power"), w.signUp("bob@example.org")
	return h
}

func (h *house) with(email, role string) *person {
	h.Helper()
	p := h.signUp(email)
	h.ada.do("PATCH", "/v1/users/"+p.id, map[string]any{"role": role}).ok()
	got := (&person{world: h.world}).post("/v1/auth/login", map[string]any{"email": email, "password": "correct horse"}).ok()
	return h.personOf(got)
}

// greeter is a workflow that everybody uses: it greets, or asks whom.
func (h *house) greeter() string {
	h.Helper()
	return h.ada.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "greeter", "visibility": "global", "schema": greets}).ok()["id"].(string)
}

var greets = map[string]any{"kind": "workflow.chat", "title": "Greeter", "entrypoint": "route", "nodes": []any{
	map[string]any{"id": "route", "type": "switch", "branches": []any{
		map[string]any{"when": "input.message contains 'name'", "next": "named"},
		map[string]any{"when": "true", "next": "plain"},
	}},
	map[string]any{"id": "named", "type": "end", "response": "Hello, you."},
	map[string]any{"id": "plain", "type": "end", "response": "Hello."},
}}

// better is a change that no run notices.
func better(response string) []any {
	return []any{map[string]any{"op": "replace", "path": "/nodes/2/response", "value": response}}
}

func of(artifact string, ops []any) map[string]any {
	return map[string]any{"artifact_id": artifact, "patch": ops, "justification": "it is friendlier"}
}

// proposes makes a patch and waits until it is somebody's to decide, or is
// found wrong.
func (h *house) proposes(p *person, body map[string]any) (path string, made map[string]any) {
	h.Helper()
	made = p.post("/v1/config/patches", body).ok()
	h.clerk.works(int64(made["id"].(float64)))
	path = fmt.Sprint("/v1/config/patches/", made["id"])
	return path, p.get(path).ok()
}

// met records a run of a workflow as the engine would.
func (h *house) met(p *person, artifact, message string) (runID string) {
	h.Helper()
	a, err := h.store.Artifact(h.Context(), p.viewer(), artifact)
	h.must(err)
	pin := run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version}
	in := rehearsal.Record{Input: graph.Input{Input: map[string]any{"message": message}, Now: time.Unix(1_790_000_000, 0).UTC()}, Pins: []run.Pin{pin}}
	played, err := rehearsal.Play(a.Schema, nil, graph.ChatLimits(), in)
	h.must(err)
	in.Steps, in.Outcome = played.Trace, rehearsal.Ending{Response: played.Outcome.Response}
	body, err := rehearsal.Pack(in)
	h.must(err)
	trace, err := json.Marshal(map[string]any{
		"path": []any{map[string]any{"name": "open", "ms": 3, "note": message}}, "routing": routedBy(message), "steps": played.Trace,
		"calls": []any{map[string]any{
			"effect": "find#1", "attempt": 1, "node": "find", "tool": "rag.search_v1", "status": "ok", "ms": 7, "error": message,
			"arguments": map[string]any{"question": message, "password": "hunter2"}, "result": message,
		}},
	})
	h.must(err)
	r := run.Run{ID: id.New(), Kind: run.KindGraph, WorkflowID: "graph:" + id.New(), UserID: p.id, RequestID: id.New(), Status: run.Running, CreatedAt: time.Now()}
	h.must(h.store.CreateRun(h.Context(), p.viewer(), r))
	result, err := json.Marshal(map[string]any{"response": message})
	h.must(err)
	h.must(h.store.EndRun(h.Context(), p.viewer(), r.ID, run.End{
		Status: run.Done, Result: result, Trace: trace, Pins: []run.Pin{pin},
		Recording: &run.Recording{RunID: r.ID, UserID: p.id, Kind: r.Kind, Graph: pin, Status: run.Done, Branch: rehearsal.BranchOf(in.Steps), MS: 5, At: time.Now(), Body: body},
	}))
	return r.ID
}

// routedBy is what a router says that followed a policy of this name.
func routedBy(name string) map[string]any {
	return map[string]any{
		"policy": map[string]any{"id": id.New(), "name": name, "version": 1}, "adapters": []string{}, "gates": map[string]any{},
		"rules": []any{map[string]any{"rule": "first", "fired": false}},
	}
}
