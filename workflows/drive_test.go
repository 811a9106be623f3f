package workflows_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	sdk "go.temporal.io/sdk/worker"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/worker"
	"liminal/workflows"
)

// patience is what a step may take of the time that passes outside the tests.
const patience = time.Minute

// bundle is a workflow environment over a world.
type bundle struct {
	*testing.T
	world *activitiestest.World
	env   *testsuite.TestWorkflowEnvironment
	set   *activities.Set
}

func setup(t *testing.T, world *activitiestest.World) *bundle {
	t.Helper()
	return setupSealed(t, world, nil)
}

func setupSealed(t *testing.T, world *activitiestest.World, seals *activities.Seals) *bundle {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	// A workflow that the machine keeps waiting for a second is no deadlock.
	env.SetWorkerOptions(sdk.Options{Interceptors: []interceptor.WorkerInterceptor{worker.NewFaults(nil)}, DeadlockDetectionTimeout: patience})
	env.SetTestTimeout(patience)
	env.SetDetachedChildWait(false)
	set := world.Set()
	set.Seals = seals
	set.Now = env.Now
	workflows.New(workflows.Options{Idle: set.ReleaseSlot, Seals: seals}).Register(env)
	for name, f := range set.Named() {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return &bundle{T: t, world: world, env: env, set: set}
}

// chat runs a turn to its end.
func (b *bundle) chat(message string) activities.Result {
	b.Helper()
	return b.turn(b.world.Chat(message, chat.TurnInput{}))
}

func (b *bundle) turn(in activities.RunInput) activities.Result {
	b.Helper()
	b.env.ExecuteWorkflow(workflows.ChatTurnType, in)
	if !b.env.IsWorkflowCompleted() {
		b.Fatal("the workflow did not complete")
	}
	var r activities.Result
	if b.env.GetWorkflowError() == nil {
		if err := b.env.GetWorkflowResult(&r); err != nil {
			b.Fatal(err)
		}
	}
	return r
}

// closed is the turn's end as it was written.
func (b *bundle) closed() chat.Close {
	b.Helper()
	if len(b.world.Closed) != 1 {
		b.Fatalf("the turn was closed %d times, want once; the workflow ended with %v", len(b.world.Closed), b.env.GetWorkflowError())
	}
	return b.world.Closed[0]
}

func (b *bundle) answered(want string) {
	b.Helper()
	c := b.closed()
	if c.End.Status != run.Done || c.Message == nil || c.Message.Content != want {
		b.Fatalf("the turn ended %s with %+v and error %s; want the answer %q", c.End.Status, c.Message, c.End.Error, want)
	}
}

// say is a tool that answers with a text.
func say(text string) activitiestest.Func {
	return func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": text}, nil
	}
}

var (
	inline = tool.Spec{Runs: tool.Inline}
	apart  = tool.Spec{Runs: tool.Activity, Queue: tool.QueueTools}
	models = tool.Spec{Runs: tool.Activity, Queue: tool.QueueModels}
)

const oneNode = `{"kind":"workflow.chat","entrypoint":"answer","nodes":[
	{"id":"answer","type":"tool_call","tool":"say","inputs":{"message":"${input.message}"},"description":"Answering..."}]}`

// Requirements: PLAT-02 (chat turns), PLAT-03 (chat turns), STREAM-04 (message_id; usage; workflow_trace)
func TestATurnRunsItsGraphAndEndsOnce(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]tool.Spec{"inline": inline, "apart": apart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, activitiestest.New(oneNode).Tool("say", spec, func(_ context.Context, c *tool.Call) (map[string]any, error) {
				return map[string]any{"answer": "You said: " + c.Inputs["message"].(string), "usage": map[string]any{"input_tokens": 3.0, "output_tokens": 5.0}}, nil
			}))
			r := b.chat("hello")
			b.answered("You said: hello")
			done := b.world.Event(stream.MessageDone)
			if r.MessageID == "" || done["message_id"] != r.MessageID || done["content"] != "You said: hello" {
				t.Errorf("message_done is %v, the workflow's result %+v", done, r)
			}
			if steps, _ := done["workflow_trace"].([]any); len(steps) != 1 {
				t.Errorf("the trace has %d steps, want 1", len(steps))
			}
			if b.closed().Message.TokensOut != 5 {
				t.Errorf("the message counts %d tokens, want the tool's 5", b.closed().Message.TokensOut)
			}
		})
	}
}

func chatInput() chat.TurnInput { return chat.TurnInput{} }
