package store

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

var _ quota.Store = (*Store)(nil)

// claim is the row of an idempotency key. Each key has another under anyRoute,
// whose fingerprint is the route it is used at.
type claim struct {
	fingerprint, holder string
	status              int
	body                []byte
	expires             time.Time
}

// anyRoute is no route: a key means one request of one route.
const anyRoute = ""

// ClaimKey implements quota.Store.
func (s *Store) ClaimKey(ctx context.Context, v identity.Viewer, k quota.Key, lease time.Duration) (reply *quota.Reply, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		now := s.now()
		if err := tx.Lock("key:" + v.UserID + ":" + k.Key); err != nil {
			return err
		}
		if err := forgetKey(tx, v, k, now); err != nil {
			return err
		}
		used, elsewhere, err := claimed(tx, v, anyRoute, k.Key)
		if err != nil {
			return err
		}
		held, known, err := claimed(tx, v, k.Route, k.Key)
		if err != nil {
			return err
		}
		switch {
		case elsewhere && used.fingerprint != k.Route:
			return fault.New(fault.Invalid, "This idempotency key was used for another endpoint, %s. Use a new key.", used.fingerprint)
		case known && held.fingerprint != k.Fingerprint:
			return fault.New(fault.Invalid, "This idempotency key was used for another request. Use a new key.")
		case known && held.status != 0:
			reply = &quota.Reply{Status: held.status, Body: held.body}
			return nil
		case known && held.holder != k.Holder:
			return stillRunning(held.expires.Sub(now))
		}
		return putKey(tx, v, k, now, now.Add(lease))
	})
	return reply, err
}

// stillRunning refuses a key that another holds for the time that is left of its
// lease. Who died with it extends it no more, so that the key is free then.
func stillRunning(left time.Duration) error {
	seconds := max(1, int((left+time.Second-1)/time.Second))
	return fault.New(fault.Conflict, "The first request with this idempotency key is still running, or was cut off. Try again in %d s.", seconds).
		With(map[string]any{"reason": "running", "retry_after": seconds})
}

// forgetKey drops a key that has expired, and no other: rows that several
// transactions want to delete at once are the sweep's.
func forgetKey(tx Tx, v identity.Viewer, k quota.Key, now time.Time) error {
	_, err := tx.Exec(`DELETE FROM idempotency WHERE user_id = @user AND route IN (@route, @any) AND key = @key AND expires_at <= @now`,
		Args{"user": v.UserID, "route": k.Route, "any": anyRoute, "key": k.Key, "now": now})
	return err
}

// SweepKeys drops everybody's keys that have expired and reports how many, so
// that no reply is kept longer than promised (API-05).
func (s *Store) SweepKeys(ctx context.Context) (n int, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		removed, err := tx.Exec(`DELETE FROM idempotency WHERE expires_at <= @now`, Args{"now": s.now()})
		n = int(removed)
		return err
	})
	return n, err
}

// ReleaseClaims forgets everybody's claims without a reply and reports how many
// keys are free by it. It is for the start of a process that has the store to
// itself: whoever held them has ended, and their leases with them. Replies stay.
func (s *Store) ReleaseClaims(ctx context.Context) (n int, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		// The row that says where a key is used never has a status, and stays with a reply.
		args := Args{"any": anyRoute, "now": s.now()} // expired ones are free
		if _, err := tx.Exec(`DELETE FROM idempotency WHERE route = @any AND (user_id, key) IN (
			SELECT user_id, key FROM idempotency WHERE expires_at > @now AND status = 0 AND route <> @any)`, args); err != nil {
			return err
		}
		released, err := tx.Exec(`DELETE FROM idempotency WHERE expires_at > @now AND status = 0 AND route <> @any`, args)
		n = int(released)
		return err
	})
	return n, err
}

func claimed(tx Tx, v identity.Viewer, route, key string) (c claim, known bool, err error) {
	known, err = first(tx, `SELECT body_hash, holder, status, body, expires_at FROM idempotency
		WHERE user_id = @user AND route = @route AND key = @key`,
		Args{"user": v.UserID, "route": route, "key": key}, &c.fingerprint, &c.holder, &c.status, &c.body, when{&c.expires})
	return c, known, err
}

// putKey writes the key at its route, and where it is used.
func putKey(tx Tx, v identity.Viewer, k quota.Key, now, expires time.Time) error {
	for route, hash := range map[string]string{k.Route: k.Fingerprint, anyRoute: k.Route} {
		_, err := tx.Exec(`INSERT INTO idempotency (user_id, route, key, body_hash, holder, status, created_at, expires_at)
			VALUES (@user, @route, @key, @hash, @holder, 0, @now, @expires)
			ON CONFLICT (user_id, route, key) DO UPDATE SET expires_at = excluded.expires_at`,
			Args{"user": v.UserID, "route": route, "key": k.Key, "hash": hash, "holder": k.Holder, "now": now, "expires": expires})
		if err != nil {
			return err
		}
	}
	return nil
}

// KeepReply implements quota.Store.
func (s *Store) KeepReply(ctx context.Context, v identity.Viewer, k quota.Key, r quota.Reply, keep time.Duration) error {
	return s.write(ctx, v, func(tx Tx) error {
		expires := s.now().Add(keep)
		if _, err := tx.Exec(`UPDATE idempotency SET expires_at = @expires
			WHERE user_id = @user AND route = @any AND key = @key AND holder = @holder`,
			Args{"user": v.UserID, "any": anyRoute, "key": k.Key, "holder": k.Holder, "expires": expires}); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE idempotency SET status = @status, body = @body, expires_at = @expires
			WHERE user_id = @user AND route = @route AND key = @key AND holder = @holder`,
			Args{
				"user": v.UserID, "route": k.Route, "key": k.Key, "holder": k.Holder,
				"status": r.Status, "body": r.Body, "expires": expires,
			})
		return err
	})
}

// ReleaseKey implements quota.Store.
func (s *Store) ReleaseKey(ctx context.Context, v identity.Viewer, k quota.Key) error {
	return s.write(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`DELETE FROM idempotency
			WHERE user_id = @user AND route IN (@route, @any) AND key = @key AND holder = @holder AND status = 0`,
			Args{"user": v.UserID, "route": k.Route, "any": anyRoute, "key": k.Key, "holder": k.Holder})
		return err
	})
}
