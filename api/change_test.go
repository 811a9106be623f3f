package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/id"
	"liminal/internal/inproc"
	"liminal/internal/quota"
	"liminal/internal/store"
)

// told is what was done to a patch, and by whom.
func told(patch map[string]any) (list []string) {
	for _, e := range patch["events"].([]any) {
		event, who := e.(map[string]any), "Liminal"
		if by, ok := event["by"].(map[string]any); ok {
			who = by["name"].(string)
		}
		list = append(list, fmt.Sprint(who, " ", event["what"]))
	}
	return list
}

// may is what somebody may do with a patch.
func may(patch map[string]any) (acts []string) {
	for _, act := range []string{"approve", "reject", "apply", "roll_back", "promote", "withdraw", "rebase", "rehearse"} {
		leave := patch["may"].(map[string]any)[act].(map[string]any)
		if leave["ok"] == true {
			acts = append(acts, act)
		} else if leave["why"] == "" {
			acts = append(acts, act+" is refused without a word")
		}
	}
	return acts
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("%s: %s, want %s", what, strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// Requirements: CFG-01, CFG-03, CFG-04, CFG-05, CFG-16
func TestAChangeIsProposedDecidedAppliedAndTakenBack(t *testing.T) {
	t.Parallel()
	newHouse(t).takesAChangeAndItsReturn()
}

func (h *house) takesAChangeAndItsReturn() {
	t := h.T
	greeter := h.greeter()
	h.met(h.bob, greeter, "good day")
	path, patch := h.proposes(h.pia, of(greeter, better("Hello, friend.")))
	if patch["status"] != "pending" || patch["stage"] != "deciding" || patch["proposer"] != "user" || patch["verdict"] != "pass" {
		t.Errorf("proposed: %v", patch)
	}
	change := patch["changes"].([]any)[0].(map[string]any)
	after := change["after"].(map[string]any)["nodes"].([]any)[2].(map[string]any)
	if after["response"] != "Hello, friend." || change["base_version"] != 1.0 || change["current_version"] != 1.0 || change["type"] != "workflow" || change["title"] != "Greeter" {
		t.Errorf("the change: %v", change)
	}
	if report, ok := change["report"].(map[string]any); !ok || report["sample"].(map[string]any)["taken"] != 1.0 {
		t.Errorf("the report: %v", change["report"])
	}
	same(t, "the proposer may", may(patch), []string{"withdraw", "rehearse"})
	same(t, "an administrator may", may(h.ada.get(path).ok()), []string{"approve", "reject", "rehearse"})

	list := items(h.eve.get("/v1/config/patches?status=pending&artifact_id=" + greeter).ok())
	if len(list) != 1 || list[0]["id"] != patch["id"] || list[0]["proposed_by"].(map[string]any)["name"] != "pia" || list[0]["may"] != nil {
		t.Errorf("listed: %v", list)
	}
	if list[0]["changes"].([]any)[0].(map[string]any)["after"] != nil {
		t.Errorf("a list is not to hold documents: %v", list)
	}
	if list := items(h.eve.get("/v1/config/patches?mine=true").ok()); len(list) != 0 {
		t.Errorf("eve's own: %v", list)
	}

	h.ada.post(path+"/decide", map[string]any{"decision": "approve", "reason": "kind"}).ok()
	applied := h.eve.post(path+"/apply", nil).ok()
	if applied["status"] != "applied" || applied["decided_at"] == nil || applied["applied_at"] == nil || applied["trial"].(map[string]any)["hours"] != 24.0 {
		t.Errorf("applied: %v", applied)
	}
	same(t, "an administrator may", may(applied), []string{"roll_back", "promote"})
	if a := h.bob.get("/v1/artifacts/" + greeter).ok(); a["version"] != 2.0 {
		t.Errorf("the artifact: %v", a)
	}
	h.eve.post(path+"/rollback", nil).fails(400, "validation_error")
	back := h.eve.post(path+"/rollback", map[string]any{"reason": "too friendly"}).ok()
	same(t, "its way", told(back), []string{"pia proposed", "Liminal checked", "Liminal rehearsed", "ada approved", "eve applied", "eve rolled_back"})
	if last := back["events"].([]any)[5].(map[string]any); last["reason"] != "too friendly" || last["at"] == "" {
		t.Errorf("the last event: %v", last)
	}
	if a := h.bob.get("/v1/artifacts/" + greeter).ok(); a["version"] != 3.0 || fmt.Sprint(a["schema"]) != fmt.Sprint(h.version(greeter, 1)) {
		t.Errorf("the artifact: %v", a)
	}
}

// version is the document of a version.
func (h *house) version(artifact string, n int) any {
	h.Helper()
	for _, v := range items(h.ada.get("/v1/artifacts/" + artifact + "/versions").ok()) {
		if v["version"] == float64(n) {
			return v["schema"]
		}
	}
	h.Fatalf("no version %d", n)
	return nil
}

// Requirements: CFG-02, ISO-07
func TestWhoMayNotIsToldSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	h.bob.post("/v1/config/patches", of(greeter, better("Mine."))).fails(403, "forbidden")
	h.bob.post("/v1/config/patches/try", of(greeter, better("Mine."))).fails(403, "forbidden")
	path, _ := h.proposes(h.ada, of(greeter, better("Hello, friend.")))
	approve, reject := map[string]any{"decision": "approve"}, map[string]any{"decision": "reject"}
	h.ada.post(path+"/decide", approve).fails(403, "forbidden") // her own
	h.bob.get(path).fails(404, "not_found")
	h.pia.get(path).fails(404, "not_found")
	h.eve.post(path+"/decide", reject).fails(400, "validation_error")
	h.eve.post(path+"/decide", map[string]any{"decision": "perhaps"}).fails(400, "validation_error")
	if got := h.ada.get(path).ok(); got["status"] != "pending" || len(got["events"].([]any)) != 3 {
		t.Errorf("after the refusals: %v %v", got["status"], told(got))
	}
	h.eve.post(path+"/decide", map[string]any{"decision": "reject", "reason": "we are formal"}).ok()
	h.eve.post(path+"/decide", approve).fails(409, "conflict")

	path, patch := h.proposes(h.pia, of(greeter, better("Hello.!")))
	for act, body := range map[string]any{
		"decide": approve, "apply": map[string]any{}, "rollback": map[string]any{"reason": "x"}, "promote": nil,
	} {
		h.pia.post(path+"/"+act, body).fails(403, "forbidden")
	}
	h.pia.post("/v1/config/apply", map[string]any{"patch_id": patch["id"]}).fails(403, "forbidden")
	if got := h.pia.post(path+"/withdraw", map[string]any{"reason": "thought better of it"}).ok(); got["status"] != "withdrawn" {
		t.Errorf("withdrawn: %v", got)
	}
	own := h.bob.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "bobs", "schema": greets}).ok()["id"].(string)
	if path, patch = h.proposes(h.bob, of(own, better("Bob's."))); patch["stage"] != "deciding" {
		t.Errorf("of his own: %v", patch)
	}
	h.bob.post(path+"/decide", approve).fails(403, "forbidden")
}

// Requirements: CFG-05, CFG-06
func TestOnlyAnApprovedPatchOnItsBaseIsApplied(t *testing.T) {
	t.Parallel()
	newHouse(t).appliesOnlyOnTheBase()
}

func (h *house) appliesOnlyOnTheBase() {
	t := h.T
	greeter := h.greeter()
	path, patch := h.proposes(h.pia, of(greeter, better("Hello, friend.")))
	h.ada.post(path+"/apply", nil).fails(409, "conflict")
	h.ada.post("/v1/config/apply", map[string]any{"patch_id": patch["id"]}).fails(409, "conflict")
	h.ada.post(path+"/promote", nil).fails(409, "conflict")
	h.ada.get(path+"/watch").fails(409, "conflict")
	h.ada.post(path+"/rebase", nil).fails(409, "conflict") // nothing has moved
	h.ada.post(path+"/decide", map[string]any{"decision": "approve"}).ok()

	h.ada.do("PATCH", "/v1/artifacts/"+greeter, []any{map[string]any{"op": "add", "path": "/description", "value": "greets"}}).ok()
	moved := h.ada.post("/v1/config/apply", map[string]any{"patch_id": patch["id"]}).fails(409, "conflict")
	details := moved.Details.(map[string]any)
	if details["base_version"] != 1.0 || details["current_version"] != 2.0 {
		t.Errorf("details: %v", details)
	}
	stood := h.ada.get(path).ok()
	change := stood["changes"].([]any)[0].(map[string]any)
	if stood["status"] != "approved" || change["current_version"] != 2.0 || change["now"] == nil {
		t.Errorf("it stands: %v", stood)
	}
	same(t, "an administrator may", may(stood), []string{"withdraw", "rebase"})
	if a := h.ada.get("/v1/artifacts/" + greeter).ok(); a["version"] != 2.0 {
		t.Errorf("the artifact: %v", a["version"])
	}

	next := h.ada.post(path+"/rebase", nil).ok()
	if next["rebased_from"] != patch["id"] || next["proposed_by"].(map[string]any)["name"] != "pia" {
		t.Errorf("rebased: %v", next)
	}
	if old := h.ada.get(path).ok(); old["status"] != "superseded" || old["rebased_to"] != next["id"] {
		t.Errorf("the old one: %v", old)
	}
	h.clerk.works(int64(next["id"].(float64)))
	path = fmt.Sprint("/v1/config/patches/", next["id"])
	h.eve.post(path+"/decide", map[string]any{"decision": "approve"}).ok()
	if got := h.eve.post("/v1/config/apply", map[string]any{"patch_id": next["id"]}).ok(); got["status"] != "applied" {
		t.Errorf("applied: %v", got)
	}
}

// Requirements: CFG-01, API-05
func TestAProposalIsMadeOnceForAKeyAndUnderBothNames(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	body := of(greeter, better("Hello, friend."))
	first := h.pia.post("/v1/config/patches", body, "Idempotency-Key", "k")
	first.ok()
	if again := h.pia.post("/v1/config/patches", body, "Idempotency-Key", "k"); string(again.body) != string(first.body) {
		t.Errorf("%s then %s", first.body, again.body)
	}
	h.pia.post("/v1/config/patches", of(greeter, better("Other.")), "Idempotency-Key", "k").fails(400, "validation_error")
	named := map[string]any{"artifact_id": "greeter", "artifact_type": "workflow", "patch": better("Other."), "justification": "because"}
	h.pia.post("/v1/config/propose_patch", named).ok()
	if list := items(h.ada.get("/v1/config/patches").ok()); len(list) != 2 {
		t.Errorf("listed: %v", list)
	}
	for what, body := range map[string]map[string]any{
		"no justification":   {"artifact_id": greeter, "patch": better("x")},
		"an empty one":       {"artifact_id": greeter, "patch": better("x"), "justification": ""},
		"a long one":         {"artifact_id": greeter, "patch": better("x"), "justification": strings.Repeat("x", 4001)},
		"no patch":           {"artifact_id": greeter, "justification": "because"},
		"a patch of words":   {"artifact_id": greeter, "patch": "better", "justification": "because"},
		"no such operation":  {"artifact_id": greeter, "patch": []any{map[string]any{"op": "improve", "path": ""}}, "justification": "because"},
		"both ways":          {"artifact_id": greeter, "patch": better("x"), "changes": []any{of(greeter, better("x"))}, "justification": "because"},
		"the same one twice": {"changes": []any{of(greeter, better("x")), of(greeter, better("y"))}, "justification": "because"},
		"an unknown unknown": {"artifact_id": greeter, "patch": better("x"), "justification": "because", "unknown": "guess"},
	} {
		if got := h.pia.post("/v1/config/patches", body); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	h.pia.post("/v1/config/patches", map[string]any{"artifact_id": greeter, "patch": better("x"), "justification": "because", "base_version": 7}).fails(409, "conflict")
	h.pia.post("/v1/config/patches", of(id.New(), better("x"))).fails(404, "not_found")
}

// Requirements: CFG-05
func TestASetOfChangesMakesAnArtifactAndIsAppliedWhole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	greeter := h.greeter()
	path, patch := h.proposes(h.pia, map[string]any{"justification": "a second greeter", "changes": []any{
		map[string]any{"create": map[string]any{"type": "workflow", "name": "second", "visibility": "global", "schema": greets}},
		map[string]any{"artifact_id": greeter, "patch": better("Hello, friend.")},
	}})
	if patch["stage"] != "deciding" {
		t.Fatalf("it is %v: %v", patch["status"], patch["checks"])
	}
	made := patch["changes"].([]any)[0].(map[string]any)
	drafts := items(h.ada.get("/v1/artifacts?status=draft").ok())
	if made["creates"] != true || len(drafts) != 1 || drafts[0]["status"] != "draft" || drafts[0]["id"] != made["artifact_id"] {
		t.Errorf("%v; the drafts: %v", made, drafts)
	}
	for _, a := range items(h.ada.get("/v1/artifacts?status=active").ok()) {
		if a["status"] != "active" || a["id"] == made["artifact_id"] {
			t.Errorf("active: %v", a)
		}
	}
	h.ada.post(path+"/decide", map[string]any{"decision": "approve"}).ok()
	applied := h.eve.post(path+"/apply", map[string]any{"hours": 0}).ok()
	for _, c := range applied["changes"].([]any) {
		if c.(map[string]any)["applied_version"] != 2.0 {
			t.Errorf("applied: %v", c)
		}
	}
	if list := items(h.ada.get("/v1/artifacts?status=draft").ok()); len(list) != 0 {
		t.Errorf("drafts: %v", list)
	}
}

// Requirements: CFG-12, SAFE-04
func TestProposalsAndTriesAreBoundedApart(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *Options) {
		s, _ := o.Conversations.(*store.Store)
		log, _ := o.Log.(*inproc.Memory)
		library, _ := o.Artifacts.(*artifacts.Library)
		desk := changes.New(changes.Options{Store: s, Library: library, Recordings: s, Limits: quota.NewLimits(frozen{log})})
		o.Proposals, o.Decisions = desk, desk
	})
	greeter := h.greeter()
	for i := range quota.PlanOf(quota.Free).ConfigOps.Burst {
		h.pia.post("/v1/config/patches", of(greeter, better(fmt.Sprint(i)))).ok()
	}
	refused := h.pia.post("/v1/config/patches", of(greeter, better("one more")))
	if refused.fails(429, "rate_limited"); refused.header.Get("Retry-After") == "" {
		t.Error("nobody says when to try again")
	}
	h.pia.post("/v1/config/patches/try", of(greeter, better("one more"))).ok()
	h.eve.post("/v1/config/patches", of(greeter, better("one more"))).ok()
}

func TestWhatAPatchWaitsForStandsAmongAdministratorsQuestions(t *testing.T) {
	t.Parallel()
	newHouse(t).asksAdministrators()
}

func (h *house) asksAdministrators() {
	t := h.T
	_, patch := h.proposes(h.pia, of(h.greeter(), better("Hello, friend.")))
	for _, p := range []*person{h.pia, h.bob} {
		if list := items(p.get("/v1/interrupts").ok()); len(list) != 0 {
			t.Errorf("others are asked: %v", list)
		}
	}
	open := items(h.eve.get("/v1/interrupts").ok())
	if len(open) != 1 || open[0]["patch_id"] != patch["id"] || open[0]["conversation_id"] != nil {
		t.Fatalf("asked: %v", open)
	}
	if r := h.eve.get("/v1/runs/" + patch["run_id"].(string)).ok()["run"].(map[string]any); r["kind"] != "patch" || r["patch_id"] != patch["id"] || r["limited"] == true || r["user"].(map[string]any)["name"] != "Liminal" {
		t.Errorf("its run: %v", r)
	}
	h.bob.get("/v1/runs/"+patch["run_id"].(string)).fails(404, "not_found")
	answer := map[string]any{"interrupt_id": open[0]["interrupt_id"], "resume_value": map[string]any{"type": "action_choice", "value": "approve"}}
	if refused := h.eve.post("/v1/chat/resume", answer).fails(409, "conflict"); !strings.Contains(refused.Message, fmt.Sprint("/v1/config/patches/", patch["id"])) {
		t.Errorf("refused with %q", refused.Message)
	}
	h.pia.post("/v1/chat/resume", answer).fails(404, "not_found")
}
