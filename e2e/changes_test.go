package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// staff are the people of a house where changes are proposed and approved: two
// administrators, and one who may propose.
type staff struct {
	*program
	admin, second, power *person
}

func hire(t *testing.T, p *program) staff {
	t.Helper()
	s := staff{program: p, admin: p.signUp("admin@example.org")}
	s.second, s.power = p.signUp("second@example.org"), p.signUp("power@example.org")
	for who, role := range map[*person]string{s.second: "admin", s.power: "power"} {
		me := who.must("GET", "/v1/auth/me", nil)
		s.admin.must("PATCH", "/v1/users/"+idOf(me), object{"role": role})
		who.signIn()
	}
	return s
}

func idOf(me object) string {
	if user, ok := me["user"].(object); ok {
		return user["id"].(string)
	}
	return me["id"].(string)
}

// helper is the workflow the tests change: what is long, what is a question,
// and the rest.
func helper() object {
	return object{"kind": "workflow.chat", "title": "Helper", "entrypoint": "route", "nodes": []object{
		{"id": "route", "type": "switch", "branches": []object{
			{"when": "input.message contains 'long'", "next": "long"},
			{"when": "input.message contains 'name'", "next": "ask"},
			{"when": "true", "next": "short"},
		}},
		{"id": "long", "type": "end", "response": "A long answer."},
		{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "What is your name?", "save_as": "name", "next": "greet"},
		{"id": "greet", "type": "end", "response": "Good day, ${vars.name}."},
		{"id": "short", "type": "end", "response": "A short answer."},
	}}
}

// proposed makes a patch and waits until nothing happens to it without people.
func (s staff) proposed(artifact string, ops ...object) object {
	s.t.Helper()
	made := s.power.must("POST", "/v1/config/patches", object{"artifact_id": artifact, "patch": ops, "justification": "to see what happens"})
	return s.settled(s.power, made)
}

func (s staff) settled(who *person, patch object) object {
	s.t.Helper()
	path := fmt.Sprintf("/v1/config/patches/%v", patch["id"])
	s.until("patch "+path+" to be rehearsed", func() bool {
		patch = who.must("GET", path, nil)
		return patch["stage"] != "checking" && patch["stage"] != "rehearsing"
	})
	return patch
}

func (s staff) decide(who *person, patch object, body object) (status int, message string) {
	s.t.Helper()
	status, _, _, message = who.do("POST", fmt.Sprintf("/v1/config/patches/%v/decide", patch["id"]), body)
	return status, message
}

// taken takes a patch to its version.
func (s staff) taken(patch object) object {
	s.t.Helper()
	path := fmt.Sprintf("/v1/config/patches/%v", patch["id"])
	s.admin.must("POST", path+"/decide", object{"decision": "approve", "reason": "fine"})
	return s.admin.must("POST", path+"/apply", object{})
}

// says is what a turn of a workflow answers.
func (s staff) says(who *person, workflow, message string) string {
	s.t.Helper()
	content, _ := who.must("POST", "/v1/chat", object{"message": message, "workflow_id": workflow})["content"].(string)
	return content
}

// failing are the places of the problems of a check that failed.
func failing(patch object) (check string, places []string) {
	checks, _ := patch["checks"].([]any)
	for _, c := range checks {
		c := c.(object)
		if c["state"] != "failed" {
			continue
		}
		problems, _ := c["problems"].([]any)
		for _, p := range problems {
			places = append(places, fmt.Sprint(p.(object)["path"]))
		}
		return c["name"].(string), places
	}
	return "", nil
}

// Requirements: CFG-01, CFG-02, CFG-03, CFG-04, CFG-05, CFG-06, CFG-07 (schema; dry run), CFG-08 (tool names), CFG-11, CFG-15, CFG-16, PLAT-07 (a patch raises no limit), PLAT-08, ART-07
func TestSixChangesAreTakenToTheirEnds(t *testing.T) {
	t.Parallel()
	s := hire(t, start(t))
	made := s.admin.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "helper", "visibility": "global", "schema": helper()})
	id := made["id"].(string)
	for i := range 8 {
		if got := s.says(s.power, id, fmt.Sprintf("question %d", i)); got != "A short answer." {
			t.Fatalf("before any change it answers %q", got)
		}
	}
	paused := s.power.must("POST", "/v1/chat", object{"message": "my name", "workflow_id": id})["interrupt"].(object)

	s.addsABranch(id)
	s.renamesWhereARunWaits(id, paused)
	s.refusesWhatIsWrong(id)
	s.needsTwoForWhatMovesMost(id)
	versions := s.admin.must("GET", "/v1/artifacts/"+id+"/versions", nil)["data"].([]any)
	if len(versions) != 5 {
		t.Errorf("there are %d versions, want 5: a roll back is one of its own", len(versions))
	}
}

// addsABranch takes the plain way, and tries its detours.
func (s staff) addsABranch(id string) {
	s.t.Helper()
	branch := s.proposed(id,
		object{"op": "add", "path": "/nodes/0/branches/0", "value": object{"when": "input.message contains 'brief'", "next": "brief"}},
		object{"op": "add", "path": "/nodes/-", "value": object{"id": "brief", "type": "end", "response": "Brief."}})
	if branch["stage"] != "deciding" || branch["verdict"] != "pass" {
		s.t.Fatalf("a new branch stands at %v with the verdict %v: %v", branch["stage"], branch["verdict"], branch["checks"])
	}
	if status, _ := s.decide(s.power, branch, object{"decision": "approve"}); status != 403 {
		s.t.Errorf("its proposer, who is no administrator, decides it: %d", status)
	}
	if status, _ := s.decide(s.admin, branch, object{"decision": "reject"}); status != 400 {
		s.t.Errorf("it is rejected without a reason: %d", status)
	}
	if after := s.taken(branch); after["status"] != "applied" {
		s.t.Fatalf("applied, it is %v", after["status"])
	}
	if got := s.says(s.power, id, "brief please"); got != "Brief." {
		s.t.Errorf("with the new branch it answers %q", got)
	}
}

// renamesWhereARunWaits renames a node a paused run stands behind: the run finishes
// as it began.
func (s staff) renamesWhereARunWaits(id string, paused object) {
	s.t.Helper()
	renamed := s.proposed(id,
		object{"op": "replace", "path": "/nodes/2/id", "value": "ask_name"},
		object{"op": "replace", "path": "/nodes/0/branches/2/next", "value": "ask_name"},
		object{"op": "replace", "path": "/nodes/3/response", "value": "Hi, ${vars.name}."})
	if renamed["stage"] != "deciding" || !strings.Contains(fmt.Sprint(renamed["checks"]), "paused run") {
		s.t.Errorf("nobody is told of the paused run: %v %v", renamed["stage"], renamed["checks"])
	}
	s.taken(renamed)
	s.power.must("POST", "/v1/chat/resume", object{"interrupt_id": paused["interrupt_id"], "resume_value": object{"type": "text_input", "value": "Ada"}})
	if done := last(s.t, s.power.follow(paused["run_id"].(string), 0, nil), "message_done").object(); done["content"] != "Good day, Ada." {
		s.t.Errorf("the paused run ended with %q", done["content"])
	}
}

// refusesWhatIsWrong proposes an edge that dangles, a tool there is not, and more
// time than a node may have.
func (s staff) refusesWhatIsWrong(id string) {
	s.t.Helper()
	for check, op := range map[string]object{
		"references": {"op": "replace", "path": "/nodes/0/branches/1/next", "value": "nowhere"},
		"limits":     {"op": "add", "path": "/nodes/-", "value": object{"id": "slow", "type": "tool_call", "tool": "rag.search_v1", "inputs": object{"query": "x"}, "timeout_ms": 120_000}},
	} {
		refused := s.proposed(id, op)
		if failed, places := failing(refused); refused["status"] != "invalid" || failed != check || len(places) == 0 {
			s.t.Errorf("a patch against %s is %v; %s fails at %v: %v", check, refused["status"], failed, places, refused["checks"])
		}
		if status, _ := s.decide(s.admin, refused, object{"decision": "approve", "reason": "all the same"}); status != 409 {
			s.t.Errorf("what failed its checks is approved: %d", status)
		}
	}
	unknown := s.proposed(id, object{"op": "add", "path": "/nodes/-", "value": object{"id": "odd", "type": "tool_call", "tool": "no.such_v1", "inputs": object{}}})
	if failed, places := failing(unknown); unknown["status"] != "invalid" || failed != "references" || !strings.Contains(strings.Join(places, " "), "/nodes/") {
		s.t.Errorf("a patch with an unknown tool is %v; %s fails at %v", unknown["status"], failed, places)
	}
}

// needsTwoForWhatMovesMost sends most recorded runs another way, and takes it back.
func (s staff) needsTwoForWhatMovesMost(id string) {
	s.t.Helper()
	moving := s.proposed(id, object{"op": "replace", "path": "/nodes/0/branches/3/next", "value": "long"})
	if moving["verdict"] != "second" || fmt.Sprint(moving["needs"]) != "2" {
		s.t.Fatalf("a patch that moves every run has the verdict %v and needs %v: %v", moving["verdict"], moving["needs"], moving["reasons"])
	}
	path := fmt.Sprintf("/v1/config/patches/%v", moving["id"])
	if once := s.admin.must("POST", path+"/decide", object{"decision": "approve", "reason": "yes"}); once["status"] != "pending" {
		s.t.Errorf("one yes of two makes it %v", once["status"])
	}
	if status, _ := s.decide(s.admin, moving, object{"decision": "approve", "reason": "yes again"}); status != 409 {
		s.t.Errorf("the same person counts twice: %d", status)
	}
	s.second.must("POST", path+"/decide", object{"decision": "approve", "reason": "so do I"})
	applied := s.admin.must("POST", path+"/apply", object{})
	if got := s.says(s.power, id, "hello"); applied["status"] != "applied" || got != "A long answer." {
		s.t.Errorf("it is %v and answers %q", applied["status"], got)
	}
	back := s.admin.must("POST", path+"/rollback", object{"reason": "too long"})
	if got := s.says(s.power, id, "hello"); back["status"] != "rolled_back" || got != "A short answer." {
		s.t.Errorf("taken back it is %v and answers %q", back["status"], got)
	}
}

// Requirements: CFG-05, CFG-06, CFG-15, CFG-16
func TestAPatchOutlivesKillMinusNine(t *testing.T) {
	t.Parallel()
	s := hire(t, start(t))
	id := s.admin.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "helper", "visibility": "global", "schema": helper()})["id"].(string)
	change := object{"op": "replace", "path": "/nodes/4/response", "value": "Shorter."}
	patch := s.proposed(id, change)
	other := s.proposed(id, object{"op": "replace", "path": "/nodes/1/response", "value": "Longer."})
	everyone := func() {
		for _, who := range []*person{s.admin, s.second, s.power} {
			who.signIn()
		}
	}
	s.kill()
	s.again()
	everyone()
	s.until("both questions to wait for administrators", func() bool { // one may not have been put before the kill
		return len(s.admin.must("GET", "/v1/interrupts", nil)["data"].([]any)) == 2
	})
	path := fmt.Sprintf("/v1/config/patches/%v", patch["id"])
	s.admin.must("POST", path+"/decide", object{"decision": "approve", "reason": "fine"})
	s.kill() // right after the answer: the workflow may not have it
	s.again()
	everyone()
	if got := s.admin.must("GET", path, nil); got["status"] != "approved" {
		t.Fatalf("after the second restart the patch is %v", got["status"])
	}
	s.admin.must("POST", path+"/apply", object{})
	if got := s.says(s.power, id, "hello"); got != "Shorter." {
		t.Errorf("applied, it answers %q", got)
	}
	s.until("the workflow to watch", func() bool {
		return s.admin.must("GET", path, nil)["stage"] == "watching"
	})

	// The other was made for the version before.
	s.admin.must("POST", fmt.Sprintf("/v1/config/patches/%v/decide", other["id"]), object{"decision": "approve", "reason": "fine"})
	status, _, code, message := s.admin.do("POST", fmt.Sprintf("/v1/config/patches/%v/apply", other["id"]), object{})
	if status != 409 || code != "conflict" || !strings.Contains(message, "version 2") {
		t.Errorf("a patch whose base moved is applied: %d %s %s", status, code, message)
	}
	// Its workflow may still be on the way to the next question.
	var next map[string]any
	s.until("the other to be made again", func() bool {
		status, next, _, _ = s.admin.do("POST", fmt.Sprintf("/v1/config/patches/%v/rebase", other["id"]), object{})
		return status == 200
	})
	again := s.settled(s.admin, next)
	if again["stage"] != "deciding" {
		t.Errorf("made again on the new version it stands at %v", again["stage"])
	}
}

// Requirements: CFG-01, CFG-04, CFG-05, ART-03
func TestBehaviourIsKeptInFilesAndChangedByPatches(t *testing.T) {
	t.Parallel()
	s := hire(t, start(t))
	s.admin.must("POST", "/v1/artifacts", object{"type": "workflow", "name": "helper", "visibility": "global", "schema": helper()})
	dir := filepath.Join(t.TempDir(), "behaviour")
	as := func(who *person, args ...string) (string, int) {
		t.Helper()
		out, said, code := runWith(t, []string{"LIMINAL_URL=" + s.ready.HTTP, "LIMINAL_TOKEN=" + who.token}, args...)
		return out + said, code
	}
	must := func(who *person, args ...string) string {
		t.Helper()
		out, code := as(who, args...)
		if code != 0 {
			t.Fatalf("liminald %s ended with %d: %s", strings.Join(args, " "), code, out)
		}
		return out
	}
	must(s.power, "artifacts", "export", dir)
	file := filepath.Join(dir, "workflow.chat", "helper.json")
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out := must(s.power, "artifacts", "diff", dir, "--check"); !strings.Contains(out, "the same") {
		t.Errorf("right after the export: %s", out)
	}
	edit := func(from, to string) {
		t.Helper()
		doc = []byte(strings.Replace(string(doc), from, to, 1))
		if err := os.WriteFile(file, doc, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit(`"next": "short"`, `"next": "nowhere"`)
	if out, code := as(s.power, "patch", "check", dir); code != 1 || !strings.Contains(out, "nowhere") {
		t.Errorf("a dangling edge ends with %d: %s", code, out)
	}
	edit(`"next": "nowhere"`, `"next": "short"`)
	edit("A short answer.", "In short.")
	if out, code := as(s.power, "artifacts", "diff", dir, "--check"); code != 1 || !strings.Contains(out, `"A short answer." → "In short."`) {
		t.Errorf("the difference is told with %d: %s", code, out)
	}
	out := must(s.power, "patch", "propose", dir, "--why", "people asked for it")
	if !strings.Contains(out, "patch 1: helper v1 → v2") || !strings.Contains(out, "people asked for it") {
		t.Errorf("proposed: %s", out)
	}
	if out, code := as(s.power, "patch", "approve", "1"); code != 1 {
		t.Errorf("its proposer approves it (%d): %s", code, out)
	}
	must(s.admin, "patch", "list", "--status", "pending")
	must(s.admin, "patch", "approve", "1")
	if out := must(s.admin, "patch", "apply", "1"); !strings.Contains(out, "applied") {
		t.Errorf("applied: %s", out)
	}
	if out := must(s.admin, "patch", "rollback", "1", "--why", "too terse"); !strings.Contains(out, "rolled_back") {
		t.Errorf("taken back: %s", out)
	}
	if out := must(s.admin, "patch", "show", "1"); !strings.Contains(out, "too terse") {
		t.Errorf("its history: %s", out)
	}
	extra := filepath.Join(t.TempDir(), "extra.json") // a new one needs no flag
	if err := os.WriteFile(extra, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	must(s.power, "patch", "check", extra)
	if out := must(s.power, "artifacts", "import", extra); !strings.Contains(out, `created workflow "extra", version 1, private`) {
		t.Errorf("an import of a new one: %s", out)
	}
	if out := must(s.power, "artifacts", "import", extra); !strings.Contains(out, "the same") {
		t.Errorf("and once more: %s", out)
	}
	if out, code := as(s.admin, "artifacts", "import", dir); code != 1 || !strings.Contains(out, "version") {
		t.Errorf("an import over versions that came since (%d): %s", code, out)
	}
}
