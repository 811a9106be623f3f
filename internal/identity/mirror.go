package identity

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

const (
	// mirrorLife bounds how long a session is believed without the store.
	mirrorLife = 30 * time.Second
	// asideLife is longer than anybody who read the store before a change needs
	// to offer a mirror of what they read.
	asideLife = 2 * time.Minute
)

// What a mirror may hold instead of a session.
const (
	gone  = "gone"  // it ended: its access tokens are on the denylist (AUTH-05)
	aside = "aside" // something changed: ask the store
)

// mirror is what an open session says, kept so that a request needs no
// database. It is laid down with Add only: it can never cover what Set left
// there, so that nobody who read the store too early undoes an end.
type mirror struct {
	Viewer    Viewer    `json:"viewer"`
	Expires   time.Time `json:"expires"`
	ConfirmBy time.Time `json:"confirm_by,omitzero"` // when an unconfirmed account stops
}

func mirrorKey(sessionID string) string { return "auth:session:" + sessionID }

// reflected returns a session as its mirror shows it, or else as the store
// does. A cache that does not answer is no reason to turn people away.
func (a *Accounts) reflected(ctx context.Context, sessionID string) (mirror, error) {
	raw, ok, err := a.o.Cache.Get(ctx, mirrorKey(sessionID))
	var m mirror
	switch {
	case err != nil:
		a.o.Logger.WarnContext(ctx, "the mirror of a session cannot be read; the store is asked", "error", err)
	case ok && string(raw) == gone:
		return mirror{}, errSignedOut()
	case ok && string(raw) != aside && json.Unmarshal(raw, &m) == nil:
		return m, nil
	}
	s, u, err := a.live(ctx, sessionID)
	if err != nil {
		return mirror{}, err
	}
	m = a.mirrorOf(s, u)
	if !ok {
		a.reflect(ctx, sessionID, m)
	}
	return m, nil
}

// mirrorOf is what a session of u says. Until the address is confirmed the
// bounds are those of no plan (AUTH-11).
func (a *Accounts) mirrorOf(s Session, u User) mirror {
	m := mirror{Viewer: u.Viewer(s.ID), Expires: s.ExpiresAt}
	if a.unconfirmed(u) {
		m.Viewer.Plan, m.ConfirmBy = PlanUnverified, u.CreatedAt.Add(confirmWithin)
	}
	return m
}

func (a *Accounts) reflect(ctx context.Context, sessionID string, m mirror) {
	raw, err := json.Marshal(m)
	if err == nil {
		_, err = a.o.Cache.Add(ctx, mirrorKey(sessionID), raw, mirrorLife)
	}
	if err != nil {
		a.o.Logger.WarnContext(ctx, "a session could not be mirrored", "error", err)
	}
}

// bury puts the access tokens of sessions that ended on the denylist, for as
// long as they could live. The store has ended them already; a cache that
// fails here is reported, for until the mirrors fade others may believe them.
func (a *Accounts) bury(ctx context.Context, sessionIDs []string) error {
	var errs []error
	for _, s := range sessionIDs {
		errs = append(errs, a.o.Cache.Set(ctx, mirrorKey(s), []byte(gone), a.o.Access+mirrorLife))
	}
	return errors.Join(errs...)
}

// aside makes everybody read a session from the store for a while.
func (a *Accounts) aside(ctx context.Context, sessionID string) error {
	return a.o.Cache.Set(ctx, mirrorKey(sessionID), []byte(aside), asideLife)
}

// lookAgain makes a change of an account count at once in all its sessions.
func (a *Accounts) lookAgain(ctx context.Context, userID string) error {
	list, err := a.store.ListSessions(ctx, userID)
	errs := []error{err}
	for _, s := range list {
		errs = append(errs, a.aside(ctx, s.ID))
	}
	return errors.Join(errs...)
}
