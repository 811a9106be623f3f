package store

import (
	"context"
	"time"

	"liminal/internal/identity"
)

// PutPayload keeps a value that is too large for a history, under the hash of
// its content (PLAT-14). Putting it again makes it young, so that a run that
// uses a value another wrote long ago does not lose it.
func (s *Store) PutPayload(ctx context.Context, id string, value []byte) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO payload (id, value, created_at) VALUES (@id, @value, @now)
			ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at`,
			Args{"id": id, "value": value, "now": s.now()})
		return err
	})
}

// Payload returns such a value; NotFound when there is none.
func (s *Store) Payload(ctx context.Context, id string) (value []byte, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT value FROM payload WHERE id = @id`, Args{"id": id}, &value)
		if err == nil && !found {
			err = missing("value")
		}
		return err
	})
	return value, err
}

// skew is more than the clocks of two hosts differ: a value may seem older than
// the run it is of.
const skew = 10 * time.Minute

// SweepPayloads removes the values that no run can need any more, and counts
// them: those older than every run that has not ended, and than keep. Give as
// keep how long Temporal keeps a history after its end: until then somebody may
// look into it.
func (s *Store) SweepPayloads(ctx context.Context, keep time.Duration) (removed int, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		before := s.now().Add(-keep)
		var oldest time.Time
		if _, err := first(tx, `SELECT min(created_at) FROM run WHERE status IN ('queued', 'running', 'waiting')`, nil, when{&oldest}); err != nil {
			return err
		}
		if spared := oldest.Add(-skew); !oldest.IsZero() && spared.Before(before) {
			before = spared
		}
		n, err := tx.Exec(`DELETE FROM payload WHERE created_at < @before`, Args{"before": before})
		removed = int(n)
		return err
	})
	return removed, err
}
