package store

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

var _ identity.Keys = (*Store)(nil)

const keyColumns = `k.id, k.user_id, k.name, k.sha256, k.scopes, k.assistants, k.tools, k.audience, k.created_at, k.expires_at, k.last_used_at, k.revoked_at, k.text_until`

func keyDest(k *identity.Key) []any {
	return []any{
		&k.ID, &k.UserID, &k.Name, &k.Hash, decode{&k.Scopes}, decode{&k.Assistants}, decode{&k.Tools}, &k.Audience,
		when{&k.CreatedAt}, when{&k.ExpiresAt}, when{&k.UsedAt}, when{&k.RevokedAt}, when{&k.TextUntil},
	}
}

func scanKey(scan Scan) (k identity.Key, err error) {
	err = scan(keyDest(&k)...)
	k.KeyID = k.ID
	return k, err
}

// keysOf is the lock of a person's keys: how many there are decides whether
// there may be another.
func keysOf(userID string) string { return "keys:" + userID }

// CreateKey implements identity.Keys.
func (s *Store) CreateKey(ctx context.Context, k identity.Key, most int, forget time.Time) error {
	return s.write(ctx, identity.System(), func(tx Tx) error { return s.createKey(tx, k, k.ExpiresAt, most, forget) })
}

// createKey stores a key that stands until a time, which is later said to be another.
func (s *Store) createKey(tx Tx, k identity.Key, until time.Time, most int, forget time.Time) error {
	scopes, err := encoded(k.Scopes, false)
	if err != nil {
		return err
	}
	assistants, err := encoded(k.Assistants, len(k.Assistants) == 0)
	if err != nil {
		return err
	}
	tools, err := encoded(k.Tools, len(k.Tools) == 0)
	if err != nil {
		return err
	}
	if err := tx.Lock(keysOf(k.UserID)); err != nil {
		return err
	}
	args := Args{"user": k.UserID, "now": s.now(), "forget": stamp(forget)}
	if _, err := tx.Exec(`DELETE FROM access_key WHERE user_id = @user AND (expires_at < @forget OR revoked_at < @forget)`, args); err != nil {
		return err
	}
	var n int
	if _, err := first(tx, `SELECT count(*) FROM access_key WHERE user_id = @user AND revoked_at IS NULL AND expires_at > @now`, args, &n); err != nil {
		return err
	}
	if n >= most {
		return fault.New(fault.Conflict, "You have %d access keys, which is the most at a time. End one first.", n).With(map[string]any{"reason": "too_many_keys"})
	}
	if _, err := tx.Exec(`INSERT INTO access_key (id, user_id, name, sha256, scopes, assistants, tools, audience, created_at, expires_at)
		VALUES (@id, @user, @name, @hash, @scopes, @assistants, @tools, @audience, @created, @expires)`,
		Args{
			"id": k.ID, "user": k.UserID, "name": k.Name, "hash": k.Hash, "scopes": scopes, "assistants": assistants, "tools": tools,
			"audience": k.Audience, "created": s.orNow(k.CreatedAt), "expires": stamp(until),
		}); err != nil {
		return err
	}
	return s.audit(tx, k.UserID, identity.AuditEvent{What: identity.KeyMade, UserID: k.UserID, Became: map[string]any{
		"key_id": k.ID, "name": k.Name, "scopes": k.ScopesOf(), "expires_at": stamp(k.ExpiresAt).Format(time.RFC3339),
	}})
}

// Key implements identity.Keys.
func (s *Store) Key(ctx context.Context, id string) (k identity.Key, u identity.User, err error) {
	err = s.look(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT `+keyColumns+`, `+userColumns+` FROM access_key k JOIN app_user u ON u.id = k.user_id
			LEFT JOIN user_settings t ON t.user_id = u.id WHERE k.id = @id`, Args{"id": id}, append(keyDest(&k), userDest(&u)...)...)
		if err == nil && !found {
			err = missing("access key")
		}
		return err
	})
	k.KeyID = k.ID
	return k, u, err
}

// ListKeys implements identity.Keys.
func (s *Store) ListKeys(ctx context.Context, userID string) (list []identity.Key, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT `+keyColumns+` FROM access_key k WHERE k.user_id = @user ORDER BY k.created_at DESC, k.id DESC`,
			Args{"user": userID}, scanKey)
		return err
	})
	return list, err
}

// RevokeKey implements identity.Keys.
func (s *Store) RevokeKey(ctx context.Context, userID, id string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		var name string
		args := Args{"id": id, "user": userID, "now": s.now()}
		found, err := first(tx, `SELECT name FROM access_key WHERE id = @id AND user_id = @user`, args, &name)
		if err == nil && !found {
			err = missing("access key")
		}
		if err != nil {
			return err
		}
		n, err := tx.Exec(`UPDATE access_key SET revoked_at = @now WHERE id = @id AND user_id = @user AND revoked_at IS NULL`, args)
		if err != nil || n == 0 {
			return err
		}
		return s.audit(tx, userID, identity.AuditEvent{What: identity.KeyEnded, UserID: userID, Was: map[string]any{"key_id": id, "name": name}})
	})
}

// RevokeKeys implements identity.Keys.
func (s *Store) RevokeKeys(ctx context.Context, by, userID string) (ended []string, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		ended = nil
		if err := tx.Lock(keysOf(userID)); err != nil {
			return err
		}
		args := Args{"user": userID, "now": s.now()}
		if ended, err = all(tx, `SELECT id FROM access_key WHERE user_id = @user AND revoked_at IS NULL AND expires_at > @now`, args, func(scan Scan) (id string, err error) {
			err = scan(&id)
			return id, err
		}); err != nil || len(ended) == 0 {
			return err
		}
		if _, err := tx.Exec(`UPDATE access_key SET revoked_at = @now WHERE user_id = @user AND revoked_at IS NULL`, args); err != nil {
			return err
		}
		return s.audit(tx, by, identity.AuditEvent{What: identity.KeyEnded, UserID: userID, Was: map[string]any{"keys": len(ended)}})
	})
	return ended, err
}

// TouchKey implements identity.Keys.
func (s *Store) TouchKey(ctx context.Context, id string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		_, err := tx.Exec(`UPDATE access_key SET last_used_at = @now WHERE id = @id`, Args{"id": id, "now": s.now()})
		return err
	})
}

// Granted is a viewer held to the grant of one of their access keys: for runs
// that are started without a request. A key that is gone is NotFound; one that
// has ended is a grant all the same, whose run is refused what it does (see
// KeyStands).
func (s *Store) Granted(ctx context.Context, v identity.Viewer, keyID string) (identity.Viewer, error) {
	if keyID == "" {
		return v.With(nil), nil
	}
	k, _, err := s.Key(ctx, keyID)
	if err == nil && k.UserID != v.UserID {
		err = missing("access key")
	}
	if err != nil {
		return identity.Viewer{}, err
	}
	return v.With(&k.Grant), nil
}

// KeyStands is Forbidden once an access key was revoked, or is not there any
// more. That it has run out since does not end what it began.
func (s *Store) KeyStands(ctx context.Context, keyID string) error {
	k, u, err := s.Key(ctx, keyID)
	if fault.CodeOf(err) == fault.NotFound || err == nil && (!k.RevokedAt.IsZero() || !u.Active) {
		return fault.New(fault.Forbidden, "The access key this run was begun with was ended, so the run does nothing more. Begin it again with another key, or signed in.").
			With(map[string]any{"reason": "key_revoked"})
	}
	return err
}
