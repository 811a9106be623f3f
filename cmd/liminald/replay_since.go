package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"liminal/internal/config"
	"liminal/internal/wire"
	"liminal/worker"
	"liminal/workflows"
)

// replayPage is how many runs the engine lists at once.
const replayPage = 200

// installation replays the runs of the installation the settings name.
func (o *replayOptions) installation(ctx context.Context, in *invocation, conf config.Config) ([]replayed, error) {
	since, err := config.Duration(o.since)
	if err != nil {
		return nil, usageError{fmt.Errorf("--since=%s %w", o.since, err)}
	}
	engine, done, err := wire.Histories(ctx, conf, in.logger(conf.Log))
	if err != nil {
		return nil, unreachableError{err}
	}
	defer done()
	runs, err := o.list(ctx, engine, conf.Temporal.Namespace, time.Now().Add(-since))
	if err != nil {
		return nil, unreachableError{fmt.Errorf("the runs cannot be listed: %w", err)}
	}
	found := make([]replayed, len(runs))
	for i, r := range runs {
		if found[i], err = replayRun(ctx, engine, r); err != nil {
			return nil, unreachableError{fmt.Errorf("the history of %s cannot be read: %w", r.GetExecution().GetWorkflowId(), err)}
		}
		if i%100 == 99 {
			fmt.Fprintf(in.err, "%d of %d replayed\n", i+1, len(runs))
		}
	}
	return found, nil
}

// types takes the names of the workflows there are.
type types []string

// RegisterWorkflowWithOptions implements workflows.Registry.
func (t *types) RegisterWorkflowWithOptions(_ any, o workflow.RegisterOptions) {
	*t = append(*t, o.Name)
}

// list finds our runs: those under way, and those that began since a time.
func (o *replayOptions) list(ctx context.Context, engine client.Client, namespace string, since time.Time) ([]*workflowpb.WorkflowExecutionInfo, error) {
	var ours types
	workflows.New(workflows.Options{}).Register(&ours)
	ask := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace, PageSize: replayPage,
		Query: fmt.Sprintf("WorkflowType IN ('%s') AND (ExecutionStatus = 'Running' OR StartTime >= '%s')", strings.Join(ours, "','"), since.UTC().Format(time.RFC3339)),
	}
	var runs []*workflowpb.WorkflowExecutionInfo
	for len(runs) < o.most {
		page, err := engine.ListWorkflow(ctx, ask)
		if err != nil {
			return nil, err
		}
		runs = append(runs, page.Executions...)
		if ask.NextPageToken = page.NextPageToken; len(ask.NextPageToken) == 0 {
			break
		}
	}
	return runs[:min(len(runs), o.most)], nil
}

// replayRun replays one; that it does not replay is no error. The history is
// read here: the replayer's own way of reading one calls local activities that
// the history holds the results of.
func replayRun(ctx context.Context, engine client.Client, info *workflowpb.WorkflowExecutionInfo) (replayed, error) {
	execution := workflow.Execution{ID: info.GetExecution().GetWorkflowId(), RunID: info.GetExecution().GetRunId()}
	out := replayed{Run: execution.ID, Type: info.GetType().GetName()}
	if worker.IsUnkept(execution.ID) {
		out.OK, out.Skipped = true, nothingKept
		return out, nil
	}
	history := &historypb.History{}
	events := engine.GetWorkflowHistory(ctx, execution.ID, execution.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
			out.OK = true // its time to be kept ran out just now
			return out, nil
		}
		if err != nil {
			return out, err
		}
		history.Events = append(history.Events, event)
	}
	r, err := sdk.NewWorkflowReplayerWithOptions(sdk.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	if err != nil {
		return out, err
	}
	workflows.New(workflows.Options{}).Register(r)
	err = r.ReplayWorkflowHistoryWithOptions(silent{}, history, sdk.ReplayWorkflowHistoryOptions{OriginalExecution: execution})
	if out.OK = err == nil; err != nil {
		out.Fault = sentence(err)
	}
	return out, nil
}
