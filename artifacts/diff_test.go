package artifacts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"liminal/artifacts"
)

// Requirements: ART-03
func TestADiffMakesOneDocumentOfTheOther(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("defaults/workflow.chat/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	var docs []json.RawMessage
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	for i, before := range docs {
		after := docs[(i+1)%len(docs)]
		ops, err := artifacts.Diff(before, after)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(ops)
		if err != nil {
			t.Fatal(err)
		}
		got, err := patch.Apply(before)
		if err != nil || !jsonpatch.Equal(got, after) {
			t.Errorf("%s → the next: %v\n%s", files[i], err, got)
		}
		if same, err := artifacts.Diff(before, before); err != nil || same != nil {
			t.Errorf("%s with itself: %s, %v", files[i], same, err)
		}
	}
}

// A node put in between is one operation, and not as many as follow it.
func TestADiffFindsWhatMoved(t *testing.T) {
	t.Parallel()
	before := json.RawMessage(`{"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}]}`)
	after := json.RawMessage(`{"nodes":[{"id":"a"},{"id":"new"},{"id":"b"},{"id":"c"}]}`)
	ops, err := artifacts.Diff(before, after)
	if err != nil || !bytes.Equal(ops, []byte(`[{"value":{"id":"new"},"op":"add","path":"/nodes/1"}]`)) {
		t.Errorf("got %s, %v", ops, err)
	}
	if _, err := artifacts.Diff(before, json.RawMessage(`{`)); err == nil {
		t.Error("what is no JSON was compared")
	}
}

// Nodes are told apart by their ids, wherever they stand.
//
// Requirements: ART-03
func TestADiffFollowsIDs(t *testing.T) {
	t.Parallel()
	const before = `{"nodes":[{"id":"a","next":"b"},{"id":"b","n":1,"next":"c"},{"id":"c","n":2},{"id":"d"}]}`
	for name, c := range map[string]struct{ after, want string }{
		"one is changed, and another stands before it": {
			`{"nodes":[{"id":"a","next":"b"},{"id":"x"},{"id":"b","n":7,"next":"c"},{"id":"c","n":2},{"id":"d"}]}`,
			`[{"value":{"id":"x"},"op":"add","path":"/nodes/1"},{"value":7,"op":"replace","path":"/nodes/2/n"}]`,
		},
		"one takes the place of another": {
			`{"nodes":[{"id":"a","next":"b"},{"id":"x","n":1,"next":"c"},{"id":"c","n":2},{"id":"d"}]}`,
			`[{"op":"remove","path":"/nodes/1"},{"value":{"id":"x","n":1,"next":"c"},"op":"add","path":"/nodes/1"}]`,
		},
		"the first becomes the last": {
			`{"nodes":[{"id":"b","n":1,"next":"c"},{"id":"c","n":2},{"id":"d"},{"id":"a","next":"b"}]}`,
			`[{"op":"move","from":"/nodes/0","path":"/nodes/3"}]`,
		},
		"the last becomes the first, and is changed": {
			`{"nodes":[{"id":"d","end":true},{"id":"a","next":"b"},{"id":"b","n":1,"next":"c"},{"id":"c","n":2}]}`,
			`[{"op":"move","from":"/nodes/3","path":"/nodes/0"},{"value":true,"op":"add","path":"/nodes/0/end"}]`,
		},
		"all are gone": {`{"nodes":[]}`, `[{"op":"remove","path":"/nodes/3"},{"op":"remove","path":"/nodes/2"},{"op":"remove","path":"/nodes/1"},{"op":"remove","path":"/nodes/0"}]`},
		"a value is null": {
			`{"nodes":[{"id":"a","next":null},{"id":"b","n":1,"next":"c"},{"id":"c","n":2},{"id":"d"}]}`,
			`[{"value":null,"op":"replace","path":"/nodes/0/next"}]`,
		},
	} {
		ops, err := artifacts.Diff(json.RawMessage(before), json.RawMessage(c.after))
		if err != nil || string(ops) != c.want {
			t.Errorf("%s: %s, %v", name, ops, err)
		}
	}
}

// Whatever stands where, the operations make the one of the other.
func TestADiffOfAnyOrderIsRight(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	list := func() json.RawMessage {
		items := []string{}
		for _, id := range random.Perm(9)[:random.IntN(10)] {
			items = append(items, fmt.Sprintf(`{"id":"%d","n":%d}`, id, random.IntN(2)))
		}
		if random.IntN(8) == 0 {
			items = append(items, `{"n":1}`, `{"id":"1"}`) // not all have ids, or two have the same
		}
		return json.RawMessage(`{"nodes":[` + strings.Join(items, ",") + `]}`)
	}
	for range 500 {
		before, after := list(), list()
		ops, err := artifacts.Diff(before, after)
		if err != nil {
			t.Fatal(err)
		}
		got := []byte(before)
		if ops != nil {
			if got, err = artifacts.Applied(before, ops); err != nil {
				t.Fatalf("%s\n%s\n%s: %v", before, after, ops, err)
			}
		}
		if !jsonpatch.Equal(got, after) {
			t.Fatalf("%s\n%s\n%s gives %s", before, after, ops, got)
		}
	}
}
