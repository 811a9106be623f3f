package store

import (
	"context"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

var _ identity.Providers = (*Store)(nil)

// LinkedUser implements identity.Providers.
func (s *Store) LinkedUser(ctx context.Context, provider, uid string) (userID string, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err := linked(tx, provider, uid, &userID)
		if err == nil && !found {
			err = missing("account")
		}
		return err
	})
	return userID, err
}

func linked(tx Tx, provider, uid string, userID *string) (found bool, err error) {
	return first(tx, `SELECT user_id FROM user_auth_provider WHERE provider = @provider AND provider_uid = @uid`,
		Args{"provider": provider, "uid": uid}, userID)
}

// CreateLinked implements identity.Providers.
func (s *Store) CreateLinked(ctx context.Context, asked identity.User, e identity.External) (u identity.User, err error) {
	asked.Email = strings.ToLower(asked.Email)
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		u = asked
		u.CreatedAt = s.now()
		if err := firstIsAdmin(tx, &u); err != nil {
			return err
		}
		if err := insertUser(tx, u, identity.Credential{}); err != nil {
			return err
		}
		if e.EmailVerified {
			if err := mark(tx, u.ID, "email_verified", true); err != nil {
				return err
			}
		}
		return s.link(tx, u.ID, e)
	})
	return u, err
}

// Links implements identity.Providers.
func (s *Store) Links(ctx context.Context, userID string) (list []identity.Link, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT provider, created_at, meta FROM user_auth_provider WHERE user_id = @user ORDER BY created_at, id`,
			Args{"user": userID}, func(scan Scan) (l identity.Link, err error) {
				var meta struct{ Email string }
				err = scan(&l.Provider, when{&l.LinkedAt}, decode{&meta})
				l.Email = meta.Email
				return l, err
			})
		return err
	})
	return list, err
}

// Unlink implements identity.Providers.
func (s *Store) Unlink(ctx context.Context, userID, provider string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock("links:" + userID); err != nil {
			return err
		}
		n, err := tx.Exec(`DELETE FROM user_auth_provider WHERE user_id = @user AND provider = @provider`,
			Args{"user": userID, "provider": provider})
		if err == nil && n == 0 {
			err = missing("link")
		}
		if err != nil {
			return err
		}
		return wayIn(tx, userID)
	})
}

// wayIn is a Conflict when nothing is left to sign in to an account with.
func wayIn(tx Tx, userID string) error {
	var id string
	found, err := first(tx, `SELECT user_id FROM user_auth_provider WHERE user_id = @user LIMIT 1`, Args{"user": userID}, &id)
	if err != nil || found {
		return err
	}
	found, err = first(tx, `SELECT user_id FROM user_auth_credential WHERE user_id = @user AND password_hash IS NOT NULL`, Args{"user": userID}, &id)
	if err == nil && !found {
		err = fault.New(fault.Conflict, "This is the only way to sign in to this account. Set a password first.").
			With(map[string]any{"reason": "last_way_in"})
	}
	return err
}

// EmailProven implements identity.Providers.
func (s *Store) EmailProven(ctx context.Context, userID string) (proven bool, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		var meta struct {
			Verified bool `json:"email_verified"`
		}
		_, err := first(tx, `SELECT meta FROM app_user WHERE id = @id`, Args{"id": userID}, decode{&meta})
		proven = meta.Verified
		return err
	})
	return proven, err
}

// LinkProvider implements identity.Providers.
func (s *Store) LinkProvider(ctx context.Context, userID string, e identity.External) error {
	return s.write(ctx, identity.System(), func(tx Tx) error { return s.link(tx, userID, e) })
}

func (s *Store) link(tx Tx, userID string, e identity.External) error {
	meta, err := encoded(map[string]any{"email": e.Email, "email_verified": e.EmailVerified}, e.Email == "")
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO user_auth_provider (id, user_id, provider, provider_uid, created_at, meta)
		VALUES (@id, @user, @provider, @uid, @now, @meta) ON CONFLICT (provider, provider_uid) DO NOTHING`,
		Args{"id": id.New(), "user": userID, "provider": e.Provider, "uid": e.UID, "now": s.now(), "meta": meta}); err != nil {
		return err
	}
	var owner string
	if _, err := linked(tx, e.Provider, e.UID, &owner); err != nil {
		return err
	}
	if owner != userID {
		return fault.New(fault.Conflict, "This account of the provider signs in to another account here.").
			With(map[string]any{"field": "provider_uid", "reason": "taken"})
	}
	return nil
}
