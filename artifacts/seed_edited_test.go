package artifacts_test

import (
	"encoding/json"
	"errors"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// What ships is checked against what ships: whatever an administrator has made of
// a source, a connection or a tool, the next start goes well and leaves it so.
//
// Requirements: ART-10
func TestAnEditedDefaultDoesNotStopTheNextStart(t *testing.T) {
	t.Parallel()
	const own = `[{"op":"remove","path":"/viewer/aliases"},` // people of another name are the example's
	for name, c := range map[string]struct{ kind, name, patch string }{
		"a source without a relation and an entity": {artifacts.KindSource, "matters", own + `{"op":"remove","path":"/relations/deadline_rule"},{"op":"remove","path":"/entities/court"}]`},
		"a source in draft":                         {artifacts.KindSource, "matters", own + `{"op":"add","path":"/status","value":"draft"}]`},
		"a connection to another server":            {artifacts.KindConnection, "linkedin", `[{"op":"replace","path":"/origins","value":["https://api.example.org"]},{"op":"remove","path":"/account"}]`},
		"a tool of the program renamed in draft":    {artifacts.KindTool, "read_file", `[{"op":"add","path":"/status","value":"draft"}]`},
		"a tool without what a graph reads of it":   {artifacts.KindTool, "text.judge_v1", `[{"op":"replace","path":"/output_schema","value":{"type":"object","properties":{"other":{"type":"string"}}}}]`},
		"a workflow that another runs, in draft":    {artifacts.KindWorkflow, "agent.code", `[{"op":"add","path":"/status","value":"draft"}]`},
		"a tool in draft":                           {artifacts.KindTool, "linkedin_post", `[{"op":"add","path":"/status","value":"draft"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library, _ := stocked(t)
			a, err := library.Named(t.Context(), identity.System(), c.kind, c.name)
			if err != nil {
				t.Fatal(err)
			}
			edited, err := library.Patch(t.Context(), admin, a.ID, artifacts.Change{Patch: json.RawMessage(c.patch)})
			if err != nil {
				t.Fatal(err)
			}
			if err := library.Seed(t.Context()); err != nil {
				t.Errorf("the next start: %v", err)
			}
			now, err := library.Get(t.Context(), admin, a.ID)
			if err != nil || now.Version != edited.Version || string(now.Schema) != string(edited.Schema) {
				t.Errorf("version %d of %d, %v", now.Version, edited.Version, err)
			}
		})
	}
	// Whoever writes a tool anew is held to what there is.
	library, _ := stocked(t)
	source, err := library.Named(t.Context(), identity.System(), artifacts.KindSource, "matters")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := library.Named(t.Context(), identity.System(), artifacts.KindTool, "lookup_court")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := library.Patch(t.Context(), admin, source.ID, artifacts.Change{Patch: json.RawMessage(own + `{"op":"remove","path":"/entities/court"}]`)}); err != nil {
		t.Fatal(err)
	}
	if err := library.Check(t.Context(), admin, artifacts.KindTool, spec.Schema); !errors.Is(err, fault.Invalid) {
		t.Errorf("a tool that shows an entity that is gone: %v", err)
	}
}

// A connection that an administrator takes back is taken back at once, also from
// runs that wait: it is pinned to none.
//
// Requirements: SAFE-08
func TestAConnectionInDraftIsNoneAtOnce(t *testing.T) {
	t.Parallel()
	library, _ := stocked(t)
	a, err := library.Named(t.Context(), identity.System(), artifacts.KindConnection, "linkedin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := library.Connection(t.Context(), ann, "linkedin"); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Patch(t.Context(), admin, a.ID, artifacts.Change{Patch: json.RawMessage(`[{"op":"add","path":"/status","value":"draft"}]`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Connection(t.Context(), ann, "linkedin"); !errors.Is(err, fault.NotFound) {
		t.Errorf("in draft: %v", err)
	}
}
