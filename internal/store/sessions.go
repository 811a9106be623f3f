package store

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// sessionsOf is the lock of a user's sessions: what ends them all must not miss
// one that is being opened or changing its id.
func sessionsOf(userID string) string { return "sessions:" + userID }

// OpenSession implements identity.Store.
func (s *Store) OpenSession(ctx context.Context, n identity.Session) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(sessionsOf(n.UserID)); err != nil {
			return err
		}
		if err := stillProved(tx, n); err != nil {
			return err
		}
		n.CreatedAt = s.orNow(n.CreatedAt)
		if n.SignedInAt.IsZero() {
			n.SignedInAt = n.CreatedAt
		}
		if n.FamilyID == "" {
			n.FamilyID = n.ID
		}
		if n.Client == "" {
			n.Client = identity.Web
		}
		return insertSession(tx, n, sessionMeta{SignedIn: n.SignedInAt, Used: n.CreatedAt})
	})
}

// stillProved refuses a sign-in that was overtaken: what ended every session
// has ended it too, although it was not there yet.
func stillProved(tx Tx, n identity.Session) error {
	var hash string
	var enabled time.Time
	found, err := first(tx, `SELECT c.password_hash, f.enabled_at FROM user_auth_credential c
		LEFT JOIN user_auth_factor f ON f.user_id = c.user_id WHERE c.user_id = @user`,
		Args{"user": n.UserID}, text{&hash}, when{&enabled})
	overtaken := n.Password != "" && n.Password != hash || !n.Factor && !enabled.IsZero()
	if err == nil && found && overtaken {
		err = fault.New(fault.Unauthorized, "The way to sign in to this account has just changed. Sign in again.").
			With(map[string]any{"reason": "overtaken"})
	}
	return err
}

func (s *Store) orNow(t time.Time) time.Time {
	if t.IsZero() {
		return s.now()
	}
	return stamp(t)
}

// sessionMeta is what a session's row holds beside its columns.
type sessionMeta struct {
	SignedIn time.Time `json:"signed_in"`
	Used     time.Time `json:"used"`
	Previous string    `json:"previous,omitempty"` // hash of the token that was traded last, at Used
}

func insertSession(tx Tx, n identity.Session, m sessionMeta) error {
	meta, err := encoded(m, false)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO auth_session (id, user_id, family_id, client, refresh_hash, user_agent, ip_addr, created_at, expires_at, meta)
		VALUES (@id, @user, @family, @client, @hash, @agent, @address, @created, @expires, @meta)`,
		Args{
			"id": n.ID, "user": n.UserID, "family": n.FamilyID, "client": n.Client, "hash": n.RefreshHash, "agent": n.UserAgent,
			"address": n.Address, "created": n.CreatedAt, "expires": stamp(n.ExpiresAt), "meta": meta,
		})
	return err
}

const sessionColumns = `a.id, a.user_id, a.family_id, a.client, a.refresh_hash, a.user_agent, a.ip_addr, a.created_at, a.expires_at, a.revoked_at, a.meta`

func sessionDest(n *identity.Session, m *sessionMeta) []any {
	return []any{
		&n.ID, &n.UserID, &n.FamilyID, &n.Client, &n.RefreshHash, &n.UserAgent,
		&n.Address,
		when{&n.CreatedAt},
		when{&n.ExpiresAt},
		when{&n.RevokedAt},
		decode{m},
	}
}

// completed is a session with what its meta says; rows from before there was
// one began when they were made.
func completed(n identity.Session, m sessionMeta) identity.Session {
	n.SignedInAt, n.UsedAt = m.SignedIn, m.Used
	if n.SignedInAt.IsZero() {
		n.SignedInAt, n.UsedAt = n.CreatedAt, n.CreatedAt
	}
	return n
}

// Session implements identity.Store.
func (s *Store) Session(ctx context.Context, id string) (n identity.Session, u identity.User, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		var m sessionMeta
		found, err := first(tx, `SELECT `+userColumns+`, `+sessionColumns+`
			FROM auth_session a JOIN app_user u ON u.id = a.user_id
			LEFT JOIN user_settings t ON t.user_id = u.id
			WHERE a.id = @id`, Args{"id": id}, append(userDest(&u), sessionDest(&n, &m)...)...)
		if err == nil && !found {
			err = missing("session")
		}
		n = completed(n, m)
		return err
	})
	return n, u, err
}

// ListSessions implements identity.Store.
func (s *Store) ListSessions(ctx context.Context, userID string) (list []identity.Session, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT `+sessionColumns+` FROM auth_session a
			WHERE a.user_id = @user AND a.revoked_at IS NULL AND a.expires_at > @now
			ORDER BY a.expires_at DESC, a.id DESC LIMIT 1000`,
			Args{"user": userID, "now": s.now()},
			func(scan Scan) (n identity.Session, err error) {
				var m sessionMeta
				err = scan(sessionDest(&n, &m)...)
				return completed(n, m), err
			})
		return err
	})
	return list, err
}

// RotateSession implements identity.Store. What a wrong token ends is
// committed although the caller gets an error: it may be a stolen one.
func (s *Store) RotateSession(ctx context.Context, r identity.Rotation) (ended []string, err error) {
	var verdict error
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		ended, verdict = nil, nil
		if err := tx.Lock(sessionsOf(r.UserID)); err != nil {
			return err
		}
		n, m, err := session(tx, r.ID)
		if err != nil {
			return err
		}
		now := s.now()
		switch {
		case n.RefreshHash == r.OldHash && n.RevokedAt.IsZero() && n.ExpiresAt.After(now):
			return trade(tx, n, m, r, now)
		case n.RefreshHash != r.OldHash && m.Previous == r.OldHash && now.Sub(m.Used) < r.Tolerance && n.RevokedAt.IsZero():
			verdict = fault.New(fault.Conflict, "This session was refreshed a moment ago. Use the tokens of that answer.").
				With(map[string]any{"reason": "refreshed"})
			return nil
		}
		verdict = fault.New(fault.Unauthorized, "This session has ended; sign in again.")
		if r.Forged {
			return nil
		}
		ended, err = revoked(tx, `family_id = @family`, Args{"family": n.FamilyID}, now)
		return err
	})
	if err == nil {
		err = verdict
	}
	return ended, err
}

func session(tx Tx, id string) (n identity.Session, m sessionMeta, err error) {
	found, err := first(tx, `SELECT `+sessionColumns+` FROM auth_session a WHERE a.id = @id`, Args{"id": id}, sessionDest(&n, &m)...)
	if err == nil && !found {
		err = fault.New(fault.Unauthorized, "This session has ended; sign in again.")
	}
	return completed(n, m), m, err
}

// trade gives a session its next token, under its own id or the next one.
func trade(tx Tx, n identity.Session, m sessionMeta, r identity.Rotation, now time.Time) error {
	hash, expires := r.NewHash, stamp(r.Expires)
	m.SignedIn, m.Used = n.SignedInAt, now
	if r.NewID != r.ID {
		next := n
		next.ID, next.RefreshHash, next.CreatedAt, next.ExpiresAt = r.NewID, r.NewHash, now, r.Expires
		m.Previous = ""
		if err := insertSession(tx, next, m); err != nil {
			return err
		}
		hash, expires = "", now.Add(r.Grace)
	}
	m.Previous = r.OldHash
	meta, err := encoded(m, false)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE auth_session SET refresh_hash = @hash, expires_at = @expires, meta = @meta WHERE id = @id`,
		Args{"id": r.ID, "hash": hash, "expires": expires, "meta": meta})
	return err
}

// RevokeSession implements identity.Store.
func (s *Store) RevokeSession(ctx context.Context, id string) (ended []string, err error) {
	n, _, err := s.Session(ctx, id)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.revokeSessions(ctx, n.UserID, `family_id = @family`, Args{"family": n.FamilyID})
}

// RevokeSessions implements identity.Store.
func (s *Store) RevokeSessions(ctx context.Context, userID, but string) (ended []string, err error) {
	return s.revokeSessions(ctx, userID, `user_id = @user AND family_id <> @but`, Args{"user": userID, "but": orNil(but)})
}

func (s *Store) revokeSessions(ctx context.Context, userID, condition string, args Args) (ended []string, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(sessionsOf(userID)); err != nil {
			return err
		}
		ended, err = revoked(tx, condition, args, s.now())
		return err
	})
	return ended, err
}

// revoked ends the sessions of a condition and returns their ids: tokens of
// them may still be around.
func revoked(tx Tx, condition string, args Args, now time.Time) ([]string, error) {
	args["now"] = now
	ended, err := all(tx, `SELECT id FROM auth_session WHERE revoked_at IS NULL AND `+condition, args,
		func(scan Scan) (id string, err error) {
			err = scan(&id)
			return id, err
		})
	if err != nil || len(ended) == 0 {
		return nil, err
	}
	_, err = tx.Exec(`UPDATE auth_session SET revoked_at = @now, expires_at = @now WHERE revoked_at IS NULL AND `+condition, args)
	return ended, err
}

// keepRotated is how long a refresh token can live (AUTH-04).
const keepRotated = 30 * 24 * time.Hour

// SweepSessions removes sessions that ended, and the ids a living family has
// left behind when no token of theirs can be alive; until then such a token
// still ends its family. It returns how many rows went.
func (s *Store) SweepSessions(ctx context.Context) (removed int, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		now := s.now()
		n, err := tx.Exec(`DELETE FROM auth_session WHERE expires_at <= @now AND (expires_at <= @old OR NOT EXISTS (
			SELECT 1 FROM auth_session f WHERE f.family_id = auth_session.family_id AND f.expires_at > @now))`,
			Args{"now": now, "old": now.Add(-keepRotated)})
		removed = int(n)
		return err
	})
	return removed, err
}
