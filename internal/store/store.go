// Package store keeps every noun: one portable body of SQL over a thin seam.
//
// Store implements the ports of identity, run, chat, files, knowledge,
// artifacts and changes once for all databases; an adapter (internal/store/sqlite,
// internal/store/postgres) implements DB and nothing else. What is truly of one
// dialect, like the chunk index, is a port of its own and not here. It may
// import the nouns, and no driver.
//
// Rules of the SQL, so that one text is right on every database: parameters by
// @name; times and ids come from Go; no function of the dialect but coalesce,
// count, sum, min and max; JSON is merged in Go; a read that decides a write
// stands behind Tx.Lock; and the person's id is in the predicate of every
// statement that touches a person's rows, as @user and nothing else (ISO-01).
package store

import (
	"context"
	"time"

	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// Store is the stores of all nouns. It is safe for concurrent use.
type Store struct {
	db    DB
	clock func() time.Time
	turns chat.TurnLimits

	branched, branchedText int

	passages func(v identity.Viewer) int
}

// Options are the limits of a store; the zero value is the defaults.
type Options struct {
	// Running is how many chat turns of one person may run at once; waiting
	// for a person does not count (ISO-08, C-23). 0: 3. Negative: no limit.
	Running int
	// Queued is how many turns may wait in one conversation. 0: 16. Negative:
	// no limit.
	Queued int
	// Branched is how many messages a branch copies at most, and BranchedText
	// how many characters of text those may have together. 0: 10,000, and 32 Mi.
	Branched, BranchedText int
	// Passages is how many passages of a person's documents there may be; nil:
	// as the plans ship.
	Passages func(v identity.Viewer) int
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// New returns the store over db, whose migrations have been applied.
func New(db DB, o Options) *Store {
	s := &Store{db: db, clock: o.Now, turns: chat.TurnLimits{Running: o.Running, Queued: o.Queued}, branched: o.Branched, branchedText: o.BranchedText}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.passages = o.Passages; s.passages == nil {
		s.passages = func(v identity.Viewer) int { return quota.PlanOf(v.Plan).Chunks }
	}
	if s.turns.Running == 0 {
		s.turns.Running = 3
	}
	if s.turns.Queued == 0 {
		s.turns.Queued = 16
	}
	if s.branched == 0 {
		s.branched = 10_000
	}
	if s.branchedText == 0 {
		s.branchedText = 32 << 20
	}
	return s
}

func (s *Store) read(ctx context.Context, v identity.Viewer, f func(Tx) error) error {
	return convert(s.db.Read(ctx, v, f))
}

// look is read for one statement that finds rows by their ids, see Looker.
func (s *Store) look(ctx context.Context, v identity.Viewer, f func(Tx) error) error {
	if l, ok := s.db.(Looker); ok {
		return convert(l.Look(ctx, v, f))
	}
	return s.read(ctx, v, f)
}

func (s *Store) write(ctx context.Context, v identity.Viewer, f func(Tx) error) error {
	return convert(s.db.Write(ctx, v, f))
}
