package identity

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

const (
	// sessionCacheTTL bounds how long a session is believed without the store.
	sessionCacheTTL = 30 * time.Second
	// bypassTTL is longer than anybody who read the store before a change needs
	// to put what they read into the cache.
	bypassTTL = 2 * time.Minute
)

// What the cache may hold instead of a session.
const (
	sessionEnded   = "gone"  // it ended: its access tokens are on the denylist (AUTH-05)
	sessionChanged = "aside" // something changed: ask the store
)

// cachedSession is what an open session says, kept so that a request needs no
// database. It is written with Add only: it can never cover what Set left
// there, so that nobody who read the store too early undoes an end.
type cachedSession struct {
	Viewer    Viewer    `json:"viewer"`
	Expires   time.Time `json:"expires"`
	ConfirmBy time.Time `json:"confirm_by,omitzero"` // when an unconfirmed account stops
}

func sessionCacheKey(sessionID string) string { return "auth:session:" + sessionID }

// readSession returns a session as the cache has it, or else as the store
// does. A cache that does not answer is no reason to turn people away.
func (a *Accounts) readSession(ctx context.Context, sessionID string) (cachedSession, error) {
	raw, ok, err := a.o.Cache.Get(ctx, sessionCacheKey(sessionID))
	var m cachedSession
	switch {
	case err != nil:
		a.o.Logger.WarnContext(ctx, "the cached session cannot be read; the store is asked", "error", err)
	case ok && string(raw) == sessionEnded:
		return cachedSession{}, errSignedOut()
	case ok && string(raw) != sessionChanged && json.Unmarshal(raw, &m) == nil:
		return m, nil
	}
	s, u, err := a.live(ctx, sessionID)
	if err != nil {
		return cachedSession{}, err
	}
	m = a.cachedSessionOf(s, u)
	if !ok {
		a.cacheSession(ctx, sessionID, m)
	}
	return m, nil
}

// cachedSessionOf is what a session of u says. Until the address is confirmed
// the bounds are those of no plan (AUTH-11).
func (a *Accounts) cachedSessionOf(s Session, u User) cachedSession {
	m := cachedSession{Viewer: u.Viewer(s.ID), Expires: s.ExpiresAt}
	if a.unconfirmed(u) {
		m.Viewer.Plan, m.ConfirmBy = PlanUnverified, u.CreatedAt.Add(confirmWithin)
	}
	return m
}

func (a *Accounts) cacheSession(ctx context.Context, sessionID string, m cachedSession) {
	raw, err := json.Marshal(m)
	if err == nil {
		_, err = a.o.Cache.Add(ctx, sessionCacheKey(sessionID), raw, sessionCacheTTL)
	}
	if err != nil {
		a.o.Logger.WarnContext(ctx, "a session could not be cached", "error", err)
	}
}

// denySessions puts the access tokens of sessions that ended on the denylist, for as
// long as they could live. The store has ended them already; a cache that
// fails here is reported, for until what is cached expires others may believe them.
func (a *Accounts) denySessions(ctx context.Context, sessionIDs []string) error {
	var errs []error
	for _, s := range sessionIDs {
		errs = append(errs, a.o.Cache.Set(ctx, sessionCacheKey(s), []byte(sessionEnded), a.o.Access+sessionCacheTTL))
	}
	return errors.Join(errs...)
}

// bypassCache makes everybody read a session from the store for a while.
func (a *Accounts) bypassCache(ctx context.Context, sessionID string) error {
	return a.o.Cache.Set(ctx, sessionCacheKey(sessionID), []byte(sessionChanged), bypassTTL)
}

// refreshSessions makes a change of an account count at once in all its sessions,
// and with its access keys.
func (a *Accounts) refreshSessions(ctx context.Context, userID string) error {
	list, err := a.sessions.ListSessions(ctx, userID)
	errs := []error{err, a.refreshKeys(ctx, userID)}
	for _, s := range list {
		errs = append(errs, a.bypassCache(ctx, s.ID))
	}
	return errors.Join(errs...)
}
