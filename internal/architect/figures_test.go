package architect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/architect"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
)

// Requirements: CFG-13
func TestFiguresCountWhatHappened(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *architect.Options) {
		o.Ratings = func(context.Context, time.Time) (map[string]int, error) {
			return map[string]int{"run-00000": -1, "run-00001": 2, "run-00029": -1}, nil
		}
	})
	a := h.workflow("polite", chooses(literal, "llm.generic_chat_v1"))
	h.record(a, 20, hello, answers(20, 3, 2))
	h.record(a, 10, hello, func(_ int, e graph.Effect) rehearsal.Output {
		if e.Kind == graph.KindAsk {
			return rehearsal.Output{Result: map[string]any{"answer": "long"}}
		}
		return failed("upstream")
	})
	f, err := h.Figures(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Runs != 30 || len(f.Workflows) != 1 {
		t.Fatalf("%+v", f)
	}
	w := f.Workflows[0]
	if w.Runs != 30 || w.Failed != 10 || w.Read != 30 || w.CostUSD < 0.29 || w.MedianMS != 100 {
		t.Errorf("the workflow: %+v", w)
	}
	if want := []architect.Failure{{Node: "say", Code: "upstream", Runs: 10}}; !reflect.DeepEqual(w.Failures, want) {
		t.Errorf("failures: %+v", w.Failures)
	}
	if want := []architect.Trouble{{Node: "say", Calls: 28, Failed: 10}}; !reflect.DeepEqual(w.Nodes, want) {
		t.Errorf("nodes: %+v", w.Nodes)
	}
	if want := []architect.Question{{Node: "ask", Type: "action_choice", Asked: 30, Answered: 28, Cancelled: 2, Same: 15, Option: "short"}}; !reflect.DeepEqual(w.Questions, want) {
		t.Errorf("questions: %+v", w.Questions)
	}
	up, down := 0, 0
	for _, way := range w.Ways {
		up, down = up+way.Up, down+way.Down
	}
	if w.Up != 1 || w.Down != 2 || up != 1 || down != 2 || len(w.Ways) != 3 || !reflect.DeepEqual(w.Ways[0].Nodes, []string{"ask", "say", "none"}) {
		t.Errorf("ways: %+v", w.Ways)
	}
}

// Requirements: CFG-13
func TestFiguresAreOfWhatIsEverybodysAndHoldNoWordOfTheirs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	open := h.workflow("open", chooses(`"${input.options}"`, "llm.generic_chat_v1"))
	input := map[string]any{"message": "my secret", "options": []any{"my first file", "my second file"}}
	h.record(open, 20, input, func(_ int, e graph.Effect) rehearsal.Output {
		if e.Kind == graph.KindAsk {
			return rehearsal.Output{Result: map[string]any{"answer": "my first file"}}
		}
		f := failed("upstream")
		f.Failure.Message = "my secret did not work"
		return f
	})
	private := h.workflow("private", dispensable)
	h.record(private, 20, hello, breaks("look", 20, 0, failed("upstream")))
	h.store.change(private.ID, func(a *artifacts.Artifact) { a.Visibility, a.OwnerID = artifacts.Private, "ann" })
	b, err := h.Brief(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if b.Figures.Runs != 20 || len(b.Documents) != 1 || b.Documents[0].Artifact != open.ID {
		t.Errorf("shown are %+v", b)
	}
	for _, word := range []string{"my secret", "my first file", "private"} {
		if strings.Contains(string(doc), word) {
			t.Errorf("a model is told %q", word)
		}
	}
}

// Requirements: CFG-13
func TestTheArchitectLooksNeitherAtItselfNorAtTheWayOfPatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, name := range []string{"architect", "config_patch"} {
		h.record(h.workflow(name, dispensable), 20, hello, breaks("look", 20, 0, failed("upstream")))
	}
	if f, err := h.Figures(t.Context(), time.Time{}); err != nil || f.Runs != 0 || len(f.Workflows) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Requirements: CFG-13
func TestFiguresAreSmallAndReadABoundedNumberOfBodies(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for w := range 12 {
		var nodes, branches []string
		for i := range 40 {
			id := fmt.Sprintf("a_node_with_a_name_as_long_as_names_may_reasonably_be_%d_%d", w, i)
			nodes = append(nodes, fmt.Sprintf(`{"id":%q,"type":"tool_call","tool":"test.read_v1","max_retries":0,"on_error":"fork%d"}`, id, i%8))
			branches = append(branches, fmt.Sprintf(`{"when":"input.message == 'a rather long condition that nobody ever meets number %d'","next":%q}`, i, id))
		}
		first := nodes[0][7:strings.Index(nodes[0], `","type"`)]
		for i := range 8 {
			next := fmt.Sprintf("fork%d", i+1)
			if i == 7 {
				next = "done"
			}
			nodes = append(nodes, fmt.Sprintf(`{"id":"fork%d","type":"switch","branches":[%s,{"when":"true","next":%q}]}`, i, strings.Join(branches, ","), next))
		}
		nodes = append(nodes, `{"id":"done","type":"end","response":"Done."}`)
		a := h.workflow(fmt.Sprintf("large%02d", w), fmt.Sprintf(`{"kind":"workflow.chat","entrypoint":%q,"nodes":[%s]}`, first, strings.Join(nodes, ",")))
		h.record(a, 3+w, hello, breaks("", 0, 0, rehearsal.Output{}))
	}
	frail := h.workflow("frail", dispensable)
	h.record(frail, 1, hello, breaks("look", 1, 0, failed("upstream")))
	for len(h.ran.heads) < 1000 {
		head := h.ran.heads[len(h.ran.heads)-1]
		body := h.ran.bodies[head.RunID]
		head.RunID = fmt.Sprintf("again-%d", len(h.ran.heads))
		h.ran.heads, h.ran.bodies[head.RunID] = append(h.ran.heads, head), body
	}
	f, err := h.Figures(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Marshal(f)
	if err != nil || len(doc) > 16<<10 {
		t.Errorf("%d bytes, %v", len(doc), err)
	}
	if f.LeftOut+len(f.Workflows) != 13 || len(f.Workflows) == 0 || f.Workflows[0].Name != "frail" || f.Workflows[0].Read != 500 {
		t.Errorf("%d workflows, %d left out, the first %+v", len(f.Workflows), f.LeftOut, f.Workflows[0])
	}
	if h.ran.asked > 500+7*20 {
		t.Errorf("%d bodies were read", h.ran.asked)
	}
}

func TestWhatCannotBeReadIsLeftOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	h.record(a, 20, hello, breaks("look", 20, 0, failed("upstream")))
	h.ran.bodies["run-00000"] = []byte("damaged")
	delete(h.ran.bodies, "run-00001")
	f, err := h.Figures(t.Context(), time.Time{})
	if err != nil || f.Runs != 20 || f.Workflows[0].Read != 18 {
		t.Errorf("%+v, %v", f, err)
	}
	h.silent() // 18 calls are known
}
