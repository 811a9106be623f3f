package worker

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/internal/tool"
	"liminal/workflows"
)

const (
	// shortest is the least time between two sweeps of a name.
	shortest = time.Minute
	// renewed is how often a worker looks whether the schedules are still right:
	// a worker of an older version may have removed a name it does not know.
	renewed = time.Hour
)

// sweeps keeps one Temporal Schedule for each sweep there is, named after the
// task queue. Any number of workers keep the same ones.
type sweeps struct {
	client client.Client
	queue  string // of workflows
	apart  string // of the activity; empty: queue
	all    map[string]activities.Sweep
}

func (o Options) sweeps() sweeps {
	return sweeps{client: o.Client, queue: o.Queue, apart: o.queues()[tool.QueueIngest], all: o.Activities.Sweeps}
}

// SweepID is the id of a sweep's schedule for the workers of a task queue.
func SweepID(queue, name string) string { return sweepPrefix(queue) + name }

func sweepPrefix(queue string) string { return queue + "-sweep-" }

// keep makes the schedules what they should be: missing ones are created, those
// that differ changed, those of names that are gone removed.
func (s sweeps) keep(ctx context.Context) error {
	if s.all == nil {
		return nil
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		if err := s.put(ctx, name, s.all[name]); err != nil {
			errs = append(errs, fmt.Errorf("the schedule of the sweep %s: %w", name, err))
		}
	}
	return errors.Join(append(errs, s.prune(ctx))...)
}

func (s sweeps) put(ctx context.Context, name string, sweep activities.Sweep) error {
	if sweep.Every < shortest {
		return fmt.Errorf("every %s is too often; the least is %s", sweep.Every, shortest)
	}
	o := s.options(name, sweep)
	_, err := s.client.ScheduleClient().Create(ctx, o)
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return s.update(ctx, o)
	}
	return err
}

// options is the schedule of a sweep. It begins at a time of the hour of its
// own, so that not everything happens at once. What was missed while the server
// was down is made up for once: on a machine that sleeps at night a daily sweep
// would never happen otherwise.
func (s sweeps) options(name string, sweep activities.Sweep) client.ScheduleOptions {
	sum := fnv.New32a()
	sum.Write([]byte(name)) // never fails
	return client.ScheduleOptions{
		ID: SweepID(s.queue, name),
		Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{
			Every: sweep.Every, Offset: time.Duration(sum.Sum32()) * time.Second % sweep.Every,
		}}},
		Action: &client.ScheduleWorkflowAction{
			ID: SweepID(s.queue, name), Workflow: workflows.SweepType, TaskQueue: s.queue,
			Args:                     []any{activities.SweepInput{Name: name, Queue: s.apart}},
			WorkflowExecutionTimeout: max(2*sweep.Every, 2*time.Hour),
			StaticSummary:            name,
		},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: sweep.Every,
	}
}

// update changes a schedule that differs, and leaves alone whether an operator
// paused it.
func (s sweeps) update(ctx context.Context, o client.ScheduleOptions) error {
	err := s.client.ScheduleClient().GetHandle(ctx, o.ID).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			now := in.Description.Schedule
			if same(now, o) {
				return nil, temporal.ErrSkipScheduleUpdate
			}
			now.Spec, now.Action = &o.Spec, o.Action
			now.Policy.Overlap, now.Policy.CatchupWindow = o.Overlap, o.CatchupWindow
			return &client.ScheduleUpdate{Schedule: &now}, nil
		},
	})
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return nil // removed by another version just now; it comes back with the next look
	}
	return err
}

// same reports whether a schedule is what it should be, as far as a version
// of this program may change it.
func same(now client.Schedule, o client.ScheduleOptions) bool {
	action, ok := now.Action.(*client.ScheduleWorkflowAction)
	want := o.Action.(*client.ScheduleWorkflowAction)
	return ok && now.Spec != nil && slices.Equal(now.Spec.Intervals, o.Spec.Intervals) &&
		now.Policy != nil && now.Policy.CatchupWindow == o.CatchupWindow &&
		action.TaskQueue == want.TaskQueue && action.Workflow == want.Workflow &&
		action.WorkflowExecutionTimeout == want.WorkflowExecutionTimeout &&
		len(action.Args) == 1 && inputOf(action.Args[0]) == want.Args[0]
}

// inputOf reads an argument as a description has it.
func inputOf(arg any) any {
	var in activities.SweepInput
	if p, ok := arg.(*commonpb.Payload); ok {
		_ = converter.GetDefaultDataConverter().FromPayload(p, &in) // of another form: it differs
	}
	return in
}

// prune removes the schedules of names that are gone.
func (s sweeps) prune(ctx context.Context) error {
	list, err := s.client.ScheduleClient().List(ctx, client.ScheduleListOptions{PageSize: 100})
	if err != nil {
		return fmt.Errorf("listing the schedules: %w", err)
	}
	for list.HasNext() {
		entry, err := list.Next()
		if err != nil {
			return fmt.Errorf("listing the schedules: %w", err)
		}
		name, ours := strings.CutPrefix(entry.ID, sweepPrefix(s.queue))
		if _, wanted := s.all[name]; !ours || wanted {
			continue
		}
		err = s.client.ScheduleClient().GetHandle(ctx, entry.ID).Delete(ctx)
		if _, gone := errors.AsType[*serviceerror.NotFound](err); err != nil && !gone {
			return fmt.Errorf("removing the schedule of the sweep %s: %w", name, err)
		}
	}
	return nil
}

// renew keeps the schedules until ctx ends: at once, and then every hour, or
// after pause when that failed.
func (s sweeps) renew(ctx context.Context, pause time.Duration, complain func(err error)) {
	for {
		wait := renewed
		if err := s.keep(ctx); err != nil && ctx.Err() == nil {
			complain(err)
			wait = pause
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}
