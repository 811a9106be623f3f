package main

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Engine counts runs where they happen: what the program forgot is still there.
type Engine struct {
	conn      *grpc.ClientConn
	service   workflowservice.WorkflowServiceClient
	namespace string
}

func dial(address, namespace string) (*Engine, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return &Engine{conn: conn, service: workflowservice.NewWorkflowServiceClient(conn), namespace: namespace}, nil
}

func (e *Engine) close() { _ = e.conn.Close() } // nothing is under way

// began is how many of a person's runs there ever were, children included.
func (e *Engine) began(ctx context.Context, user string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	got, err := e.service.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: e.namespace, Query: fmt.Sprintf("liminal_user = '%s'", user),
	})
	return got.GetCount(), err
}

// running is how many of them have not ended. Lists are written up to a second
// late, so each run that one names is asked after.
func (e *Engine) running(ctx context.Context, user string) (open int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	got, err := e.service.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: e.namespace, PageSize: 1000, Query: fmt.Sprintf("liminal_user = '%s' AND ExecutionStatus = 'Running'", user),
	})
	for _, x := range got.GetExecutions() {
		var one *workflowservice.DescribeWorkflowExecutionResponse
		if one, err = e.service.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{Namespace: e.namespace, Execution: x.GetExecution()}); err != nil {
			return open, err
		}
		if one.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			open++
		}
	}
	return open, err
}

// sweep ends all runs of the namespace, so that what one graph left in an
// engine that stays does not burden the next.
func (e *Engine) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		got, err := e.service.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: e.namespace, PageSize: 500, Query: "ExecutionStatus = 'Running'",
		})
		if err != nil || len(got.GetExecutions()) == 0 {
			return
		}
		for _, x := range got.GetExecutions() {
			_, _ = e.service.TerminateWorkflowExecution(ctx, &workflowservice.TerminateWorkflowExecutionRequest{
				Namespace: e.namespace, WorkflowExecution: x.GetExecution(), Reason: "measured",
			}) // one that has ended meanwhile is none of the next list
		}
	}
}

// register makes a namespace and waits until it can be used.
func register(ctx context.Context, address, namespace string) error {
	e, err := dial(address, namespace)
	if err != nil {
		return err
	}
	defer e.close()
	_, err = e.service.RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	for deadline := time.Now().Add(patience); err == nil; {
		_, missing := e.service.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace})
		if missing == nil {
			return nil
		}
		if time.Now().After(deadline) || !pause(ctx, 100*time.Millisecond) {
			return missing
		}
	}
	return err
}
