package worker

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"liminal/internal/cache"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/run"
)

// failing is a frontend on which one workflow's task has failed attempt times.
type failing struct {
	*frontend
	attempt int32
}

func (f failing) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING},
		PendingWorkflowTask:   &workflowpb.PendingWorkflowTaskInfo{Attempt: f.attempt},
	}, nil
}

func (f failing) TerminateWorkflow(_ context.Context, id, _, _ string, _ ...any) error {
	f.calls = append(f.calls, "terminate "+id)
	return nil
}

// Requirements: OPS-09
func TestAStuckRunIsKeptForTheNextVersionAndThenEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempt  int32
		after    time.Duration // of being stuck
		patience time.Duration
		want     run.Status
	}{
		"one failure":         {2, time.Hour, time.Minute, run.Running},
		"stuck for a moment":  {9, time.Second, time.Minute, run.Running},
		"stuck for too long":  {9, 2 * time.Minute, time.Minute, run.Failed},
		"patience by default": {9, 9 * time.Minute, 0, run.Running},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				r := b.turn(run.Running)
				b.engine = NewEngine(Options{Client: failing{b.front, c.attempt}, Activities: b.set, Patience: c.patience})
				seen := map[string]look{}
				b.engine.pass(t.Context(), seen, time.Second, 0)
				time.Sleep(c.after)
				b.engine.pass(t.Context(), seen, time.Second, 0)
				ended := slices.Contains(b.calls(), "terminate "+r.WorkflowID)
				if r.Status != c.want || ended != (c.want == run.Failed) {
					t.Errorf("the run is %s after %v", r.Status, b.calls())
				}
			})
		})
	}
}

// ending is Runs whose rows end between being listed and being read.
type ending struct{ run.Runs }

func (e ending) Unfinished(ctx context.Context, v identity.Viewer, age time.Duration) ([]run.Run, error) {
	list, err := e.Runs.Unfinished(ctx, v, age)
	for _, r := range list {
		if err := e.EndRun(ctx, v, r.ID, run.End{Status: run.Done}); err != nil {
			return nil, err
		}
	}
	return list, err
}

// Requirements: OPS-09
func TestARunThatEndsWhileItIsLookedAtIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]enumspb.WorkflowExecutionStatus{
		"its workflow is over": enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, "its workflow is gone": 0,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := b.turn(run.Running)
			if b.front.status[r.WorkflowID] = status; status == 0 {
				delete(b.front.status, r.WorkflowID)
			}
			b.engine.o.Runs = ending{b.engine.o.Runs}
			b.engine.pass(t.Context(), map[string]look{}, time.Second, 0)
			if r.Status != run.Done || len(b.world.Kinds()) != 0 || len(b.front.started) != 0 {
				t.Errorf("the run is %s, started %v, its stream has %v", r.Status, b.front.started, b.world.Kinds())
			}
		})
	}
}

// counted is Runs that counts how often all are listed.
type counted struct {
	run.Runs
	passes *atomic.Int32
}

func (c counted) Unfinished(context.Context, identity.Viewer, time.Duration) ([]run.Run, error) {
	c.passes.Add(1)
	return nil, nil
}

// down is a cache that is lost.
type down struct{ cache.Cache }

func (down) Add(context.Context, string, []byte, time.Duration) (bool, error) {
	return false, errors.New("connection refused")
}

// Ten processes that reconcile every ten seconds are no ten times the load.
//
// Requirements: OPS-09
func TestReconcilersOfManyProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shared      func(m *inproc.Memory) cache.Cache
		least, most int32
	}{
		"with a cache":              {func(m *inproc.Memory) cache.Cache { return m.Cache() }, 30, 62},
		"with a cache that is lost": {func(*inproc.Memory) cache.Cache { return down{} }, 500, 700},
		"each on its own":           {func(*inproc.Memory) cache.Cache { return nil }, 500, 700},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var passes atomic.Int32
				m := inproc.New(inproc.Options{})
				defer m.Close()
				shared := c.shared(m)
				ctx, stop := context.WithCancel(t.Context())
				for range 10 {
					b := setup(t)
					e := NewEngine(Options{Client: b.front, Activities: b.set, Runs: counted{b.set.Runs, &passes}, Cache: shared})
					go e.Reconcile(ctx, 10*time.Second)
				}
				time.Sleep(10 * time.Minute)
				stop()
				synctest.Wait()
				if n := passes.Load(); n < c.least || n > c.most {
					t.Errorf("ten processes passed %d times in ten minutes", n)
				}
			})
		})
	}
}
