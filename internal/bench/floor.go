package bench

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	floorQueue    = "bench-floor"
	floorWorkflow = "BenchEmpty"
	floorPollers  = 8
)

// floor measures the bare engine: a workflow that does nothing, from start to
// result, on the server the platform runs on and started as the platform
// starts its own.
func floor(ctx context.Context, temporal, namespace string, s sizes) (pace, error) {
	c, err := dial(ctx, temporal, namespace)
	if err != nil {
		return pace{}, err
	}
	defer c.Close()
	w := worker.New(c, floorQueue, worker.Options{
		MaxConcurrentWorkflowTaskPollers: floorPollers,
		MaxConcurrentActivityTaskPollers: floorPollers,
	})
	w.RegisterWorkflowWithOptions(empty, workflow.RegisterOptions{Name: floorWorkflow})
	if err := w.Start(); err != nil {
		return pace{}, err
	}
	defer w.Stop()
	return paceOf(ctx, s, func(ctx context.Context, n int) error {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: fmt.Sprintf("bench-empty-%d", n), TaskQueue: floorQueue, EnableEagerStart: true,
		}, floorWorkflow)
		if err != nil {
			return err
		}
		return run.Get(ctx, nil)
	})
}

// dial connects without compression, which costs more than it saves on one machine.
func dial(ctx context.Context, temporal, namespace string) (client.Client, error) {
	return client.DialContext(ctx, client.Options{
		HostPort: temporal, Namespace: namespace, Logger: mute{},
		ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}},
	})
}

func empty(workflow.Context) error { return nil }

// mute is a Temporal logger that says nothing.
type mute struct{}

func (mute) Debug(string, ...any) {}
func (mute) Info(string, ...any)  {}
func (mute) Warn(string, ...any)  {}
func (mute) Error(string, ...any) {}
