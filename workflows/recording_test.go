package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/workflows"
)

// everyKind has a retried call, a switch, a question, a child and a failure
// that is mended.
const everyKind = `{"kind":"workflow.chat","entrypoint":"find","nodes":[
	{"id":"find","type":"tool_call","tool":"find","next":"enough"},
	{"id":"enough","type":"switch","branches":[{"when":"vars.find.n > 2","next":"ask"},{"when":"true","next":"sorry"}]},
	{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Which?","timeout_ms":3600000,"next":"sub"},
	{"id":"sub","type":"workflow","workflow":"child","inputs":{"topic":"${vars.ask?}"},"next":"broken"},
	{"id":"broken","type":"tool_call","tool":"broken","max_retries":0,"on_error":"speak","next":"speak"},
	{"id":"speak","type":"tool_call","tool":"speak","inputs":{"said":"${vars.sub.answer}"},"next":"end"},
	{"id":"sorry","type":"end","response":"sorry"},
	{"id":"end","type":"end","response":"${vars.speak.answer} ${vars.error.code}"}]}`

// recorder is a world in which a turn of everyKind is recorded.
func recorder() *activitiestest.World {
	attempts := 0
	w := activitiestest.New(everyKind).
		Tool("find", apart, func(context.Context, *tool.Call) (map[string]any, error) {
			if attempts++; attempts == 1 {
				return nil, errDown
			}
			return map[string]any{"n": 3.0}, nil
		}).
		Tool("inside", inline, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			return map[string]any{"answer": fmt.Sprint("about ", c.Inputs["topic"])}, nil
		}).
		Tool("broken", inline, func(context.Context, *tool.Call) (map[string]any, error) {
			return nil, fault.New(fault.Forbidden, "It is locked.")
		}).
		Tool("speak", models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			return map[string]any{"answer": fmt.Sprint("so ", c.Inputs["said"]), "model": "m1", "usage": map[string]any{"output_tokens": 7.0, "cost_usd": 0.25}}, nil
		})
	w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"inside","nodes":[
		{"id":"inside","type":"tool_call","tool":"inside","inputs":{"topic":"${input.topic}"}}]}`
	return w
}

// recordingOf reads the recording a turn left.
func recordingOf(t *testing.T, w *activitiestest.World) (*run.Recording, rehearsal.Record) {
	t.Helper()
	if len(w.Closed) != 1 || w.Closed[0].End.Recording == nil {
		t.Fatalf("the turn left no recording: %+v", w.Closed)
	}
	head := w.Closed[0].End.Recording
	rec, err := rehearsal.Unpack(head.Body)
	if err != nil {
		t.Fatal(err)
	}
	head.Body = nil // read
	return head, rec
}

// rehearsed plays a recorded run on a document with the world's tools.
func rehearsed(t *testing.T, w *activitiestest.World, doc string, rec rehearsal.Record) rehearsal.Playthrough {
	t.Helper()
	tools := map[string]artifacts.Bound{}
	for name, spec := range w.Tools {
		tools[name] = artifacts.Bound{Spec: spec, ArtifactID: id.Derive("tool", name), Version: 1}
	}
	p, err := rehearsal.Play(json.RawMessage(doc), tools, graph.ChatLimits(), rec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// taken are the nodes of a trace in their order.
func taken(steps []graph.Step) (nodes []string) {
	for _, s := range steps {
		if s.Attempt <= 1 {
			nodes = append(nodes, s.Node)
		}
	}
	return nodes
}

// Requirements: CFG-11, GRAPH-30
func TestARunLeavesARecordingThatRehearsesToTheSameWay(t *testing.T) {
	t.Parallel()
	w := recorder()
	b := setup(t, w)
	b.set.Record = true
	b.env.RegisterDelayedCallback(func() { b.answer(0, "engines") }, 30*time.Minute)
	b.chat("hello")
	b.answered("so about engines forbidden")

	head, rec := recordingOf(t, w)
	if head.Graph.Name != "default" || head.Graph.Version != 1 || head.UserID != activitiestest.Viewer.UserID || head.Kind != run.KindChat ||
		head.Status != run.Done || head.Branch != rehearsal.BranchOf(rec.Steps) || head.Asked != 1 || head.Skipped != 0 ||
		head.ModelCalls != 1 || head.ToolCalls != 4 || head.CostUSD != 0.25 {
		t.Errorf("the head is %+v", *head)
	}
	if took := time.Duration(head.MS) * time.Millisecond; took > time.Minute {
		t.Errorf("it took %s, with the time it waited for a person", took)
	}
	if want := []string{"find#1", "find#1", "ask#1", "sub#1", "broken#1", "speak#1"}; !slices.Equal(rec.Order, want) {
		t.Errorf("the outcomes are %v, want %v: the child's own are its parent's spawn", rec.Order, want)
	}
	first := rec.Outputs["find#1"]
	if len(first) != 2 || first[0].Failure == nil || first[0].Failure.Code != "server_error" || first[1].Result["n"] != 3.0 || first[1].Tool != "find" {
		t.Errorf("the retried call left %+v", first)
	}
	if asked := rec.Outputs["ask#1"][0]; asked.Kind != rehearsal.OutputAsk || asked.Result["answer"] != "engines" || asked.Took < 29*time.Minute || asked.Took > 30*time.Minute {
		t.Errorf("the question left %+v", asked)
	}
	if spoke := rec.Outputs["speak#1"][0]; spoke.Model != "m1" || spoke.Usage == nil || spoke.Usage.Output != 7 {
		t.Errorf("the model's call left %+v", spoke)
	}
	if rec.Partial || rec.Outcome.Response != "so about engines forbidden" || len(rec.Pins) == 0 {
		t.Errorf("the run is recorded as %+v", rec)
	}

	p := rehearsed(t, w, everyKind, rec)
	if !slices.Equal(p.Path, taken(rec.Steps)) || len(p.Divergences) != 0 || len(p.Unused) != 0 {
		t.Errorf("rehearsed, the run goes %v with %v and leaves %v unused; it went %v", p.Path, p.Divergences, p.Unused, taken(rec.Steps))
	}
	if p.Outcome.Response != rec.Outcome.Response {
		t.Errorf("rehearsed, the run says %q", p.Outcome.Response)
	}
}

// Requirements: CFG-11
func TestAQuestionNobodyAnsweredIsRecordedAsSuch(t *testing.T) {
	t.Parallel()
	for name, skip := range map[string]func(*bundle){
		"expired": func(*bundle) {},
		"cancelled": func(b *bundle) {
			b.env.RegisterDelayedCallback(func() { b.env.SignalWorkflow(workflows.SignalCancel, nil) }, time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := recorder()
			b := setup(t, w)
			b.set.Record = true
			skip(b)
			b.chat("hello")
			head, rec := recordingOf(t, w)
			if out := rec.Outputs["ask#1"]; head.Skipped != 1 || len(out) != 1 || out[0].Result[name] != true {
				t.Errorf("the question is recorded as %+v, the head as %+v", out, *head)
			}
			if p := rehearsed(t, w, everyKind, rec); !slices.Equal(p.Path, taken(rec.Steps)) || p.Outcome.Suppressed != rec.Outcome.Suppressed {
				t.Errorf("rehearsed, the run goes %v (%+v); it went %v (%+v)", p.Path, p.Outcome, taken(rec.Steps), rec.Outcome)
			}
		})
	}
}

// Requirements: CFG-11, PLAT-14
func TestARecordingHasWhatHappenedInEveryExecution(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(longRun).Tool("say", apart, counting())
	answered := false
	executions(t, w, 1, func(b *bundle, _ int) {
		b.set.Record = true
		b.env.RegisterDelayedCallback(func() {
			if q, ok := w.Question(0); ok && !answered {
				answered = q.ID != ""
				b.answer(0, "!")
			}
		}, time.Hour)
	})
	_, rec := recordingOf(t, w)
	if want := []string{"a#1", "b#1", "ask#1", "c#1"}; !slices.Equal(rec.Order, want) || rec.Input.Now.IsZero() {
		t.Errorf("the run of several executions is recorded as %v from %s", rec.Order, rec.Input.Now)
	}
	if p := rehearsed(t, w, longRun, rec); p.Outcome.Response != "ab!c" {
		t.Errorf("rehearsed, it says %q", p.Outcome.Response)
	}
}

// Requirements: CFG-11
func TestARunIsNotWorthLessForItsRecording(t *testing.T) {
	t.Parallel()
	w := recorder()
	w.FailClose = []error{errors.New("the table of recordings is full")}
	b := setup(t, w)
	b.set.Record = true
	b.env.RegisterDelayedCallback(func() { b.answer(0, "engines") }, time.Minute)
	b.chat("hello")
	b.answered("so about engines forbidden")
	if b.closed().End.Recording != nil {
		t.Error("the end was written with the recording that was refused")
	}
}

// Requirements: CFG-11
func TestOnlyPeoplesRunsAreRecorded(t *testing.T) {
	t.Parallel()
	for kind, want := range map[run.Kind]bool{run.KindGraph: true, run.KindIngest: true, run.KindTool: false, run.KindPatch: false, run.KindArchitect: false} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := activitiestest.New(oneNode).Tool("say", inline, say("hello"))
			for _, name := range []string{"ingest", "config_patch", "architect"} {
				w.Workflows[name] = oneQuiet
			}
			b := setup(t, w)
			b.set.Record = true
			in := w.House(kind, map[string]any{"artifact": "ingest", "tool": "say", "patch_id": 1})
			if kind == run.KindGraph || kind == run.KindIngest {
				in.Viewer = activitiestest.Viewer
			}
			b.env.ExecuteWorkflow(workflows.TypeOf(kind), in)
			end := w.Ended[in.RunID]
			if end.Status != run.Done || (end.Recording != nil) != want {
				t.Errorf("the run ended %s (%s) with the recording %+v", end.Status, end.Error, end.Recording)
			}
		})
	}
}

const oneQuiet = `{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"say"}]}`

// Requirements: CFG-11
func TestNothingIsRecordedWhereThatIsSwitchedOff(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(oneNode).Tool("say", inline, say("hello")))
	b.chat("hello")
	if b.closed().End.Recording != nil {
		t.Error("the turn left a recording")
	}
}

// A branch that was told to stop because its sibling failed did not fail: what
// another version would have had of it is not known.
//
// Requirements: CFG-11
func TestWhatWasToldToStopIsRecordedAsNoFailure(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"slow"},{"next":"breaks"}],"next":"end","on_error":"sorry"},
		{"id":"slow","type":"tool_call","tool":"slow","max_retries":0,"next":"end"},
		{"id":"breaks","type":"tool_call","tool":"breaks","max_retries":0,"next":"end"},
		{"id":"sorry","type":"end","response":"sorry"},
		{"id":"end","type":"end","response":"fine"}]}`).
		Tool("slow", apart, func(ctx context.Context, _ *tool.Call) (map[string]any, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		}).
		Tool("breaks", apart, func(context.Context, *tool.Call) (map[string]any, error) {
			<-began
			return nil, errDown
		})
	b := setup(t, w)
	b.set.Record = true
	b.chat("hello")
	b.answered("sorry")
	_, rec := recordingOf(t, w)
	if len(rec.Outputs["slow#1"]) != 0 || len(rec.Outputs["breaks#1"]) != 1 {
		t.Errorf("recorded is %+v", rec.Outputs)
	}
}

// A run with very much in its hands does not hand all of it to its end: its
// workflow has a second for that.
//
// Requirements: CFG-11
func TestARunCarriesNoMoreThanARecordingTakes(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"each","nodes":[
		{"id":"each","type":"map","over":"${input.list}","as":"n","body":"one","next":"end"},
		{"id":"one","type":"tool_call","tool":"big"},
		{"id":"end","type":"end","response":"x"}]}`).
		Tool("big", inline, func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"a": strings.Repeat("a", 60<<10), "b": strings.Repeat("b", 60<<10)}, nil
		})
	b := setup(t, w)
	carried := 0
	b.set.Record = true
	b.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, args []any) {
		if in, ok := args[0].(activities.CloseInput); ok && info.ActivityType.Name == activities.NameClose {
			carried = len(in.Outcomes.All)
		}
	})
	in := chatInput()
	in.Fields = map[string]any{"list": make([]any, 90)}
	b.turn(w.Chat("hello", in))
	if _, rec := recordingOf(t, w); carried < 30 || carried > 40 || !rec.Partial {
		t.Errorf("%d of 90 outcomes of 120 KB each are carried to the end; the recording is partial: %t", carried, rec.Partial)
	}
}
