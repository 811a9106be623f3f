package store

import (
	"context"
	"strings"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ run.Blobs = (*Store)(nil)

const blobScheme = "blob:"

// PutBlob implements run.Blobs. The same key of the same run is the same
// reference; a step that ran twice leaves the value of its last run.
func (s *Store) PutBlob(ctx context.Context, v identity.Viewer, runID, key string, value []byte) (string, error) {
	name := id.Derive(runID, "blob", key)
	if value == nil {
		value = []byte{} // nil would be NULL
	}
	err := s.write(ctx, v, func(tx Tx) error {
		r, err := visible(tx, v, runID)
		if err != nil {
			return err
		}
		kept := value
		if id.Unkept(runID) {
			w, err := runVault(tx, r.UserID, runID)
			if err != nil {
				return err
			}
			if w == nil {
				return missing("key")
			}
			kept = w.Seal(name, string(value))
		}
		_, err = tx.Exec(`INSERT INTO blob (id, run_id, user_id, value, created_at) VALUES (@id, @run, @user, @value, @now)
			ON CONFLICT (id) DO UPDATE SET value = excluded.value`,
			Args{"id": name, "run": runID, "user": r.UserID, "value": kept, "now": s.now()})
		return err
	})
	return blobScheme + name, err
}

// Blob implements run.Blobs.
func (s *Store) Blob(ctx context.Context, v identity.Viewer, ref string) (value []byte, err error) {
	name, ok := strings.CutPrefix(ref, blobScheme)
	if !ok {
		return nil, missing("value")
	}
	err = s.read(ctx, v, func(tx Tx) error {
		var runID, user string
		found, err := first(tx, `SELECT value, run_id, user_id FROM blob WHERE id = @id AND (user_id = @user OR @system)`,
			Args{"id": name, "user": v.UserID, "system": v.IsSystem()}, &value, &runID, &user)
		if err == nil && !found {
			err = missing("value")
		}
		if err != nil || !id.Unkept(runID) {
			return err
		}
		w, err := runVault(tx, user, runID)
		if err != nil {
			return err
		}
		if w == nil {
			return missing("value")
		}
		opened, err := w.Open(name, value)
		value = []byte(opened)
		return err
	})
	return value, err
}
