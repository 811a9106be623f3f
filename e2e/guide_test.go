package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// guide is somebody who follows docs/workflows.md: over the API, and with the
// command line.
type guide struct {
	*person
	t *testing.T
}

func (g guide) liminald(args ...string) string {
	g.t.Helper()
	out, said, code := runWith(g.t, []string{"LIMINAL_URL=" + g.p.ready.HTTP, "LIMINAL_TOKEN=" + g.token}, args...)
	if code != 0 {
		g.t.Fatalf("liminald %s ended with %d: %s%s", strings.Join(args, " "), code, out, said)
	}
	return out
}

// example is a file the page shows.
func example(name string) string { return filepath.Join("..", "docs", "examples", name) }

// asks begins a turn of a workflow, and gives the question it comes to.
func (g guide) asks(workflow, message string) object {
	g.t.Helper()
	question, ok := g.must("POST", "/v1/chat", object{"message": message, "workflow_id": workflow})["interrupt"].(object)
	if !ok {
		g.t.Fatalf("%s asks nothing", workflow)
	}
	return question
}

// waits is the one open question of a run, other than the one that was answered.
func (g guide) waits(run, answered string) (question object) {
	g.t.Helper()
	g.p.until("the next question of "+run, func() bool {
		list, _ := g.must("GET", "/v1/interrupts", nil)["data"].([]any)
		for _, one := range list {
			if q := one.(object); q["run_id"] == run && q["interrupt_id"] != answered {
				question = q
			}
		}
		return question != nil
	})
	return question
}

// ends is what a run says at its end.
func (g guide) ends(run string) string {
	g.t.Helper()
	content, _ := last(g.t, g.follow(run, 0, nil), "message_done").object()["content"].(string)
	return content
}

// outcomes are those of the attempts of a node, in order.
func (g guide) outcomes(run, node string) []string {
	g.t.Helper()
	var out []string
	whole, _ := g.must("GET", "/v1/runs/"+run, nil)["run"].(object)
	trace, _ := whole["trace"].(object)
	steps, _ := trace["steps"].([]any)
	for _, s := range steps {
		if s := s.(object); s["node"] == node {
			out = append(out, fmt.Sprint(s["outcome"]))
		}
	}
	return out
}

// The examples of docs/workflows.md, as they are, do what the page says: a
// form, a switch both ways, a parallel group, tools, a retry, and what happens
// when no retry helps. A test of artifacts holds the page to the files.
//
// Requirements: GRAPH-06 (first true branch; default branch; bare names), GRAPH-08 (fan-out and join; on_error), GRAPH-13 (override)
func TestTheExamplesOfTheGuideRun(t *testing.T) {
	t.Parallel()
	var away atomic.Int32 // how many calls the model still refuses
	f := offer(t, func(w http.ResponseWriter, _ object, _ int) {
		if away.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		says(w, `{"category":"equipment"}`)
	})
	p := start(t, f.env()...)
	g := guide{p.signUp("ada@example.org"), t}
	for _, name := range []string{"greeting", "purchase"} {
		file := example(name + ".json")
		if out := g.liminald("validate", file); !strings.Contains(out, "ok (workflow.chat)\n") {
			t.Errorf("validate: %s", out)
		}
		if out := g.liminald("artifacts", "import", file); !strings.Contains(out, fmt.Sprintf("created workflow %q, version 1, private", name)) {
			t.Errorf("import: %s", out)
		}
	}
	g.greets()
	rules := g.must("POST", "/v1/contexts", object{"name": "Rules"})["id"].(string)
	g.upload(rules, "rules.md", []byte("# Rules for buying\n\nFor buying a chair the rules ask for one offer. For buying a standing desk the rules ask for two offers.\n"))
	away.Store(1)
	g.buysAChair()
	away.Store(3)
	g.buysADesk("yes", "unsorted", []string{"retried", "retried", "failed"})
	away.Store(0)
	g.buysADesk("no", "", []string{"ok"})
}

func (g guide) greets() {
	g.t.Helper()
	question := g.asks("greeting", "Hello")
	g.liminald("runs", "answer", question["interrupt_id"].(string), "Ada")
	if said := g.ends(question["run_id"].(string)); said != "Good day, Ada. You wrote: Hello" {
		g.t.Errorf("it greets %q", said)
	}
}

// buysAChair takes the short way, over the API, with one retry.
func (g guide) buysAChair() {
	g.t.Helper()
	question := g.asks("purchase", "I need a chair")
	answer := func(value object) (int, string) {
		status, _, _, message := g.do("POST", "/v1/chat/resume", object{
			"interrupt_id": question["interrupt_id"], "resume_value": object{"type": "text_input", "value": value},
		})
		return status, message
	}
	if status, message := answer(object{"item": "Chair", "price": "cheap"}); status != 400 {
		g.t.Errorf("a wrong answer comes to %d: %s", status, message)
	}
	if status, message := answer(object{"item": "Chair", "price": 120, "reason": "The old one is broken."}); status != 200 {
		g.t.Fatalf("the answer is refused: %d %s", status, message)
	}
	run := question["run_id"].(string)
	said := g.ends(run)
	for _, want := range []string{"**Chair** (120 EUR, equipment)", "`files/purchases/Chair.md`", "in 1 document."} {
		if !strings.Contains(said, want) {
			g.t.Errorf("it says %q, without %s", said, want)
		}
	}
	if got := g.outcomes(run, "sort"); !slices.Equal(got, []string{"retried", "ok"}) {
		g.t.Errorf("the attempts of sort: %v", got)
	}
	for _, node := range []string{"look", "rules", "save"} {
		if got := g.outcomes(run, node); !slices.Equal(got, []string{"ok"}) {
			g.t.Errorf("%s: %v", node, got)
		}
	}
	if got := g.outcomes(run, "confirm"); len(got) != 0 {
		g.t.Errorf("it asks whether 120 EUR are too much: %v", got)
	}
	files := fmt.Sprint(g.must("GET", "/v1/files", nil))
	if !strings.Contains(files, "files/purchases/Chair.md") {
		g.t.Errorf("the request is not among the files: %s", files)
	}
}

// buysADesk takes the long way with the command line, and ends as it is decided.
func (g guide) buysADesk(decision, category string, attempts []string) {
	g.t.Helper()
	form := g.asks("purchase", "A desk, please")
	id, run := form["interrupt_id"].(string), form["run_id"].(string)
	if out := g.liminald("runs", "questions"); !strings.Contains(out, "What do you want to buy?") || !strings.Contains(out, "price=  number, required; Price in EUR") {
		g.t.Errorf("the question is shown as\n%s", out)
	}
	g.liminald("runs", "answer", id, "item=Standing desk", "price=900", "reason=My back hurts.", "needed=2026-12-31")
	confirm := g.waits(run, id)
	if confirm["message"] != "900 EUR is more than 500. Ask for it all the same?" {
		g.t.Errorf("it asks %v", confirm["message"])
	}
	g.liminald("runs", "answer", confirm["interrupt_id"].(string), decision)
	want := "Nothing was asked for."
	if decision == "yes" {
		want = "**Standing desk** (900 EUR, " + category + ")"
	}
	if said := g.ends(run); !strings.Contains(said, want) {
		g.t.Errorf("after %s it says %q", decision, said)
	}
	if got := g.outcomes(run, "sort"); !slices.Equal(got, attempts) {
		g.t.Errorf("the attempts of sort: %v, want %v", got, attempts)
	}
}
