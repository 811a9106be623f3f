package workflows_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/workflows"
)

// learner is a world with the two graphs that learn, each of a step or two.
func learner() *activitiestest.World {
	w := activitiestest.New(oneNode).
		Tool("look", ownJobs, func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"subjects": []any{"", "c1"}}, nil
		}).
		Tool("derive", ownJobs, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			return map[string]any{"of": c.Viewer.UserID + "/" + c.Inputs["cluster_id"].(string)}, nil
		})
	w.Workflows["learn.cluster"] = `{"kind":"workflow.chat","entrypoint":"look","nodes":[
		{"id":"look","type":"tool_call","tool":"look","outputs":["subjects"],"next":"all"},
		{"id":"all","type":"map","over":"${vars.subjects}","as":"subject","body":"learn","concurrency":1,"outputs":["of"],"next":"end"},
		{"id":"learn","type":"workflow","workflow":"learn.text","inputs":{"cluster_id":"${subject}"},"outputs":["of"]},
		{"id":"end","type":"end","response":"","data":{"of":"${vars.of}"}}]}`
	w.Workflows["learn.text"] = `{"kind":"workflow.chat","entrypoint":"derive","nodes":[
		{"id":"derive","type":"tool_call","tool":"derive","inputs":{"cluster_id":"${input.cluster_id}"},"outputs":["of"],"next":"end"},
		{"id":"end","type":"end","response":"","data":{"of":"${vars.of}"}}]}`
	return w
}

var ownJobs = tool.Spec{Runs: tool.Activity, Queue: tool.QueueIngest}

// learns is the input of a person's run that learns.
func learns(w *activitiestest.World) activities.RunInput {
	in := w.House(run.KindCluster, map[string]any{})
	in.Viewer = activitiestest.Viewer
	return in
}

// Requirements: PLAT-11 (situations and lessons)
func TestWhatIsLearntIsARunOfItsPersonWithAChildForEachSituation(t *testing.T) {
	t.Parallel()
	w := learner()
	b := setup(t, w)
	var children []string
	b.env.SetOnChildWorkflowStartedListener(func(info *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
		children = append(children, info.WorkflowType.Name)
	})
	in := learns(w)
	b.env.ExecuteWorkflow(workflows.ClusterType, in)
	end := w.Ended[in.RunID]
	if end.Status != run.Done || !slices.Equal(children, []string{workflows.LearnType, workflows.LearnType}) {
		t.Fatalf("it ended %s %s after the children %v", end.Status, end.Error, children)
	}
	me := activitiestest.Viewer.UserID
	if want := `"of":["` + me + `/","` + me + `/c1"]`; !strings.Contains(string(end.Result), want) {
		t.Errorf("it found %s, want %s", end.Result, want)
	}
}

// A person's artifact of that name would decide what the house does.
func TestWhatLearnsFollowsTheHousesGraphAlone(t *testing.T) {
	t.Parallel()
	w := learner()
	w.Own = true
	b := setup(t, w)
	in := learns(w)
	b.env.ExecuteWorkflow(workflows.ClusterType, in)
	if end := w.Ended[in.RunID]; end.Status != run.Failed || len(w.Calls) != 0 {
		t.Errorf("it ended %s after %d calls", end.Status, len(w.Calls))
	}
}
