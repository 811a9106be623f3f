package store

import (
	"context"
	"crypto/rand"

	"liminal/internal/identity"
)

// secretLength is the length of a secret in bytes: a key of HMAC-SHA256.
const secretLength = 32

// Secret returns the secret of a name, made at random on its first use: what
// signs tokens and links survives a restart without configuration.
func (s *Store) Secret(ctx context.Context, name string) (secret []byte, err error) {
	fresh := make([]byte, secretLength)
	if _, err := rand.Read(fresh); err != nil {
		return nil, err
	}
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if _, err := tx.Exec(`INSERT INTO secret (name, value, created_at) VALUES (@name, @value, @now) ON CONFLICT (name) DO NOTHING`,
			Args{"name": name, "value": fresh, "now": s.now()}); err != nil {
			return err
		}
		_, err := first(tx, `SELECT value FROM secret WHERE name = @name`, Args{"name": name}, &secret)
		return err
	})
	return secret, err
}

// NextGeneration counts the starts of the program, from 1: the stream log's
// numbers grow over restarts because of it.
func (s *Store) NextGeneration(ctx context.Context) (n int64, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if _, err := tx.Exec(`INSERT INTO counter (name, value) VALUES ('generation', 1)
			ON CONFLICT (name) DO UPDATE SET value = counter.value + 1`, nil); err != nil {
			return err
		}
		_, err := first(tx, `SELECT value FROM counter WHERE name = 'generation'`, nil, &n)
		return err
	})
	return n, err
}
