package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/storetest"
)

// The whole folder of the database is looked through, with the write-ahead log.
//
// Requirements: PAL-15 (erase), PAL-26 (at rest), SAFE-08
func TestWhatAgentsSaidIsNotOnTheDiskWhenItWasErasedOrSealed(t *testing.T) {
	t.Parallel()
	dir := ""
	storetest.PalaceAtRest(t, func() *store.Store {
		dir = t.TempDir()
		db, err := sqlite.Open(t.Context(), filepath.Join(dir, "liminal.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return store.New(db, store.Options{})
	}, func() (all []byte) {
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	})
}
