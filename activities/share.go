package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"liminal/internal/tool"
)

// Shares gives out what one process does at once for background work, to each
// person their part. *tool.Shares is one. Enter waits until ctx ends; a
// *tool.FullError says when to come again.
type Shares interface {
	Enter(ctx context.Context, person string) (leave func(), err error)
}

// TypeBusy is the type of the error of a call whose person's share of the
// background work is taken. The engine makes it again later, as often as it
// takes: waiting here would hold a slot that another person's call needs, and
// count as the call's own time.
const TypeBusy = "share_taken"

// ShareWait is how long a call waits for its person's share before it goes back
// to the engine.
const ShareWait = 10 * time.Second

// MaxWait is how long a call may wait until it is its turn, on top of its
// own time.
const MaxWait = ShareWait + maxDebtSeconds*time.Second

// retryAfter is when a call that waited in vain is made again.
const retryAfter = time.Second

// share takes a place of the person's share of the background work.
func (s *Set) share(ctx context.Context, in CallInput, spec tool.Spec) (leave func(), err error) {
	if s.Shares == nil || spec.On() != tool.QueueIngest || spec.Where() != tool.Activity {
		return func() {}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, ShareWait)
	defer cancel()
	leave, err = s.Shares.Enter(waiting, in.Run.Viewer.UserID)
	if err == nil {
		return leave, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	after := retryAfter
	if full, ok := errors.AsType[*tool.FullError](err); ok {
		after = full.After
	}
	return nil, temporal.NewApplicationErrorWithOptions("Other documents of the same person are being taken in; this one waits for its turn.", TypeBusy,
		temporal.ApplicationErrorOptions{NextRetryDelay: after, Category: temporal.ApplicationErrorCategoryBenign})
}

// busy reports whether a call went back to the engine without having begun.
func busy(err error) bool {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && app.Type() == TypeBusy
}
