package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"liminal/internal/id"
	"liminal/internal/store"
	"liminal/migrations"
)

// migrate applies what is missing in one transaction: the file is at the old
// version or at the new one, never between. Of several programs starting at
// once one applies and the others, behind the write lock, find it done.
func (db *DB) migrate(ctx context.Context, c *conn, have []migrations.Migration) error {
	var pending []migrations.Migration
	err := transact(ctx, c, "BEGIN", func(t store.Tx) (err error) {
		pending, _, err = planned(t, have)
		return err
	})
	if err != nil || len(pending) == 0 {
		return err
	}
	return transact(ctx, c, "BEGIN IMMEDIATE", func(t store.Tx) error {
		pending, fresh, err := planned(t, have)
		if err != nil || len(pending) == 0 {
			return err
		}
		if !fresh {
			if err := db.copyBefore(ctx, pending[0]); err != nil {
				return err
			}
		}
		return apply(ctx, c, t, pending)
	})
}

// planned is what is pending, and whether the file has no ledger yet.
func planned(t store.Tx, have []migrations.Migration) (pending []migrations.Migration, fresh bool, err error) {
	applied, known, err := ledger(t)
	if err != nil {
		return nil, false, err
	}
	if err := foreign(t, !known); err != nil {
		return nil, false, err
	}
	pending, err = migrations.Plan(have, applied)
	return pending, !known, err
}

// foreign refuses a file with tables and no ledger: it is not ours to change.
func foreign(t store.Tx, fresh bool) error {
	tables := 0
	err := t.Query(`SELECT count(*) FROM sqlite_master WHERE type = 'table'`, nil, func(scan store.Scan) error { return scan(&tables) })
	if err == nil && fresh && tables > 0 {
		err = errors.New("it holds tables of another program; name a file of Liminal's own")
	}
	return err
}

// ledger reads what the file has had; known is false when it has no ledger.
func ledger(t store.Tx) (applied []migrations.Entry, known bool, err error) {
	err = t.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'migration'`, nil, func(scan store.Scan) error {
		known = true
		return nil
	})
	if err != nil || !known {
		return nil, known, err
	}
	err = t.Query(`SELECT number, name, sum FROM migration ORDER BY number`, nil, func(scan store.Scan) error {
		var e migrations.Entry
		err := scan(&e.Number, &e.Name, &e.Sum)
		applied = append(applied, e)
		return err
	})
	return applied, true, err
}

// apply runs the files and writes each into the ledger.
func apply(ctx context.Context, c *conn, t store.Tx, pending []migrations.Migration) error {
	if _, err := t.Exec(`CREATE TABLE IF NOT EXISTS migration (
		number INTEGER PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`, nil); err != nil {
		return err
	}
	for _, m := range pending {
		if _, err := c.sql.ExecContext(ctx, m.SQL); err != nil { // a script: not one statement to prepare
			return fmt.Errorf("migration %04d_%s: %w", m.Number, m.Name, err)
		}
		if _, err := t.Exec(`INSERT INTO migration (number, name, sum, applied_at) VALUES (@number, @name, @sum, unixepoch() * 1000000)`,
			store.Args{"number": m.Number, "name": m.Name, "sum": m.Sum}); err != nil {
			return err
		}
	}
	return nil
}

// copyBefore keeps the file as it was: FILE.before-0003. It reads on a
// connection of its own, while the caller's holds the write lock, so nothing
// can change between the copy and the migration. The copy is made under
// another name, so a killed program leaves no half copy behind.
func (db *DB) copyBefore(ctx context.Context, m migrations.Migration) (err error) {
	c, err := newConn(ctx, db.pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	kept := fmt.Sprintf("%s.before-%04d", db.path, m.Number)
	unfinished := kept + "." + id.New()
	if _, err := c.sql.ExecContext(ctx, "VACUUM INTO ?", unfinished); err != nil {
		return fmt.Errorf("the copy before migration %04d_%s cannot be made: %w", m.Number, m.Name, err)
	}
	if err := os.Rename(unfinished, kept); err != nil {
		return err
	}
	db.logger.InfoContext(ctx, "copied the database before a migration", "copy", kept, "migration", m.Number)
	return nil
}
