package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"liminal/internal/data"
	"liminal/internal/data/datatest"
	"liminal/internal/store/sqlite"
)

func foreignPlace(t *testing.T) datatest.Place {
	path := filepath.Join(t.TempDir(), "data.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	change := func(t testing.TB, text string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range datatest.Tables {
		change(t, text)
	}
	return datatest.Place{
		Name: data.SQLite, Driver: sqlite.Foreign{}, URL: path, Change: change,
		Slow: "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000000) select count(*) as id from n",
	}
}

// Requirements: GRND-13, GRND-14 (the result)
func TestForeignFilesAreReadWithinTheWalls(t *testing.T) {
	t.Parallel()
	datatest.Run(t, foreignPlace)
}

// The file is somebody else's: not even its journal is touched.
func TestAForeignFileCannotBeWrittenTo(t *testing.T) {
	t.Parallel()
	p := foreignPlace(t)
	db, err := sql.Open("sqlite", "file:"+p.URL+"?mode=ro&_pragma=query_only(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "DELETE FROM projects"); err == nil {
		t.Fatal("what the driver opens a file with lets it be written to")
	}
	read, err := sqlite.Foreign{}.Open(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	err = read.Read(t.Context(), time.Minute, nil, func(r data.Reader) error {
		rows, err := r.Query("select query_only from pragma_query_only", nil, 1)
		if err == nil && rows.Values[0][0] != int64(1) {
			t.Errorf("query_only is %v", rows.Values[0][0])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
