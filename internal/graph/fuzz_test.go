package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"liminal/internal/graph"
)

// fuzzTools are the tools of every fuzzed document, with one of each kind.
func fuzzTools() graph.Tools {
	return registry([]graph.Tool{
		{Name: "echo", Idempotent: true},
		{Name: "post"},
		{Name: "danger", Confirm: true},
		{Name: "publish", Confirm: true, Required: []string{"text"}, Approval: &graph.Approval{
			Message: map[string]any{"en": "Publish {title}?"}, Remember: true, Key: "publish@1",
			Edit: []graph.Editable{{Name: "text", Schema: json.RawMessage(`{"type":"string"}`)}},
		}},
		{Name: "train", Idempotent: true, Workflow: "job.train"},
		{Name: "web.fetch", Idempotent: true},
		{Name: "rag.search", Idempotent: true},
		{Name: "llm.intent_classifier_v1", Idempotent: true},
		{Name: "rag.answer_with_context_v1", Idempotent: true},
		{Name: "agent.code_v1", Idempotent: true},
		{Name: "llm.generic_chat_v1", Idempotent: true},
	})
}

func addDocuments(f *testing.F, add func(doc []byte), more ...string) {
	f.Helper()
	for _, dir := range append([]string{"good", "run", "bad"}, more...) {
		files, err := filepath.Glob("testdata/" + dir + "/*.json")
		if err != nil || len(files) == 0 {
			f.Fatalf("no documents in %s: %v", dir, err)
		}
		for _, file := range files {
			add(readDocument(f, file).Graph)
		}
	}
}

// FuzzParse reads any bytes as a document: it is refused with faults that each
// say something, or it is a graph whose edges lead somewhere.
func FuzzParse(f *testing.F) {
	addDocuments(f, func(doc []byte) { f.Add(doc) }, "hostile")
	f.Fuzz(func(t *testing.T, doc []byte) {
		defer watched(doc)()
		g, err := graph.Parse(doc, fuzzTools(), graph.ChatLimits())
		var faults graph.Faults
		if err != nil {
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("Parse gave %v, not Faults", err)
			}
			for _, fault := range faults {
				if fault.Message == "" {
					t.Fatalf("a fault says nothing: %+v", fault)
				}
			}
			return
		}
		known := map[string]bool{}
		for _, e := range g.Edges() {
			known[e.From] = true
		}
		for _, e := range g.Edges() {
			if e.To == "" || !known[e.To] && len(g.Edges()) == 0 {
				t.Fatalf("an edge leads nowhere: %+v", e)
			}
		}
		drive(t, g, []byte{0, 1, 2, 3, 4, 5, 6, 7}, false)
	})
}

// watched gives up a run that hangs: a fuzzing run would end as if nothing had
// been found.
func watched(b []byte) (stop func() bool) {
	return time.AfterFunc(30*time.Second, func() { panic(fmt.Sprintf("%q takes too long", b)) }).Stop
}

// outputs are what a fuzzed tool may return.
var outputs = []map[string]any{
	{},
	{"answer": "A", "text": "T", "intent": "qa_with_docs", "n": 1, "x": 1, "y": 2, "summary": "s", "left": 1, "right": 2},
	{"intent": "code_edit", "documents": []any{map[string]any{"id": "1", "label": "One"}, "two"}, "docs": []any{"a", "b"}, "n": 3.5, "summary": nil},
	{"interrupt": map[string]any{"interrupt_type": "text_input", "message": "?", "state": []any{1, "x"}}},
	{"interrupt": map[string]any{"interrupt_type": "poll"}, "later": map[string]any{"after_ms": 20, "state": "s"}},
	{"text": "calling", "content": []any{map[string]any{"type": "text", "text": "\xff\u2028<"}}, "stop": "tool_use", "tool_calls": []any{
		map[string]any{"id": "1", "name": "echo", "arguments": map[string]any{"a": int64(1)}},
		map[string]any{"id": "2", "name": "danger", "arguments": "{\"b\":2}"},
		map[string]any{"id": "3", "name": "nothing"},
		"not a call",
	}},
	{"text": "done", "stop": "end_turn", "tool_calls": []any{}, "citations": []string{"c1"}},
	{"answer": []int{1, 2}, "n": -1, "intent": []any{}, "documents": map[string]any{"a": nil}, "conversation_docs": []any{[]any{}}},
}

// answerTo plays one byte of a script against a run: which outstanding effect,
// and what comes of it.
func answerTo(r *graph.Run, b byte, now time.Time) []graph.Effect {
	pending := r.Pending()
	if len(pending) == 0 || b == 255 {
		return r.Cancel(now)
	}
	e := pending[int(b>>4)%len(pending)]
	what := int(b & 15)
	switch {
	case e.Kind == graph.KindAsk && what > 12:
		return r.Done(e.ID, map[string]any{"answer": nil, "cancelled": what == 13, "expired": what == 14}, now)
	case e.Kind == graph.KindAsk && what%2 == 0:
		return r.Done(e.ID, map[string]any{"answer": "yes"}, now)
	case e.Kind == graph.KindAsk:
		return r.Done(e.ID, map[string]any{"answer": map[string]any{"id": what}}, now)
	case what < len(outputs):
		return r.Done(e.ID, outputs[what], now)
	case what == 8:
		return r.Done("no such effect", outputs[1], now)
	case what == 9:
		return r.Fail(e.ID, graph.Failure{Code: "timeout", Message: "late", Retryable: true}, now.Add(time.Minute))
	}
	return r.Fail(e.ID, graph.Failure{Code: "server_error", Message: "broke \xfe", Retryable: what > 10}, now)
}

// drive plays a script and gives every effect and the end as text. When
// restored is set, the run goes through a snapshot before every answer.
func drive(t testing.TB, g *graph.Graph, script []byte, restored bool) string {
	t.Helper()
	in := graph.Input{
		Now:       epoch,
		Input:     map[string]any{"message": "hi", "n": 2, "l": []any{1, []any{2}, "x"}, "docs": []any{"a"}},
		Persisted: map[string]any{"conversation_docs": []string{"d"}},
		User:      map[string]any{"id": "u", "plan": "free"},
	}
	r, effects := g.Start(in)
	log := compact(effects)
	for i, b := range script {
		if restored {
			r = again(t, g, r)
		}
		if _, ended := r.Outcome(); !ended && len(r.Pending()) == 0 {
			t.Fatalf("the run is stuck: it has not ended and waits for nothing\n%s", log)
		}
		log += "\n" + compact(answerTo(r, b, epoch.Add(time.Duration(i)*700*time.Millisecond)))
	}
	outcome, ended := r.Outcome()
	if ended && len(r.Pending()) > 0 {
		t.Fatalf("the run has ended and still waits for %v", r.Pending())
	}
	return log + "\n" + compact(outcome) + compact(r.Trace()) + compact(r.Persist())
}

// FuzzReplay plays any script against any graph three times: the same answers
// in the same order give the same effects, whether or not the run goes through
// a snapshot before each of them.
//
// Requirements: PLAT-08, INT-05
func FuzzReplay(f *testing.F) {
	scripts := [][]byte{
		{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2}, {5, 1, 17, 33, 6}, {3, 0, 1, 1}, {11, 11, 11, 1}, {1, 13, 1}, {9, 9, 9}, {2, 1, 255, 1},
	}
	i := 0
	addDocuments(f, func(doc []byte) {
		f.Add(doc, scripts[i%len(scripts)])
		f.Add(doc, scripts[(i+3)%len(scripts)])
		i++
	})
	f.Fuzz(func(t *testing.T, doc, script []byte) {
		defer watched(doc)()
		g, err := graph.Parse(doc, fuzzTools(), graph.ChatLimits())
		if err != nil {
			return
		}
		script = script[:min(len(script), 64)]
		first := drive(t, g, script, false)
		if second := drive(t, g, script, false); first != second {
			t.Fatalf("the same answers gave other effects: %s", diff(first, second))
		}
		if third := drive(t, g, script, true); first != third {
			t.Fatalf("a restored run gave other effects: %s", diff(first, third))
		}
	})
}

// FuzzRestore restores damaged snapshots: an error, or a run that can be
// driven; never a panic.
func FuzzRestore(f *testing.F) {
	doc := readDocument(f, "testdata/good/every_type.json").Graph
	agents := readDocument(f, "testdata/run/agent_confirm.json").Graph
	for _, d := range []json.RawMessage{doc, agents} {
		g, err := graph.Parse(d, fuzzTools(), graph.ChatLimits())
		if err != nil {
			f.Fatal(err)
		}
		r, _ := g.Start(graph.Input{Now: epoch})
		for _, b := range []byte{2, 5, 1, 17, 1, 1, 1, 1} {
			snapshot, err := r.Snapshot()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(snapshot, []byte{1, 2, 5, 0, 255})
			answerTo(r, b, epoch)
		}
	}
	f.Fuzz(func(t *testing.T, snapshot, script []byte) {
		defer watched(snapshot)()
		for _, d := range []json.RawMessage{doc, agents} {
			g, err := graph.Parse(d, fuzzTools(), graph.ChatLimits())
			if err != nil {
				t.Fatal(err)
			}
			r, err := g.Restore(snapshot)
			if err != nil {
				continue
			}
			for _, b := range script[:min(len(script), 64)] {
				answerTo(r, b, epoch)
			}
		}
	})
}
