package main

import (
	"context"
	"fmt"
	"time"

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

// count is how many of a person's runs there are, children included: all that
// ever began, or those that have not ended.
func (e *Engine) count(ctx context.Context, user string, open bool) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	query := fmt.Sprintf("liminal_user = '%s'", user)
	if open {
		query += " AND ExecutionStatus = 'Running'"
	}
	got, err := e.service.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: e.namespace, Query: query})
	return got.GetCount(), err
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
