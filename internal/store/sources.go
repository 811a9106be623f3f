package store

import (
	"context"

	"liminal/internal/identity"
)

// sealedName keeps secrets that administrators set apart from those the program
// made itself.
const sealedName = "sealed "

// Sealed gives what was kept under a name, as it was sealed; NotFound for nothing.
func (s *Store) Sealed(ctx context.Context, name string) (sealed []byte, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT value FROM secret WHERE name = @name`, Args{"name": sealedName + name}, &sealed)
		if err == nil && !found {
			err = missing("secret")
		}
		return err
	})
	return sealed, err
}

// Seal keeps what an administrator sealed under a name; nothing forgets it.
func (s *Store) Seal(ctx context.Context, name string, sealed []byte) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if len(sealed) == 0 {
			_, err := tx.Exec(`DELETE FROM secret WHERE name = @name`, Args{"name": sealedName + name})
			return err
		}
		_, err := tx.Exec(`INSERT INTO secret (name, value, created_at) VALUES (@name, @value, @now)
			ON CONFLICT (name) DO UPDATE SET value = @value, created_at = @now`,
			Args{"name": sealedName + name, "value": sealed, "now": s.now()})
		return err
	})
}

// KnownAs tells who a person is: their address as long as it is theirs, and
// whether theirs is the first account there was.
func (s *Store) KnownAs(ctx context.Context, userID string) (u identity.User, earliest bool, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		if u, err = user(tx, userID); err != nil {
			return err
		}
		var id string
		_, err := first(tx, `SELECT id FROM app_user WHERE id <> @steward ORDER BY id LIMIT 1`, Args{"steward": identity.SystemAccount}, &id)
		earliest = id == userID
		return err
	})
	return u, earliest, err
}
