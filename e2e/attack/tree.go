package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func treeAttacks() []attack {
	return []attack{
		{name: "run-tree", row: "#2", about: "a graph that maps a thousand items over itself", after: true, run: runTree},
		{name: "map-scan", row: "#9", about: "a map of a thousand items over a tool of the program's own", once: true, run: mapScan},
		{name: "own-loop", row: "#9", about: "graphs of one's own that go in a circle", once: true, run: ownLoop},
	}
}

const (
	// treeRuns is how many runs one person's run may make of itself before it
	// is refused; unbounded it was 801 in 8 s and 24,491 in 195 s.
	treeRuns = 1500
	// treeOver is how soon after its cancel nothing of a tree runs any more.
	treeOver = 2 * time.Second
)

func thousand() (list []int) {
	for i := range 1000 {
		list = append(list, i)
	}
	return list
}

// runTree starts the tree, lets another person talk beside it, and cancels it.
func runTree(t *trial) {
	mallory, other := t.signUp("mallory"), t.signUp("other")
	root := plant(t, mallory)
	if root == "" {
		return
	}
	engine := t.engine()
	before := engine.count(t, "")
	started := mallory.do("POST", "/v1/workflows/run", object{"workflow_id": root, "input": object{"name": root}})
	if !started.ok() {
		t.figure("refused: %s", started)
		if !started.refused() {
			t.hole("the start: %s", started)
		}
		return
	}
	run := started.text("run_id")
	most := besides(t, other, choose(t, 8*time.Second, 30*time.Second))
	runs := engine.count(t, "") - before
	t.figure("%d runs; another person's slowest turn %.1f s", runs, most.Seconds())
	if runs > treeRuns {
		t.hole("%d runs of one", runs)
	}
	cancelled := mallory.do("POST", "/v1/chat/cancel", object{"run_id": run})
	at := time.Now()
	if cancelled.err != nil || cancelled.status >= 500 {
		t.hole("the cancel: %s", cancelled)
	}
	left := 0
	over := func() bool { left = engine.running(t, mallory); return left == 0 }
	gone, since := t.wait(treeOver, over), at
	for !gone && t.measureAgain("the end of the tree", since) {
		since = time.Now()
		gone = t.wait(treeOver, over)
	}
	if !gone {
		t.hole("%d runs are left %.0f s after the cancel", left, time.Since(at).Seconds())
	} else {
		t.figure("over %.1f s after the cancel", time.Since(at).Seconds())
	}
	if after := besides(t, other, 2*time.Second); after > 0 {
		t.figure("afterwards a turn takes %.1f s", after.Seconds())
	}
}

// plant stores a graph that maps a thousand items over itself, or where that is
// refused one that does so by way of another. It returns the name of one that
// was taken.
func plant(t *trial, p *person) string {
	for _, ring := range [][]string{{"bomb"}, {"ping", "pong"}} {
		ids, taken := map[string]string{}, true
		if len(ring) > 1 { // each must be there before another may name it
			for _, name := range ring {
				ids[name] = t.need(p.workflow(name, object{"id": "end", "type": "end"})).text("id")
			}
		}
		for i, name := range ring {
			a := p.over(name, ids[name], ring[(i+1)%len(ring)])
			if taken = taken && a.ok(); a.ok() {
				continue
			}
			t.figure("%s of %s is not stored: %d %.120s", name, strings.Join(ring, " and "), a.status, a.message)
			if !a.refused() {
				t.hole("%s: %s", name, a)
			}
		}
		if taken {
			return ring[0]
		}
	}
	if name := dynamic(t, p); name != "" {
		return name
	}
	return ladder(t, p)
}

// ladder is no circle, but 32^4 runs by what it says: graphs that each map 32
// items over the next.
func ladder(t *trial, p *person) string {
	const rungs = 5
	t.need(p.workflow(fmt.Sprint("rung", rungs), object{"id": "end", "type": "end"}))
	for i := rungs - 1; i >= 1; i-- {
		t.need(p.workflow(fmt.Sprint("rung", i),
			object{"id": "m", "type": "map", "over": thousand()[:32], "concurrency": 32, "body": "w", "next": "end"},
			object{"id": "w", "type": "workflow", "workflow": fmt.Sprint("rung", i+1)},
			object{"id": "end", "type": "end"},
		))
	}
	return "rung1"
}

// dynamic is a graph that is told what to run only when it runs.
func dynamic(t *trial, p *person) string {
	a := p.workflow("dynamic",
		object{"id": "m", "type": "map", "over": thousand(), "concurrency": 32, "body": "w", "next": "end"},
		object{"id": "w", "type": "workflow", "workflow": "${input.name}", "inputs": object{"name": "${input.name}"}},
		object{"id": "end", "type": "end"},
	)
	if a.ok() {
		return "dynamic"
	}
	t.figure("a graph that is told its name is not stored: %d %.120s", a.status, a.message)
	return ""
}

// over stores a graph that maps a thousand items over another: as a new one, or
// as the next version of one that is there.
func (p *person) over(name, id, body string) answer {
	nodes := []object{
		{"id": "m", "type": "map", "over": thousand(), "concurrency": 32, "body": "w", "next": "end"},
		{"id": "w", "type": "workflow", "workflow": body},
		{"id": "end", "type": "end"},
	}
	if id == "" {
		return p.workflow(name, nodes...)
	}
	return p.do("PATCH", "/v1/artifacts/"+id, object{"change_note": "larger", "patch": []object{
		{"op": "replace", "path": "/nodes", "value": nodes}, {"op": "replace", "path": "/entrypoint", "value": "m"},
	}})
}

// turn is somebody's turn beside an attack, measured again when it was too slow
// while the disk stalled.
func (t *trial) turn(p *person, limit time.Duration) (took time.Duration, err error) {
	for {
		began := time.Now()
		took, err = p.hello(limit)
		slow := err == nil && took > helloTime || errors.Is(err, context.DeadlineExceeded)
		if !slow || !t.measureAgain("another person's turn", began) {
			return took, err
		}
	}
}

// besides lets somebody talk, turn after turn, and returns how long the
// slowest took.
func besides(t *trial, other *person, lasts time.Duration) (most time.Duration) {
	for end := time.Now().Add(lasts); time.Now().Before(end) && t.ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
		began := time.Now()
		took, err := t.turn(other, 3*helloTime)
		end = end.Add(time.Since(began) - took) // of turns that were measured again
		if most = max(most, took); err != nil {
			t.hole("another person's turn: %v", err)
			return most
		}
	}
	if most > helloTime {
		t.hole("another person's turn took %.1f s", most.Seconds())
	}
	return most
}

func mapScan(t *trial) {
	mallory, other := t.signUp("mallory"), t.signUp("other")
	t.need(mallory.workflow("scans",
		object{"id": "m", "type": "map", "over": thousand(), "concurrency": 32, "body": "s", "next": "end"},
		object{"id": "s", "type": "tool_call", "tool": "text.scan_v1", "inputs": object{"text": strings.Repeat("one two three ", 200), "terms": []string{"two"}}},
		object{"id": "end", "type": "end"},
	))
	for range choose(t, 2, 3) {
		a := mallory.do("POST", "/v1/workflows/run", object{"workflow_id": "scans"})
		if a.err != nil || a.status >= 500 {
			t.hole("the start: %s", a)
		}
	}
	most := besides(t, other, choose(t, 4*time.Second, 15*time.Second))
	t.figure("another person's slowest turn %.1f s", most.Seconds())
}

// ownLoop talks to graphs that never come to an end by themselves.
func ownLoop(t *trial) {
	mallory := t.signUp("mallory")
	scan := object{"text": "x"}
	var said sync.WaitGroup
	for name, nodes := range map[string][]object{
		"circle": {{"id": "a", "type": "tool_call", "tool": "text.scan_v1", "inputs": scan, "next": "b"}, {"id": "b", "type": "tool_call", "tool": "text.scan_v1", "inputs": scan, "next": "a"}},
		"itself": {{"id": "w", "type": "workflow", "workflow": "itself", "next": "end"}, {"id": "end", "type": "end"}},
		"aside":  {{"id": "m", "type": "map", "over": []int{1, 2, 3}, "body": "w", "next": "end"}, {"id": "w", "type": "workflow", "workflow": "aside"}, {"id": "end", "type": "end"}},
	} {
		made := mallory.workflow(name, nodes...)
		if made.err != nil || made.status >= 500 {
			t.hole("%s is stored: %s", name, made)
		}
		if !made.ok() {
			continue
		}
		said.Go(func() {
			a := mallory.do("POST", "/v1/chat", object{"message": "hi", "workflow_id": name, "stream": false})
			if a.err != nil || a.status >= 500 {
				t.hole("a turn of %s: %s", name, a)
			}
			t.figure("%s: %d %s in %.1f s", name, a.status, a.code, a.took.Seconds())
		})
		said.Wait()
	}
}

// need ends the trial unless something was answered well.
func (t *trial) need(a answer) answer {
	t.must(a.asError())
	return a
}

// engine is the Temporal server the house keeps its runs in, as any program on
// this machine may talk to it.
type engine struct {
	workflowservice.WorkflowServiceClient
	namespace string
}

func (t *trial) engine() *engine {
	conn, err := grpc.NewClient(t.house.ready.Temporal, grpc.WithTransportCredentials(insecure.NewCredentials()))
	t.must(err)
	return &engine{WorkflowServiceClient: workflowservice.NewWorkflowServiceClient(conn), namespace: t.house.namespace}
}

func (e *engine) count(t *trial, query string) int64 {
	got, err := e.CountWorkflowExecutions(t.ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: e.namespace, Query: query})
	if err != nil {
		t.must(fmt.Errorf("the runs cannot be counted: %w", err))
	}
	return got.GetCount()
}

// running is how many of a person's runs have not ended. Lists are written up
// to a second late, so each run that one names is asked after.
func (e *engine) running(t *trial, p *person) int {
	got, err := e.ListWorkflowExecutions(t.ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: e.namespace, PageSize: 1000, Query: "liminal_user = '" + p.id + "' AND ExecutionStatus = 'Running'",
	})
	t.must(err)
	open := 0
	for _, x := range got.GetExecutions() {
		one, err := e.DescribeWorkflowExecution(t.ctx, &workflowservice.DescribeWorkflowExecutionRequest{Namespace: e.namespace, Execution: x.GetExecution()})
		t.must(err)
		if one.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			open++
		}
	}
	return open
}
