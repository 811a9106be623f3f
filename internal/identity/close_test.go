package identity

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAMailServerThatDoesNotAnswerHoldsNoProcessUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Accounts{o: Options{Mail: &postbox{}}.withDefaults(), letters: make(chan struct{}, 1)}
		a.later(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		began := time.Now()
		if err := a.Close(); err == nil {
			t.Error("nobody is told that a mail was given up")
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("closing took %s", took)
		}
		time.Sleep(mailTime) // the mail ends by itself
	})
}
