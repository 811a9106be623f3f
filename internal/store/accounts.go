package store

import (
	"context"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

var _ identity.Store = (*Store)(nil)

// CreateUser implements identity.Store.
func (s *Store) CreateUser(ctx context.Context, asked identity.User, c identity.Credential) (u identity.User, err error) {
	asked.Email = strings.ToLower(asked.Email)
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		now := s.now()
		u = asked
		u.CreatedAt = now
		if err := firstIsAdmin(tx, &u); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO app_user (id, email, handle, role, plan_tier, is_active, created_at)
			VALUES (@id, @email, @handle, @role, @plan, @active, @now)`,
			Args{"id": u.ID, "email": u.Email, "handle": u.Handle, "role": string(u.Role), "plan": u.Plan, "active": u.Active, "now": now}); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO user_auth_credential (user_id, password_hash, password_algo, created_at)
			VALUES (@id, @hash, @algorithm, @now)`,
			Args{"id": u.ID, "hash": optional(c.Hash), "algorithm": optional(c.Algorithm), "now": now}); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO user_settings (user_id, locale) VALUES (@id, @locale)`,
			Args{"id": u.ID, "locale": optional(u.Locale)})
		return err
	})
	if fault.CodeOf(err) == fault.Conflict {
		err = fault.Wrap(fault.Conflict, err, "There is an account with this email already; sign in instead.").
			With(map[string]any{"field": "email", "reason": "taken"})
	}
	return u, err
}

// firstIsAdmin completes a new account: whoever comes first owns the place.
func firstIsAdmin(tx Tx, u *identity.User) error {
	if err := tx.Lock("accounts"); err != nil {
		return err
	}
	var someone int
	if _, err := first(tx, `SELECT count(*) FROM (SELECT id FROM app_user LIMIT 1) AS u`, nil, &someone); err != nil {
		return err
	}
	switch {
	case someone == 0:
		u.Role = identity.RoleAdmin
	case u.Role == "":
		u.Role = identity.RoleUser
	}
	if u.Plan == "" {
		u.Plan = "free"
	}
	return nil
}

const userColumns = `u.id, u.email, u.handle, u.role, u.plan_tier, u.is_active, t.locale, u.created_at`

func userDest(u *identity.User) []any {
	return []any{&u.ID, &u.Email, &u.Handle, &u.Role, &u.Plan, &u.Active, text{&u.Locale}, when{&u.CreatedAt}}
}

// UserByEmail implements identity.Store.
func (s *Store) UserByEmail(ctx context.Context, email string) (u identity.User, c identity.Credential, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT `+userColumns+`, c.user_id, c.password_hash, c.password_algo
			FROM app_user u JOIN user_auth_credential c ON c.user_id = u.id
			LEFT JOIN user_settings t ON t.user_id = u.id
			WHERE u.email = @email`, Args{"email": strings.ToLower(email)},
			append(userDest(&u), &c.UserID, text{&c.Hash}, text{&c.Algorithm})...)
		if err == nil && !found {
			err = missing("account")
		}
		return err
	})
	return u, c, err
}

// Viewer is who a person is now: runs that are started without a request, by
// the reconciler, act as them. An account that is switched off is NotFound.
func (s *Store) Viewer(ctx context.Context, userID string) (v identity.Viewer, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		var u identity.User
		found, err := first(tx, `SELECT `+userColumns+` FROM app_user u
			LEFT JOIN user_settings t ON t.user_id = u.id
			WHERE u.id = @id`, Args{"id": userID}, userDest(&u)...)
		if err == nil && (!found || !u.Active) {
			err = missing("account")
		}
		v = u.Viewer("")
		return err
	})
	return v, err
}

// Accounts reports whether any account exists: a page without one offers to
// create the first.
func (s *Store) Accounts(ctx context.Context) (some bool, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		var id string
		some, err = first(tx, `SELECT id FROM app_user LIMIT 1`, nil, &id)
		return err
	})
	return some, err
}

// OpenSession implements identity.Store.
func (s *Store) OpenSession(ctx context.Context, n identity.Session) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO auth_session (id, user_id, refresh_hash, user_agent, ip_addr, created_at, expires_at)
			VALUES (@id, @user, @hash, @agent, @address, @created, @expires)`,
			Args{
				"id": n.ID, "user": n.UserID, "hash": n.RefreshHash, "agent": n.UserAgent, "address": n.Address,
				"created": s.orNow(n.CreatedAt), "expires": stamp(n.ExpiresAt),
			})
		return err
	})
}

func (s *Store) orNow(t time.Time) time.Time {
	if t.IsZero() {
		return s.now()
	}
	return stamp(t)
}

// Session implements identity.Store.
func (s *Store) Session(ctx context.Context, id string) (n identity.Session, u identity.User, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT `+userColumns+`, a.id, a.user_id, a.refresh_hash, a.user_agent, a.ip_addr, a.created_at, a.expires_at, a.revoked_at
			FROM auth_session a JOIN app_user u ON u.id = a.user_id
			LEFT JOIN user_settings t ON t.user_id = u.id
			WHERE a.id = @id`, Args{"id": id},
			append(userDest(&u), &n.ID, &n.UserID, &n.RefreshHash, &n.UserAgent, &n.Address,
				when{&n.CreatedAt}, when{&n.ExpiresAt}, when{&n.RevokedAt})...)
		if err == nil && !found {
			err = missing("session")
		}
		return err
	})
	return n, u, err
}

// RotateSession implements identity.Store. The revocation is committed
// although the caller gets an error: a token used twice may be a stolen one.
func (s *Store) RotateSession(ctx context.Context, id, oldHash, newHash string, expires time.Time) error {
	var rotated int64
	err := s.write(ctx, identity.System(), func(tx Tx) (err error) {
		now := s.now()
		rotated, err = tx.Exec(`UPDATE auth_session SET refresh_hash = @new, expires_at = @expires
			WHERE id = @id AND refresh_hash = @old AND revoked_at IS NULL AND expires_at > @now`,
			Args{"id": id, "old": oldHash, "new": newHash, "expires": stamp(expires), "now": now})
		if err != nil || rotated == 1 {
			return err
		}
		return revoke(tx, id, now)
	})
	if err == nil && rotated == 0 {
		err = fault.New(fault.Unauthorized, "This session has ended; sign in again.")
	}
	return err
}

// RevokeSession implements identity.Store.
func (s *Store) RevokeSession(ctx context.Context, id string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error { return revoke(tx, id, s.now()) })
}

func revoke(tx Tx, id string, now time.Time) error {
	_, err := tx.Exec(`UPDATE auth_session SET revoked_at = @now WHERE id = @id AND revoked_at IS NULL`,
		Args{"id": id, "now": now})
	return err
}
