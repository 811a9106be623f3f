package artifacts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
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

// known are the clusters and lessons that there are.
type known []string

func (k known) HasCluster(_ context.Context, _ identity.Viewer, id string) (bool, error) {
	return slices.Contains(k, id), nil
}

func (k known) MissingLessons(_ context.Context, _ identity.Viewer, ids []string) ([]string, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(k, id) }), nil
}

// Requirements: CLUS-08
// Requirements: CFG-08 (cluster ids)
func TestWhatADocumentIsTiedToMustBeThere(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	library.Refer(known{"c1", "l1", "l2"})
	for doc, path := range map[string]string{
		`{"kind":"adapter.lora","cluster_id":"c1","lessons":["l2","l1"]}`:   "",
		`{"kind":"adapter.lora","cluster_id":null}`:                         "",
		`{"kind":"adapter.lora","cluster_id":"c2"}`:                         "/cluster_id",
		`{"kind":"adapter.lora","cluster_id":"c1","lessons":["l1","gone"]}`: "/lessons",
	} {
		told(t, library.Check(t.Context(), ann, "adapter", json.RawMessage(doc)), doc, path)
	}
	rule := `{"kind":"policy.routing","rules":[{"id":"a","when":"true","action":{"type":"activate_adapter_by_cluster","cluster_id":"%s","weight":1}}]}`
	for id, path := range map[string]string{"c1": "", "closest": "", "c2": "/rules/0/action/cluster_id"} {
		told(t, library.Check(t.Context(), ann, "policy", fmt.Appendf(nil, rule, id)), id, path)
	}
}

// told wants one problem at a path; none where it is empty.
func told(t *testing.T, err error, what, path string) {
	t.Helper()
	found := artifacts.Problems(err)
	if path == "" && err != nil || path != "" && (len(found) != 1 || found[0].Path != path) {
		t.Errorf("%s: %v %v, want a problem at %q", what, err, found, path)
	}
}
