package changes_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// sorts answers short messages and long ones in two ways, and asks before it
// does what is dangerous.
const sorts = `{
	"kind": "workflow.chat", "entrypoint": "way",
	"nodes": [
		{"id": "way", "type": "switch", "branches": [
			{"when": "input.message startsWith 'rm'", "next": "sure"},
			{"when": "true", "next": "answer"}
		]},
		{"id": "sure", "type": "interrupt", "interrupt_type": "action_choice", "message": "Sure?", "options": ["yes", "no"], "next": "answer"},
		{"id": "answer", "type": "tool_call", "tool": "llm.generic_chat_v1", "inputs": {"message": "${input.message}"}, "next": "end"},
		{"id": "short", "type": "tool_call", "tool": "llm.generic_chat_v1", "inputs": {"message": "In a word: ${input.message}"}, "next": "end"},
		{"id": "end", "type": "end"}
	]
}`

const (
	addsABranch = `[{"op": "add", "path": "/nodes/0/branches/1", "value": {"when": "input.message == 'hi'", "next": "short"}}]`
	renames     = `[{"op": "replace", "path": "/nodes/1/id", "value": "certain"}, {"op": "replace", "path": "/nodes/0/branches/0/next", "value": "certain"}]`
	dangles     = `[{"op": "replace", "path": "/nodes/2/next", "value": "nowhere"}]`
	unknownTool = `[{"op": "replace", "path": "/nodes/2/tool", "value": "llm.generic_chat_v9"}]`
	raisesACap  = `[{"op": "add", "path": "/nodes/2/timeout_ms", "value": 60001}]`
	sendsHalf   = `[{"op": "add", "path": "/nodes/0/branches/1", "value": {"when": "input.message startsWith 'a'", "next": "short"}}]`
)

// stand makes a paused run of ann's stand at a node of an artifact.
func (h *house) stand(a artifacts.Artifact, node string) {
	h.Helper()
	r := run.Run{ID: id.New(), WorkflowID: "graph:" + id.New(), Kind: run.KindGraph, UserID: h.ann.UserID, Status: run.Running, Input: json.RawMessage(`{}`)}
	h.must(h.store.CreateRun(h.Context(), h.ann, r))
	h.must(h.store.OpenRun(h.Context(), h.ann, r.ID, []run.Pin{{ArtifactID: a.ID, Name: a.Name, Version: a.Version}}))
	h.must(h.store.Ask(h.Context(), h.ann, true, run.Interrupt{ID: id.New(), RunID: r.ID, EffectID: node + "#1", UserID: h.ann.UserID, Type: "action_choice", Message: "Sure?"}))
}

// The six patches of the issue, each to its right end.
//
// Requirements: CFG-01, CFG-05, CFG-06, CFG-07 (schema), CFG-08 (adapter ids; tool names), CFG-09, CFG-15, PLAT-07 (a patch raises no limit), PLAT-08
func TestEveryKindOfPatchComesToItsRightEnd(t *testing.T) {
	t.Parallel()
	messages := []string{"apple", "pear", "axe", "rm file", "art", "bee", "ant", "cow"}
	for name, one := range map[string]struct {
		ops     string
		status  changes.Status // after its checks and the rehearsal
		checks  string
		says    string // of the check that is not ok
		verdict rehearsal.Verdict
		needs   int
		moved   int
	}{
		"adds a branch": {addsABranch, changes.Pending, "schema ok;references ok;expressions ok;limits ok;rehearsal ok;", "", rehearsal.Pass, 1, 0},
		"renames a node a paused run stands behind": {
			renames, changes.Pending, "schema ok;references warning;expressions ok;limits ok;rehearsal ok;",
			`1 paused run stands at node "sure" of version 1; it finishes on that version`, rehearsal.Pass, 1, 0,
		},
		"dangles":                {dangles, changes.Invalid, "schema ok;references failed;expressions waiting;limits waiting;rehearsal waiting;", `"nowhere" is not a node`, "", 1, 0},
		"names an unknown tool":  {unknownTool, changes.Invalid, "schema ok;references failed;expressions waiting;limits waiting;rehearsal waiting;", `there is no tool "llm.generic_chat_v9"`, "", 1, 0},
		"raises a cap":           {raisesACap, changes.Invalid, "schema ok;references ok;expressions ok;limits failed;rehearsal waiting;", "timeout_ms is 60001, the most is 60000 ms", "", 1, 0},
		"sends half another way": {sendsHalf, changes.Pending, "schema ok;references ok;expressions ok;limits ok;rehearsal warning;", "half of the runs or more go another way", rehearsal.Second, 2, 4},
		"does not apply":         {`[{"op": "remove", "path": "/nodes/9"}]`, changes.Invalid, "schema failed;references waiting;expressions waiting;limits waiting;rehearsal waiting;", "does not apply", "", 1, 0},
		"changes nothing":        {`[{"op": "replace", "path": "/entrypoint", "value": "way"}]`, changes.Invalid, "schema failed;references waiting;expressions waiting;limits waiting;rehearsal waiting;", "the same with the patch", "", 1, 0},
		"has a broken condition": {`[{"op": "replace", "path": "/nodes/0/branches/0/when", "value": "system('rm')"}]`, changes.Invalid, "schema ok;references ok;expressions failed;limits waiting;rehearsal waiting;", "does not compile", "", 1, 0},
		"is a workflow no more":  {`[{"op": "replace", "path": "", "value": []}]`, changes.Invalid, "schema failed;references waiting;expressions waiting;limits waiting;rehearsal waiting;", "", "", 1, 0},
		"becomes a policy":       {`[{"op": "replace", "path": "/kind", "value": "policy.routing"}]`, changes.Invalid, "schema failed;references waiting;expressions waiting;limits waiting;rehearsal waiting;", "not allowed", "", 1, 0},
		"is of another form":     {`[{"op": "replace", "path": "/nodes/0/type", "value": "jump"}]`, changes.Invalid, "schema failed;references waiting;expressions waiting;limits waiting;rehearsal waiting;", "not allowed", "", 1, 0},
		"names an unknown child": {`[{"op": "add", "path": "/nodes/-", "value": {"id": "x", "type": "workflow", "workflow": "nobody.knows"}}]`, changes.Invalid, "schema ok;references failed;expressions waiting;limits waiting;rehearsal waiting;", "there is no workflow", "", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			a := h.create(h.root, "workflow", "sorts", sorts)
			h.record(a, messages...)
			h.stand(a, "sure")
			view := h.propose(h.pat, patch(a, one.ops))
			if view.Status != one.status || states(view.Checks) != one.checks {
				t.Fatalf("it is %s: %s %+v", view.Status, states(view.Checks), view.Checks)
			}
			if view.Verdict != one.verdict || view.Needs != one.needs {
				t.Errorf("the verdict is %q, %d must approve: %v", view.Verdict, view.Needs, view.Reasons)
			}
			if told := problemsOf(view.Checks); !strings.Contains(told, one.says) {
				t.Errorf("it says\n%s\nand not %q", told, one.says)
			}
			if one.status == changes.Invalid {
				h.endsUntouched(view, a)
				return
			}
			if report := view.Changes[0].Report; report == nil || report.Moved != one.moved || report.Sample.Taken != len(messages) {
				t.Errorf("the rehearsal: %+v", report)
			}
			h.isApplied(view, a)
		})
	}
}

func problemsOf(list []changes.Check) string {
	var b strings.Builder
	for _, c := range list {
		for _, p := range c.Problems {
			b.WriteString(p.Path + " " + p.Message + "\n")
		}
	}
	return b.String()
}

// endsUntouched holds that nobody is asked about an invalid patch, and that
// nothing has changed.
func (h *house) endsUntouched(view changes.View, a artifacts.Artifact) {
	h.Helper()
	if len(h.open()) != 0 || h.artifact(h.root, a.ID).Version != 1 {
		h.Errorf("%d questions, version %d", len(h.open()), h.artifact(h.root, a.ID).Version)
	}
	if _, err := h.Decide(h.Context(), h.root, view.ID, changes.Decision{Approve: true}); !errors.Is(err, fault.Conflict) {
		h.Errorf("it is decided: %v", err)
	}
	if got := h.story(view.ID); !slices.Equal(got, []string{"proposed by pat", "invalid by Liminal"}) {
		h.Errorf("its story is %v", got)
	}
}

func (h *house) isApplied(view changes.View, a artifacts.Artifact) {
	h.Helper()
	if open := h.open(); len(open) != 1 || !strings.Contains(open[0].Message, "Patch 1 to the workflow sorts waits for a decision") {
		h.Errorf("the administrators are asked %+v", open)
	}
	if _, err := h.Apply(h.Context(), h.root, view.ID, changes.RolloutPlan{}); !errors.Is(err, fault.Conflict) {
		h.Errorf("applied before anybody decided: %v", err)
	}
	story := []string{"proposed by pat", "checked by Liminal", "rehearsed by Liminal", "approved by root"}
	p, err := h.Decide(h.Context(), h.root, view.ID, changes.Decision{Approve: true, Reason: "fine"})
	h.must(err)
	if view.Needs == 2 {
		if p.Status != changes.Pending {
			h.Errorf("one of two is enough: %s", p.Status)
		}
		if _, err := h.Decide(h.Context(), h.root, view.ID, changes.Decision{Approve: true}); !errors.Is(err, fault.Conflict) {
			h.Errorf("one person is two: %v", err)
		}
		p, err = h.Decide(h.Context(), h.eve, view.ID, changes.Decision{Approve: true})
		h.must(err)
		story = append(story, "approved by eve")
	}
	if p.Status != changes.Approved || h.artifact(h.root, a.ID).Version != 1 || p.DecidedAt.IsZero() {
		h.Errorf("approved: %s at %v", p.Status, p.DecidedAt)
	}
	p, err = h.Apply(h.Context(), h.eve, view.ID, changes.RolloutPlan{Hours: 24})
	h.must(err)
	now := h.artifact(h.root, a.ID)
	if p.Status != changes.Applied || p.AppliedAt.IsZero() || p.Changes[0].Applied != 2 || now.Version != 2 || string(now.Schema) != string(view.After[0].After) {
		h.Errorf("applied: %s, version %d: %s", p.Status, now.Version, now.Schema)
	}
	if got := h.story(view.ID); !slices.Equal(got, append(story, "applied by eve")) {
		h.Errorf("its story is %v", got)
	}
	old, err := h.library.At(h.Context(), h.ann, a.ID, 1)
	h.must(err)
	if string(old.Schema) != string(a.Schema) {
		h.Error("the version that paused runs are pinned to has changed")
	}
}

// Requirements: CFG-10 (validates; simulates; applies), CFG-07 (schema; dry run)
func TestTheSeedsPatchIsCheckedAndApplied(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	policy, err := h.library.Named(t.Context(), h.root, artifacts.KindPolicy, "default")
	h.must(err)
	id := h.applied(patch(policy, `[{"op": "add", "path": "/rules/-", "value": {
		"id": "avoid_creative_adapter_for_debug",
		"when": "cluster_label_contains(ctx_cluster, 'debug') and adapter_type == 'creative_writing'",
		"action": {"type": "deactivate_adapter", "adapter_id": "current"}
	}}]`), changes.RolloutPlan{})
	if now := h.artifact(h.root, policy.ID); now.Version != policy.Version+1 || !strings.Contains(string(now.Schema), "avoid_creative") || now.CreatedBy != "user" {
		t.Errorf("version %d by %s", now.Version, now.CreatedBy)
	}
	if got := h.look(id); states(got.Checks) != "schema ok;references ok;expressions ok;limits ok;rehearsal ok;" {
		t.Errorf("%s", states(got.Checks))
	}
}

// Requirements: CFG-02
func TestWhoMayProposeWhat(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	all := h.create(h.root, "workflow", "sorts", sorts)
	own := h.create(h.ann, "workflow", "mine", sorts)
	for name, one := range map[string]struct {
		v    identity.Viewer
		a    artifacts.Artifact
		code fault.Code
		by   string
	}{
		"an administrator, everybody's":     {h.root, all, "", changes.ByAdmin},
		"a power user, everybody's":         {h.pat, all, "", changes.ByUser},
		"a user, everybody's":               {h.ann, all, fault.Forbidden, ""},
		"a user, their own":                 {h.ann, own, "", changes.ByUser},
		"a power user, another's":           {h.pat, own, fault.NotFound, ""},
		"an administrator, another's":       {h.root, own, fault.NotFound, ""},
		"the system, everybody's":           {identity.Steward(), all, "", changes.ByModel},
		"the system, a person's of its own": {identity.Steward(), own, fault.NotFound, ""},
	} {
		p, err := h.Propose(t.Context(), one.v, patch(one.a, addsABranch))
		if fault.CodeOf(err) != one.code || p.Proposer != one.by {
			t.Errorf("%s: %q, %v", name, p.Proposer, err)
		}
	}
	if _, err := h.Get(t.Context(), h.pat, 1); err == nil && h.look(1).UserID != h.pat.UserID {
		t.Error("a proposal is seen by others")
	}
}

// Requirements: CFG-01, ART-03
func TestWhatIsNoPatchIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.create(h.root, "workflow", "sorts", sorts)
	long := strings.Repeat("x", changes.MaxJustification+1)
	for name, one := range map[string]struct {
		p    changes.Proposal
		code fault.Code
	}{
		"no reason":         {changes.Proposal{ArtifactID: a.ID, Patch: json.RawMessage(addsABranch)}, fault.Invalid},
		"too long a reason": {changes.Proposal{ArtifactID: a.ID, Patch: json.RawMessage(addsABranch), Justification: long}, fault.Invalid},
		"not JSON":          {patch(a, `[{`), fault.Invalid},
		"no list":           {patch(a, `{"op": "remove"}`), fault.Invalid},
		"no operation":      {patch(a, `[]`), fault.Invalid},
		"no artifact":       {changes.Proposal{Patch: json.RawMessage(addsABranch), Justification: "so"}, fault.Invalid},
		"unknown artifact":  {changes.Proposal{ArtifactID: id.New(), Patch: json.RawMessage(addsABranch), Justification: "so"}, fault.NotFound},
		"unknown name":      {changes.Proposal{ArtifactID: "nobody", ArtifactType: "workflow", Patch: json.RawMessage(addsABranch), Justification: "so"}, fault.NotFound},
		"an old base":       {changes.Proposal{ArtifactID: a.ID, Base: 7, Patch: json.RawMessage(addsABranch), Justification: "so"}, fault.Conflict},
		"the same twice": {changes.Proposal{Justification: "so", Changes: []changes.ProposedChange{
			{ArtifactID: a.ID, Patch: json.RawMessage(addsABranch)}, {ArtifactID: a.ID, Patch: json.RawMessage(renames)},
		}}, fault.Invalid},
		"too many": {changes.Proposal{Justification: "so", Changes: make([]changes.ProposedChange, changes.MaxChanges+1)}, fault.Invalid},
		"unknowns": {changes.Proposal{ArtifactID: a.ID, Patch: json.RawMessage(addsABranch), Justification: "so", Unknowns: "guess"}, fault.Invalid},
	} {
		if _, err := h.Propose(t.Context(), h.root, one.p); fault.CodeOf(err) != one.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, _, err := h.List(t.Context(), h.root, changes.Filter{}); err != nil || len(list) != 0 || len(h.limits.spent) != 0 {
		t.Errorf("%d were stored, %v, %v", len(list), h.limits.spent, err)
	}
	by := patch(a, addsABranch)
	by.ArtifactID, by.ArtifactType = "sorts", "workflow"
	if view := h.propose(h.root, by); view.Changes[0].ArtifactID != a.ID || view.Changes[0].Base != 1 {
		t.Errorf("by name: %+v", view.Changes)
	}
}
