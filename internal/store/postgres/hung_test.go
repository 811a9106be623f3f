package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
)

// soon runs f and fails when it takes much longer than it may.
func soon(t *testing.T, most time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(most):
		t.Fatalf("%s goes on after %s", what, most)
	}
}

// session waits until another session of conn's database is as said.
func session(ctx context.Context, conn *pgx.Conn, as string) error {
	query := "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND " + as + ")"
	for last := time.Now().Add(30 * time.Second); time.Now().Before(last); time.Sleep(5 * time.Millisecond) {
		var there bool
		if err := conn.QueryRow(ctx, query).Scan(&there); err != nil || there {
			return err
		}
	}
	return errors.New("no session came to be as: " + as)
}

// A server that is stopped or behind a dead line accepts what is sent and says
// nothing: neither a request nor the end of the process waits for it for good.
func TestAServerThatStopsAnsweringHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	p, through := newProxy(t, postgrestest.New(t).App, "")
	db, err := postgres.Open(t.Context(), through, postgres.Options{Longest: 10 * time.Second, AllowOldVector: true})
	if err != nil {
		t.Fatal(err)
	}
	p.freeze()
	ctx := context.WithoutCancel(t.Context())
	soon(t, time.Minute, "a read", func() {
		if err := db.Read(ctx, identity.System(), func(tx store.Tx) error {
			_, err := one[int64](tx, `SELECT count(*) FROM secret`, nil)
			return err
		}); fault.CodeOf(err) != fault.Internal || !strings.Contains(err.Error(), "did not answer") {
			t.Errorf("it ended with %v", err)
		}
	})
	soon(t, time.Minute, "closing", func() { _ = db.Close() })
}

func TestACommitWithoutAnAnswerIsNotCalledRefused(t *testing.T) {
	t.Parallel()
	p, through := newProxy(t, postgrestest.New(t).App, "")
	db, err := postgres.Open(t.Context(), through, postgres.Options{Longest: 10 * time.Second, AllowOldVector: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // what it says is the other test's
	err = db.Write(context.WithoutCancel(t.Context()), identity.System(), func(tx store.Tx) error {
		_, err := tx.Exec(insertSecret, secretNamed("s"))
		p.freeze()
		return err
	})
	p.down()
	if fault.CodeOf(err) != fault.Internal || !strings.Contains(err.Error(), "not known") {
		t.Errorf("it ended with %v", err)
	}
}

// A process that is stopped, or cut off, in the middle of a transaction: its
// connection lives, and the server cannot know.
func TestWhoFallsSilentInATransactionLosesItsLocks(t *testing.T) {
	t.Parallel()
	db := postgrestest.Open(t, postgrestest.New(t).App, postgres.Options{Silence: 2 * time.Second})
	locked, rivalDone := make(chan struct{}), make(chan struct{})
	tries := 0
	go func() {
		defer close(rivalDone)
		<-locked
		if err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error { return tx.Lock("one") }); err != nil {
			t.Errorf("the other process: %v", err)
		}
	}()
	err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		if err := tx.Lock("one"); err != nil {
			return err
		}
		if tries++; tries == 1 {
			close(locked)
			soon(t, time.Minute, "the other process waits", func() { <-rivalDone })
		}
		_, err := tx.Exec(insertSecret, secretNamed("s"))
		return err
	})
	if err != nil || tries < 2 { // who pauses for longer than that is silent, too
		t.Errorf("%d tries, %v", tries, err)
	}
}
