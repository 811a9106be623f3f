package record

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/fault"
	"liminal/worker"
	"liminal/workflows"
)

// rarely is how often a sweep is due that no test may see happen by itself.
const rarely = 10 * 365 * 24 * time.Hour

// nightly is a sweep that counts.
func nightly(every time.Duration, done chan<- int) activities.Sweep {
	var mu sync.Mutex
	n := 0
	return activities.Sweep{Every: every, Run: func(context.Context) (activities.Swept, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		done <- n
		return activities.Swept{Removed: n}, nil
	}}
}

func (s *stage) sweep(name string) client.ScheduleHandle {
	return s.client.ScheduleClient().GetHandle(s.Context(), worker.SweepID(s.queue, name))
}

// every reads how often a sweep is scheduled; 0 when it is not.
func (s *stage) every(name string) time.Duration {
	d, err := s.sweep(name).Describe(s.Context())
	if err != nil || len(d.Schedule.Spec.Intervals) != 1 {
		return 0
	}
	return d.Schedule.Spec.Intervals[0].Every
}

// swept waits for the workflow of a sweep's n-th time.
func (s *stage) swept(name string, n int) (workflowID, runID string) {
	s.Helper()
	s.eventually("the sweep to be over", func() bool {
		list, err := s.client.ListWorkflow(s.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: `WorkflowType = "` + workflows.SweepType + `" AND ExecutionStatus != "Running" AND WorkflowId STARTS_WITH "` + worker.SweepID(s.queue, name) + `"`,
		})
		if err != nil || len(list.GetExecutions()) < n {
			return false
		}
		e := list.GetExecutions()[0].GetExecution()
		workflowID, runID = e.GetWorkflowId(), e.GetRunId()
		return true
	})
	return workflowID, runID
}

// Requirements: FILE-07
func TestASweepRunsWhenItsScheduleSaysSo(t *testing.T) {
	t.Parallel()
	done := make(chan int, 9)
	s := newStage(t, activitiestest.New(""), func(set *activities.Set) {
		set.Sweeps = map[string]activities.Sweep{"tmp": nightly(rarely, done)}
	})
	s.eventually("the schedule", func() bool { return s.every("tmp") == rarely })
	d, err := s.sweep("tmp").Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if in := time.Until(d.Info.NextActionTimes[0]); in <= 0 || in > rarely {
		t.Errorf("the next sweep is in %s", in)
	}
	if p := d.Schedule.Policy; p.Overlap != enumspb.SCHEDULE_OVERLAP_POLICY_SKIP || p.CatchupWindow > rarely || p.PauseOnFailure {
		t.Errorf("its policy is %+v", p)
	}
	if err := s.sweep("tmp").Trigger(t.Context(), client.ScheduleTriggerOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := <-done; n != 1 {
		t.Errorf("it swept %d times", n)
	}
	workflowID, runID := s.swept("tmp", 1)
	s.freeze("sweep", workflowID, runID)
	var out activities.Swept
	if err := s.client.GetWorkflow(t.Context(), workflowID, runID).Get(t.Context(), &out); err != nil || out.Removed != 1 {
		t.Errorf("it ended with %+v, %v", out, err)
	}
}

// A rollout starts many workers at about the same time, each of which keeps the
// schedules.
func TestManyWorkersKeepTheSameSchedules(t *testing.T) {
	t.Parallel()
	done := make(chan int, 9)
	s := emptyStage(t, activitiestest.New(""), nil)
	begin := func(sweeps map[string]activities.Sweep) []*worker.Worker {
		t.Helper()
		var all sync.WaitGroup
		hired := make([]*worker.Worker, 3)
		for i := range hired {
			set := s.world.Set()
			set.Sweeps = sweeps
			all.Go(func() { hired[i] = s.hire(s.options(set)) })
		}
		all.Wait()
		return hired
	}
	before := begin(map[string]activities.Sweep{"kept": nightly(time.Hour, done), "gone": nightly(time.Hour, done)})
	s.eventually("two schedules", func() bool { return s.every("kept") == time.Hour && s.every("gone") == time.Hour })
	if err := s.sweep("kept").Pause(t.Context(), client.SchedulePauseOptions{Note: "by an operator"}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the list of schedules", func() bool { return len(s.schedules()) == 2 })
	for _, w := range before {
		w.Stop() // one that has not looked yet would undo what the next ones do, for an hour
	}
	begin(map[string]activities.Sweep{"kept": nightly(2*time.Hour, done)})
	s.eventually("one schedule, changed", func() bool { return s.every("kept") == 2*time.Hour && s.every("gone") == 0 })
	if d, err := s.sweep("kept").Describe(t.Context()); err != nil || !d.Schedule.State.Paused {
		t.Errorf("a schedule that an operator paused runs again (%v)", err)
	}
}

func (s *stage) schedules() (names []string) {
	s.Helper()
	list, err := s.client.ScheduleClient().List(s.Context(), client.ScheduleListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for list.HasNext() {
		e, err := list.Next()
		if err != nil {
			s.Fatal(err)
		}
		if strings.HasPrefix(e.ID, worker.SweepID(s.queue, "")) {
			names = append(names, e.ID)
		}
	}
	slices.Sort(names)
	return names
}

func TestASweepThatIsAtWorkIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	began, finish := make(chan struct{}, 9), make(chan struct{})
	s := newStage(t, activitiestest.New(""), func(set *activities.Set) {
		set.Sweeps = map[string]activities.Sweep{"slow": {Every: rarely, Run: func(ctx context.Context) (activities.Swept, error) {
			began <- struct{}{}
			select {
			case <-finish:
				return activities.Swept{}, nil
			case <-ctx.Done():
				return activities.Swept{}, fault.From(ctx.Err())
			}
		}}}
	})
	s.eventually("the schedule", func() bool { return s.every("slow") == rarely })
	trigger := func() {
		t.Helper()
		if err := s.sweep("slow").Trigger(t.Context(), client.ScheduleTriggerOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	trigger()
	<-began
	trigger()
	s.eventually("the second trigger to be skipped", func() bool {
		d, err := s.sweep("slow").Describe(s.Context())
		return err == nil && d.Info.NumActionsSkippedOverlap == 1
	})
	close(finish)
	s.swept("slow", 1)
	if len(began) != 0 {
		t.Error("it was begun again")
	}
}

// sweepOnce lets a sweep happen once and gives what came of it.
func (s *stage) sweepOnce(name string) (out activities.Swept) {
	s.Helper()
	run, err := s.client.ExecuteWorkflow(s.Context(), client.StartWorkflowOptions{ID: worker.SweepID(s.queue, name), TaskQueue: s.queue},
		workflows.SweepType, activities.SweepInput{Name: name})
	if err != nil {
		s.Fatal(err)
	}
	if err := run.Get(s.Context(), &out); err != nil {
		s.Fatal(err)
	}
	return out
}
