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
	s := newIndexFixture(t, IndexOptions{})
	endless := func(tx store.Tx) error {
		return tx.Query(`WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n`, nil,
			func(store.Scan) error { return nil })
	}
	for range 3 * cap(s.db.reader.more) {
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

// A person whose steps may take a millisecond each left every connection in a
// transaction, and the store refused everybody.
func TestReadsWhoseCallerLeavesAsTheyBeginHarmNobody(t *testing.T) {
	t.Parallel()
	s := newIndexFixture(t, IndexOptions{})
	one := func(tx store.Tx) error {
		return tx.Query(`SELECT 1`, nil, func(store.Scan) error { return nil })
	}
	for i := range 20_000 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%100)*time.Microsecond)
		_ = s.db.Read(ctx, identity.System(), one) // it may have been in time
		cancel()
	}
	for range 3 * cap(s.db.reader.more) {
		if err := s.db.Read(t.Context(), identity.System(), one); err != nil {
			t.Fatalf("afterwards: %v", err)
		}
	}
}

func TestALookIsOneStatement(t *testing.T) {
	t.Parallel()
	s := newIndexFixture(t, IndexOptions{})
	var found int
	one := func(tx store.Tx) error {
		return tx.Query(`SELECT 1`, nil, func(scan store.Scan) error { return scan(&found) })
	}
	for range 3 * cap(s.db.reader.more) {
		found = 0
		if err := s.db.Look(t.Context(), identity.System(), one); err != nil || found != 1 {
			t.Fatalf("found %d, %v", found, err)
		}
		if err := s.db.Look(t.Context(), identity.System(), func(tx store.Tx) error { return errors.Join(one(tx), one(tx)) }); !errors.Is(err, errLook) {
			t.Fatalf("two statements: %v", err)
		}
		if err := s.db.Look(t.Context(), identity.System(), func(tx store.Tx) error {
			_, err := tx.Exec(`DELETE FROM run`, nil)
			return err
		}); err == nil {
			t.Fatal("a look wrote")
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.db.Look(gone, identity.System(), one); !errors.Is(err, context.Canceled) {
		t.Errorf("for a caller who has left: %v", err)
	}
}
