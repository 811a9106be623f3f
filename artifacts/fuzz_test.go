package artifacts_test

import (
	"encoding/json"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
)

// A patch is applied, or refused with a code a person may see; it never ends
// the process, and what it leaves is a document Check accepts.
func FuzzPatch(f *testing.F) {
	f.Add([]byte(`[{"op":"add","path":"/max_retries","value":1}]`))
	f.Add([]byte(`[{"op":"move","from":"/nodes/0","path":"/nodes/-"},{"op":"test","path":"","value":null}]`))
	f.Add([]byte(`[{"op":"remove","path":"/nodes/-1"},{"op":"copy","from":"/nodes","path":"/nodes/0/inputs/x"}]`))
	library, _ := stocked(f)
	a, err := library.Create(f.Context(), ann, artifacts.Draft{Type: "workflow", Name: "w", Schema: json.RawMessage(plainGraph)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		next, err := library.Patch(t.Context(), ann, a.ID, artifacts.Change{Patch: patch})
		if err != nil {
			if fault.CodeOf(err) == fault.Internal {
				t.Fatal(err)
			}
			return
		}
		if err := library.Check(t.Context(), ann, "workflow", next.Schema); err != nil {
			t.Fatalf("stored what is at fault: %v", err)
		}
		if _, err := library.Rollback(t.Context(), ann, a.ID, 1, ""); err != nil {
			t.Fatal(err)
		}
	})
}
