package changes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
)

// Requirements: CFG-05, CFG-08 (tool names)
func TestAChangeSetAppliesWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	b := h.create(h.root, "workflow", "other", sorts)
	set := changes.Proposal{Justification: "They belong together.", Changes: []changes.ProposedChange{
		{ArtifactID: a.ID, Patch: json.RawMessage(`[{"op": "add", "path": "/nodes/-", "value": {"id": "x", "type": "workflow", "workflow": "fresh"}}]`)},
		{Create: &artifacts.Draft{Type: "workflow", Name: "fresh", Visibility: artifacts.Global, Schema: json.RawMessage(sorts)}},
		{ArtifactID: b.ID, Patch: json.RawMessage(addsABranch)},
	}}
	id := h.approved(set)
	draft, err := h.library.Named(t.Context(), h.root, "workflow", "fresh")
	h.must(err)
	if !draft.IsDraft() || draft.Visibility != artifacts.Global {
		t.Errorf("what is created is %s: %s", draft.Visibility, draft.Schema)
	}
	_, err = h.library.Workflow(t.Context(), h.ann, "fresh")
	code(t, "a draft is run by its name", err, fault.NotFound)
	_, err = h.library.Workflow(t.Context(), h.ann, draft.ID)
	code(t, "and by its id", err, fault.Invalid)

	_, err = h.library.Patch(t.Context(), h.root, b.ID, artifacts.Change{Patch: json.RawMessage(`[{"op": "add", "path": "/title", "value": "Other"}]`)})
	h.must(err)
	_, err = h.Apply(t.Context(), h.root, id, changes.RolloutPlan{})
	code(t, "one base has moved", err, fault.Conflict)
	if got := h.artifact(h.root, a.ID); got.Version != 1 || !h.artifact(h.root, draft.ID).IsDraft() {
		t.Errorf("half of it was applied: %d", got.Version)
	}
	next, err := h.Rebase(t.Context(), h.pat, id)
	h.must(err)
	_, err = h.Decide(t.Context(), h.root, next.ID, changes.Decision{Approve: true})
	h.must(err)
	p, err := h.Apply(t.Context(), h.root, next.ID, changes.RolloutPlan{})
	h.must(err)
	made, err := h.library.Workflow(t.Context(), h.ann, "fresh")
	h.must(err)
	if made.IsDraft() || h.artifact(h.root, a.ID).Version != 2 || h.artifact(h.root, b.ID).Version != 3 || p.Changes[1].Applied != 2 {
		t.Errorf("applied %+v", p.Changes)
	}
	_, err = h.RollBack(t.Context(), h.root, next.ID, "It was too much.")
	h.must(err)
	if !h.artifact(h.root, draft.ID).IsDraft() || h.artifact(h.root, a.ID).Version != 3 || h.artifact(h.root, b.ID).Version != 4 {
		t.Error("it was not taken back whole")
	}
}

// Requirements: CFG-08 (tool names)
func TestAReferenceThatNoChangeOfTheSetMakesDangles(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	view := h.propose(h.pat, changes.Proposal{Justification: "so", Changes: []changes.ProposedChange{
		{ArtifactID: a.ID, Patch: json.RawMessage(`[{"op": "add", "path": "/nodes/-", "value": {"id": "x", "type": "workflow", "workflow": "fresher"}}]`)},
		{Create: &artifacts.Draft{Type: "workflow", Name: "fresh", Visibility: artifacts.Global, Schema: json.RawMessage(sorts)}},
	}})
	if view.Status != changes.Invalid || !strings.Contains(problemsOf(view.Checks), `workflow sorts: there is no workflow "fresher"`) {
		t.Errorf("%s: %s", view.Status, problemsOf(view.Checks))
	}
	// The draft it left is taken up by the next proposal of the name.
	again := h.propose(h.pat, changes.Proposal{Justification: "so", Changes: []changes.ProposedChange{
		{Create: &artifacts.Draft{Type: "workflow", Name: "fresh", Visibility: artifacts.Global, Schema: json.RawMessage(sorts)}},
	}})
	if again.Stage != changes.Deciding || again.Changes[0].ArtifactID != view.Changes[1].ArtifactID || again.Changes[0].Base != 2 {
		t.Errorf("%s %+v: %s", again.Stage, again.Changes, problemsOf(again.Checks))
	}
	_, err := h.Propose(t.Context(), h.pat, changes.Proposal{Justification: "so", Changes: []changes.ProposedChange{
		{Create: &artifacts.Draft{Type: "workflow", Name: "sorts", Visibility: artifacts.Global, Schema: json.RawMessage(sorts)}},
	}})
	code(t, "a name that is taken", err, fault.Conflict)
	_, err = h.Propose(t.Context(), h.ann, changes.Proposal{Justification: "so", Changes: []changes.ProposedChange{
		{Create: &artifacts.Draft{Type: "workflow", Name: "hers", Visibility: artifacts.Global, Schema: json.RawMessage(sorts)}},
	}})
	code(t, "a global one by a plain user", err, fault.Forbidden)
}
