package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"liminal/artifacts"
)

// A change that sends half of the runs another way needs two people.
//
// Requirements: CFG-11
func TestAGraveVerdictAsksForMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	for i := range 8 {
		h.met(h.bob, greeter, fmt.Sprint("my name ", i))
	}
	turned := []any{map[string]any{"op": "replace", "path": "/nodes/0/branches/0/when", "value": "false"}}
	path, patch := h.proposes(h.pia, of(greeter, turned))
	if reasons := patch["reasons"].([]any); patch["verdict"] != "second" || patch["needs"] != 2.0 || len(reasons) == 0 {
		t.Fatalf("the verdict is %v, %v: %v", patch["verdict"], patch["needs"], reasons)
	}
	yes := map[string]any{"decision": "approve", "reason": "we are careful"}
	if got := h.ada.post(path+"/decide", yes).ok(); got["status"] != "pending" || len(got["approvals"].([]any)) != 1 {
		t.Errorf("after one yes: %v %v", got["status"], got["approvals"])
	}
	h.ada.post(path+"/decide", yes).fails(409, "conflict")
	h.eve.post(path+"/apply", nil).fails(409, "conflict")
	got := h.eve.post(path+"/decide", yes).ok()
	if by := got["approvals"].([]any)[1].(map[string]any)["by"].(map[string]any); got["status"] != "approved" || by["name"] != "eve" {
		t.Errorf("after two: %v %v", got["status"], got["approvals"])
	}

	fails := []any{map[string]any{"op": "replace", "path": "/nodes/0/branches", "value": []any{map[string]any{"when": "false", "next": "plain"}, map[string]any{"when": "false", "next": "named"}}}}
	path, patch = h.proposes(h.pia, of(greeter, fails))
	if patch["verdict"] != "block" {
		t.Fatalf("of one that fails always: %v %v", patch["verdict"], patch["checks"])
	}
	refused := h.eve.post(path+"/decide", yes).fails(409, "conflict")
	if reasons, _ := refused.Details.(map[string]any)["reasons"].([]any); len(reasons) == 0 {
		t.Errorf("refused with %v", refused.Details)
	}
	if list := may(h.eve.get(path).ok()); strings.Contains(strings.Join(list, " "), "approve") {
		t.Errorf("eve may %v", list)
	}

	path, patch = h.proposes(h.pia, of(greeter, []any{
		map[string]any{"op": "replace", "path": "/nodes/0/branches/0/when", "value": "input.message contains 'name' and not (input.message contains '7')"},
		map[string]any{"op": "replace", "path": "/nodes/2", "value": map[string]any{"id": "plain", "type": "switch", "branches": []any{map[string]any{"when": "false", "next": "named"}}}},
	}))
	if patch["verdict"] != "warn" {
		t.Fatalf("of one that fails once: %v %v", patch["verdict"], patch["reasons"])
	}
	h.eve.post(path+"/decide", yes).fails(400, "validation_error")
	h.eve.post(path+"/decide", map[string]any{"decision": "approve", "confirm": "greeter"}).ok()
}

// Requirements: CFG-07 (schema), CFG-08 (tool names)
func TestAPatchThatFailsItsChecksSaysWhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	dangles := []any{map[string]any{"op": "replace", "path": "/nodes/0/branches/0/next", "value": "nowhere"}}
	tried := h.pia.post("/v1/config/patches/try", map[string]any{"artifact_id": greeter, "patch": dangles}).ok()
	if tried["ok"] != false || !strings.Contains(fmt.Sprint(tried["checks"]), "/nodes/0/branches/0/next") {
		t.Errorf("tried: %v", tried)
	}
	if list := items(h.pia.get("/v1/config/patches").ok()); len(list) != 0 {
		t.Errorf("a try was kept: %v", list)
	}
	path, patch := h.proposes(h.pia, of(greeter, dangles))
	if patch["status"] != "invalid" || patch["stage"] != "settled" {
		t.Errorf("it is %v (%v)", patch["status"], patch["stage"])
	}
	where := ""
	for _, c := range patch["checks"].([]any) {
		if check := c.(map[string]any); check["state"] == "failed" {
			where = check["problems"].([]any)[0].(map[string]any)["path"].(string)
		}
	}
	if where != "/nodes/0/branches/0/next" {
		t.Errorf("the problem is at %q: %v", where, patch["checks"])
	}
	h.ada.post(path+"/decide", map[string]any{"decision": "approve"}).fails(409, "conflict")
	h.ada.post(path+"/rehearse", nil).fails(409, "conflict")
	nowhere := []any{map[string]any{"op": "remove", "path": "/nodes/17"}}
	if _, patch = h.proposes(h.pia, of(greeter, nowhere)); patch["status"] != "invalid" || patch["changes"].([]any)[0].(map[string]any)["after"] != nil {
		t.Errorf("one that does not apply: %v", patch)
	}
}

// Requirements: CFG-11
func TestAChangeIsTriedOnWhatHappenedWithoutBeingProposed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	for _, message := range []string{"my name", "good day", "your name"} {
		h.met(h.bob, greeter, message)
	}
	turned := []any{map[string]any{"op": "replace", "path": "/nodes/0/branches/0/when", "value": "input.message contains 'good'"}}
	tried := h.ada.post("/v1/config/patches/try", map[string]any{"artifact_id": greeter, "patch": turned, "sample": 50}).ok()
	report, _ := tried["changes"].([]any)[0].(map[string]any)["report"].(map[string]any)
	if tried["ok"] != true || report == nil || report["moved"] != 3.0 || report["sample"].(map[string]any)["taken"] != 3.0 {
		t.Fatalf("tried: %v", tried)
	}
	if moved, _ := report["examples"].(map[string]any)["moved"].([]any); len(moved) == 0 {
		t.Errorf("no examples: %v", report["examples"])
	}
	path, patch := h.proposes(h.pia, of(greeter, turned))
	again := h.eve.post(path+"/rehearse", map[string]any{"sample": 200, "unknown": "unknown"}).ok()
	if len(again["events"].([]any)) != len(patch["events"].([]any))+1 || again["changes"].([]any)[0].(map[string]any)["report"] == nil {
		t.Errorf("rehearsed again: %v", told(again))
	}
}

// Requirements: CFG-10 (validates; applies)
func TestTheSeedsPatchOfARoutingPolicyIsCheckedAndApplied(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	seed := h.shipped("policy.routing", "default")
	policy := h.ada.post("/v1/artifacts", map[string]any{"type": "policy", "name": "default", "visibility": "global", "schema": seed}).ok()["id"].(string)
	path, patch := h.proposes(h.pia, map[string]any{
		"artifact_id": policy, "justification": "no fiction while debugging", "patch": []any{map[string]any{"op": "add", "path": "/rules/-", "value": map[string]any{
			"id": "avoid_creative_adapter_for_debug", "when": "cluster_label_contains(ctx_cluster, 'debug') and adapter_type == 'creative_writing'",
			"action": map[string]any{"type": "deactivate_adapter", "adapter_id": "current"},
		}}},
	})
	change := patch["changes"].([]any)[0].(map[string]any)
	if patch["stage"] != "deciding" || change["type"] != "policy" || change["report"] == nil {
		t.Fatalf("it is %v: %v", patch["status"], patch["checks"])
	}
	h.ada.post(path+"/decide", map[string]any{"decision": "approve"}).ok()
	h.eve.post(path+"/apply", nil).ok()
	rules := h.bob.get("/v1/artifacts/" + policy).ok()["schema"].(map[string]any)["rules"].([]any)
	if last := rules[len(rules)-1].(map[string]any); last["id"] != "avoid_creative_adapter_for_debug" {
		t.Errorf("the last rule: %v", last)
	}
}

// shipped is a document that comes with the program.
func (h *house) shipped(kind, name string) json.RawMessage {
	h.Helper()
	seeds, err := artifacts.NewLibrary(h.store, nil).Seeds()
	h.must(err)
	for _, s := range seeds {
		if s.Type == kind && s.Name == name {
			return s.Schema
		}
	}
	h.Fatalf("no %s %s ships", kind, name)
	return nil
}

// Requirements: CFG-11
func TestAVersionOnTrialIsWatchedAndPromoted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	for range 3 {
		h.met(h.bob, greeter, "good day")
	}
	path, patch := h.proposes(h.pia, of(greeter, better("Hello, friend.")))
	h.ada.post(path+"/decide", map[string]any{"decision": "approve"}).ok()
	for _, trial := range []map[string]any{{"share": 101}, {"share": -1}, {"hours": 169}} {
		h.ada.post(path+"/apply", trial).fails(400, "validation_error")
	}
	got := h.ada.post("/v1/config/apply", map[string]any{"patch_id": patch["id"], "share": 20, "hours": 12, "roll_back": true}).ok()
	if trial := got["trial"].(map[string]any); got["stage"] != "watching" || trial["share"] != 20.0 || trial["hours"] != 12.0 || trial["roll_back"] != true {
		t.Errorf("on trial: %v", got)
	}
	if a := h.bob.get("/v1/artifacts/" + greeter).ok(); a["rollout"].(map[string]any)["share"] != 20.0 || a["rollout"].(map[string]any)["from"] != 1.0 {
		t.Errorf("the artifact: %v", a["rollout"])
	}
	h.met(h.bob, greeter, "good day")
	watch := h.pia.get(path + "/watch").ok()
	if watch["versions"].(map[string]any)["after"] != 2.0 || watch["runs"].(map[string]any)["after"] != 1.0 || len(watch["rows"].([]any)) == 0 {
		t.Errorf("watched: %v", watch)
	}
	if got := h.eve.post(path+"/promote", map[string]any{}).ok(); got["status"] != "applied" || got["stage"] != "settled" {
		t.Errorf("promoted: %v", got)
	}
	if a := h.bob.get("/v1/artifacts/" + greeter).ok(); a["rollout"] != nil || a["version"] != 2.0 {
		t.Errorf("the artifact: %v", a["rollout"])
	}
	h.eve.post(path+"/promote", nil).fails(409, "conflict")
}

// Who decides sees what the report was made with.
//
// Requirements: CFG-11, CFG-14
func TestAScriptIsShownToWhoDecides(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	h.met(h.bob, greeter, "my name")
	body := of(greeter, []any{map[string]any{"op": "replace", "path": "/nodes/1", "value": map[string]any{
		"id": "named", "type": "interrupt", "interrupt_type": "text_input", "message": "Whose?", "save_as": "whose", "next": "plain",
	}}})
	body["unknown"], body["script"] = "scripted", map[string]any{"named": "Bob"}
	path, _ := h.proposes(h.pia, body)
	if got := h.ada.get(path).ok(); fmt.Sprint(got["script"]) != fmt.Sprint(body["script"]) || got["verdict"] != "warn" {
		t.Errorf("shown %v, %v: %v %v", got["script"], got["verdict"], got["reasons"], got["checks"])
	}
	h.ada.post(path+"/decide", map[string]any{"decision": "approve"}).fails(400, "validation_error")
	if _, patch := h.proposes(h.pia, of(greeter, better("Hi."))); patch["script"] != nil {
		t.Errorf("without one: %v", patch["script"])
	}
}
