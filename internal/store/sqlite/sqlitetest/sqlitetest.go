// Package sqlitetest opens database files for tests: each a copy of one that has
// had the migrations.
//
// It may import sqlite; only tests import it.
package sqlitetest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"liminal/internal/store/sqlite"
)

// migrated is a file with all migrations and nothing else, made once: they took
// most of the time of a small test, the more so under the race detector.
var migrated = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "sqlitetest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "liminal.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil { // which folds the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(path)
})

// File returns the path of a new database file of the test's own, which holds
// what sqlite.Open would make there. It goes with the test.
func File(t testing.TB) string {
	t.Helper()
	file, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "liminal.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Open opens a new File with these options; a failure ends the test. The
// database is closed with the test, if it was not before.
func Open(t testing.TB, o sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), File(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
