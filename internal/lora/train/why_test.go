package train_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"liminal/internal/cell"
	"liminal/internal/fault"
	"liminal/internal/lora/train"
)

// Requirements: TRAIN-10 (failed with the reason)
func TestWhatPeopleCanMendIsNamedAsTheCause(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		train.DiskFull:   fmt.Errorf("could not be written: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}),
		train.TooBig:     fmt.Errorf("ended: %w", &cell.Failure{Cause: cell.Memory}),
		train.TooLong:    &cell.Failure{Cause: cell.Late},
		train.WorkerGone: &cell.Failure{Cause: cell.Crash},
		"source_gone":    fault.New(fault.Internal, "It was taken back.").With(map[string]any{"reason": "source_gone"}),
		"":               errors.New("something else"),
	} {
		if got := train.Why(err); got != want {
			t.Errorf("%v comes of %q, want %q", err, got, want)
		}
	}
}
