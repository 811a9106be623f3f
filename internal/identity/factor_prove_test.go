package identity

import (
	"context"
	"errors"
	"testing"
	"time"

	"liminal/internal/fault"
)

// Requirements: AUTH-14
func TestTriesUnderWayAreCountedBeforeTheyAreChecked(t *testing.T) {
	t.Parallel()
	a := &Accounts{o: Options{Cache: newMemCache(time.Now)}.withDefaults()}
	a.now = a.o.Now
	checked := 0
	var try func(ctx context.Context, depth int) error
	try = func(ctx context.Context, depth int) error { // each begins within the one before: all are under way at once
		return a.guarded(ctx, "mfa", "ada", func() error {
			checked++
			if depth > 0 {
				_ = try(ctx, depth-1)
			}
			return fault.New(fault.Unauthorized, "wrong")
		})
	}
	_ = try(t.Context(), 20)
	if checked != maxWrong {
		t.Errorf("%d tries were checked, want %d", checked, maxWrong)
	}
	err := a.guarded(t.Context(), "mfa", "ada", func() error { return nil })
	if !errors.Is(err, fault.RateLimited) {
		t.Errorf("a right one while it is locked: %v", err)
	}
	if err := a.guarded(t.Context(), "mfa", "bob", func() error { return nil }); err != nil {
		t.Errorf("another person: %v", err)
	}
}
