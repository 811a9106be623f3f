package record

import (
	"context"
	"strings"
	"sync"
	"testing"

	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/workflows"
)

// patchWay is the way of a patch, in haste where nobody answers.
const patchWay = `{"kind":"workflow.chat","entrypoint":"check","nodes":[
	{"id":"check","type":"tool_call","tool":"step","inputs":{"patch_id":"${input.patch_id}"},"description":"Checking...","next":"rehearse"},
	{"id":"rehearse","type":"tool_call","tool":"step","inputs":{"patch_id":"${input.patch_id}"},"description":"Rehearsing...","next":"decide"},
	{"id":"decide","type":"interrupt","interrupt_type":"action_choice","message":"Approve patch ${input.patch_id}?",
	 "options":[{"id":"approve","label":"Approve"},{"id":"reject","label":"Reject"}],"timeout_ms":DECIDE,"save_as":"decision","next":"decided"},
	{"id":"decided","type":"switch","branches":[
		{"when":"vars.decision == 'approve'","next":"apply"},{"when":"vars.decision == null","next":"expire"},{"when":"true","next":"end"}]},
	{"id":"apply","type":"interrupt","interrupt_type":"action_choice","message":"Apply it?",
	 "options":[{"id":"apply","label":"Apply"},{"id":"withdraw","label":"Withdraw"}],"timeout_ms":1209600000,"save_as":"applied","next":"begun"},
	{"id":"begun","type":"switch","branches":[{"when":"vars.applied == 'apply'","next":"watch"},{"when":"true","next":"end"}]},
	{"id":"watch","type":"interrupt","interrupt_type":"action_choice","message":"Keep it?",
	 "options":[{"id":"keep","label":"Keep"},{"id":"roll_back","label":"Roll back"}],"timeout_ms":1000,"save_as":"kept","next":"watched"},
	{"id":"watched","type":"switch","branches":[{"when":"vars.kept == null","next":"figures"},{"when":"true","next":"end"}]},
	{"id":"figures","type":"tool_call","tool":"step","inputs":{"patch_id":"${input.patch_id}"},"next":"over"},
	{"id":"over","type":"switch","branches":[{"when":"vars.figures.times > 1","next":"end"},{"when":"true","next":"watch"}]},
	{"id":"expire","type":"tool_call","tool":"step","inputs":{"patch_id":"${input.patch_id}"},"next":"end"},
	{"id":"end","type":"end","response":"${vars.decision?} ${vars.applied?} ${vars.kept?}"}]}`

var privileged = tool.Spec{Runs: tool.Activity, Queue: tool.QueueIngest, Privileged: true}

// patchRun is a stage with the run of a patch on its way; decide is how long it
// waits for the decision, in milliseconds.
func patchRun(t *testing.T, decide string) (*stage, run.Run) {
	t.Helper()
	w := activitiestest.New(oneModel)
	w.Tool("step", privileged, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"times": w.Count(c.Node), "patch_id": c.Inputs["patch_id"]}, nil
	})
	w.Workflows["config_patch"] = strings.Replace(patchWay, "DECIDE", decide, 1)
	s := newStage(t, w)
	row := s.row(w.House(run.KindPatch, map[string]any{"patch_id": 42}).RunID)
	s.launch(row)
	t.Cleanup(func() { s.told(row.WorkflowID) })
	return s, row
}

// decide answers the i-th question as the desk does: in the store first, then
// by signal.
func (s *stage) decide(i int, answer string) {
	s.Helper()
	s.question(i)
	if s.world.Claim(i, answer, false).InterruptID == "" {
		s.Fatalf("the question %d has been answered already", i)
	}
	q := s.question(i)
	s.engine.Send(s.Context(), q)
	s.engine.Send(s.Context(), q) // again, as after a crash: it is dropped
}

const fortnight = "1209600000"

// Requirements: CFG-15, CFG-04, CFG-05
func TestAPatchIsDecidedAppliedAndWatched(t *testing.T) {
	t.Parallel()
	s, r := patchRun(t, fortnight)
	s.until(r.ID, run.Waiting)
	q := s.question(0)
	admin := identity.Viewer{UserID: "someone", Role: identity.RoleAdmin}
	if _, err := s.engine.Answer(t.Context(), admin, q.ID, run.Answer{Value: "approve"}); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "/v1/config/patches/42") {
		t.Errorf("an administrator's answer past the desk gives %v", err)
	}
	s.decide(0, "approve")
	s.decide(1, "apply")
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	got := s.freeze("config_patch_applied", r.WorkflowID, "")
	if s.steady(r.WorkflowID) && (got[scheduled] != 4 || got[updated] < 2 || got[upserted] != 8) {
		t.Errorf("the way of a patch makes %v; want two steps, two decisions, and two looks at it", got)
	}
	d, err := s.client.DescribeWorkflowExecution(t.Context(), r.WorkflowID, "")
	if err != nil || d.GetWorkflowExecutionInfo().GetType().GetName() != workflows.ConfigPatchType {
		t.Errorf("the run is found as %v (%v)", d.GetWorkflowExecutionInfo().GetType(), err)
	}
}

// Requirements: CFG-15, CFG-04
func TestAPatchIsRejected(t *testing.T) {
	t.Parallel()
	s, r := patchRun(t, fortnight)
	s.decide(0, "reject")
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	s.freeze("config_patch_rejected", r.WorkflowID, "")
	if n := s.world.Count("expire") + s.world.Count("figures"); n != 0 {
		t.Errorf("a rejected patch went on with %d steps", n)
	}
}

// Requirements: CFG-15
func TestAPatchExpires(t *testing.T) {
	t.Parallel()
	s, r := patchRun(t, "1000")
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	s.freeze("config_patch_expired", r.WorkflowID, "")
	if q := s.question(0); q.Status != run.Expired || s.world.Count("expire") != 1 && s.steady(r.WorkflowID) {
		t.Errorf("the question is %s after %d calls of expire", q.Status, s.world.Count("expire"))
	}
}

// Requirements: CFG-15
func TestAPatchGoesOnAfterItsWorkerDied(t *testing.T) {
	t.Parallel()
	s, r := patchRun(t, fortnight)
	s.until(r.ID, run.Waiting)
	before := s.world.Count("check")
	s.stop()
	s.decide(0, "approve")
	s.work()
	s.decide(1, "withdraw")
	s.closed(r.WorkflowID)
	s.until(r.ID, run.Done)
	if n := s.world.Count("check"); n != before {
		t.Errorf("the check ran %d times, %d of them before its worker died", n, before)
	}
}

// Requirements: CFG-13, PLAT-11 (config evolution)
func TestTheArchitectsRun(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneModel).Tool("step", privileged, echo)
	w.Workflows["architect"] = `{"kind":"workflow.chat","entrypoint":"look","nodes":[
		{"id":"look","type":"tool_call","tool":"step","inputs":{"since":"${input.since}"},"next":"any"},
		{"id":"any","type":"switch","branches":[{"when":"vars.look.answer != ''","next":"each"},{"when":"true","next":"end"}]},
		{"id":"each","type":"map","over":["x","y"],"as":"it","body":"propose","concurrency":1,"next":"end"},
		{"id":"propose","type":"tool_call","tool":"step","inputs":{"what":"${it}"},"next":"end"},
		{"id":"end","type":"end","data":{"looked":"${vars.look.answer}"}}]}`
	s := newStage(t, w)
	row := s.row(w.House(run.KindArchitect, map[string]any{"since": "2026-11-20T00:00:00Z"}).RunID)
	s.launch(row)
	s.closed(row.WorkflowID)
	s.until(row.ID, run.Done)
	s.freeze("architect", row.WorkflowID, "")
	if n := w.Count("propose"); n != 2 && s.steady(row.WorkflowID) {
		t.Errorf("two proposals made %d calls", n)
	}
}

// learner is a world with the graphs that learn, each of a step or two.
func learner() *activitiestest.World {
	w := activitiestest.New(oneModel).Tool("step", ingest, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": c.Node, "subjects": []any{"", "c1"}}, nil
	}).Tool("llm", model, echo)
	w.Workflows["learn.cluster"] = `{"kind":"workflow.chat","entrypoint":"look","nodes":[
		{"id":"look","type":"tool_call","tool":"step","outputs":["subjects"],"next":"all"},
		{"id":"all","type":"map","over":"${vars.subjects}","as":"subject","body":"learn","concurrency":1,"outputs":["learn"],"next":"record"},
		{"id":"learn","type":"workflow","workflow":"learn.text","inputs":{"cluster_id":"${subject}"}},
		{"id":"record","type":"tool_call","tool":"step","next":"end"},
		{"id":"end","type":"end","response":""}]}`
	w.Workflows["learn.text"] = `{"kind":"workflow.chat","entrypoint":"derive","nodes":[
		{"id":"derive","type":"tool_call","tool":"llm","inputs":{"cluster_id":"${input.cluster_id}"},"next":"propose"},
		{"id":"propose","type":"tool_call","tool":"step","next":"end"},
		{"id":"end","type":"end","response":""}]}`
	return w
}

// Requirements: PLAT-11 (situations and lessons)
func TestARunThatLearns(t *testing.T) {
	t.Parallel()
	s := newStage(t, learner())
	in := s.world.House(run.KindCluster, map[string]any{})
	row := s.row(in.RunID)
	row.UserID = activitiestest.Viewer.UserID
	s.launch(row)
	s.closed(row.WorkflowID)
	s.until(row.ID, run.Done)
	s.freeze("cluster", row.WorkflowID, "")
	child := "graph:" + row.ID + "/learn#1"
	s.freeze("learn", child+"[1]", "")
	if (s.world.Count("derive") != 2 || s.world.Count("propose") != 2 || s.world.Count("record") != 1) && s.steady(row.WorkflowID, child+"[0]", child+"[1]") {
		t.Errorf("the calls were %d of derive, %d of propose, %d of record", s.world.Count("derive"), s.world.Count("propose"), s.world.Count("record"))
	}
}

// The worker is gone in the middle of a child; what was done before is not done
// again, and what was under way is.
//
// Requirements: PLAT-11 (situations and lessons)
func TestARunThatLearnsGoesOnAfterItsWorkerIsGone(t *testing.T) {
	t.Parallel()
	w := learner()
	var first sync.Once
	reached := make(chan struct{})
	w.Tool("llm", model, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		hangs := false
		first.Do(func() { hangs = true })
		if hangs {
			close(reached)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return echo(ctx, c)
	})
	s := newStage(t, w)
	row := s.row(s.world.House(run.KindCluster, map[string]any{}).RunID)
	s.launch(row)
	<-reached
	s.stop()
	s.work()
	s.closed(row.WorkflowID)
	s.until(row.ID, run.Done)
	if s.world.Count("look") != 1 || s.world.Count("derive") != 3 || s.world.Count("propose") != 2 || s.world.Count("record") != 1 {
		t.Errorf("the calls were %d of look, %d of derive, %d of propose, %d of record", s.world.Count("look"), s.world.Count("derive"), s.world.Count("propose"), s.world.Count("record"))
	}
}

// trainer is a world with a graph that trains, as short as it can be: it fits
// twice, as a narrow shape may.
func trainer() *activitiestest.World {
	training := tool.Spec{Runs: tool.Activity, Queue: tool.QueueTraining, TimeoutMS: 60_000}
	w := activitiestest.New(oneModel).Tool("fit", training, echo)
	tries := 0
	w.Tool("judge", training, func(context.Context, *tool.Call) (map[string]any, error) {
		tries++
		return map[string]any{"answer": "", "outcome": map[bool]string{true: "again", false: "rule"}[tries == 1]}, nil
	})
	w.Tool("settle", ingest, echo)
	w.Workflows["learn.train"] = `{"kind":"workflow.chat","entrypoint":"fit","nodes":[
		{"id":"fit","type":"tool_call","tool":"fit","inputs":{"job":"${input.job}","fence":"${input.fence}"},"max_retries":1,"next":"judge"},
		{"id":"judge","type":"tool_call","tool":"judge","outputs":["outcome"],"next":"passed"},
		{"id":"passed","type":"switch","branches":[{"when":"outcome == 'again'","next":"fit"},{"when":"true","next":"settle"}]},
		{"id":"settle","type":"tool_call","tool":"settle","next":"end"},
		{"id":"end","type":"end","response":""}]}`
	return w
}

// Requirements: PLAT-02 (LoRA training; found by id and type), PLAT-03 (training), GRAPH-24 (training)
func TestARunThatTrains(t *testing.T) {
	t.Parallel()
	s := newStage(t, trainer())
	row := s.row(s.world.House(run.KindTrain, map[string]any{"job": "j", "fence": 1}).RunID)
	row.UserID, row.WorkflowID = activitiestest.Viewer.UserID, "train:"+row.ID
	s.launch(row)
	s.closed(row.WorkflowID)
	s.until(row.ID, run.Done)
	s.freeze("train", row.WorkflowID, "")
	if (s.world.Count("fit") != 2 || s.world.Count("judge") != 2 || s.world.Count("settle") != 1) && s.steady(row.WorkflowID) {
		t.Errorf("the calls were %d of fit, %d of judge, %d of settle", s.world.Count("fit"), s.world.Count("judge"), s.world.Count("settle"))
	}
}

// Requirements: TRAIN-14 (the running platform)
func TestARunThatTrainsGoesOnAfterItsWorkerIsGone(t *testing.T) {
	t.Parallel()
	w := trainer()
	var first sync.Once
	reached := make(chan struct{})
	w.Tool("fit", tool.Spec{Runs: tool.Activity, Queue: tool.QueueTraining, TimeoutMS: 60_000}, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		hangs := false
		first.Do(func() { hangs = true })
		if hangs {
			close(reached)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return echo(ctx, c)
	})
	s := newStage(t, w)
	row := s.row(s.world.House(run.KindTrain, map[string]any{"job": "j", "fence": 1}).RunID)
	s.launch(row)
	<-reached
	s.stop()
	s.work()
	s.closed(row.WorkflowID)
	s.until(row.ID, run.Done)
	if s.world.Count("fit") != 3 || s.world.Count("settle") != 1 {
		t.Errorf("the calls were %d of fit, %d of settle", s.world.Count("fit"), s.world.Count("settle"))
	}
}
