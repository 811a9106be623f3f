package poll_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/poll"
)

type key struct{}

func TestItIsCalledEverySoOftenUntilItIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(context.WithValue(t.Context(), key{}, "a value"))
		calls := 0
		stop := poll.Every(ctx, 2*time.Second, func(ctx context.Context) {
			if calls++; ctx.Value(key{}) != "a value" || ctx.Err() != nil {
				t.Errorf("called with %v, %v", ctx.Value(key{}), ctx.Err())
			}
		})
		end() // that of a start ends with the start
		time.Sleep(7 * time.Second)
		stop()
		time.Sleep(time.Minute)
		stop()
		if calls != 3 {
			t.Errorf("called %d times in seven seconds, want 3", calls)
		}
	})
}

func TestStopCancelsACallAndWaitsForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		stop := poll.Every(t.Context(), time.Second, func(ctx context.Context) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
		})
		time.Sleep(5 * time.Second)
		if stop(); !ended {
			t.Error("stopped before the call was over")
		}
	})
}
