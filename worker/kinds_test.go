package worker

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"liminal/activities/activitiestest"
)

// asked is a frontend that has no work and notes of which queues it was asked.
type asked struct {
	workflowservice.UnimplementedWorkflowServiceServer
	mu     sync.Mutex
	queues map[string]int // polls, by kind and queue
	polls  chan struct{}
	over   chan struct{} // closed when it answers at once: a worker that stops waits for its polls
}

func (a *asked) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (a *asked) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (a *asked) PollActivityTaskQueue(ctx context.Context, r *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	a.note(ctx, "calls "+r.GetTaskQueue().GetName())
	return &workflowservice.PollActivityTaskQueueResponse{}, nil
}

func (a *asked) PollWorkflowTaskQueue(ctx context.Context, r *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	name := r.GetTaskQueue().GetName()
	if normal := r.GetTaskQueue().GetNormalName(); normal != "" {
		name = normal // of the worker's own, for runs it has in memory
	}
	a.note(ctx, "steps "+name)
	return &workflowservice.PollWorkflowTaskQueueResponse{}, nil
}

func (a *asked) note(ctx context.Context, queue string) {
	a.mu.Lock()
	a.queues[queue]++
	a.mu.Unlock()
	select {
	case a.polls <- struct{}{}:
	case <-a.over:
	case <-ctx.Done():
	}
	select {
	case <-a.over:
	case <-ctx.Done():
	}
}

// asks starts a worker and gives the queues it asks, once it has asked with all
// the pollers it is to have.
func asks(t *testing.T, o Options, polls int) string {
	t.Helper()
	a := &asked{queues: map[string]int{}, polls: make(chan struct{}), over: make(chan struct{})}
	l := listen(t)
	s := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(s, a)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	defer func() { s.Stop(); <-served }()
	conn, err := Dial(t.Context(), ClientOptions{Address: l.Addr().String(), Namespace: "ours"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	o.Client, o.Activities = conn, activitiestest.New("").Set()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.After(30 * time.Second) // before a poll of the SDK ends by itself
	for range polls {
		select {
		case <-a.polls:
		case <-late:
			t.Fatal("it does not ask often enough")
		}
	}
	close(a.over)
	w.Stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(a.queues)), ", ")
}

// Requirements: TOOL-04 (a pool of its own)
func TestAWorkerTakesTheKindsOfCallsItIsToldTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o     Options
		polls int // 8 for each queue, and 1 for that of trainings, which takes one at a time
		want  string
	}{
		"one": {Options{Only: "tools"}, pollers, "calls liminal-tools"},
		"all but one": {
			Options{Except: "tools"}, 4*pollers + 1,
			"calls liminal, calls liminal-ingest, calls liminal-models, calls liminal-training, steps liminal",
		},
		"all": {
			Options{}, 5*pollers + 1,
			"calls liminal, calls liminal-ingest, calls liminal-models, calls liminal-tools, calls liminal-training, steps liminal",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := asks(t, c.o, c.polls); got != c.want {
				t.Errorf("it asks for %s; want %s", got, c.want)
			}
		})
	}
	for name, o := range map[string]Options{
		"there is no tool queue tolls": {Only: "tolls"},
		"tool queue tolls cannot":      {Except: "tolls"},
		"tool queue models cannot":     {Only: "tools", Except: "models"},
	} {
		o.Client, o.Activities = newFrontend(), activitiestest.New("").Set()
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", o, err)
		}
	}
}
