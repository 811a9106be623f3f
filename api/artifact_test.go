package api

import (
	"testing"

	"liminal/internal/id"
)

func workflow(entry string) map[string]any {
	return map[string]any{"kind": "workflow.chat", "entrypoint": entry, "nodes": []any{map[string]any{"id": "a", "type": "end"}}}
}

// Requirements: ART-02, ART-03, ART-04, ART-05, ART-09
func TestArtifactsAreWrittenPatchedAndListed(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	made := ada.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "mine", "schema": workflow("a")}).ok()
	of := "/v1/artifacts/" + made["id"].(string)
	if made["type"] != "workflow.chat" || made["version"] != 1.0 || made["created_by"] != "user" || made["owner_id"] != ada.id {
		t.Errorf("made = %v", made)
	}
	ops := []any{map[string]any{"op": "add", "path": "/description", "value": "better"}}
	if got := ada.do("PATCH", of, ops).ok(); got["version"] != 2.0 || got["schema"].(map[string]any)["description"] != "better" {
		t.Errorf("patched = %v", got)
	}
	if got := ada.do("PATCH", of, map[string]any{"patch": ops, "base_version": 2, "change_note": "again"}).ok(); got["version"] != 3.0 {
		t.Errorf("patched = %v", got)
	}
	ada.do("PATCH", of, map[string]any{"patch": ops, "base_version": 2}).fails(409, "conflict")
	ada.do("PATCH", of, []any{map[string]any{"op": "replace", "path": "/entrypoint", "value": "nowhere"}}).fails(400, "validation_error")
	ada.do("PATCH", of, `7`).fails(400, "validation_error")
	if got := ada.get(of).ok(); got["version"] != 3.0 {
		t.Errorf("current = %v", got)
	}
	if list := items(ada.get(of + "/versions").ok()); len(list) != 3 {
		t.Errorf("versions = %v", list)
	}
	if list := items(ada.get("/v1/artifacts?type=workflow&visibility=private").ok()); len(list) != 1 {
		t.Errorf("listed = %v", list)
	}
	if list := items(ada.get("/v1/artifacts?type=policy").ok()); len(list) != 0 {
		t.Errorf("policies = %v", list)
	}
	reason := ada.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "bad", "schema": workflow("nowhere")}).fails(400, "validation_error")
	if reason.Details == nil {
		t.Error("the faults are not named")
	}
}

func TestADocumentIsJudgedWithoutBeingWritten(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	if got := ada.post("/v1/artifacts/validate", map[string]any{"type": "workflow", "schema": workflow("a")}).ok(); got["valid"] != true {
		t.Errorf("a good one: %v", got)
	}
	odd := workflow("a")
	odd["nodes"] = append(odd["nodes"].([]any), map[string]any{"id": "alone", "type": "end"})
	if got := ada.post("/v1/artifacts/validate", map[string]any{"type": "workflow", "schema": odd}).ok(); got["valid"] != true || len(items(map[string]any{"data": got["warnings"]})) != 1 {
		t.Errorf("a node that nothing leads to: %v", got)
	}
	if got := ada.post("/v1/artifacts/validate", map[string]any{"type": "workflow.chat", "schema": workflow("nowhere")}).ok(); got["valid"] != false || got["problems"] == nil {
		t.Errorf("a bad one: %v", got)
	}
}

// Requirements: API-05
func TestAnArtifactIsCreatedOnceForAKey(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	make := func(name string) *response {
		return ada.post("/v1/artifacts", map[string]any{"type": "workflow", "name": name, "schema": workflow("a")}, "Idempotency-Key", "k")
	}
	first := make("mine")
	first.ok()
	if again := make("mine"); string(again.body) != string(first.body) {
		t.Errorf("%s then %s", first.body, again.body)
	}
	make("other").fails(400, "validation_error")
}

// Requirements: API-12 (one tool outside a workflow), API-05
func TestAToolRunsByItselfOnceForAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	run := func(tool, key string) *response {
		return ada.post("/v1/tools/run", map[string]any{"tool_id": tool, "input": map[string]any{"x": 1}}, "Idempotency-Key", key)
	}
	key := id.New()
	first := run("test.echo_v1", key)
	got := first.ok()
	if got["output"].(map[string]any)["echo"].(map[string]any)["x"] != 1.0 {
		t.Errorf("output = %v", got)
	}
	if again := run("test.echo_v1", key); string(again.body) != string(first.body) {
		t.Errorf("%s then %s", first.body, again.body)
	}
	if r := ada.get("/v1/runs/" + got["run_id"].(string)).ok()["run"].(map[string]any); r["kind"] != "tool" || r["request_id"] != key {
		t.Errorf("run = %v", r)
	}
	run("test.broken_v1", "").fails(400, "validation_error")
	run("test.absent_v1", "").fails(404, "not_found")
	ada.post("/v1/tools/run", `{}`).fails(400, "validation_error")
}

// Requirements: OBS-08
func TestARunShowsWhereTemporalShowsIt(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	started := ada.post("/v1/workflows/run", map[string]any{"workflow_id": "mine"}).ok()
	r := ada.get("/v1/runs/" + started["run_id"].(string)).ok()["run"].(map[string]any)
	if r["kind"] != "graph" || r["temporal_url"] != "http://temporal.test/namespaces/default/workflows/"+r["workflow_id"].(string) {
		t.Errorf("run = %v", r)
	}
	if list := items(ada.get("/v1/runs?kind=graph").ok()); len(list) != 1 {
		t.Errorf("runs = %v", list)
	}
}
