package sqlite_test

import (
	"path/filepath"
	"testing"

	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/storetest"
)

func openDB(t *testing.T) (*sqlite.DB, storetest.Backend) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "liminal.db"), sqlite.Unsynced())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, storetest.Backend{Store: store.New(db, store.Options{}), Index: sqlite.NewIndex(db, sqlite.IndexOptions{})}
}

// Requirements: AUTH-20 (tables and columns; unique emails and provider accounts; defaults), DATA-02, DATA-03, DATA-04, DATA-05, DATA-06, DATA-07, DATA-08, DATA-09, CHAT-04, CHAT-05
func TestSchema(t *testing.T) {
	t.Parallel()
	db, b := openDB(t)
	storetest.Schema(t, storetest.ReadColumns(t, db, `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`))
	storetest.Rules(t, db, b)
}

// Requirements: ROUTE-13
func TestRunsKeepTheAdaptersTheyFollowed(t *testing.T) {
	t.Parallel()
	db, b := openDB(t)
	storetest.FollowedRuns(t, db, b)
}

// Requirements: DATA-01
func TestWhatGoesWithAnAccount(t *testing.T) {
	t.Parallel()
	db, b := openDB(t)
	storetest.Cascades(t, db, b)
}
