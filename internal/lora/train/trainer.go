package train

import (
	"context"

	"liminal/internal/cell"
)

// Trainer is who trains a prepared folder: this program (Inside), or a command of
// the operator's (Command).
type Trainer interface {
	// Train trains the job in dir, an absolute path, and returns the manifest of
	// what lies in dir/out then, which Check and Publish look at, whoever made it.
	// Report hears of steps on the way. Done again, it does nothing.
	//
	// Errors are those of Run: Passes tells which are worth another try. When ctx
	// ends, so does whatever was started, and the error is ctx's own.
	Train(ctx context.Context, dir string, o Options) (Manifest, error)
}

// Inside trains in a process of this very program, in bounds.
type Inside struct {
	Cell   *cell.Cell // of Cell
	Limits cell.Limits
}

// Train implements Trainer.
func (i Inside) Train(ctx context.Context, dir string, o Options) (Manifest, error) {
	return In(ctx, i.Cell, dir, i.Limits, o)
}

var (
	_ Trainer = Inside{}
	_ Trainer = (*Command)(nil)
)
