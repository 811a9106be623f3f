package schemas_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"liminal/schemas"
)

// Requirements: ART-01
func TestTheKindsHaveSchemasThatCompile(t *testing.T) {
	t.Parallel()
	r := schemas.NewRegistry()
	want := []string{"adapter.lora", "context.knowledge", "memory.summary", "policy.models", "policy.routing", "tool.spec", "workflow.chat"}
	for _, kind := range want {
		if !slices.Contains(r.Kinds(), kind) {
			t.Errorf("%s is not there", kind)
			continue
		}
		var faults schemas.Faults
		if err := r.Validate(t.Context(), kind, []byte(`{"kind":"`+kind+`"}`)); err != nil && !errors.As(err, &faults) {
			t.Errorf("%s: %v", kind, err)
		}
		source, ok := r.Source(kind)
		if !ok || !json.Valid(source) {
			t.Errorf("%s gives no source", kind)
		}
	}
}

// Requirements: ART-12
func TestAKindIsUnknownUntilItIsRegistered(t *testing.T) {
	t.Parallel()
	r := schemas.NewRegistry()
	var faults schemas.Faults
	if err := r.Validate(t.Context(), "memory.note", []byte(`{}`)); !errors.As(err, &faults) || !strings.Contains(faults[0].Hint, "memory.summary") {
		t.Fatalf("%v", err)
	}
	if err := r.Register("memory.note", []byte(`{"type":"object","required":["text"]}`)); err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(t.Context(), "memory.note", []byte(`{"text":"x"}`)); err != nil {
		t.Fatal(err)
	}
	for kind, schema := range map[string]string{
		"memory.note":   `{}`,
		"tool.spec":     `{}`,
		"":              `{}`,
		"a/b":           `{}`,
		"memory.broken": `{"type":"text"}`,
		"memory.remote": `{"$ref":"https://example.com/x.json"}`,
		"memory.file":   `{"$ref":"file:///etc/passwd"}`,
		"memory.nojson": `{`,
	} {
		if err := r.Register(kind, []byte(schema)); err == nil {
			t.Errorf("%q was registered with %s", kind, schema)
		}
	}
}

func TestEveryFaultHasItsPlaceAndASentence(t *testing.T) {
	t.Parallel()
	s, err := schemas.Compile([]byte(`{
		"type":"object","required":["a","b"],"additionalProperties":false,
		"properties":{
			"a":{"type":"string","description":"the a"},
			"b":{"type":"integer"},
			"c/d":{"type":"array","items":{"enum":["x","y"]}},
			"e":{"anyOf":[{"type":"null"},{"type":"object","required":["f"]}]},
			"g":{"type":"string","minLength":2}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal([]byte(`{"c/d":["x","z"],"e":{},"g":"1","h":0,"b":1.5}`), &doc); err != nil {
		t.Fatal(err)
	}
	faults, err := s.Check(t.Context(), doc)
	got := faults.Error()
	want := strings.Join([]string{
		`: "a" is missing (the a)`,
		`: "h" is not known here (known here: a, b, c/d, e, g)`,
		`/b: it must be integer, not number`,
		`/c~1d/1: this value is not allowed (write one of "x", "y")`,
		`/e: "f" is missing`,
		`/g: its length must be >= 2, and is 1`,
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDocumentsThatAreNoJSONSayWhere(t *testing.T) {
	t.Parallel()
	r := schemas.NewRegistry()
	for doc, want := range map[string]string{
		"{\n  \"kind\": nope}": "line 2, column 12",
		"{} {}":                "goes on after its end",
		"":                     "not JSON",
	} {
		if err := r.Validate(t.Context(), "tool.spec", []byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", doc, err, want)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add("tool.spec", []byte(`{"kind":"tool.spec","name":"a","input_schema":{"type":"object"}}`))
	f.Add("policy.routing", []byte(`{"kind":"policy.routing","rules":[{"id":"a"}]}`))
	r := schemas.NewRegistry()
	f.Fuzz(func(t *testing.T, kind string, doc []byte) {
		var faults schemas.Faults
		if err := r.Validate(t.Context(), kind, doc); err != nil && !errors.As(err, &faults) {
			t.Fatal(err)
		}
	})
}
