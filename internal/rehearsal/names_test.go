package rehearsal_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"liminal/internal/rehearsal"
)

// renamedIn gives a document with one node under another name, wherever the
// structure names it; false where a template or condition may name it too.
func renamedIn(t *testing.T, doc json.RawMessage, old, name string) (json.RawMessage, bool) {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	rename := func(in map[string]any, keys ...string) {
		for _, key := range keys {
			if in[key] == old {
				in[key] = name
			}
		}
	}
	rename(d, "entrypoint")
	for _, n := range d["nodes"].([]any) {
		node := n.(map[string]any)
		rename(node, "id", "next", "on_error", "on_cancel", "body", "stage")
		branches, _ := node["branches"].([]any)
		for _, b := range branches {
			rename(b.(map[string]any), "next")
		}
	}
	out, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return out, !strings.Contains(strings.ReplaceAll(string(out), name, ""), old)
}

// A node that only gets another name moves no run, in any graph that ships.
//
// Requirements: CFG-11, GRAPH-30
func TestAnotherNameIsNoOtherWay(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	tried := 0
	for _, a := range everyGraph(t, library) {
		var doc struct{ Nodes []struct{ ID string } }
		if err := json.Unmarshal(a.Schema, &doc); err != nil {
			t.Fatal(err)
		}
		runs := lived(t, library, a, 6, world{Rand: rand.New(rand.NewPCG(2, 4)), fails: 5})
		for _, n := range doc.Nodes {
			changed, alone := renamedIn(t, a.Schema, n.ID, "qqq")
			if !alone {
				continue
			}
			tried++
			r := rehearsed(t, library, a, changed, runs, rehearsal.Plan{})
			if r.Moved != 0 || r.Unknown != 0 || r.New+r.Vanished != 0 || !strings.Contains(strings.Join(r.Reasons, " "), n.ID+" → qqq") {
				t.Errorf("%s, %s: %d moved, %d unknown, %v", a.Name, n.ID, r.Moved, r.Unknown, r.Reasons)
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d nodes could be renamed", tried)
	}
}

// Two new nodes that are alike are not taken for the one that is gone.
//
// Requirements: CFG-11
func TestANameThatCouldBeEitherIsNoRename(t *testing.T) {
	t.Parallel()
	more := strings.Replace(asking, `"id":"look"`, `"id":"other"`, 1)
	more = strings.Replace(more, `"entrypoint":"look"`, `"entrypoint":"which"`, 1)
	more = strings.Replace(more, `]}`, `,{"id":"third","type":"tool_call","tool":"rag.search_v1","inputs":{"question":"x"},"next":"ask"},
		{"id":"which","type":"switch","branches":[{"when":"input.message == 'x'","next":"third"},{"when":"true","next":"other"}]}]}`, 1)
	r := trial(t, 2, more, rehearsal.Plan{}, asked())
	if r.Moved != 2 {
		t.Errorf("%+v", r)
	}
}
