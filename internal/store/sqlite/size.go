package sqlite

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/store"
)

// Size is how many bytes the database takes, indexes included.
func (db *DB) Size(ctx context.Context) (size int64, err error) {
	err = db.Read(ctx, identity.System(), func(tx store.Tx) error {
		return tx.Query(`SELECT (p.page_count - f.freelist_count) * s.page_size
			FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS s`, nil,
			func(scan store.Scan) error { return scan(&size) })
	})
	return size, err
}
