package artifacts_test

import (
	"encoding/json"
	"errors"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
)

// Requirements: LORA-05, LORA-06
func TestANewAdapterHasAMode(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	library.AdapterMode("prompt")
	for name, c := range map[string]struct{ doc, want string }{
		"none":     {`{"kind":"adapter.lora","prompt_instructions":"Be brief."}`, `{"mode":"prompt","kind":"adapter.lora","prompt_instructions":"Be brief."}`},
		"its own":  {`{"kind":"adapter.lora","mode":"hybrid"}`, `{"kind":"adapter.lora","mode":"hybrid"}`},
		"an older": {` { "backend":"local","kind":"adapter.lora","base_model":"b"}`, `{"mode":"local", "backend":"local","kind":"adapter.lora","base_model":"b"}`},
	} {
		a, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "adapter", Name: name, Schema: json.RawMessage(c.doc)})
		if err != nil || string(a.Schema) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, a.Schema, err, c.want)
		}
	}
	for name, doc := range map[string]string{
		"a mode it cannot have": `{"kind":"adapter.lora"}`, "no object": `[]`, "another kind": `{"mode":"prompt"}`, "nothing": ``,
	} {
		if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "adapter", Name: name, Schema: json.RawMessage(doc)}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s is not refused: %v", name, err)
		}
	}
}
