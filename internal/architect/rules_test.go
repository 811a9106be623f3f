package architect_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/architect"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// advice is what the rules say of all that was recorded.
func (h *house) advice() architect.Advice {
	h.Helper()
	f, err := h.Figures(h.Context(), time.Time{})
	if err != nil {
		h.Fatal(err)
	}
	out, err := h.Advise(h.Context(), f)
	if err != nil {
		h.Fatal(err)
	}
	return out
}

// only is the one proposal there is to be, and the document it makes, which the
// library accepts.
func (h *house) only(a artifacts.Artifact, rule string) (architect.Proposal, artifacts.Artifact) {
	h.Helper()
	out := h.advice()
	if len(out.Proposals) != 1 || out.Proposals[0].Rule != rule {
		h.Fatalf("the rules say %+v", out)
	}
	p := out.Proposals[0]
	if p.Artifact != a.ID || p.Base != a.Version || len(p.Figures) == 0 || !strings.HasPrefix(p.Justification, "This is a rule, no model's judgement: ") {
		h.Errorf("the proposal is %+v", p)
	}
	ops, err := json.Marshal(p.Ops)
	if err != nil {
		h.Fatal(err)
	}
	after, err := applied(a.Schema, ops)
	if err == nil {
		err = h.library.Check(h.Context(), identity.System(), a.Type, after)
	}
	if err != nil {
		h.Fatalf("%s: %v", ops, err)
	}
	a.Schema = after
	return p, a
}

// found says that there is no proposal, and one finding with these words.
func (h *house) found(rule, words string) {
	h.Helper()
	out := h.advice()
	if len(out.Proposals) != 0 || len(out.Findings) != 1 || out.Findings[0].Rule != rule || !strings.Contains(out.Findings[0].Message, words) {
		h.Errorf("the rules say %+v, want a finding of %s with %q", out, rule, words)
	}
}

// silent says that the rules have nothing to say.
func (h *house) silent() {
	h.Helper()
	if out := h.advice(); len(out.Proposals)+len(out.Findings) != 0 {
		h.Errorf("the rules say %+v", out)
	}
}

// one is the first run of a document, answered.
func (h *house) one(a artifacts.Artifact, input map[string]any, answer does) rehearsal.Record {
	h.Helper()
	tools, err := h.library.ToolsOf(h.Context(), identity.System(), a.Schema)
	if err != nil {
		h.Fatal(err)
	}
	g, err := graph.Parse(a.Schema, artifacts.GraphTools(tools), graph.ChatLimits())
	if err != nil {
		h.Fatal(err)
	}
	return play(g, 0, input, answer)
}

// breaks answers well but at one node, which fails for all but the last `well`
// of n runs.
func breaks(node string, n, well int, how rehearsal.Output) does {
	return func(i int, e graph.Effect) rehearsal.Output {
		if e.Node == node && i < n-well {
			return how
		}
		return said("Well.")
	}
}

const dispensable = `{"kind":"workflow.chat","entrypoint":"look","nodes":[
	{"id":"look","type":"tool_call","tool":"test.read_v1","max_retries":0,"next":"say"},
	{"id":"say","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${input.message}"}}]}`

var hello = map[string]any{"message": "Hello"}

// Requirements: CFG-13
func TestANodeThatAlwaysFailsIsGoneRoundFromTheThresholdOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs, well int
		speaks     bool
	}{
		"20 of 20": {20, 0, true}, "19 of 20": {20, 1, true}, "18 of 20": {20, 2, false},
		"19 of 19": {19, 0, false}, "38 of 40": {40, 2, true}, "37 of 40": {40, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			a := h.workflow("frail", dispensable)
			h.record(a, c.runs, hello, breaks("look", c.runs, c.well, failed("upstream")))
			if !c.speaks {
				h.silent()
				return
			}
			p, next := h.only(a, architect.RuleFails)
			if !strings.Contains(p.Justification, "upstream") || !strings.Contains(p.Justification, "the rule speaks from 20 calls and 95 %") {
				t.Error(p.Justification)
			}
			rec := h.one(next, hello, breaks("look", 1, 0, failed("upstream")))
			if rec.Outcome.Err != nil || rec.Outcome.Response != "Well." {
				t.Errorf("with the change the run ends in %+v", rec.Outcome)
			}
		})
	}
}

// Requirements: CFG-13
func TestANodeThatFailsGoesWhereTheOthersGo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("kept", `{"kind":"workflow.chat","entrypoint":"look","max_retries":0,"nodes":[
		{"id":"look","type":"tool_call","tool":"test.read_v1","next":"say"},
		{"id":"say","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${vars.look.text?}"},"on_error":"sorry"},
		{"id":"sorry","type":"end","response":"That did not work: ${vars.error.message}"}]}`)
	h.record(a, 20, hello, breaks("look", 20, 0, failed("upstream")))
	_, next := h.only(a, architect.RuleFails)
	rec := h.one(next, hello, breaks("look", 1, 0, failed("upstream")))
	if rec.Outcome.Err != nil || rec.Outcome.Response != "That did not work: It did not work." {
		t.Errorf("with the change the run ends in %+v", rec.Outcome)
	}
}

// Requirements: CFG-13
func TestANodeThatIsNeededIsOnlyNoLongerRepeated(t *testing.T) {
	t.Parallel()
	const needed = `{"kind":"workflow.chat","entrypoint":"look","nodes":[
		{"id":"look","type":"tool_call","tool":"test.read_v1","max_retries":1,"next":"say"},
		{"id":"say","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${vars.look.text}"}}]}`
	again := failed("upstream")
	again.Failure.Retryable = true
	h := newHouse(t)
	a := h.workflow("needy", needed)
	h.record(a, 20, hello, breaks("look", 20, 0, again))
	_, next := h.only(a, architect.RuleFails)
	if rec := h.one(next, hello, breaks("look", 1, 0, again)); len(rec.Steps) != 1 || rec.Outcome.Err == nil {
		t.Errorf("with the change the run goes %+v", rec.Steps)
	}

	h = newHouse(t)
	h.record(h.workflow("needy", needed), 20, hello, breaks("look", 20, 0, failed("upstream")))
	h.found(architect.RuleFails, "No change is provably safe")
}

// Requirements: CFG-13
func TestNothingIsProposedForANodeWhoseResultsAreGathered(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("many", `{"kind":"workflow.chat","entrypoint":"each","max_retries":0,"nodes":[
		{"id":"each","type":"map","over":"${input.list}","body":"look","on_error":"sorry","next":"sorry"},
		{"id":"look","type":"tool_call","tool":"test.read_v1","next":"say"},
		{"id":"say","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"x"}},
		{"id":"sorry","type":"end","response":"Sorry."}]}`)
	h.record(a, 20, map[string]any{"list": []any{"a"}}, breaks("look", 20, 0, failed("upstream")))
	h.found(architect.RuleFails, "No change is provably safe")
}

const slow = `{"kind":"workflow.chat","entrypoint":"look","max_retries":0,"timeout_ms":180000,"nodes":[
	{"id":"look","type":"tool_call","tool":"TOOL","timeout_ms":MS,"on_error":"say","next":"say"},
	{"id":"say","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${input.message}"}}]}`

func slowly(tool, ms string) string {
	return strings.NewReplacer("TOOL", tool, "MS", ms).Replace(slow)
}

// Requirements: CFG-13
func TestATimeoutThatIsAlwaysHitIsRaisedWithinItsBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs, well int
		ms, want   string // empty: nothing is proposed
	}{
		"18 of 20":   {20, 2, "10000", "15000"},
		"17 of 20":   {20, 3, "10000", ""},
		"19 of 19":   {19, 0, "10000", ""},
		"to the cap": {20, 0, "50000", "60000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			a := h.workflow("slow", slowly("test.read_v1", c.ms))
			h.record(a, c.runs, hello, breaks("look", c.runs, c.well, late(time.Minute)))
			if c.want == "" {
				h.silent()
				return
			}
			p, _ := h.only(a, architect.RuleTimeout)
			if got := p.Ops[len(p.Ops)-1]; got.Path != "/nodes/0/timeout_ms" || string(got.Value) != c.want {
				t.Errorf("the change is %+v", got)
			}
		})
	}
}

// Requirements: CFG-13, PLAT-07 (a patch raises no limit)
func TestATimeoutAtItsBoundIsAFinding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, ms, bound string }{
		"the program's": {"test.read_v1", "60000", "1m0s"},
		"the tool's":    {"test.short_v1", "10000", "2s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.record(h.workflow("slow", slowly(c.tool, c.ms)), 20, hello, breaks("look", 20, 0, late(time.Minute)))
			h.found(architect.RuleTimeout, c.bound+" is what its tool, the run or the program allow")
		})
	}
}

func TestACallThatTheEndOfTheRunCutWasNotTooLongItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.record(h.workflow("slow", slowly("test.read_v1", "10000")), 20, hello, breaks("look", 20, 0, late(3*time.Second)))
	h.silent()
}

const choosing = `{"kind":"workflow.chat","entrypoint":"ask","nodes":[
	{"id":"ask","type":"interrupt","interrupt_type":"action_choice","message":"Short or long?","options":OPTIONS,"save_as":"length","on_cancel":"none","next":"say"},
	{"id":"say","type":"tool_call","tool":"TOOL","inputs":{"message":"${vars.length}"},"next":"none"},
	{"id":"none","type":"end","response":"${vars.length?}"}]}`

func chooses(options, tool string) string {
	return strings.NewReplacer("OPTIONS", options, "TOOL", tool).Replace(choosing)
}

const literal = `["short",{"id":"long","label":"Long, with all of it"}]`

// answers says short to all but the last few, who say long or nothing.
func answers(n, long, cancelled int) does {
	return func(i int, e graph.Effect) rehearsal.Output {
		switch {
		case e.Kind != graph.KindAsk:
			return said("Well.")
		case i >= n-cancelled:
			return rehearsal.Output{Kind: rehearsal.OutputAsk, Result: map[string]any{"cancelled": true}}
		case i >= n-cancelled-long:
			return rehearsal.Output{Kind: rehearsal.OutputAsk, Result: map[string]any{"answer": "long"}}
		}
		return rehearsal.Output{Kind: rehearsal.OutputAsk, Result: map[string]any{"answer": "short"}}
	}
}

// Requirements: CFG-13
func TestAQuestionAlwaysAnsweredTheSameIsAnsweredForPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs, long, cancelled int
		speaks                bool
	}{
		"19 of 20": {20, 1, 0, true}, "18 of 20": {20, 2, 0, false}, "19 of 19": {19, 0, 0, false},
		"20 and a cancelled one": {21, 0, 1, true}, "20 and two cancelled ones": {22, 0, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			a := h.workflow("polite", chooses(literal, "llm.generic_chat_v1"))
			h.record(a, c.runs, hello, answers(c.runs, c.long, c.cancelled))
			if !c.speaks {
				h.silent()
				return
			}
			_, next := h.only(a, architect.RuleQuestion)
			rec := h.one(next, hello, answers(1, 0, 0))
			if rec.Outcome.Response != "short" || len(rec.Outputs) != 1 {
				t.Errorf("with the change the run ends in %+v after %v", rec.Outcome, rec.Outputs)
			}
		})
	}
}

// Requirements: CFG-13
func TestAQuestionStaysThatGuardsSomethingOrHasNoListOfOptions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.record(h.workflow("guard", chooses(literal, "test.write_v1")), 20, hello, answers(20, 0, 0))
	h.found(architect.RuleQuestion, `node "say" calls test.write_v1, which may change something`)

	h = newHouse(t)
	options := map[string]any{"message": "x", "options": []any{"short", "long"}}
	h.record(h.workflow("open", chooses(`"${input.options}"`, "llm.generic_chat_v1")), 20, options, answers(20, 0, 0))
	h.found(architect.RuleQuestion, "not a list in the document")
}

const forked = `{"kind":"workflow.chat","entrypoint":"fork","nodes":[
	{"id":"fork","type":"switch","branches":[{"when":"input.message == 'never'","next":"rare"},{"when":"input.message == 'Hello'","next":"say"}DEFAULT]},
	{"id":"say","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${input.message}"}},
	{"id":"rare","type":"end","response":"How rare."}]}`

// Requirements: CFG-13
func TestABranchNeverTakenIsRemovedWhereADefaultTakesItsPlace(t *testing.T) {
	t.Parallel()
	fork := func(withDefault string) string { return strings.Replace(forked, "DEFAULT", withDefault, 1) }
	well := breaks("", 0, 0, rehearsal.Output{})

	h := newHouse(t)
	a := h.workflow("fork", fork(`,{"when":"true","next":"say"}`))
	h.record(a, 199, hello, well)
	h.silent()
	h.record(a, 1, hello, well)
	_, next := h.only(a, architect.RuleBranch)
	if rec := h.one(next, map[string]any{"message": "never"}, well); rec.Outcome.Response != "Well." {
		t.Errorf("what the branch was for ends in %+v", rec.Outcome)
	}

	h = newHouse(t)
	h.record(h.workflow("fork", fork("")), 200, hello, well)
	h.found(architect.RuleBranch, "what it is for would fail")

	h = newHouse(t)
	a = h.workflow("fork", fork(`,{"when":"true","next":"say"}`))
	h.store.change(a.ID, func(a *artifacts.Artifact) { a.CreatedBy = "system" })
	h.record(a, 200, hello, well)
	h.found(architect.RuleBranch, "ships with the program")
}

func TestTheRulesLeaveAloneWhatHasMovedOnOrIsOnTrial(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.workflow("frail", dispensable)
	h.record(a, 20, hello, breaks("look", 20, 0, failed("upstream")))
	f, err := h.Figures(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	h.store.change(a.ID, func(a *artifacts.Artifact) { a.Rollout = &artifacts.Rollout{Share: 10} })
	h.silent()
	h.store.change(a.ID, func(a *artifacts.Artifact) { a.Rollout, a.Version = nil, 2 })
	if out, err := h.Advise(t.Context(), f); err != nil || len(out.Proposals) != 0 {
		t.Errorf("figures of version 1 say of version 2: %+v, %v", out, err)
	}
}
