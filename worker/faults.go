package worker

import (
	"context"
	"errors"
	"log/slog"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/internal/fault"
)

// Faults is the border between our errors and Temporal's: an activity's fault
// becomes an ApplicationError whose Type is its code, and whose message is the
// sentence for the person. The cause is logged here and goes no further.
type Faults struct {
	interceptor.WorkerInterceptorBase
	log *slog.Logger
}

// NewFaults makes the interceptor; log may be nil.
func NewFaults(log *slog.Logger) *Faults {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Faults{log: log}
}

// InterceptActivity wraps every activity.
func (f *Faults) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &faultsInbound{log: f.log}
	in.Next = next
	return in
}

type faultsInbound struct {
	interceptor.ActivityInboundInterceptorBase
	log *slog.Logger
}

func (f *faultsInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	out, err := f.Next.ExecuteActivity(ctx, in)
	if err == nil {
		return out, nil
	}
	return out, activities.AsTemporal(ctx, f.log, err)
}

// Fault is the way back: an error of Temporal's as one of ours.
func Fault(err error) error {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return err
	}
	for _, code := range fault.Codes() {
		if app.Type() == string(code) {
			return fault.New(code, "%s", app.Message())
		}
	}
	return fault.Wrap(fault.Internal, err, "%s", app.Message())
}
