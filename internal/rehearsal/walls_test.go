package rehearsal_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// Requirements: CFG-11, ISO-01
func TestARehearsalOnOnePersonsRunsLeavesOutThoseOfOthers(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "asking", Version: 1, Schema: json.RawMessage(asking)}
	shelf := &shelfOfRuns{runs: []run.Recording{keep(t, a, 0, asked()), keep(t, a, 1, asked()), keep(t, a, 2, asked())}}
	for only, want := range map[string]int{"": 3, shelf.runs[1].UserID: 1, "nobody": 0} {
		r, err := rehearsal.Run(t.Context(), library, shelf, rehearsal.Plan{Artifact: a, Doc: a.Schema, Only: only})
		if err != nil || r.Sample.Taken != want || r.Sample.Population != want {
			t.Errorf("of %q: %v %+v", only, err, r.Sample)
		}
	}
}

// Requirements: CFG-11, ISO-01
func TestACallThatIsForbiddenIsUnknownAndNoFailure(t *testing.T) {
	t.Parallel()
	more := strings.Replace(asking, `"message":"${vars.how}"}}]`, `"message":"${vars.how}"},"next":"more"},
		{"id":"more","type":"tool_call","tool":"rag.gather_v1","inputs":{"query":"x"}}]`, 1)
	plan := rehearsal.Plan{Unknowns: artifacts.Live, Live: func(context.Context, string, string, map[string]any) (map[string]any, error) {
		return nil, fault.New(fault.Forbidden, "It is not for you to read.")
	}}
	if r := trial(t, 1, more, plan, asked()); r.Unknown != 1 || r.Compared != 0 || r.Failed.After != 0 {
		t.Errorf("%+v", r)
	}
}

// A script can make any change look good.
//
// Requirements: CFG-11
func TestWhatAScriptSaysIsToBeConfirmed(t *testing.T) {
	t.Parallel()
	more := strings.Replace(asking, `"message":"${vars.how}"}}]`, `"message":"${vars.how}"},"next":"more"},
		{"id":"more","type":"tool_call","tool":"rag.gather_v1","inputs":{"query":"x"}}]`, 1)
	plan := rehearsal.Plan{Unknowns: artifacts.Scripted, Script: rehearsal.Script{"rag.gather_v1": json.RawMessage(`{"passages":[]}`)}}
	if r := trial(t, 1, more, plan, asked()); r.Verdict != rehearsal.Warn || !strings.Contains(strings.Join(r.Reasons, " "), "in 1 of 1 runs a script answered") {
		t.Errorf("%s %v", r.Verdict, r.Reasons)
	}
	if r := trial(t, 1, asking, plan, asked()); r.Verdict != rehearsal.Pass {
		t.Errorf("a script that had nothing to say: %s %v", r.Verdict, r.Reasons)
	}
}
