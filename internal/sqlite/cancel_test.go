package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"liminal/internal/identity"
	"liminal/internal/store"
)

func TestReadsWhoseCallerLeavesEndAndHarmNobody(t *testing.T) {
	t.Parallel()
	s := newShelf(t, IndexOptions{})
	endless := func(tx store.Tx) error {
		return tx.Query(`WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n`, nil,
			func(store.Scan) error { return nil })
	}
	for range 3 * cap(s.db.reader) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if err := s.db.Read(ctx, identity.System(), endless); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	if _, err := s.s.Accounts(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
