package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"liminal/internal/architect"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model/extractive"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// drafts is an architect that remembers what it was given.
type drafts struct {
	since time.Time
	read  architect.Figures
	batch architect.Batch
}

func (d *drafts) Figures(_ context.Context, since time.Time) (architect.Figures, error) {
	d.since = since
	return architect.Figures{Runs: 30}, nil
}

func (d *drafts) Brief(_ context.Context, since time.Time) (architect.Brief, error) {
	d.since = since
	return architect.Brief{
		Figures: architect.Figures{Runs: 30, Workflows: []architect.Flow{{Artifact: "a", Runs: 30}}}, Lately: []architect.Earlier{},
		Documents: []architect.Shown{{Artifact: "a", Name: "default", Version: 3, Document: json.RawMessage(`{"kind":"workflow.chat"}`)}},
	}, nil
}

func (d *drafts) Advise(_ context.Context, f architect.Figures) (architect.Advice, error) {
	d.read = f
	return architect.Advice{
		Proposals: []architect.Proposal{{Artifact: "a", Ops: []architect.Operation{{Op: "add", Path: "/x", Value: json.RawMessage(`null`)}}}},
		Findings:  []architect.Finding{{Artifact: "a", Rule: "r", Message: "Look."}},
	}, nil
}

func (d *drafts) Propose(_ context.Context, b architect.Batch) (architect.Handed, error) {
	d.batch = b
	return architect.Handed{Proposed: []int64{7}, Refused: []architect.Refusal{}}, nil
}

func steward(inputs map[string]any) *tool.Call {
	return &tool.Call{Viewer: identity.Steward(), Inputs: inputs}
}

// Requirements: CFG-13
func TestTheArchitectsToolsPassOnWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	d := &drafts{}
	parts := builtin.Parts{Architect: d, Model: extractive.Model{}}
	seen := must(t, parts, "architect.figures_v1", steward(inputs("since", "2026-11-01T00:00:00Z")))
	if seen["generative"] != false || seen["runs"] != 30.0 || seen["shown"].(map[string]any)["a"] != 3.0 || d.since.Day() != 1 {
		t.Errorf("%v since %v", seen, d.since)
	}
	advice := must(t, parts, "architect.rules_v1", steward(inputs("figures", seen["figures"])))
	if len(d.read.Workflows) != 1 || d.read.Workflows[0].Runs != 30 || len(advice["findings"].([]any)) != 1 {
		t.Errorf("read %+v, said %v", d.read, advice)
	}
	must(t, parts, "architect.propose_v1", steward(inputs("by", "rules", "proposals", advice["proposals"])))
	if ops := d.batch.Proposals[0].Ops; d.batch.ByModel || len(ops) != 1 || string(ops[0].Value) != "null" {
		t.Errorf("handed in %+v", d.batch)
	}
	must(t, parts, "architect.propose_v1", steward(inputs("proposals", advice["proposals"], "shown", seen["shown"])))
	if !d.batch.ByModel || d.batch.Shown["a"] != 3 {
		t.Errorf("handed in %+v", d.batch)
	}
}

// Requirements: TOOL-05, CFG-02
func TestTheArchitectsToolsAreNobodysButTheSystems(t *testing.T) {
	t.Parallel()
	ann := &tool.Call{Viewer: identity.Viewer{UserID: "ann", Role: identity.RoleUser}}
	for _, name := range []string{"architect.figures_v1", "architect.rules_v1", "architect.propose_v1"} {
		call := *ann
		if name == "architect.propose_v1" {
			call.Inputs = inputs("proposals", []any{})
		}
		if _, err := run(t, builtin.Parts{Architect: &drafts{}}, name, &call); !errors.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An administrator who runs the tool, or a graph of theirs that calls it, would
// propose as the system, and approve alone what they wrote themselves.
//
// Requirements: CFG-02, CFG-06, CFG-13
func TestNobodyProposesInTheSystemsName(t *testing.T) {
	t.Parallel()
	root := &tool.Call{Viewer: identity.Viewer{UserID: "root", Role: identity.RoleAdmin}, Inputs: inputs("by", "rules", "proposals", []any{})}
	if _, err := run(t, builtin.Parts{Architect: &drafts{}}, "architect.propose_v1", root); !errors.Is(err, fault.Forbidden) {
		t.Errorf("an administrator's run: %v", err)
	}
}
