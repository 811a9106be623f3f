package store

import (
	"context"
	"time"

	"liminal/internal/authserver"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

var (
	_ identity.Grants  = (*Store)(nil)
	_ authserver.Store = (*Store)(nil)
)

func (s *Store) putSecret(tx Tx, n identity.Secret) error {
	_, err := tx.Exec(`INSERT INTO oauth_secret (sha256, kind, key_id, user_id, client_id, redirect_uri, challenge, created_at, expires_at)
		VALUES (@hash, @kind, @key, @user, @client, @redirect, @challenge, @now, @expires)`,
		Args{
			"hash": n.Hash, "kind": n.Kind, "key": n.KeyID, "user": n.UserID, "client": n.Client, "redirect": n.Redirect, "challenge": n.Challenge,
			"now": s.now(), "expires": stamp(n.ExpiresAt),
		})
	return err
}

// CreateGrant implements identity.Grants.
func (s *Store) CreateGrant(ctx context.Context, k identity.Key, code identity.Secret, most int, forget time.Time) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := s.createKey(tx, k, code.ExpiresAt, most, forget); err != nil {
			return err
		}
		return s.putSecret(tx, code)
	})
}

// GrantSecret implements identity.Grants.
func (s *Store) GrantSecret(ctx context.Context, hash string) (n identity.Secret, k identity.Key, u identity.User, err error) {
	dest := []any{&n.Hash, &n.Kind, &n.KeyID, &n.UserID, &n.Client, &n.Redirect, &n.Challenge, when{&n.ExpiresAt}, when{&n.UsedAt}}
	err = s.look(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT o.sha256, o.kind, o.key_id, o.user_id, o.client_id, o.redirect_uri, o.challenge, o.expires_at, o.used_at, `+keyColumns+`, `+userColumns+`
			FROM oauth_secret o JOIN access_key k ON k.id = o.key_id JOIN app_user u ON u.id = k.user_id LEFT JOIN user_settings t ON t.user_id = u.id
			WHERE o.sha256 = @hash`, Args{"hash": hash}, append(append(dest, keyDest(&k)...), userDest(&u)...)...)
		if err == nil && !found {
			err = missing("code or refresh token")
		}
		return err
	})
	k.KeyID = k.ID
	return n, k, u, err
}

// Trade implements identity.Grants.
func (s *Store) Trade(ctx context.Context, used string, k identity.Key, next identity.Secret, forget time.Time) (traded bool, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		traded = false
		// Whoever ends the person's keys meanwhile waits, or is waited for.
		if err := tx.Lock(keysOf(k.UserID)); err != nil {
			return err
		}
		var stands int
		args := Args{
			"used": used, "key": k.ID, "user": k.UserID, "hash": k.Hash, "until": stamp(k.TextUntil), "expires": stamp(k.ExpiresAt), "now": s.now(), "forget": stamp(forget),
		}
		found, err := first(tx, `SELECT 1 FROM access_key WHERE id = @key AND user_id = @user AND revoked_at IS NULL`, args, &stands)
		if err != nil || !found {
			return err
		}
		n, err := tx.Exec(`UPDATE oauth_secret SET used_at = @now WHERE sha256 = @used AND key_id = @key AND used_at IS NULL`, args)
		if err != nil || n == 0 {
			return err
		}
		if _, err := tx.Exec(`UPDATE access_key SET sha256 = @hash, text_until = @until, expires_at = @expires WHERE id = @key AND user_id = @user`, args); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM oauth_secret WHERE key_id = @key AND used_at < @forget`, args); err != nil {
			return err
		}
		traded = true
		return s.putSecret(tx, next)
	})
	return traded, err
}

// PutClient implements authserver.Store.
func (s *Store) PutClient(ctx context.Context, c authserver.Client, most int, unused, old time.Time) error {
	redirects, err := encoded(c.Redirects, false)
	if err != nil {
		return err
	}
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if _, err := tx.Exec(`DELETE FROM oauth_client WHERE used_at IS NULL AND created_at < @unused`, Args{"unused": stamp(unused)}); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM oauth_client WHERE used_at < @old`, Args{"old": stamp(old)}); err != nil {
			return err
		}
		var n int
		if _, err := first(tx, `SELECT count(*) FROM oauth_client WHERE used_at IS NULL`, Args{}, &n); err != nil {
			return err
		}
		if n >= most {
			return fault.New(fault.RateLimited, "%d programs have registered here that nobody let in, which is the most at a time. Try again tomorrow.", n)
		}
		_, err := tx.Exec(`INSERT INTO oauth_client (id, name, redirects, created_at) VALUES (@id, @name, @redirects, @created)`,
			Args{"id": c.ID, "name": c.Name, "redirects": redirects, "created": s.orNow(c.CreatedAt)})
		return err
	})
}

// RegisteredClient implements authserver.Store.
func (s *Store) RegisteredClient(ctx context.Context, id string) (c authserver.Client, err error) {
	err = s.look(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT id, name, redirects, created_at FROM oauth_client WHERE id = @id`, Args{"id": id},
			&c.ID, &c.Name, decode{&c.Redirects}, when{&c.CreatedAt})
		if err == nil && !found {
			err = missing("client")
		}
		return err
	})
	return c, err
}

// UseClient implements authserver.Store.
func (s *Store) UseClient(ctx context.Context, id string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		_, err := tx.Exec(`UPDATE oauth_client SET used_at = @now WHERE id = @id`, Args{"id": id, "now": s.now()})
		return err
	})
}
