package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"liminal/activities"
	"liminal/internal/fault"
)

func TestFaultsCrossTheBorderWithTheirCodeAndWithoutTheirCause(t *testing.T) {
	t.Parallel()
	border := &faultsInbound{log: NewFaults(nil).log}
	for _, code := range fault.Codes() {
		err := activities.AsTemporal(context.Background(), border.log, fmt.Errorf("reading: %w", fault.Wrap(code, errors.New("password=hunter2"), "A sentence.")))
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != string(code) || app.Message() != "A sentence." || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s becomes %v", code, err)
		}
		if again := code == fault.Internal || code == fault.RateLimited; app.NonRetryable() == again {
			t.Errorf("%s: may it be tried again? %t", code, !app.NonRetryable())
		}
		if back := Fault(err); !errors.Is(back, code) || back.Error() != "A sentence." {
			t.Errorf("%s comes back as %v", code, back)
		}
	}
}

func TestErrorsOfTheEngineAndOfContextsCrossAsTheyAre(t *testing.T) {
	t.Parallel()
	border := &faultsInbound{log: NewFaults(nil).log}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx context.Context
		err error
	}{
		"an application error": {context.Background(), temporal.NewApplicationError("x", "own")},
		"a cancellation":       {context.Background(), temporal.NewCanceledError()},
		"a context's end":      {ended, fmt.Errorf("calling: %w", context.Canceled)},
	} {
		if got := activities.AsTemporal(c.ctx, border.log, c.err); !errors.Is(got, c.err) {
			t.Errorf("%s becomes %v", name, got)
		}
	}
}

// Requirements: LORA-25 (a rate limit is tried again)
func TestWhatAFaultAsksForCrossesWithIt(t *testing.T) {
	t.Parallel()
	border := &faultsInbound{log: NewFaults(nil).log}
	err := activities.AsTemporal(context.Background(), border.log, fault.New(fault.RateLimited, "Wait.").With(map[string]any{"reason": fault.Upstream, "retry_after_ms": int64(7000)}))
	var app *temporal.ApplicationError
	var details map[string]any
	if !errors.As(err, &app) || app.Details(&details) != nil || details["reason"] != fault.Upstream || details["retry_after_ms"] != int64(7000) || app.NonRetryable() {
		t.Errorf("%v crosses with %+v", err, details)
	}
}
