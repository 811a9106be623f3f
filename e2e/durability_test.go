package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	lease = "# Lease\n\nThe tenant pays a deposit of three monthly rents. The notice period is three months.\n"
	loan  = "# Loan\n\nThe borrower pays interest of four percent. The notice period is six weeks.\n"
)

// script writes a script for the scripted model and returns the environment
// that plays it.
func script(t *testing.T, s string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"MODEL_BACKEND=scripted", "LIMINAL_MODEL_SCRIPT=" + path}
}

// Requirements: INT-03, INT-04, INT-05, INT-15, INT-29, INT-31, CHAT-16, PLAT-02 (interrupts and resumes), INT-34, GRAPH-26
func TestAQuestionOutlivesKillMinusNine(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(docs, "lease.md", []byte(lease))
	ada.upload(docs, "loan.md", []byte(loan))

	asked := ada.must("POST", "/v1/chat", object{"message": "How long is the notice period?"})
	question, ok := asked["interrupt"].(object)
	if !ok {
		t.Fatalf("two documents fit and nobody was asked: %v", asked["content"])
	}
	conversation := asked["conversation_id"].(string)
	if n := waitingRuns(t, p); n != 1 {
		t.Errorf("Temporal lists %d runs that wait for a person, want 1", n)
	}
	ada.seesWhere(asked["run_id"].(string), question["message"])

	p.kill()
	p.again()
	ada.signIn()
	ada.seesWhere(asked["run_id"].(string), question["message"])
	again := ada.must("GET", "/v1/conversations/"+conversation+"/messages", nil)["pending_interrupt"].(object)
	if again["interrupt_id"] != question["interrupt_id"] || fmt.Sprint(again["options"]) != fmt.Sprint(question["options"]) {
		t.Fatalf("after the restart the question is %v, was %v", again, question)
	}
	answer := object{"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "doc_choice", "value": option(t, question, "Loan")}}
	ada.must("POST", "/v1/chat/resume", answer)
	events := ada.follow(asked["run_id"].(string), 0, nil)
	done := last(t, events, "message_done").object()
	if content := done["content"].(string); !strings.Contains(content, "six weeks") || strings.Contains(content, "three months") {
		t.Errorf("the answer is %q", content)
	}
	if status, _, code, _ := ada.do("POST", "/v1/chat/resume", answer); status/100 == 2 {
		t.Errorf("a second answer was accepted (%d %s)", status, code)
	}
	got := ada.messages(conversation)
	if len(got) != 4 || !strings.HasPrefix(got[1], "system: Several") || got[2] != "user: Loan" {
		t.Errorf("the conversation holds %q", got)
	}
	if n := steps(ada, asked["run_id"].(string), "search"); n != 1 {
		t.Errorf("the step before the question ran %d times, want once", n)
	}
}

// Requirements: STREAM-29, STREAM-32, CHAT-16, CHAT-28
func TestAnAnswerCutByKillMinusNineIsSpokenAgainWhole(t *testing.T) {
	t.Parallel()
	cutAndSpokenAgain(t, (*program).kill)
}

// Requirements: STREAM-32, CHAT-28
func TestAnAnswerCutByADrainIsSpokenAgainWhole(t *testing.T) {
	t.Parallel()
	cutAndSpokenAgain(t, func(p *program) { p.terminate() })
}

// cutAndSpokenAgain ends the program in the middle of an answer, starts it
// again, and looks at what a reader who comes back sees.
func cutAndSpokenAgain(t *testing.T, end func(*program)) {
	spoke, resume := filepath.Join(t.TempDir(), "spoke"), filepath.Join(t.TempDir(), "go")
	p := start(t, script(t, fmt.Sprintf(`{"answers":[{"task":"chat","steps":[
		{"text":"One two three. "},{"touch":%q},{"until":%q},{"text":"Four five."}]}]}`, spoke, resume))...)
	ada := p.signUp("ada@example.org")
	turn := ada.must("POST", "/v1/chat", object{"message": "Count.", "stream": true})
	runID, conversation := turn["run_id"].(string), turn["conversation_id"].(string)
	before := ada.follow(runID, 0, func(e event) bool { return e.Kind == "token" })
	p.until("the model to have spoken", func() bool { _, err := os.Stat(spoke); return err == nil })
	end(p)
	if err := os.WriteFile(resume, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.again()
	ada.signIn()
	after := ada.follow(runID, before[len(before)-1].Seq, nil)

	if got := text(append(before, after...)); got != "One two three. Four five." {
		t.Errorf("a reader who came back sees %q, from %v", got, kinds(after))
	}
	if !slices.IsSortedFunc(append(before, after...), func(a, b event) int { return int(a.Seq - b.Seq) }) {
		t.Error("seq does not grow over the restart")
	}
	want := []string{"user: Count.", "assistant: One two three. Four five."}
	if got := ada.messages(conversation); !slices.Equal(got, want) {
		t.Errorf("the conversation holds %q, want %q", got, want)
	}
}

// Requirements: RAG-19
func TestIngestionCutByKillMinusNineGoesOn(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Long"})["id"].(string)
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "Entry %d of the register names the vessel %d and its master.\n\n", i, i*7919%20_000)
	}
	run, document := ada.sendFile(docs, "register.txt", []byte(long.String()))
	ada.follow(run, 0, func(e event) bool { return e.Kind == "progress" })
	p.kill()
	p.again()
	ada.signIn()
	cut := ada.untilIndexed(document, "register.txt")
	whole := ada.upload(ada.must("POST", "/v1/contexts", object{"name": "Other"})["id"].(string), "register.txt", []byte(long.String()))
	if cut["run_id"] != run {
		t.Errorf("the document says it was read by run %v, want %s", cut["run_id"], run)
	}
	if cut["status"] != "ready" || cut["chunks"] != whole["chunks"] {
		t.Errorf("cut by a kill: %v with %v chunks; undisturbed: %v", cut["status"], cut["chunks"], whole["chunks"])
	}
	seen := ada.must("GET", "/v1/contexts/"+docs, nil)
	if seen["chunks"] != whole["chunks"] {
		t.Errorf("the context holds %v chunks, want %v", seen["chunks"], whole["chunks"])
	}
}

func TestADrainedProgramEndsWithZeroAndLosesNothing(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	turn := ada.must("POST", "/v1/chat", object{"message": "hello"})
	if code := p.terminate(); code != 0 {
		t.Errorf("SIGTERM ended it with %d\n%s", code, p.log.tail(3000))
	}
	p.again()
	ada.signIn()
	if got := ada.messages(turn["conversation_id"].(string)); len(got) != 2 {
		t.Errorf("after the drain the conversation holds %q", got)
	}
}

func TestTheProgramSaysInOneSentenceWhatIsInItsWay(t *testing.T) {
	t.Parallel()
	p := start(t)
	data := filepath.Join(p.dir, "data")
	taken := strings.TrimPrefix(p.ready.HTTP, "http://")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	free := []string{"--temporal", "127.0.0.1:0", "--temporal-ui", "127.0.0.1:0"}
	for name, args := range map[string][]string{
		"second process on the same data": append([]string{"dev", "--data", data, "--listen", "127.0.0.1:0"}, free...),
		"taken port":                      append([]string{"dev", "--data", t.TempDir(), "--listen", taken}, free...),
		"unwritable folder":               append([]string{"dev", "--data", filepath.Join(file, "x"), "--listen", "127.0.0.1:0"}, free...),
	} {
		_, said, code := runOnce(t, args...)
		if code == 0 || len(strings.Split(strings.TrimSpace(said), "\n")) != 1 {
			t.Errorf("%s: exit %d, said %q", name, code, said)
		}
		if strings.Contains(said, "panic") || strings.Contains(said, "goroutine") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// option is the id of the choice whose label holds words.
func option(t *testing.T, question object, words string) string {
	t.Helper()
	for _, o := range question["options"].([]any) {
		if strings.Contains(o.(object)["label"].(string), words) {
			return o.(object)["id"].(string)
		}
	}
	t.Fatalf("no option %q in %v", words, question["options"])
	return ""
}

// steps counts how often a run's trace entered a node.
func steps(who *person, runID, node string) (n int) {
	who.p.t.Helper()
	run := who.must("GET", "/v1/runs/"+runID, nil)["run"].(object)
	for _, s := range run["trace"].(object)["steps"].([]any) {
		if s.(object)["node"] == node {
			n++
		}
	}
	return n
}

// seesWhere looks into a run that waits with a question: its way so far ends at
// what asks.
func (who *person) seesWhere(runID string, question any) {
	t := who.p.t
	t.Helper()
	var run object
	who.p.until("the run to say where it stands", func() bool {
		run = who.must("GET", "/v1/runs/"+runID, nil)["run"].(object)
		live, _ := run["live"].(object)
		return live["known"] == true
	})
	way, awaits := run["trace"].(object)["steps"].([]any), run["live"].(object)["awaits"].([]any)
	if len(way) == 0 || len(awaits) != 1 {
		t.Fatalf("its way so far is %v, and it waits for %v", way, awaits)
	}
	at, last := awaits[0].(object), way[len(way)-1].(object)
	if at["kind"] != "ask" || at["says"] != question || at["since"] == nil || last["node"] != at["node"] || last["ended"] != nil {
		t.Errorf("it stands at %v, the last step being %v", at, last)
	}
	if n := steps(who, runID, "search"); n != 1 {
		t.Errorf("the step before the question is in its way %d times, want once", n)
	}
}

// waitingRuns asks Temporal itself, through its UI, for turns that wait for a person.
func waitingRuns(t *testing.T, p *program) (n int) {
	t.Helper()
	at := p.ready.TemporalUI + "/api/v1/namespaces/default/workflows?query=" +
		url.QueryEscape("WorkflowType = 'ChatTurn' AND liminal_status = 'awaiting_user' AND ExecutionStatus = 'Running'")
	p.until("Temporal to list the waiting run", func() bool {
		res, err := http.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var list struct{ Executions []any }
		if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		n = len(list.Executions)
		return n > 0
	})
	return n
}

// Who asks while a document is being read is told so and may wait for it: the
// answer then comes by itself, over a kill of the program.
//
// Requirements: PLAT-02 (interrupts and resumes), INT-01, INT-05, RAG-19
func TestAQuestionAskedWhileADocumentIsReadWaitsForItOverKillMinusNine(t *testing.T) {
	t.Parallel()
	p := start(t)
	ada := p.signUp("ada@example.org")
	docs := ada.must("POST", "/v1/contexts", object{"name": "Long"})["id"].(string)
	others := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	ada.upload(others, "lease.md", []byte(lease))
	var long strings.Builder
	for i := range 120_000 {
		fmt.Fprintf(&long, "Entry %d of the register names the vessel %d and its master.\n\n", i, i*7919%120_000)
	}
	long.WriteString("The harbour master's dog is called Bosun.\n")
	run, document := ada.sendFile(docs, "register.txt", []byte(long.String()))
	ada.follow(run, 0, func(e event) bool { return e.Kind == "progress" })

	asked := ada.must("POST", "/v1/chat", object{"message": "What is the harbour master's dog called?", "context_id": docs})
	question, ok := asked["interrupt"].(object)
	if !ok || question["interrupt_type"] != "action_choice" || !strings.Contains(question["message"].(string), "register") {
		t.Fatalf("nobody was told that a document is being read: %v", asked)
	}
	elsewhere := ada.must("POST", "/v1/chat", object{"message": "How long is the notice period?", "context_id": others})
	if content, _ := elsewhere["content"].(string); !strings.Contains(content, "three months") || strings.Contains(content, "register") {
		t.Errorf("a turn about other documents: %v", elsewhere)
	}
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "action_choice", "value": "wait"}})
	runID := asked["run_id"].(string)
	ada.follow(runID, 0, func(e event) bool { return e.object()["node"] == "wait" })
	p.kill()
	p.again()
	ada.signIn()
	done := last(t, ada.follow(runID, 0, nil), "message_done").object()
	if content := done["content"].(string); !strings.Contains(content, "Bosun") || strings.Contains(content, "Still being read") {
		t.Errorf("the answer is %q", content)
	}
	ada.untilIndexed(document, "register.txt")
	if n := steps(ada, runID, "wait"); n != 1 {
		t.Errorf("the wait is told as %d steps", n)
	}
}
