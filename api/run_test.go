package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// one is a run as a person sees it.
func (p *person) one(runID string) map[string]any {
	p.Helper()
	return p.get("/v1/runs/" + runID).ok()["run"].(map[string]any)
}

// stepsOf are the nodes of a run's trace.
func stepsOf(r map[string]any) (list []map[string]any) {
	for _, s := range r["trace"].(map[string]any)["steps"].([]any) {
		list = append(list, s.(map[string]any))
	}
	return list
}

// Requirements: ISO-01, GRAPH-18 (order)
func TestAnAdministratorSeesTheWayOfOthersRunsAndNoWordOfThem(t *testing.T) {
	t.Parallel()
	newHouse(t).showsOnlyTheWay()
}

func (h *house) showsOnlyTheWay() {
	t := h.T
	greeter := h.greeter()
	theirs := h.met(h.bob, greeter, mark+" of my name")
	mine := h.met(h.ada, greeter, "good day")
	h.pia.get("/v1/runs/"+theirs).fails(404, "not_found")
	h.pia.get("/v1/runs?all=true").fails(403, "forbidden")

	list := items(h.ada.get("/v1/runs?all=true&artifact_id=" + greeter).ok())
	if len(list) != 2 || list[1]["id"] != theirs || list[1]["user"].(map[string]any)["name"] != "bob" || list[1]["limited"] != true || list[0]["limited"] != nil {
		t.Errorf("everybody's: %v", list)
	}
	if list := items(h.ada.get("/v1/runs?artifact_id=" + greeter).ok()); len(list) != 1 || list[0]["id"] != mine || list[0]["user"] != nil {
		t.Errorf("her own: %v", list)
	}
	if list := items(h.ada.get("/v1/runs?artifact_id=" + id.New()).ok()); len(list) != 0 {
		t.Errorf("of another workflow: %v", list)
	}

	got := h.ada.get("/v1/runs/" + theirs)
	if bytes.Contains(got.body, []byte(mark)) || bytes.Contains(got.body, []byte("hunter2")) {
		t.Errorf("it tells what was said: %s", got.body)
	}
	r := got.ok()["run"].(map[string]any)
	if r["limited"] != true || r["result"] != nil || r["user"].(map[string]any)["id"] != h.bob.id || r["recorded"] != true {
		t.Errorf("their run: %v", r)
	}
	if s := stepsOf(r)[0]; s["node"] != "route" || s["condition"] != "input.message contains 'name'" || s["outcome"] != "ok" || s["values"] != nil {
		t.Errorf("its way: %v", stepsOf(r))
	}
	call := r["trace"].(map[string]any)["calls"].([]any)[0].(map[string]any)
	if call["tool"] != "rag.search_v1" || call["ms"] != 7.0 || call["result_bytes"] != float64(len(mark+" of my name")+2) || call["arguments"] != nil {
		t.Errorf("its calls: %v", call)
	}
	h.ada.get("/v1/runs/"+theirs+"/events").fails(404, "not_found")
	h.ada.get("/v1/runs/"+id.New()).fails(404, "not_found")
}

// What the switches of a person's own workflow say is theirs as well.
//
// Requirements: ISO-01
func TestConditionsOfAnArtifactOfSomebodysOwnAreNotShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	own := h.bob.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "bobs", "schema": greets}).ok()["id"].(string)
	runID := h.met(h.bob, own, "my name")
	for who, shown := range map[*person]bool{h.ada: false, h.bob: true} {
		if s := stepsOf(who.one(runID))[0]; s["node"] != "route" || (s["condition"] != nil) != shown {
			t.Errorf("%s sees %v", who.id, s)
		}
	}
	h.ada.post("/v1/runs/"+runID+"/rehearse", nil).fails(404, "not_found")
}

// Requirements: GRAPH-18 (order)
func TestOnesOwnRunSaysWhatItsSwitchesRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	first, second := h.met(h.bob, greeter, "my name"), h.met(h.bob, greeter, "good day")
	h.ada.do("PATCH", "/v1/artifacts/"+greeter, []any{map[string]any{"op": "remove", "path": "/nodes/0/branches/0"}}).ok() // runs go by their own version
	for runID, message := range map[string]string{first: "my name", second: "good day"} {
		s := stepsOf(h.bob.one(runID))[0]
		if values, _ := s["values"].(map[string]any); values["input.message"] != message {
			t.Errorf("%q went by %v", message, s)
		}
	}
	if r := h.bob.one(first); r["recorded"] != true || r["limited"] != nil || r["user"] != nil || r["result"].(map[string]any)["response"] != "my name" {
		t.Errorf("his run: %v", r)
	}
	if call := h.bob.one(first)["trace"].(map[string]any)["calls"].([]any)[0].(map[string]any); call["arguments"].(map[string]any)["question"] != "my name" {
		t.Errorf("his calls: %v", call)
	}
	n, err := h.store.ForgetRecordings(t.Context(), identity.System(), time.Now().Add(time.Hour))
	if h.must(err); n == 0 {
		t.Error("nothing was forgotten")
	}
	if r := h.bob.one(first); r["recorded"] != nil || stepsOf(r)[0]["values"] != nil || stepsOf(r)[0]["condition"] == nil {
		t.Errorf("without its recording: %v", r)
	}
	h.bob.post("/v1/runs/"+first+"/rehearse", nil).fails(409, "conflict")
}

// Runs of one workflow are told apart by what they were asked, to whose they are.
//
// Requirements: ISO-01, SAFE-08
func TestRunsSayWhatTheyWereAsked(t *testing.T) {
	t.Parallel()
	for _, redacted := range []bool{false, true} {
		h := newHouse(t, func(o *Options) { o.Redacted = redacted })
		say := func(message string) string {
			return h.bob.post("/v1/chat", map[string]any{"message": message}).ok()["run_id"].(string)
		}
		long := strings.Repeat("word", 100)
		told := map[string]string{
			say("good\n\nday to bob@example.org"): "good day to bob@example.org",
			say(long):                             long[:maxAsked-1] + "…",
		}
		for kind, input := range map[run.Kind]string{
			run.KindGraph:  `{"artifact":"greeter","input":{"to":"Graz","nights":2,"mail":"bob@example.org"}}`,
			run.KindTool:   `{"tool":"rag.search_v1","input":{"question":"pets"}}`,
			run.KindIngest: `{"document_id":"d","path":"files/a/lease.pdf"}`,
		} {
			r := run.Run{ID: id.New(), Kind: kind, WorkflowID: string(kind) + ":1", UserID: h.bob.id, Status: run.Queued, Input: json.RawMessage(input)}
			h.must(h.store.CreateRun(h.Context(), h.bob.viewer(), r))
			told[r.ID] = map[run.Kind]string{
				run.KindGraph: "mail: bob@example.org; nights: 2; to: Graz", run.KindTool: "rag.search_v1 question: pets", run.KindIngest: "lease.pdf",
			}[kind]
			if in, _ := h.bob.one(r.ID)["input"].(map[string]any); (in != nil) != (kind != run.KindIngest) || redacted && in["mail"] == "bob@example.org" {
				t.Errorf("%s was given %v", kind, in)
			}
		}
		list := items(h.bob.get("/v1/runs").ok())
		if len(list) != len(told) {
			t.Fatalf("%d runs, want %d", len(list), len(told))
		}
		for _, r := range list {
			want := told[r["id"].(string)]
			if redacted {
				want = strings.ReplaceAll(want, "bob@example.org", "[email]")
			}
			if r["asked"] != want {
				t.Errorf("a list says %q, want %q", r["asked"], want)
			}
			if one := h.bob.one(r["id"].(string)); one["asked"] != want {
				t.Errorf("by itself it says %q, want %q", one["asked"], want)
			}
		}
		for _, r := range items(h.ada.get("/v1/runs?all=true").ok()) {
			if r["asked"] != nil || h.ada.one(r["id"].(string))["asked"] != nil {
				t.Errorf("an administrator is told %v", r)
			}
		}
	}
}

// Requirements: SAFE-08
func TestRunsAreShownRedactedWhereAnOperatorWantsIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *Options) { o.Redacted = true })
	runID := h.met(h.bob, h.greeter(), "my name is bob@example.org")
	got := h.bob.get("/v1/runs/" + runID)
	r := got.ok()["run"].(map[string]any)
	trace := fmt.Sprint(r["trace"].(map[string]any)["calls"], stepsOf(r))
	if strings.Contains(trace, "hunter2") || strings.Contains(trace, "bob@example.org") || !strings.Contains(trace, "[email]") {
		t.Errorf("shown: %s", trace)
	}
}

// Requirements: GRAPH-30, CFG-11
func TestARunIsRehearsedOnAnotherVersion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	runID := h.met(h.bob, greeter, "my name")
	h.ada.do("PATCH", "/v1/artifacts/"+greeter, []any{map[string]any{"op": "replace", "path": "/nodes/0/branches/0/when", "value": "false"}}).ok()
	path := "/v1/runs/" + runID + "/rehearse"
	if got := h.bob.post(path, map[string]any{"version": 1}).ok(); got["part"] != -1.0 || fmt.Sprint(got["old"]) != "[route named]" {
		t.Errorf("on its own version: %v", got)
	}
	got := h.bob.post(path, nil).ok()
	if got["part"] != 1.0 || fmt.Sprint(got["new"]) != "[route plain]" || got["outcome"].(map[string]any)["status"] != "done" {
		t.Errorf("on the current one: %v", got)
	}
	unsaved := map[string]any{"kind": "workflow.chat", "entrypoint": "a", "nodes": []any{map[string]any{"id": "a", "type": "end", "response": "${input.message}"}}}
	if got := h.bob.post(path, map[string]any{"schema": unsaved}).ok(); fmt.Sprint(got["new"]) != "[a]" || got["part"] != 0.0 {
		t.Errorf("on a document of his: %v", got)
	}
	asks := map[string]any{"kind": "workflow.chat", "entrypoint": "a", "nodes": []any{map[string]any{"id": "a", "type": "interrupt", "interrupt_type": "text_input", "message": "Who?", "save_as": "who"}}}
	if got := h.bob.post(path, map[string]any{"schema": asks}).ok()["outcome"].(map[string]any); got["status"] != "unknown" || got["node"] != "a" {
		t.Errorf("on one that asks what nobody was asked: %v", got)
	}
	refused := h.bob.post(path, map[string]any{"schema": workflow("nowhere")}).fails(400, "validation_error")
	if faults, _ := refused.Details.([]any); len(faults) == 0 || faults[0].(map[string]any)["path"] != "/entrypoint" {
		t.Errorf("refused with %v", refused.Details)
	}
	h.bob.post(path, map[string]any{"version": 9}).fails(404, "not_found")
	h.bob.post(path, map[string]any{"artifact_id": id.New()}).fails(404, "not_found")
	h.pia.post(path, nil).fails(404, "not_found")

	h.ada.post(path, map[string]any{"schema": unsaved}).fails(403, "forbidden")
	kept := h.ada.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "asks", "schema": unsaved}).ok()["id"].(string)
	h.ada.post(path, map[string]any{"artifact_id": kept}).fails(403, "forbidden") // her own conditions would ask what he wrote
	if got := h.ada.post(path, nil).ok(); got["part"] != 1.0 || strings.Contains(fmt.Sprint(got), "my name") {
		t.Errorf("an administrator is told %v", got)
	}
}

// Requirements: ART-07
func TestAnEarlierVersionIsRestoredAsTheNext(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	path := "/v1/artifacts/" + greeter
	h.ada.do("PATCH", path, better("Hello, friend.")).ok()
	h.bob.post(path+"/versions/1/restore", nil).fails(403, "forbidden")
	h.pia.post(path+"/versions/1/restore", nil).fails(403, "forbidden")
	h.ada.post(path+"/versions/9/restore", nil).fails(404, "not_found")
	h.ada.post(path+"/versions/0/restore", nil).fails(400, "validation_error")
	back := h.eve.post(path+"/versions/1/restore", map[string]any{"reason": "friends complained"}).ok()
	if back["version"] != 3.0 || back["created_by"] != "user" || fmt.Sprint(back["schema"]) != fmt.Sprint(h.version(greeter, 1)) {
		t.Errorf("restored: %v", back)
	}
	versions := items(h.ada.get(path + "/versions").ok())
	if len(versions) != 3 || !strings.Contains(fmt.Sprint(versions), "friends complained") {
		t.Errorf("versions: %v", versions)
	}
	own := h.bob.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "bobs", "schema": greets}).ok()["id"].(string)
	h.bob.post("/v1/artifacts/"+own+"/versions/1/restore", nil).ok()
}

// Requirements: ART-01
func TestTheSchemaOfAKindIsGivenToWhoWritesDocuments(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	for kind, full := range map[string]string{"workflow": "workflow.chat", "policy.routing": "policy.routing", "tool": "tool.spec", "adapter": "adapter.lora"} {
		schema := ada.get("/v1/schemas/" + kind).ok()
		if named := schema["properties"].(map[string]any)["kind"].(map[string]any); named["const"] != full {
			t.Errorf("%s: the kind is %v", kind, named)
		}
	}
	if refused := ada.get("/v1/schemas/poem").fails(404, "not_found"); !strings.Contains(refused.Message, "workflow.chat") {
		t.Errorf("refused with %q", refused.Message)
	}
}
