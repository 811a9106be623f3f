package sqlite_test

import (
	"path/filepath"
	"testing"

	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/storetest"
)

// BenchmarkIntake takes in what the capture proxy kept; internal/store/postgres has the
// same.
func BenchmarkIntake(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	storetest.PalaceIntake(b, store.New(db, store.Options{}))
}
