package wire

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
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

// Requirements: CFG-11, OPS-07
func TestRecordingsAreForgottenByTheirAgeAndByTheirCount(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "liminal.db"), sqlite.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := time.Now()
	at := now
	p := &Platform{backends: backends{store: store.New(db, store.Options{Now: func() time.Time { return at }})}}
	ann, err := p.store.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "ann@example.org", Role: identity.RoleUser, Active: true}, identity.Credential{Hash: "h", Algorithm: "argon2id"})
	if err != nil {
		t.Fatal(err)
	}
	v := ann.Viewer(id.New())
	var made []string
	for _, ago := range []time.Duration{50 * time.Hour, 4 * time.Hour, 3 * time.Hour, 2 * time.Hour, time.Hour} {
		at = now.Add(-ago)
		r := run.Run{ID: id.New(), WorkflowID: id.New(), Kind: run.KindGraph, UserID: v.UserID, Status: run.Running}
		if err := errors.Join(p.store.CreateRun(t.Context(), v, r), p.store.EndRun(t.Context(), v, r.ID, run.End{Status: run.Done, Recording: &run.Recording{}})); err != nil {
			t.Fatal(err)
		}
		made = append(made, r.ID)
	}
	for _, one := range []struct {
		age     time.Duration
		most    int
		removed int
		left    []string // the oldest first
	}{
		{48 * time.Hour, 0, 1, made[1:]},
		{48 * time.Hour, 9, 0, made[1:]},
		{48 * time.Hour, 3, 1, made[2:]},
		{150 * time.Minute, 1, 2, made[4:]},
		{0, 1, 1, nil},
	} {
		n, err := p.forget(t.Context(), now.Add(-one.age), one.most)
		if err != nil || n != one.removed {
			t.Errorf("%s, %d: %d are removed, %v", one.age, one.most, n, err)
		}
		heads, err := p.store.Recordings(t.Context(), identity.System(), run.RecordingFilter{})
		var left []string
		for _, h := range slices.Backward(heads) {
			left = append(left, h.RunID)
		}
		if err != nil || !slices.Equal(left, one.left) {
			t.Errorf("%s, %d: left are %v, want %v, %v", one.age, one.most, left, one.left, err)
		}
	}
}
