package sqlite

import (
	"context"
	"fmt"
	"os"

	"liminal/internal/id"
	"liminal/internal/store"
	"liminal/migrations"
)

// migrate applies what is missing, each file in a transaction with its row of
// the ledger. Of several programs starting at once one applies and the others
// find it done: the plan is made again behind the write lock.
func (db *DB) migrate(ctx context.Context, c *conn) error {
	have, err := migrations.Of(migrations.SQLite)
	if err != nil {
		return err
	}
	pending, fresh, err := planned(ctx, c, have)
	if err != nil || len(pending) == 0 {
		return err
	}
	if !fresh {
		if err := db.copyBefore(ctx, c, pending[0]); err != nil {
			return err
		}
	}
	for range pending {
		if err := applyNext(ctx, c, have); err != nil {
			return err
		}
	}
	return nil
}

// planned is what is pending, and whether the file has no ledger yet.
func planned(ctx context.Context, c *conn, have []migrations.Migration) (pending []migrations.Migration, fresh bool, err error) {
	err = transact(ctx, c, "BEGIN", func(t store.Tx) error {
		applied, known, err := ledger(t)
		if err != nil {
			return err
		}
		fresh = !known
		pending, err = migrations.Plan(have, applied)
		return err
	})
	return pending, fresh, err
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

// applyNext applies the first pending file, if there still is one.
func applyNext(ctx context.Context, c *conn, have []migrations.Migration) error {
	return transact(ctx, c, "BEGIN IMMEDIATE", func(t store.Tx) error {
		if _, err := t.Exec(`CREATE TABLE IF NOT EXISTS migration (
			number INTEGER PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`, nil); err != nil {
			return err
		}
		applied, _, err := ledger(t)
		if err != nil {
			return err
		}
		pending, err := migrations.Plan(have, applied)
		if err != nil || len(pending) == 0 {
			return err
		}
		m := pending[0]
		if _, err := c.sql.ExecContext(ctx, m.SQL); err != nil { // a script: not one statement to prepare
			return fmt.Errorf("migration %04d_%s: %w", m.Number, m.Name, err)
		}
		_, err = t.Exec(`INSERT INTO migration (number, name, sum, applied_at) VALUES (@number, @name, @sum, unixepoch() * 1000000)`,
			store.Args{"number": m.Number, "name": m.Name, "sum": m.Sum})
		return err
	})
}

// copyBefore keeps the file as it was: FILE.before-0003. The copy is made
// under another name, so a killed program leaves no half copy behind.
func (db *DB) copyBefore(ctx context.Context, c *conn, m migrations.Migration) error {
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
