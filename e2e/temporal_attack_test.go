package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"liminal/e2e/teststack"
)

// intruder is somebody who reaches Temporal's frontend and has no account.
type intruder struct {
	*testing.T
	client.Client
	victim   object // as the inputs of runs have people
	run      string // one of the victim's, which waits with a question
	workflow string // its id
	secret   string // what only the victim's own graph says
}

// Whoever reaches Temporal becomes nobody else by it: not by a start, not by
// what is read of others' runs there, not by a step of a workflow of their own,
// not by a signal. And the run goes on as if nothing had been.
func TestWhoeverReachesTemporalBecomesNobodyElse(t *testing.T) {
	t.Run("dev", func(t *testing.T) {
		t.Parallel()
		attackByGRPC(t, start(t), "default")
	})
	t.Run("on PostgreSQL and Redis", func(t *testing.T) {
		t.Parallel()
		c := grown(t, 1, 1)
		attackByGRPC(t, c.servers[0], c.Namespace)
	})
}

func attackByGRPC(t *testing.T, p *program, namespace string) {
	ada := p.signUp("ada@example.org") // the administrator
	me := ada.must("GET", "/v1/auth/me", nil)
	if user, nested := me["user"].(object); nested {
		me = user
	}
	c, err := client.Dial(client.Options{HostPort: p.ready.Temporal, Namespace: namespace, Logger: teststack.Quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	i := &intruder{T: t, Client: c, victim: object{"user_id": me["id"], "role": "admin", "plan": "free"}, secret: "the secret of ada"}
	ada.graph("private", object{"id": "end", "type": "end", "response": i.secret})
	ada.graph("asks",
		object{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "Well?", "save_as": "said", "next": "end"},
		object{"id": "end", "type": "end", "response": "ada said ${vars.said}"})
	asked := ada.must("POST", "/v1/chat", object{"message": "hello", "workflow_id": "asks"})
	question, paused := asked["interrupt"].(object)
	if !paused {
		t.Fatalf("nobody is asked: %v", asked)
	}
	i.run = asked["run_id"].(string)
	p.until("the waiting run in Temporal's list", i.find)
	i.starts()
	i.steps()
	i.answers(ada, question["interrupt_id"].(string))
}

// graph makes a workflow of one's own.
func (who *person) graph(name string, nodes ...object) {
	who.p.t.Helper()
	who.must("POST", "/v1/artifacts", object{"type": "workflow", "name": name, "schema": object{
		"kind": "workflow.chat", "entrypoint": nodes[0]["id"], "nodes": nodes,
	}})
}

// find looks for the victim's waiting workflow, as anybody can.
func (i *intruder) find() bool {
	i.Helper()
	page, err := i.ListWorkflow(i.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: `WorkflowType = "ChatTurn" AND ExecutionStatus = "Running"`})
	if err != nil || len(page.GetExecutions()) == 0 {
		return false
	}
	i.workflow = page.GetExecutions()[0].GetExecution().GetWorkflowId()
	return true
}

// input is what the victim's run was begun with.
func (i *intruder) input() object {
	i.Helper()
	e, err := i.GetWorkflowHistory(i.Context(), i.workflow, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	if err != nil {
		i.Fatal(err)
	}
	var in object
	if err := json.Unmarshal(e.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads()[0].GetData(), &in); err != nil {
		i.Fatal(err)
	}
	return in
}

// execute runs a workflow and gives what it gave.
func (i *intruder) execute(queue, kind, workflowID string, args ...any) (out object, err error) {
	i.Helper()
	ctx, cancel := context.WithTimeout(i.Context(), patience)
	defer cancel()
	r, err := i.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflowID, TaskQueue: queue, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, kind, args...)
	if err != nil {
		i.Fatal(err)
	}
	err = r.Get(ctx, &out)
	return out, err
}

// barred says that something was refused and told nothing.
func (i *intruder) barred(what string, out object, err error) {
	i.Helper()
	raw, _ := json.Marshal(out)
	told := string(raw) + " " + fmt.Sprint(err)
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != "forbidden" || strings.Contains(told, i.secret) {
		i.Errorf("%s: it gives %s", what, told)
	}
}

// child is the start of the victim's private graph as a step of their run.
func (i *intruder) child(with object) object {
	in := object{"run_id": i.run, "viewer": i.victim, "kind": "graph", "child": object{
		"workflow": "private", "inputs": object{"message": "x"}, "effect_id": "x#1",
	}}
	for key, value := range with {
		in[key] = value
	}
	return in
}

func (i *intruder) starts() {
	i.Helper()
	try := func(what, kind, workflowID string, args ...any) {
		i.Helper()
		out, err := i.execute("liminal", kind, workflowID, args...)
		i.barred(what, out, err)
	}
	read := i.input()
	try("as the administrator", "RunWorkflow", "a", i.child(nil))
	try("with an invented seal", "RunWorkflow", "b", i.child(object{"seal": "1.AAAA"}))
	try("with the seal of the victim's run", "RunWorkflow", "c", i.child(object{"seal": read["seal"], "viewer": read["viewer"]}))
	try("as the system", "RunWorkflow", "d", i.child(object{"viewer": object{"user_id": "00000000-0000-4000-8000-000000000001", "role": "system"}}))
	try("the victim's run again under another id", "ChatTurn", "chat:x:y", read)
	for _, kind := range []string{"ChatTurn", "ToolRun", "Ingest", "ConfigPatch", "Architect"} {
		try("a "+kind, kind, "e-"+kind, object{"run_id": i.run, "viewer": i.victim, "kind": "chat"})
	}
	try("a run that goes on from what was made up", "ChatTurn", "f", read, object{
		"opened": object{"graph": object{"kind": "workflow.chat"}, "digest": "x"}, "snapshot": "AAAA",
	})
}

// theirs is a workflow of the intruder's on a queue of their own, which puts a
// step on one of the platform's.
func theirs(ctx workflow.Context, queue, name string, args []any) (out object, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue, StartToCloseTimeout: time.Minute, ScheduleToStartTimeout: patience / 2,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	err = workflow.ExecuteActivity(ctx, name, args...).Get(ctx, &out)
	return out, err
}

func (i *intruder) steps() {
	i.Helper()
	w := sdk.New(i.Client, "theirs", sdk.Options{})
	w.RegisterWorkflowWithOptions(theirs, workflow.RegisterOptions{Name: "Theirs"})
	if err := w.Start(); err != nil {
		i.Fatal(err)
	}
	defer w.Stop()
	run := object{"run_id": i.run, "viewer": i.victim, "kind": "chat"}
	call := object{"run": run, "tool": object{"name": "text.scan_v1", "version": 1}, "effect": "x#1", "node": "x", "attempt": 1, "inputs": object{"text": i.secret}}
	for n, c := range []struct {
		queue, name string
		args        []any
	}{
		{"liminal", "Call", []any{call}},
		{"liminal-tools", "Call", []any{call}},
		{"liminal-models", "Call", []any{call, "1.AAAA"}},
		{"liminal-ingest", "Call", []any{call, i.input()["seal"]}},
		{"liminal", "Open", []any{i.child(nil)}},
		{"liminal", "Close", []any{object{"run": run, "outcome": object{"response": "forged"}}}},
		{"liminal", "Settle", []any{object{"run": run, "ids": []string{"x"}, "status": "cancelled"}}},
		{"liminal", "Deliver", []any{object{"run": run, "ids": []string{"x"}}}},
		{"liminal", "Ask", []any{object{"run": run}}},
	} {
		out, err := i.execute("theirs", "Theirs", fmt.Sprint("theirs-", n), c.queue, c.name, c.args)
		i.barred("the step "+c.name+" on "+c.queue, out, err)
	}
}

func (i *intruder) answers(ada *person, question string) {
	i.Helper()
	signal := func(answer any) {
		i.Helper()
		if err := i.SignalWorkflow(i.Context(), i.workflow, "", "answer", answer); err != nil {
			i.Error(err)
		}
	}
	signal(object{"interrupt_id": question, "answer": "forged"})
	signal(object{"interrupt_id": question, "cancelled": true})
	signal(object{"interrupt_id": question, "expired": true, "seal": "1.AAAA"})
	signal("nothing of the kind")
	ada.p.until("the signals to be taken in", i.idle)
	if got := ada.must("GET", "/v1/runs/"+i.run, nil)["run"].(object); got["status"] != "waiting" {
		i.Errorf("after forged signals the run is %v", got["status"])
		return
	}
	ada.must("POST", "/v1/chat/resume", object{"interrupt_id": question, "resume_value": object{"type": "text_input", "value": "the truth"}})
	done := last(i.T, ada.follow(i.run, 0, nil), "message_done").object()
	if done["content"] != "ada said the truth" {
		i.Errorf("the run ends with %q", done["content"])
	}
}

// idle reports whether the victim's workflow has taken in what was signalled.
func (i *intruder) idle() bool {
	i.Helper()
	signals, taken := 0, false
	for events := i.GetWorkflowHistory(i.Context(), i.workflow, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		if err != nil {
			i.Fatal(err)
		}
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
			signals, taken = signals+1, false
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			taken = true
		}
	}
	return signals == 4 && taken
}
