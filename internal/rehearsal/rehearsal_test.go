package rehearsal_test

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// documents are graphs that run things side by side, over lists and in loops,
// besides those that ship.
var sideBySide = map[string]string{
	"branches": `{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"a"},{"next":"b"},{"when":"input.message != ''","next":"c"}],"next":"last","on_error":"sorry"},
		{"id":"a","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"x"},"outputs":[],"next":"a2"},
		{"id":"a2","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"x"},"outputs":[],"next":"shared"},
		{"id":"b","type":"tool_call","tool":"rag.search_v1","inputs":{"question":"x"},"outputs":[],"next":"shared"},
		{"id":"c","type":"interrupt","interrupt_type":"text_input","message":"which?","next":"c2"},
		{"id":"c2","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"x"},"outputs":[]},
		{"id":"shared","type":"tool_call","tool":"rag.search_v1","inputs":{"question":"y"},"outputs":[]},
		{"id":"last","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"z"}},
		{"id":"sorry","type":"end","response":"sorry"}]}`,
	"lists": `{"kind":"workflow.chat","entrypoint":"each","nodes":[
		{"id":"each","type":"map","over":["1","2","3","4","5"],"as":"it","body":"look","concurrency":3,"next":"say"},
		{"id":"look","type":"tool_call","tool":"rag.search_v1","inputs":{"question":"${it}"},"next":"which"},
		{"id":"which","type":"switch","branches":[{"when":"look.clarity == 'clear'","next":"more"},{"when":"look.clarity == 'several'","next":"ask"},{"when":"true","next":"stop"}]},
		{"id":"more","type":"tool_call","tool":"llm.generic_chat_v1","inputs":{"message":"${it}"}},
		{"id":"ask","type":"interrupt","interrupt_type":"action_choice","message":"?","options":["a","b"]},
		{"id":"stop","type":"end","data":{"n":1}},
		{"id":"say","type":"agent","tools":["rag.search_v1"],"inputs":{},"system":"s"}]}`,
	"loop": `{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"?","next":"look"},
		{"id":"look","type":"tool_call","tool":"rag.search_v1","inputs":{"question":"x"},"next":"which"},
		{"id":"which","type":"switch","branches":[{"when":"look.clarity == 'clear'","next":"done"},{"when":"true","next":"ask"}]},
		{"id":"done","type":"end","response":"${vars.ask?}"}]}`,
}

// everyGraph is every workflow that ships, and those of sideBySide.
func everyGraph(t testing.TB, library *artifacts.Library) []artifacts.Artifact {
	t.Helper()
	graphs, _, err := library.List(t.Context(), admin, artifacts.Filter{Type: artifacts.KindWorkflow, Limit: 100})
	if err != nil || len(graphs) < 7 {
		t.Fatalf("%d graphs ship, %v", len(graphs), err)
	}
	for name, doc := range sideBySide {
		a, err := library.Create(t.Context(), admin, artifacts.Draft{Type: "workflow", Name: name, Schema: json.RawMessage(doc), Visibility: artifacts.Global})
		if err != nil {
			t.Fatalf("%s: %v\n%v", name, err, artifacts.Problems(err))
		}
		graphs = append(graphs, a)
	}
	return graphs
}

// A change that changes nothing shows no difference, whatever came in which
// order, failed, was cancelled or was lost.
//
// Requirements: CFG-11, GRAPH-30
func TestAChangeThatChangesNothingMovesNothing(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	for _, a := range everyGraph(t, library) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for name, w := range map[string]world{
				"well": {}, "badly": {fails: 15, slow: true}, "cancelled": {fails: 5, cancels: 10}, "lost": {lost: 10, fails: 5},
			} {
				w.Rand = rand.New(rand.NewPCG(7, uint64(len(name))))
				runs := lived(t, library, a, 25, w)
				for form, body := range map[string]func(*rehearsal.Record){"as recorded": func(*rehearsal.Record) {}, "without order": func(r *rehearsal.Record) { r.Order = nil }} {
					report := rehearsed(t, library, a, a.Schema, changed(t, runs, body), rehearsal.Plan{})
					if report.Moved != 0 || report.Failed.Before != report.Failed.After || report.Tools.Before != report.Tools.After || report.Questions.Before != report.Questions.After || report.MS.Before != report.MS.After {
						t.Errorf("%s, %s: %+v", name, form, report)
					}
					if report.Sample.Unreadable != 0 || form == "as recorded" && report.Unknown != 0 {
						t.Errorf("%s, %s: %d unreadable, %d unknown: %+v", name, form, report.Sample.Unreadable, report.Unknown, report.Examples["unknown"])
					}
				}
			}
		})
	}
}

// What a rehearsal shows of the unchanged document is what really happened.
//
// Requirements: CFG-11, GRAPH-30
func TestTheUnchangedGraphGoesTheWayThatWasRecorded(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	for _, a := range everyGraph(t, library) {
		w := world{Rand: rand.New(rand.NewPCG(11, 3)), fails: 10, fine: true}
		r, err := rehearsal.Prepare(t.Context(), library, admin, a, a.Schema)
		if err != nil {
			t.Fatal(err)
		}
		for i, kept := range lived(t, library, a, 25, w) {
			rec, err := rehearsal.Unpack(kept.Body)
			if err != nil {
				t.Fatal(err)
			}
			played, err := r.Play(t.Context(), rec, rehearsal.Plan{})
			if err != nil {
				t.Fatal(err)
			}
			// Which of two things that happened at once came first is chance.
			played.Trace, rec.Steps = inTime(played.Trace), inTime(rec.Steps)
			for j, step := range played.Trace[:min(len(played.Trace), len(rec.Steps))] {
				if was := rec.Steps[j]; step.Node != was.Node || step.Effect != was.Effect || step.Attempt != was.Attempt || !step.Started.Equal(was.Started) {
					t.Fatalf("%s, run %d, step %d: %+v, and was %+v", a.Name, i, j, step, was)
				}
			}
			if len(played.Trace) != len(rec.Steps) || (rec.Outcome.Err != nil) != played.Failed {
				t.Fatalf("%s, run %d: %d steps and were %d; failed %v, and was %v", a.Name, i, len(played.Trace), len(rec.Steps), played.Failed, rec.Outcome.Err)
			}
		}
	}
}

func inTime(steps []graph.Step) []graph.Step {
	return slices.SortedStableFunc(slices.Values(steps), func(a, b graph.Step) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Effect, b.Effect), strings.Compare(a.Node, b.Node), a.Attempt-b.Attempt)
	})
}

func rehearsed(t testing.TB, library *artifacts.Library, a artifacts.Artifact, doc json.RawMessage, runs []run.Recording, plan rehearsal.Plan) rehearsal.Report {
	t.Helper()
	r, err := rehearsal.Prepare(t.Context(), library, admin, a, doc)
	if err != nil {
		t.Fatal(err)
	}
	report, err := r.Report(t.Context(), runs, plan)
	if err != nil {
		t.Fatal(err)
	}
	report.TookMS = 0
	return report
}

// changed is recordings with every body changed.
func changed(t testing.TB, runs []run.Recording, change func(*rehearsal.Record)) []run.Recording {
	t.Helper()
	out := slices.Clone(runs)
	for i := range out {
		rec, err := rehearsal.Unpack(out[i].Body)
		if err != nil {
			t.Fatal(err)
		}
		change(&rec)
		if out[i].Body, err = rehearsal.Pack(rec); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Requirements: CFG-11
func TestAReportIsTheSameWhateverTheOrder(t *testing.T) {
	t.Parallel()
	library := stocked(t)
	a := everyGraph(t, library)[0]
	runs := lived(t, library, a, 150, world{Rand: rand.New(rand.NewPCG(1, 2)), fails: 10})
	var first rehearsal.Report
	for i := range 5 {
		rand.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		report, err := rehearsal.Run(t.Context(), library, &shelfOfRuns{runs: runs}, rehearsal.Plan{Artifact: a, Doc: a.Schema, Sample: 80})
		if err != nil {
			t.Fatal(err)
		}
		report.TookMS = 0
		if i == 0 {
			first = *report
		} else if !reflect.DeepEqual(first, *report) {
			t.Fatalf("%+v\n%+v", first, *report)
		}
	}
	if first.Sample.Taken == 0 || first.Sample.Population != 150 || first.Coverage.NodesSeen == 0 {
		t.Errorf("%+v", first)
	}
}
