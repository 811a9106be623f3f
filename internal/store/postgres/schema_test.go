package postgres_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/storetest"
)

const columnsQuery = `SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public'
	AND table_name NOT IN (SELECT viewname FROM pg_views WHERE schemaname = 'public')`

func openDB(t *testing.T) (*postgres.DB, storetest.Backend) {
	t.Helper()
	db := postgrestest.Open(t, postgrestest.New(t).App, postgres.Options{})
	return db, storetest.Backend{Store: store.New(db, store.Options{}), Index: postgres.NewIndex(db, postgres.IndexOptions{})}
}

// Requirements: AUTH-20 (tables and columns; unique emails and provider accounts; defaults), DATA-02, DATA-03, DATA-04, DATA-05, DATA-06, DATA-07, DATA-08, DATA-09, CHAT-04, CHAT-05
func TestSchema(t *testing.T) {
	t.Parallel()
	db, b := openDB(t)
	storetest.Schema(t, storetest.ReadColumns(t, db, columnsQuery))
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

// The tables of full text are each dialect's own.
var own = regexp.MustCompile(`^((chunk|message)_words.*|sqlite_.*)$`)

func TestBothDialectsHaveTheSameTablesAndColumns(t *testing.T) {
	t.Parallel()
	db, _ := openDB(t)
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "liminal.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	here := storetest.ReadColumns(t, db, columnsQuery)
	there := storetest.ReadColumns(t, file, `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`)
	for _, table := range slices.Sorted(maps.Keys(merged(here, there))) {
		slices.Sort(here[table])
		slices.Sort(there[table])
		if !own.MatchString(table) && !slices.Equal(here[table], there[table]) {
			t.Errorf("%s has %v in PostgreSQL and %v in SQLite", table, here[table], there[table])
		}
	}
}

func merged(a, b storetest.Columns) storetest.Columns {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// odd are the columns of a query, which must have none.
func odd(t *testing.T, db *postgres.DB, query string) {
	t.Helper()
	for table, columns := range storetest.ReadColumns(t, db, query) {
		t.Errorf("%s: %v", table, columns)
	}
}

// Requirements: DATA-01
func TestTimesAndKeysHaveTheTypesOfTheSpecification(t *testing.T) {
	t.Parallel()
	db, _ := openDB(t)
	t.Run("times know their zone", func(t *testing.T) {
		t.Parallel()
		odd(t, db, columnsQuery+` AND column_name LIKE '%\_at' AND data_type <> 'timestamp with time zone'`)
	})
	t.Run("what says when a row was made is now by default", func(t *testing.T) {
		t.Parallel()
		odd(t, db, columnsQuery+` AND column_name IN ('created_at', 'updated_at', 'applied_at') AND is_nullable = 'NO' AND column_default IS DISTINCT FROM 'now()'`)
	})
	t.Run("an id is a uuid, or counts", func(t *testing.T) {
		t.Parallel()
		odd(t, db, columnsQuery+` AND column_name = 'id' AND data_type <> 'uuid' AND NOT (is_identity = 'YES' AND data_type = 'bigint') AND table_name <> 'payload'`)
	})
	t.Run("what the specification counts, counts", func(t *testing.T) {
		t.Parallel()
		found := storetest.ReadColumns(t, db, columnsQuery+` AND is_identity = 'YES' AND data_type = 'bigint'`)
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"artifact_version", "audit_event", "config_patch", "config_patch_event", "knowledge_chunk", "preference_event"}) {
			t.Errorf("counted are %v", got)
		}
	})
}
