package graph_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

func compiled(t *testing.T, name, source string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	if err := c.AddResource(name, bytes.NewReader([]byte(source))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// seedSchema is the sketch of 001 §6.1.
const seedSchema = `{
  "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["kind", "entrypoint", "nodes"],
  "properties": {
    "kind": {"const": "workflow.chat"}, "entrypoint": {"type": "string"},
    "timeout_ms": {"type": "integer", "minimum": 1000}, "max_retries": {"type": "integer", "minimum": 0, "default": 1},
    "nodes": {"type": "array", "items": {"type": "object", "required": ["id", "type"], "properties": {
      "id": {"type": "string"}, "type": {"enum": ["tool_call", "switch", "parallel", "end"]},
      "description": {"type": "string"}, "tool": {"type": "string"}, "inputs": {"type": "object"},
      "outputs": {"type": "array", "items": {"type": "string"}}, "next": {"type": "string"},
      "branches": {"type": "array", "items": {"type": "object", "required": ["when", "next"],
        "properties": {"when": {"type": "string"}, "next": {"type": "string"}}}}}}}}}`

// TestSchemaAdmitsWhatTheSeedAdmits checks every golden document against the
// shipped schema: what Parse takes, and whatever the seed's sketch takes, the
// schema takes too.
//
// Requirements: GRAPH-01, GRAPH-02
func TestSchemaAdmitsWhatTheSeedAdmits(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../schemas/workflow.chat.json")
	if err != nil {
		t.Fatal(err)
	}
	ours, seed := compiled(t, "ours.json", string(b)), compiled(t, "seed.json", seedSchema)
	for _, dir := range []string{"good", "bad", "run"} {
		files, err := filepath.Glob("testdata/" + dir + "/*.json")
		if err != nil || len(files) == 0 {
			t.Fatalf("no documents in %s: %v", dir, err)
		}
		for _, file := range files {
			var d any
			if err := json.Unmarshal(readDocument(t, file).Graph, &d); err != nil {
				t.Fatal(err)
			}
			err := ours.Validate(d)
			if err != nil && (dir != "bad" || seed.Validate(d) == nil) {
				t.Errorf("%s: %#v", file, err)
			}
		}
	}
}

// TestSchemaStatesTheSeedsRules takes each rule of 001 §6.1 away in turn.
//
// Requirements: GRAPH-01, GRAPH-02
func TestSchemaStatesTheSeedsRules(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../schemas/workflow.chat.json")
	if err != nil {
		t.Fatal(err)
	}
	ours := compiled(t, "ours.json", string(b))
	for _, doc := range []string{
		`{"entrypoint":"a","nodes":[]}`,
		`{"kind":"workflow.chat","nodes":[]}`,
		`{"kind":"workflow.chat","entrypoint":"a"}`,
		`{"kind":"workflow","entrypoint":"a","nodes":[]}`,
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[],"timeout_ms":999}`,
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[],"max_retries":-1}`,
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a"}]}`,
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"type":"end"}]}`,
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"loop"}]}`,
		`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"switch","branches":[{"when":"true"}]}]}`,
	} {
		var d any
		if err := json.Unmarshal([]byte(doc), &d); err != nil {
			t.Fatal(err)
		}
		if ours.Validate(d) == nil {
			t.Errorf("the schema takes %s", doc)
		}
	}
}
