package store

import (
	"context"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

var _ identity.Factors = (*Store)(nil)

// Factor implements identity.Factors.
func (s *Store) Factor(ctx context.Context, userID string) (f identity.Factor, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err := factor(tx, userID, &f)
		if err == nil && !found {
			err = missing("second factor")
		}
		return err
	})
	return f, err
}

func factor(tx Tx, userID string, f *identity.Factor) (found bool, err error) {
	*f = identity.Factor{}
	return first(tx, `SELECT user_id, secret, last_step, recovery, created_at, enabled_at
		FROM user_auth_factor WHERE user_id = @user`, Args{"user": userID},
		&f.UserID, &f.Sealed, &f.LastStep, decode{&f.Recovery}, when{&f.CreatedAt}, when{&f.EnabledAt})
}

// DraftFactor implements identity.Factors.
func (s *Store) DraftFactor(ctx context.Context, f identity.Factor) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		n, err := tx.Exec(`INSERT INTO user_auth_factor (user_id, secret, created_at)
			VALUES (@user, @secret, @created)
			ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at
			WHERE user_auth_factor.enabled_at IS NULL`,
			Args{"user": f.UserID, "secret": f.Sealed, "created": s.orNow(f.CreatedAt)})
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "This account has a second factor already. Disable it before you enable another.").
				With(map[string]any{"reason": "enabled"})
		}
		return err
	})
}

// EnableFactor implements identity.Factors.
func (s *Store) EnableFactor(ctx context.Context, userID string, step int64, recovery []string) (ended []string, err error) {
	hashes, err := encoded(recovery, false)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		n, err := tx.Exec(`UPDATE user_auth_factor SET enabled_at = @now, last_step = @step, recovery = @recovery
			WHERE user_id = @user AND enabled_at IS NULL`,
			Args{"user": userID, "now": s.now(), "step": step, "recovery": hashes})
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "There is no second factor to enable. Begin again.")
		}
		if err != nil {
			return err
		}
		if err := mark(tx, userID, "mfa_enabled", true); err != nil {
			return err
		}
		if err := tx.Lock(sessionsOf(userID)); err != nil {
			return err
		}
		ended, err = revoked(tx, `user_id = @user`, Args{"user": userID}, s.now())
		return err
	})
	return ended, err
}

// SpendStep implements identity.Factors.
func (s *Store) SpendStep(ctx context.Context, userID string, step int64) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		n, err := tx.Exec(`UPDATE user_auth_factor SET last_step = @step WHERE user_id = @user AND last_step < @step`,
			Args{"user": userID, "step": step})
		if err == nil && n == 0 {
			err = fault.New(fault.Unauthorized, "This code was used already. Wait for the next one.").
				With(map[string]any{"reason": "code_used"})
		}
		return err
	})
}

// SpendRecovery implements identity.Factors.
func (s *Store) SpendRecovery(ctx context.Context, userID, hash string) (left int, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock("factor:" + userID); err != nil {
			return err
		}
		var f identity.Factor
		if _, err := factor(tx, userID, &f); err != nil {
			return err
		}
		at := slices.Index(f.Recovery, hash)
		if at < 0 || f.EnabledAt.IsZero() {
			return fault.New(fault.Unauthorized, "This recovery code is wrong, or was used already.").
				With(map[string]any{"reason": "recovery_wrong"})
		}
		left = len(f.Recovery) - 1
		return setRecovery(tx, userID, slices.Delete(f.Recovery, at, at+1))
	})
	return left, err
}

// ReplaceRecovery implements identity.Factors.
func (s *Store) ReplaceRecovery(ctx context.Context, userID string, hashes []string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock("factor:" + userID); err != nil {
			return err
		}
		return setRecovery(tx, userID, hashes)
	})
}

func setRecovery(tx Tx, userID string, hashes []string) error {
	list, err := encoded(hashes, false)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE user_auth_factor SET recovery = @recovery WHERE user_id = @user`, Args{"user": userID, "recovery": list})
	return err
}

// DropFactor implements identity.Factors.
func (s *Store) DropFactor(ctx context.Context, userID string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if _, err := tx.Exec(`DELETE FROM user_auth_factor WHERE user_id = @user`, Args{"user": userID}); err != nil {
			return err
		}
		return mark(tx, userID, "mfa_enabled", false)
	})
}

// mark sets one flag of an account's meta.
func mark(tx Tx, userID, flag string, value bool) error {
	if err := tx.Lock(accounts); err != nil {
		return err
	}
	meta := map[string]any{}
	if _, err := first(tx, `SELECT meta FROM app_user WHERE id = @id`, Args{"id": userID}, decode{&meta}); err != nil {
		return err
	}
	meta[flag] = value
	doc, err := encoded(meta, false)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE app_user SET meta = @meta WHERE id = @id`, Args{"id": userID, "meta": doc})
	return err
}
