package rehearsal_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/routing"
	"liminal/internal/run"
)

// asking is a graph of one call and one question.
const asking = `{"kind":"workflow.chat","entrypoint":"look","nodes":[
	{"id":"look","type":"tool_call","tool":"rag.search_v1","inputs":{"question":"${input.message}"},"next":"ask"},
	{"id":"ask","type":"interrupt","interrupt_type":"action_choice","message":"Which?","options":[{"id":"short","label":"Short"},{"id":"long","label":"Long"}],"save_as":"how","next":"say"},
	{"id":"say","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${vars.how}"}}]}`

func asked() rehearsal.Record {
	return rehearsal.Record{
		Input: graph.Input{Input: object{"message": "Tell me of my illness"}, Now: noon},
		Outputs: map[string][]rehearsal.Output{
			"look#1": {{Tool: "rag.search_v1", Kind: rehearsal.OutputCall, Result: object{"clarity": "clear"}, Took: time.Second}},
			"ask#1":  {{Kind: rehearsal.OutputAsk, Result: object{"answer": "long"}, Took: time.Hour}},
			"say#1":  {{Tool: "llm.generic_chat_v1", Kind: rehearsal.OutputCall, Result: object{"answer": "A secret."}, Took: 2 * time.Second}},
		},
	}
}

// trial is a rehearsal of a change to asking over copies of one run.
func trial(t *testing.T, n int, doc string, plan rehearsal.Plan, rec rehearsal.Record) rehearsal.Report {
	t.Helper()
	library := stocked(t)
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "asking", Version: 1, Schema: json.RawMessage(asking)}
	runs := make([]run.Recording, n)
	for i := range runs {
		runs[i] = keep(t, a, i, rec)
	}
	return rehearsed(t, library, a, json.RawMessage(doc), runs, plan)
}

// Requirements: CFG-11
func TestAnAnswerTheQuestionNoLongerOffersIsUnknown(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(asking, `,{"id":"long","label":"Long"}`, "", 1)
	if r := trial(t, 3, doc, rehearsal.Plan{}, asked()); r.Unknown != 3 || r.Compared != 0 || r.Moved != 0 {
		t.Errorf("%+v", r)
	}
	doc = strings.Replace(asking, `"label":"Long"`, `"label":"At length"`, 1)
	if r := trial(t, 3, doc, rehearsal.Plan{}, asked()); r.Unknown != 0 || r.Compared != 3 {
		t.Errorf("%+v", r)
	}
}

// Requirements: CFG-11
func TestTimeWaitedForAPersonIsNoTimeOfARun(t *testing.T) {
	t.Parallel()
	if r := trial(t, 1, asking, rehearsal.Plan{}, asked()); r.MS.Before != 3000 || r.MS.After != 3000 {
		t.Errorf("%+v", r.MS)
	}
}

// Requirements: CFG-11
func TestOnlyToolsThatReadAreCalledLive(t *testing.T) {
	t.Parallel()
	more := func(tool, inputs string) string {
		return strings.Replace(asking, `"message":"${vars.how}"}}]`, `"message":"${vars.how}"},"next":"more"},
			{"id":"more","type":"tool_call","tool":"`+tool+`","inputs":`+inputs+`}]`, 1)
	}
	var calls []string
	live := func(_ context.Context, userID, tool string, _ map[string]any) (map[string]any, error) {
		calls = append(calls, userID+" "+tool)
		return object{"passages": []any{}, "documents": []any{}}, nil
	}
	plan := rehearsal.Plan{Unknowns: artifacts.Live, Live: live}
	r := trial(t, 1, more("rag.gather_v1", `{"query":"x"}`), plan, asked())
	if r.Unknown != 0 || !slices.Equal(calls, []string{"user-0 rag.gather_v1"}) || !strings.Contains(strings.Join(r.Reasons, " "), "may differ") {
		t.Errorf("%v %+v", calls, r)
	}
	calls = nil
	if r := trial(t, 1, more("files.write_v1", `{"path":"a","text":"b"}`), plan, asked()); r.Unknown != 1 || len(calls) > 0 {
		t.Errorf("%v %+v", calls, r)
	}
	if r := trial(t, 1, more("llm.intent_classifier_v1", `{"message":"x"}`), plan, asked()); r.Unknown != 1 || len(calls) > 0 {
		t.Errorf("a model was asked: %v %+v", calls, r)
	}
	plan.Live = nil
	if r := trial(t, 1, more("rag.gather_v1", `{"query":"x"}`), plan, asked()); r.Unknown != 1 {
		t.Errorf("%+v", r)
	}
	plan.Live = func(context.Context, string, string, map[string]any) (map[string]any, error) {
		return nil, errors.New("no index")
	}
	if r := trial(t, 1, more("rag.gather_v1", `{"query":"x"}`), plan, asked()); r.Failed.After != 1 || r.Unknown != 0 {
		t.Errorf("%+v", r)
	}
}

// No word of what anybody wrote, or was told, is in a report.
//
// Requirements: CFG-11
func TestAReportHoldsNoWordOfAnybody(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(asking, `"message":"${vars.how}"}}]`, `"message":"${vars.how}"},"next":"which"},
		{"id":"which","type":"switch","branches":[{"when":"input.message == 'x' or say.answer == 'y'","next":"look"}]}]`, 1)
	r := trial(t, 6, doc, rehearsal.Plan{}, asked())
	if len(r.Examples["failed"]) != 5 || r.Failed.After != 6 {
		t.Errorf("%+v", r)
	}
	told, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"illness", "secret", "Tell me"} {
		if strings.Contains(string(told), word) {
			t.Errorf("the report tells %q: %s", word, told)
		}
	}
}

// A record that makes the program fail is left out and told; the others count.
//
// Requirements: CFG-11
func TestOneBadRecordDoesNotEndARehearsal(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "asking", Version: 1, Schema: json.RawMessage(asking)}
	more := strings.Replace(asking, `"message":"${vars.how}"}}]`, `"message":"${vars.how}"},"next":"more"},{"id":"more","type":"tool_call","tool":"rag.gather_v1","inputs":{"query":"x"}}]`, 1)
	runs := []run.Recording{keep(t, a, 0, asked()), keep(t, a, 1, asked()), keep(t, a, 2, asked()), keep(t, a, 3, asked())}
	runs[0].Body, runs[1].Body = []byte("damaged"), nil
	plan := rehearsal.Plan{Unknowns: artifacts.Live, Live: func(_ context.Context, userID, _ string, _ map[string]any) (map[string]any, error) {
		if userID == "user-2" {
			panic("a fault of ours")
		}
		return object{}, nil
	}}
	r := rehearsed(t, library, a, json.RawMessage(more), runs, plan)
	if r.Sample.Unreadable != 3 || r.Compared != 1 || !strings.Contains(strings.Join(r.Reasons, " "), "3 of 4 recorded runs could not be read") {
		t.Errorf("%+v", r)
	}
}

// Requirements: CFG-11
func TestARehearsalStopsWithItsContext(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "asking", Version: 1, Schema: json.RawMessage(asking)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	shelf := &shelfOfRuns{runs: []run.Recording{keep(t, a, 0, asked())}}
	if _, err := rehearsal.Run(ctx, library, shelf, rehearsal.Plan{Artifact: a, Doc: a.Schema}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Requirements: CFG-11
func TestWhatRunsNothingIsNotRehearsed(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	for _, kind := range []string{artifacts.KindTool, artifacts.KindModels, artifacts.KindAdapter} {
		r, err := rehearsal.Run(t.Context(), library, &shelfOfRuns{}, rehearsal.Plan{Artifact: artifacts.Artifact{Type: kind}})
		if r != nil || err != nil {
			t.Errorf("%s: %+v, %v", kind, r, err)
		}
	}
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "asking", Version: 1, Schema: json.RawMessage(asking)}
	r, err := rehearsal.Run(t.Context(), library, &shelfOfRuns{}, rehearsal.Plan{Artifact: a, Doc: a.Schema})
	if err != nil || r.Verdict != rehearsal.Pass || len(r.Reasons) != 1 || !strings.Contains(r.Reasons[0], "No run was recorded yet") {
		t.Errorf("%+v, %v", r, err)
	}
	var faults graph.Faults
	if _, err := rehearsal.Run(t.Context(), library, &shelfOfRuns{}, rehearsal.Plan{Artifact: a, Doc: json.RawMessage(`{"kind":"workflow.chat"}`)}); !errors.As(err, &faults) {
		t.Errorf("%v", err)
	}
	var rules routing.Faults
	p := artifacts.Artifact{ID: "p", Type: artifacts.KindPolicy, Schema: json.RawMessage(`{"kind":"policy.routing","rules":[]}`)}
	if _, err := rehearsal.Run(t.Context(), library, &shelfOfRuns{}, rehearsal.Plan{Artifact: p, Doc: json.RawMessage(`{"kind":"policy.routing","rules":1}`)}); !errors.As(err, &rules) {
		t.Errorf("%v", err)
	}
}

// The rules that judge a change are those of the current version, not those it
// brings along.
//
// Requirements: CFG-11, PLAT-07 (what a document asks for is bounded)
func TestAChangeIsJudgedByTheRulesThereAre(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	with := func(guard string) json.RawMessage {
		return json.RawMessage(strings.Replace(asking, `"entrypoint"`, `"rehearsal":`+guard+`,"entrypoint"`, 1))
	}
	never := `{"block":[{"when":"taken > 0","say":"nothing may change"}]}`
	shelf := &shelfOfRuns{}
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "asking", Version: 1, Schema: with(never)}
	for i := range 6 {
		shelf.runs = append(shelf.runs, keep(t, a, i, asked()))
	}
	verdict := func(p rehearsal.Plan) rehearsal.Verdict {
		r, err := rehearsal.Run(t.Context(), library, shelf, p)
		if err != nil {
			t.Fatal(err)
		}
		return r.Verdict
	}
	if got := verdict(rehearsal.Plan{Artifact: a, Doc: with(`{"block":[]}`)}); got != rehearsal.Block {
		t.Errorf("with its own rules gone: %s", got)
	}
	if got := verdict(rehearsal.Plan{Artifact: a, Doc: with(never), Guard: json.RawMessage(asking)}); got != rehearsal.Pass {
		t.Errorf("by the current version's: %s", got)
	}
	a.Schema = with(`{"second":[{"when":"taken + 'x' > 1"}]}`)
	if got := verdict(rehearsal.Plan{Artifact: a, Doc: a.Schema}); got != rehearsal.Warn {
		t.Errorf("a rule that cannot be evaluated: %s", got)
	}
}

// A person's own tools are known when their own workflow is rehearsed.
//
// Requirements: CFG-11, ISO-01
func TestAPersonsOwnWorkflowIsRehearsedWithTheirTools(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	spec := `{"kind":"tool.spec","name":"mine.look","description":"Looks.","workflow":"documents","input_schema":{"type":"object"},"output_schema":{"type":"object"}}`
	if _, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "tool", Name: "mine.look", Schema: json.RawMessage(spec)}); err != nil {
		t.Fatal(err)
	}
	doc := json.RawMessage(`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"mine.look","inputs":{}}]}`)
	a, err := library.Create(t.Context(), ann, artifacts.Draft{Type: "workflow", Name: "mine", Schema: doc})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rehearsal.Run(t.Context(), library, &shelfOfRuns{}, rehearsal.Plan{Artifact: a, Doc: doc}); err != nil {
		t.Error(err)
	}
}

// A change is found whatever came beside it: one node of every graph that ships
// is taken out of the way, and each run that came by it goes another way.
//
// Requirements: CFG-11, GRAPH-30
func TestEveryRunThatCameByAChangedNodeMoves(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	for _, a := range everyGraph(t, library) {
		w := world{Rand: rand.New(rand.NewPCG(3, 9)), fails: 5}
		runs := lived(t, library, a, 30, w)
		var doc map[string]any
		if err := json.Unmarshal(a.Schema, &doc); err != nil {
			t.Fatal(err)
		}
		first := doc["entrypoint"]
		doc["entrypoint"] = "inserted"
		doc["nodes"] = append(doc["nodes"].([]any), object{"id": "inserted", "type": "set", "values": object{"inserted": true}, "next": first})
		changed, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		r := rehearsed(t, library, a, changed, runs, rehearsal.Plan{})
		if r.Moved != 30 || r.Unknown != 0 || len(r.Places) != 1 || r.Places[0].New != "inserted" || r.Failed.Before != r.Failed.After {
			t.Errorf("%s: %d moved, %d unknown, %+v", a.Name, r.Moved, r.Unknown, r.Places)
		}
	}
}

// A version whose tool is gone can still be mended: it is compared as it was
// recorded.
//
// Requirements: CFG-11
func TestAVersionThatCannotRunAnyMoreIsComparedAsItWasRecorded(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	gone := json.RawMessage(strings.Replace(asking, "rag.search_v1", "rag.gone_v1", 1))
	a := artifacts.Artifact{ID: "a", Type: artifacts.KindWorkflow, Name: "asking", Version: 4, Schema: gone}
	rec := asked()
	rec.Outputs["look#1"][0].Failure, rec.Outputs["look#1"][0].Result = &graph.Failure{Code: "not_found", Message: "gone"}, nil
	delete(rec.Outputs, "ask#1")
	delete(rec.Outputs, "say#1")
	rec.Outcome.Err = &graph.Failure{Code: "not_found", Node: "look"}
	rec.Steps = []graph.Step{{Node: "look", Type: graph.ToolCall, Effect: "look#1", Visit: 1, Attempt: 1, Outcome: graph.ResultFailed}}
	r := rehearsed(t, library, a, json.RawMessage(strings.Replace(asking, `"next":"ask"`, `"next":"ask","on_error":"say"`, 1)), []run.Recording{keep(t, a, 0, rec)},
		rehearsal.Plan{Unknowns: artifacts.Scripted, Script: rehearsal.Script{"llm.generic_chat_v1": json.RawMessage(`{"answer":"x"}`)}})
	if r.Moved != 1 || r.Failed.Before != 1 || !strings.Contains(strings.Join(r.Reasons, " "), "cannot run any more") {
		t.Errorf("%+v", r)
	}
}

// Requirements: CFG-11
func TestAReportSaysWhereRecordedResultsMayNotHold(t *testing.T) {
	t.Parallel()
	told := func(old, name string) string {
		return strings.Join(trial(t, 1, strings.Replace(asking, old, name, 1), rehearsal.Plan{}, asked()).Reasons, " ")
	}
	if said := told("${input.message}", "${input.message}!"); !strings.Contains(said, "What look gives on changed") {
		t.Errorf("of other inputs: %s", said)
	}
	if said := told(`"type":"tool_call"`, `"type":"tool_call","description":"Looking","timeout_ms":9000`); said != "" {
		t.Errorf("of another description: %s", said)
	}
}

func TestAViewerWithoutRightsIsNoReasonToFail(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	a := artifacts.Artifact{ID: "a", OwnerID: "nobody", Type: artifacts.KindWorkflow, Name: "asking", Version: 1, Schema: json.RawMessage(asking)}
	if _, err := rehearsal.Prepare(t.Context(), library, identity.Viewer{UserID: "nobody", Role: identity.RoleUser}, a, a.Schema); err != nil {
		t.Error(err)
	}
}
