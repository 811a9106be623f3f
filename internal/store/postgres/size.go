package postgres

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/store"
)

// Size is how many bytes the database takes, indexes included.
func (db *DB) Size(ctx context.Context) (size int64, err error) {
	err = db.Read(ctx, identity.System(), func(tx store.Tx) error {
		return tx.Query(`SELECT pg_database_size(current_database())`, nil,
			func(scan store.Scan) error { return scan(&size) })
	})
	return size, err
}
