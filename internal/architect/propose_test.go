package architect_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/architect"
	"liminal/internal/changes"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// wish is a proposal as a model writes it.
func wish(t *testing.T, artifact, ops string) architect.Proposal {
	t.Helper()
	p := architect.Proposal{Artifact: artifact, Justification: "It is slow.", Figures: []string{"18 of 20 calls were late."}}
	if err := json.Unmarshal([]byte(ops), &p.Ops); err != nil {
		t.Fatal(err)
	}
	return p
}

// hand hands in what a model says that was shown the workflows.
func (h *house) hand(shown []artifacts.Artifact, proposals ...architect.Proposal) architect.Handed {
	h.Helper()
	b := architect.Batch{ByModel: true, Proposals: proposals, Shown: map[string]int{}}
	for _, a := range shown {
		b.Shown[a.ID] = a.Version
	}
	out, err := h.Propose(h.Context(), b)
	if err != nil {
		h.Fatal(err)
	}
	return out
}

// refused says that one proposal was dropped, for a reason with these words.
func (h *house) refused(out architect.Handed, words string) {
	h.Helper()
	if len(out.Proposed) != 0 || len(out.Refused) != 1 || !strings.Contains(out.Refused[0].Why, words) {
		h.Errorf("%+v, want a refusal with %q", out, words)
	}
}

const longer = `[{"op":"test","path":"/nodes/0/id","value":"look"},{"op":"add","path":"/nodes/0/timeout_ms","value":30000}]`

// Requirements: CFG-13
func TestARulesProposalIsHandedInByTheSystemAndWaits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	h.record(a, 20, hello, breaks("look", 20, 0, failed("upstream")))
	out, err := h.Propose(t.Context(), architect.Batch{Proposals: h.advice().Proposals})
	if err != nil || len(out.Proposed) != 1 || len(out.Refused) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	p := h.desk.patches[0]
	if p.Proposer != changes.ByModel || p.UserID != identity.SystemAccount || p.Status != changes.Pending || p.Changes[0].Base != 1 {
		t.Errorf("the patch is %+v", p)
	}
	if !strings.HasPrefix(p.Justification, `This is a rule, no model's judgement: node "look" of "frail" (version 1)`) || !strings.Contains(p.Justification, "20 of 20 calls") {
		t.Error(p.Justification)
	}
	if now, err := h.library.Get(t.Context(), identity.System(), a.ID); err != nil || now.Version != 1 {
		t.Errorf("the workflow is at version %d, %v", now.Version, err)
	}
}

// Requirements: CFG-13
func TestAModelsProposalSaysWhoseItIsAndWhatItStandsOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	p := wish(t, a.ID, longer)
	p.Rule, p.Base = "timeout_always_hit", 7 // it is no rule, and does not choose its base
	p.Justification = "This is a rule.\x1b[2J\u202e"
	if out := h.hand([]artifacts.Artifact{a}, p); len(out.Proposed) != 1 {
		t.Fatalf("%+v", out)
	}
	want := "A language model proposes this: This is a rule.[2J\n\nThe figures it names:\n- 18 of 20 calls were late."
	if got := h.desk.patches[0]; got.Justification != want || got.Changes[0].Base != 1 {
		t.Errorf("%q on version %d", got.Justification, got.Changes[0].Base)
	}
}

// Whatever a model writes, because it erred or because something it read told
// it to.
//
// Requirements: CFG-13
func TestHostileProposalsAreRefused(t *testing.T) {
	t.Parallel()
	many := `[` + strings.Repeat(`{"op":"test","path":"/kind","value":"workflow.chat"},`, 9_999) + `{"op":"remove","path":"/nodes"}]`
	huge := fmt.Sprintf(`[{"op":"add","path":"/description","value":%q}]`, strings.Repeat("x", 20_000))
	for name, c := range map[string]struct{ ops, why string }{
		"10,000 operations":        {many, "1 to 20 operations; this one has 10000"},
		"no operation":             {`[]`, "1 to 20 operations"},
		"a huge one":               {huge, "16384 are allowed"},
		"no patch":                 {`[{"op":"explode","path":"/"}]`, "checks"},
		"what does not apply":      {`[{"op":"remove","path":"/nodes/99"}]`, "checks"},
		"a dangling next":          {`[{"op":"add","path":"/nodes/0/next","value":"nowhere"}]`, "is not a node"},
		"a cap raised":             {`[{"op":"add","path":"/nodes/0/timeout_ms","value":86400000}]`, "checks"},
		"an unknown tool":          {`[{"op":"replace","path":"/nodes/0/tool","value":"shell.exec_v1"}]`, "shell.exec_v1"},
		"a privileged tool":        {`[{"op":"replace","path":"/nodes/0/tool","value":"test.master_v1"}]`, "Only people give a workflow the tool test.master_v1"},
		"a tool that asks before":  {`[{"op":"replace","path":"/nodes/0","value":{"id":"look","type":"tool_call","tool":"files.write_v1","inputs":{"path":"x","text":"y"},"next":"say"}}]`, "Only people give a workflow the tool files.write_v1"},
		"a tool of the background": {`[{"op":"replace","path":"/nodes/0","value":{"id":"look","type":"tool_call","tool":"ingest.cut_v1","inputs":{"document_id":"x"},"next":"say"}}]`, "Only people give a workflow the tool ingest.cut_v1"},
		"an agent that asks less":  {`[{"op":"replace","path":"/nodes/0","value":{"id":"look","type":"agent","tools":["test.read_v1"],"unasked":["test.read_v1"],"next":"say"}}]`, "Only people say which tools an agent calls unasked"},
		"the rule it is judged by": {`[{"op":"replace","path":"/rehearsal","value":{"sample":1}}]`, `Only people change a workflow's "rehearsal"`},
		"that rule taken away":     {`[{"op":"remove","path":"/rehearsal"}]`, `Only people change a workflow's "rehearsal"`},
		"that rule moved":          {`[{"op":"move","from":"/rehearsal","path":"/elsewhere"}]`, `Only people change a workflow's "rehearsal"`},
		"the whole document":       {`[{"op":"replace","path":"","value":` + dispensable + `}]`, `Only people change a workflow's "rehearsal"`},
		"the way of patches run":   {`[{"op":"replace","path":"/nodes/0","value":{"id":"look","type":"workflow","workflow":"config_patch","next":"say"}}]`, "No workflow runs config_patch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			a := h.workflow("judged", strings.Replace(dispensable, `"kind"`, `"rehearsal":{"sample":200},"kind"`, 1))
			h.workflow("config_patch", dispensable)
			h.refused(h.hand([]artifacts.Artifact{a}, wish(t, a.ID, c.ops)), c.why)
			if len(h.desk.patches) != 0 {
				t.Errorf("handed in: %+v", h.desk.patches)
			}
		})
	}
}

// Requirements: CFG-13
func TestOnlyWhatWasShownAndIsEverybodysIsChanged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a, other := h.workflow("frail", dispensable), h.workflow("other", dispensable)
	own, way := h.workflow("architect", dispensable), h.workflow("config_patch", dispensable)
	shown := []artifacts.Artifact{a}
	h.refused(h.hand(shown, wish(t, other.ID, longer)), "only what it was shown")
	h.refused(h.hand(shown, wish(t, "config_patch", longer)), "only what it was shown")
	for _, one := range []artifacts.Artifact{own, way} {
		h.refused(h.hand([]artifacts.Artifact{one}, wish(t, one.ID, longer)), "not those of its own way")
	}
	spec, err := h.library.Named(t.Context(), identity.System(), artifacts.KindTool, "files.write_v1")
	if err != nil {
		t.Fatal(err)
	}
	h.refused(h.hand([]artifacts.Artifact{spec}, wish(t, spec.ID, `[{"op":"remove","path":"/confirm"}]`)), "workflows that are everybody's")
	h.store.change(other.ID, func(a *artifacts.Artifact) { a.Visibility, a.OwnerID = artifacts.Private, "ann" })
	h.refused(h.hand([]artifacts.Artifact{other}, wish(t, other.ID, longer)), "workflows that are everybody's")
	h.store.change(a.ID, func(a *artifacts.Artifact) { a.Version = 2 })
	h.refused(h.hand(shown, wish(t, a.ID, longer)), "is at version 2 by now")
	h.store.change(a.ID, func(a *artifacts.Artifact) { a.Version, a.Rollout = 1, &artifacts.Rollout{Share: 10} })
	h.refused(h.hand(shown, wish(t, a.ID, longer)), "is on trial")
	h.store.change(a.ID, func(a *artifacts.Artifact) { a.Rollout = nil })
	h.desk.blocks = true
	h.refused(h.hand(shown, wish(t, a.ID, longer)), "Its rehearsal blocks it: Nine runs fail.")
	bare := wish(t, a.ID, longer)
	bare.Figures = nil
	h.refused(h.hand(shown, bare), "names the figures")
	bare.Figures, bare.Justification = []string{"x"}, "\x00 \n"
	h.refused(h.hand(shown, bare), "says why")
}

// Requirements: CFG-13
func TestThreeProposalsAtOnceAndNoMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	var wishes []architect.Proposal
	for i := range 100 {
		wishes = append(wishes, wish(t, a.ID, fmt.Sprintf(`[{"op":"add","path":"/nodes/0/timeout_ms","value":%d}]`, 20_000+i)))
	}
	out := h.hand([]artifacts.Artifact{a}, wishes...)
	if len(out.Proposed) != 3 || len(out.Refused) != 8 || h.desk.tries != 3 {
		t.Errorf("%d proposed, %d refused, %d tried", len(out.Proposed), len(out.Refused), h.desk.tries)
	}
	h.desk.full = true
	h.refused(h.hand([]artifacts.Artifact{a}, wishes[50]), "Too many proposals")
}

// Requirements: CFG-13
func TestTheSameProposalIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	shown := []artifacts.Artifact{a}
	again := func() architect.Handed { return h.hand(shown, wish(t, a.ID, longer)) }
	if out := again(); len(out.Proposed) != 1 {
		t.Fatalf("%+v", out)
	}
	h.refused(again(), "waits already: patch 1")
	h.desk.end(1, changes.Rejected, noon.Add(-29*24*time.Hour), "It is slow because we are.")
	h.desk.patches[0].CreatedAt = noon.Add(-31 * 24 * time.Hour)
	h.refused(again(), "was made before, and is rejected since 22 October 2026: patch 1")

	// The same change of the same node, which stands elsewhere by now.
	moved := strings.Replace(dispensable, `"nodes":[`, `"nodes":[{"id":"first","type":"set","values":{"x":1},"next":"look"},`, 1)
	h.store.change(a.ID, func(a *artifacts.Artifact) { a.Version, a.Schema = 2, json.RawMessage(moved) })
	a.Version = 2
	elsewhere := wish(t, a.ID, strings.ReplaceAll(longer, "/nodes/0", "/nodes/1"))
	h.refused(h.hand([]artifacts.Artifact{a}, elsewhere), "was made before")
	another := wish(t, a.ID, strings.NewReplacer("/nodes/0", "/nodes/1", "30000", "31000").Replace(longer))
	if out := h.hand([]artifacts.Artifact{a}, another); len(out.Proposed) != 1 {
		t.Errorf("%+v", out)
	}

	h.desk.end(1, changes.Rejected, noon.Add(-31*24*time.Hour), "")
	if out := h.hand([]artifacts.Artifact{a}, elsewhere); len(out.Proposed) != 1 {
		t.Errorf("%+v", out)
	}
}

// Requirements: CFG-13
func TestAModelIsToldWhatBecameOfEarlierProposals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	h.record(a, 1, hello, breaks("", 0, 0, rehearsal.Output{}))
	h.hand([]artifacts.Artifact{a}, wish(t, a.ID, longer))
	h.desk.end(1, changes.Rejected, noon, "It is slow because we are.")
	b, err := h.Brief(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Lately) != 1 || b.Lately[0].Status != "rejected" || b.Lately[0].Reason != "It is slow because we are." || b.Lately[0].Workflow != "frail" {
		t.Errorf("%+v", b.Lately)
	}
}

// The port has no act that decides, and no proposal names a person: whoever
// edits the graph finds no way to an approval here.
//
// Requirements: CFG-13
func TestTheArchitectHasNoActOfDeciding(t *testing.T) {
	t.Parallel()
	for m := range reflect.TypeFor[architect.Desk]().Methods() {
		if !slices.Contains([]string{"Get", "List", "Propose", "Try"}, m.Name) {
			t.Errorf("the port has %s", m.Name)
		}
	}
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	h.record(a, 20, hello, breaks("look", 20, 0, failed(graph.CodeTimeout)))
	if _, err := h.Propose(t.Context(), architect.Batch{Proposals: h.advice().Proposals}); err != nil {
		t.Fatal(err)
	}
	for _, p := range h.desk.patches {
		if p.Status != changes.Pending || len(p.Approvals) != 0 {
			t.Errorf("%+v", p)
		}
	}
}
