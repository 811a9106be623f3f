package wire

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// Fifty turns a second leave 180,000 recordings in an hour, of which one round
// removes 1000.
//
// Requirements: CFG-11
func TestRecordingsAreForgottenAsFastAsTheyAreMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left := 180_500
		round := func() (int, error) {
			n := min(1000, left)
			left -= n
			return n, nil
		}
		if n, err := all(t.Context(), round); n != 180_500 || left != 0 || err != nil {
			t.Errorf("%d are removed and %d left: %v", n, left, err)
		}
		broken := errors.New("the disk is full")
		if n, err := all(t.Context(), func() (int, error) { return 3, broken }); n != 3 || !errors.Is(err, broken) {
			t.Errorf("%d, %v", n, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if n, err := all(ctx, func() (int, error) { cancel(); return 1, nil }); n != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("with its context ended: %d, %v", n, err)
		}
	})
}
