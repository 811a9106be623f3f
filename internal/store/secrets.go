package store

import (
	"context"
	"crypto/rand"
	"time"

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

// Since is when something of a name was first asked for, for good: the time of
// the first call, or, where runs were there before it, so much later.
func (s *Store) Since(ctx context.Context, name string, grace time.Duration) (since time.Time, err error) {
	now := s.now()
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		var some, at int64
		before, err := first(tx, `SELECT 1 FROM run WHERE id > @none LIMIT 1`, Args{"none": nobody}, &some)
		if err != nil {
			return err
		}
		if !before {
			grace = 0
		}
		if _, err := tx.Exec(`INSERT INTO counter (name, value) VALUES (@name, @at) ON CONFLICT (name) DO NOTHING`,
			Args{"name": "since " + name, "at": now.Add(grace).UnixMilli()}); err != nil {
			return err
		}
		_, err = first(tx, `SELECT value FROM counter WHERE name = @name`, Args{"name": "since " + name}, &at)
		since = time.UnixMilli(at)
		return err
	})
	return since, err
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
