package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// shelves tell, look by look, what is not ready; the last one lasts.
type shelves struct {
	looks [][]knowledge.Unread
	asked int
}

func (s *shelves) Progress(context.Context, identity.Viewer, []string) ([]knowledge.Unread, error) {
	if len(s.looks) == 0 {
		return nil, nil
	}
	s.asked++
	return s.looks[min(s.asked, len(s.looks))-1], nil
}

func unread(title string, status knowledge.DocumentStatus, percent int) knowledge.Unread {
	return knowledge.Unread{ID: "id of " + title, Title: title, Status: status, Percent: percent}
}

// waited calls the tool as a run does, pause by pause.
func waited(t *testing.T, s *shelves, call tool.Call) (out map[string]any, pauses int, said string) {
	t.Helper()
	l := &log{}
	call.Node, call.Emit = "wait", l.emit
	for {
		out = must(t, builtin.Parts{Progress: s}, "documents.await_v1", &call)
		later, ok := out["later"].(map[string]any)
		if !ok {
			return out, pauses, l.told(stream.Status)
		}
		ms := later["after_ms"].(float64)
		if ms < 1 || ms > 10_000 {
			t.Fatalf("a pause of %v ms", ms)
		}
		time.Sleep(time.Duration(ms) * time.Millisecond)
		call.Resume = map[string]any{"state": later["state"]}
		pauses++
	}
}

// What is waited for is waited for without an end of its own: until it is read,
// until it has failed, or until the time is up.
func TestDocumentsAreWaitedForUntilTheyAreReady(t *testing.T) {
	t.Parallel()
	big, small := unread("big.pdf", knowledge.Reading, 40), unread("small.md", knowledge.Waiting, 0)
	later := big
	later.Percent = 80
	broken := knowledge.Unread{ID: "id of big.pdf", Title: "big.pdf", Status: knowledge.Failed, Error: "The PDF is locked."}
	for name, c := range map[string]struct {
		looks  [][]knowledge.Unread
		within any
		left   string
		took   time.Duration
		said   string
	}{
		"read already":        {[][]knowledge.Unread{nil}, nil, "", 0, ""},
		"ready after a while": {[][]knowledge.Unread{{big, small}, {later}, nil}, nil, "", 1250 * time.Millisecond, "80 %"},
		"it fails":            {[][]knowledge.Unread{{big}, {broken}}, nil, "failed", 500 * time.Millisecond, "40 %"},
		"one fails, and the other comes": {
			[][]knowledge.Unread{{big, small}, {broken, small}, {broken}}, nil, "failed", 1250 * time.Millisecond, "small.md",
		},
		"for ever":   {[][]knowledge.Unread{{big}}, nil, "reading", 15 * time.Minute, "40 %"},
		"a moment":   {[][]knowledge.Unread{{big}}, 3000, "reading", 3 * time.Second, "40 %"},
		"not at all": {[][]knowledge.Unread{{big}}, 0, "reading", 0, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			in := inputs("documents", []any{map[string]any{"id": "id of big.pdf", "title": "big.pdf"}, "id of small.md"})
			if c.within != nil {
				in["within_ms"] = c.within
			}
			began := time.Now()
			out, pauses, said := waited(t, &shelves{looks: c.looks}, tool.Call{Inputs: in})
			left := ""
			for _, u := range out["unread"].([]any) {
				left += u.(map[string]any)["status"].(string)
			}
			if took := time.Since(began); left != c.left || took != c.took || out["coming"] != (c.left == "reading") || !strings.Contains(said, c.said) || pauses > 120 {
				t.Errorf("%s: %q is left after %s and %d pauses; said %s", name, left, took, pauses, said)
			}
		})
	}
}

func TestThePersonIsAskedWhetherToWaitInTheirLanguage(t *testing.T) {
	t.Parallel()
	var list []knowledge.Unread
	for i := range 7 {
		list = append(list, unread(fmt.Sprint("part ", i), knowledge.Reading, 10*i))
	}
	list[1].Status = knowledge.Waiting
	for locale, want := range map[string]string{
		"en": "Still being read: “part 0” (0 %), “part 1” (not begun), “part 2” (20 %), “part 3” (30 %), “part 4” (40 %), 2 more. Wait for that, or answer from what is there?",
		"de": "Noch nicht fertig gelesen: „part 0“ (0 %), „part 1“ (noch nicht begonnen), „part 2“ (20 %), „part 3“ (30 %), „part 4“ (40 %), 2 weitere. Darauf warten, oder aus dem antworten, was da ist?",
	} {
		out := must(t, builtin.Parts{Progress: &shelves{looks: [][]knowledge.Unread{list}}}, "documents.await_v1",
			&tool.Call{Scope: tool.Scope{Locale: locale}, Inputs: inputs("documents", []any{"a"}, "within_ms", 0), Emit: func(stream.Payload) {}})
		choices, _ := json.Marshal(out["choices"])
		if out["question"] != want || !strings.Contains(string(choices), `"id":"wait"`) || !strings.Contains(string(choices), `"id":"answer"`) {
			t.Errorf("%s: %v %s", locale, out["question"], choices)
		}
	}
}

// Requirements: RAG-11
func TestAnAnswerSaysWhatItCouldNotBeMadeFrom(t *testing.T) {
	t.Parallel()
	found := clear(passage("d", notice, 0))
	found.found.Unread = []knowledge.Unread{unread("big.pdf", knowledge.Reading, 40), {ID: "x", Title: "x.pdf", Status: knowledge.Failed, Error: "The PDF is locked."}}
	searched := must(t, builtin.Parts{Search: found}, "rag.search_v1", &tool.Call{Inputs: inputs("question", "How long?")})
	note := "\n\nStill being read, and not in this answer: “big.pdf” (40 %).\n\nCould not be read: “x.pdf”. The PDF is locked."
	for name, in := range map[string]map[string]any{
		"given": inputs("question", "How long?", "passages", searched["passages"], "unread", searched["unread"]),
		"found": inputs("question", "How long?"),
	} {
		l := &log{}
		out := must(t, builtin.Parts{Model: says(text("Three months.")), Search: found}, "rag.answer_with_context_v1", &tool.Call{Inputs: in, Final: true, Emit: l.emit})
		if out["answer"] != "Three months."+note || !strings.Contains(l.told(stream.Token), "big.pdf") {
			t.Errorf("%s: %q; heard %s", name, out["answer"], l.told(stream.Token))
		}
	}
	out := must(t, builtin.Parts{Model: says(text("Three months.")), Search: found}, "rag.answer_with_context_v1",
		&tool.Call{Inputs: inputs("question", "How long?", "passages", searched["passages"], "unread", nil)})
	if out["answer"] != "Three months." {
		t.Errorf("with nothing unread: %q", out["answer"])
	}
}
