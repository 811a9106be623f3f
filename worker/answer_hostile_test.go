package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/run"
)

// nested is a schema of levels lists of ten references each.
func nested(levels int) json.RawMessage {
	var s strings.Builder
	for i := range levels {
		refs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"$ref":"#/definitions/d%d"},`, i+1), 10), ",")
		fmt.Fprintf(&s, `"d%d":{"allOf":[%s]},`, i, refs)
	}
	return json.RawMessage(fmt.Sprintf(`{"definitions":{%s"d%d":{"type":"string"}},"$ref":"#/definitions/d0"}`, s.String(), levels))
}

// A question's schema is data of whoever wrote the graph, and may have been
// stored before schemas had bounds. It reads no file, asks for no more checks
// than a moment has room for, and says how the person gets on.
//
// Requirements: INT-32, PLAT-07 (what a document asks for is bounded)
func TestAQuestionsSchemaTakesNothingOfTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret, pipe := filepath.Join(dir, "sec.json"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(secret, []byte(`{"const":"SECRET-VALUE"}`), 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]string{
		"a file":            fmt.Sprintf(`{"$ref":"file://%s"}`, secret),
		"a path":            fmt.Sprintf(`{"$ref":"%s"}`, secret),
		"an id and a name":  fmt.Sprintf(`{"$id":"file://%s/x.json","$ref":"sec.json"}`, dir),
		"an id within":      fmt.Sprintf(`{"allOf":[{"$id":"file://%s/x.json","allOf":[{"$ref":"sec.json"}]}]}`, dir),
		"a pipe":            fmt.Sprintf(`{"$ref":"file://%s"}`, pipe),
		"a file as a draft": fmt.Sprintf(`{"$schema":"file://%s"}`, secret),
		"nested lists":      string(nested(29)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := b.turn(run.Waiting)
			q := b.ask(t, r, run.Interrupt{Type: "text_input", AnswerSchema: json.RawMessage(schema)})
			_, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Value: "x"})
			if !errors.Is(err, fault.Invalid) || strings.Contains(err.Error(), "SECRET") || !strings.Contains(err.Error(), "cancel skips") {
				t.Errorf("it is refused with %v", err)
			}
			if row, _ := b.set.Interrupts.Interrupt(t.Context(), viewer, q.ID); row.Status != run.Pending {
				t.Errorf("the question is %s", row.Status)
			}
			if _, err := b.engine.Answer(t.Context(), viewer, q.ID, run.Answer{Cancel: true}); err != nil {
				t.Errorf("it cannot be cancelled: %v", err)
			}
		})
	}
}

// What an answer is told has stayed as it was.
//
// Requirements: INT-32
func TestAnAnswerThatDoesNotFitIsToldWhy(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"string"}`:                "expected string, but got object",
		`{"required":["n"]}`:               "missing properties: 'n'",
		`{"properties":{"a":{"const":1}}}`: "value must be \"1\"",
		`{"allOf":[{"additionalProperties":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]}`: "too much work",
	} {
		value := any(map[string]any{"a": 2})
		if strings.Contains(want, "too much") {
			for range 40 {
				value = map[string]any{"a": value}
			}
		}
		err := Check(t.Context(), run.Interrupt{Type: "text_input", AnswerSchema: json.RawMessage(schema)}, run.Answer{Value: value})
		if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", schema, err, want)
		}
	}
}
