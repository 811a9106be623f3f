package schemas_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"liminal/schemas"
)

// The bounds of anything that a person's schema may cost here. The work is
// bounded far below; the rest is room for a machine that does something else.
const (
	mostTime   = 3 * time.Second
	mostMemory = 200 << 20
	mostFaults = 101
	mostSaid   = 200_000 // bytes of all faults
)

// hostile is one attack. A file dropped into testdata/hostile is a test: want
// is part of what refuses it; empty where it only has to end within bounds.
type hostile struct {
	Want   string          `json:"want"`
	Schema json.RawMessage `json:"schema"`
	Value  json.RawMessage `json:"value"`
}

func hostiles(t testing.TB) map[string]hostile {
	t.Helper()
	files, err := filepath.Glob("testdata/hostile/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	found := map[string]hostile{}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var h hostile
		if err := json.Unmarshal(doc, &h); err != nil || len(h.Schema) == 0 {
			t.Fatalf("%s: %v", file, err)
		}
		found[strings.TrimSuffix(filepath.Base(file), ".json")] = h
	}
	return found
}

func (h hostile) value(t testing.TB) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(h.Value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// attacked compiles a schema, checks a value, and gives what was said.
func attacked(t testing.TB, schema []byte, value any) string {
	t.Helper()
	s, err := schemas.Compile(schema)
	if err != nil {
		if len(err.Error()) > mostSaid {
			t.Errorf("the refusal has %d bytes", len(err.Error()))
		}
		return err.Error()
	}
	faults, err := s.Check(t.Context(), value)
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.First(t.Context(), value)
	if len(faults) > mostFaults || len(faults.Error()) > mostSaid || len(first) > 2000 {
		t.Errorf("%d faults in %d bytes, the first in %d", len(faults), len(faults.Error()), len(first))
	}
	if (len(faults) == 0) != (first == "" && err == nil) {
		t.Errorf("%d faults, but first %q, %v", len(faults), first, err)
	}
	return faults.Error()
}

// Not parallel: what is measured is the process.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestNoSchemaOfAPersonTakesTheProcess(t *testing.T) {
	for name, h := range hostiles(t) {
		t.Run(name, func(t *testing.T) {
			value := h.value(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			said := attacked(t, h.Schema, value)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if !strings.Contains(said, h.Want) {
				t.Errorf("it says %.300q, want %q", said, h.Want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; took > mostTime || used > mostMemory {
				t.Errorf("it took %v and %d MiB", took, used>>20)
			}
		})
	}
}

// Requirements: PLAT-07 (what a document asks for is bounded)
func TestACheckEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	s, err := schemas.Compile([]byte(`{"items":{"anyOf":[{"type":"string"},{"required":["a"]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := make([]any, 5000)
	for i := range list {
		list[i] = map[string]any{"b": i}
	}
	if faults, err := s.Check(ctx, list); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", faults, err)
	}
	if faults, err := s.Check(t.Context(), list); err != nil || len(faults) != mostFaults {
		t.Errorf("%d faults, %v", len(faults), err)
	}
}

// A document of a kind is checked under our schema, but it is a person's.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestANumberThatCannotBeReckonedWithIsAFault(t *testing.T) {
	t.Parallel()
	r := schemas.NewRegistry()
	for _, number := range []string{"1e9999999", "1e999999", "1e-999999", strings.Repeat("9", 1000)} {
		var faults schemas.Faults
		err := r.Validate(t.Context(), "workflow.chat", []byte(`{"kind":"workflow.chat","entrypoint":"a","nodes":[],"max_steps":`+number+`}`))
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%.20s: %v", number, err)
		}
	}
}

// Requirements: ART-01
func TestASchemaMayReferToItselfByItsAddress(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{"$id":"https://example.com/a.json","definitions":{"n":{"type":"number"}},"items":{"$ref":"https://example.com/a.json#/definitions/n"}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a b/c~d%":{"type":"number"}},"items":{"$ref":"#/definitions/a%20b~1c~0d%25"}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"n":{"type":"number"}},"items":{"$ref":"#/$defs/n","minimum":0}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x/y#","items":{"$ref":"#/properties/id"},"properties":{"id":{"type":"number"},"$id":{},"$ref":{"type":"string"}}}`,
		`{"components":{"schemas":{"n":{"type":"number"}}},"items":{"$ref":"#/components/schemas/n"}}`,
		`{"type":["array","object"],"items":{"type":["number","array"],"items":{"$ref":"#"}}}`,
	} {
		s, err := schemas.Compile([]byte(doc))
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		good, err := s.Check(t.Context(), []any{1.0, 2.0})
		bad, err2 := s.Check(t.Context(), []any{1.0, "2"})
		if errors.Join(err, err2) != nil || len(good) != 0 || len(bad) != 1 {
			t.Errorf("%s: %v and %v", doc, good, bad)
		}
	}
}

// FuzzSchema compiles any schema and checks any value with it: it ends, soon,
// and says little.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func FuzzSchema(f *testing.F) {
	for _, h := range hostiles(f) {
		if len(h.Schema) < 2000 {
			f.Add([]byte(h.Schema), []byte(h.Value))
		}
	}
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"^a"}},"required":["a"]}`), []byte(`{"a":"b"}`))
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		defer time.AfterFunc(5*time.Second, func() { panic("a schema takes too long: " + string(schema)) }).Stop()
		d := json.NewDecoder(bytes.NewReader(value))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return
		}
		attacked(t, schema, v)
	})
}
