package artifacts_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
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
