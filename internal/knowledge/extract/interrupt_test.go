package extract_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
)

// ending is a context that ends while it is asked whether it has, at one of
// its calls: so close to the end of a reading as only chance comes otherwise.
type ending struct {
	context.Context
	end   context.CancelFunc
	calls *atomic.Int32
	at    int32
}

func (e ending) Err() error {
	if e.calls.Add(1) == e.at {
		e.end()
		return nil
	}
	return e.Context.Err()
}

// A reading that is stopped in the moment it is done must not reach for the
// reader that was given back: that ended the whole program.
//
// Requirements: RAG-05
func TestAReadingThatIsStoppedAsItEndsHurtsNobody(t *testing.T) {
	t.Parallel()
	p := parsers()
	raw := page("", "", "BT /F1 24 Tf 72 700 Td (Hello durable world) Tj ET")
	for i := range 24 {
		inner, cancel := context.WithCancel(t.Context())
		ctx := ending{Context: inner, end: cancel, calls: &atomic.Int32{}, at: int32(1 + i%3)} //nolint:gosec // small
		_, _ = p.Parse(ctx, "stopped.pdf", "", bytes.NewReader(raw), int64(len(raw)))          // read or stopped
		cancel()
	}
	if _, err := p.Parse(t.Context(), "after.pdf", "", bytes.NewReader(raw), int64(len(raw))); err != nil {
		t.Error(err)
	}
}
