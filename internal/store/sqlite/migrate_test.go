package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/migrations"
)

var quietly = Options{Logger: slog.New(slog.DiscardHandler)}

// program is the migrations of a program that grew over n versions.
func program(t *testing.T, n int) []migrations.Migration {
	t.Helper()
	dir := fstest.MapFS{}
	for name, text := range map[string]string{
		"0001_one.sql":   "CREATE TABLE one (x TEXT) STRICT; INSERT INTO one VALUES ('first');",
		"0002_two.sql":   "CREATE TABLE two (x TEXT) STRICT;",
		"0003_three.sql": "DROP TABLE one;",
	} {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	all, err := migrations.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all[:n]
}

func openAt(t *testing.T, path string, have []migrations.Migration) *DB {
	t.Helper()
	db, err := open(t.Context(), path, quietly, have)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func has(t *testing.T, db *DB, table string) bool {
	t.Helper()
	n := 0
	err := db.Read(t.Context(), identity.System(), func(tx store.Tx) error {
		return tx.Query(`SELECT count(*) FROM sqlite_master WHERE name = @table`, store.Args{"table": table},
			func(scan store.Scan) error { return scan(&n) })
	})
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func TestAFileIsCopiedBeforeItIsMigrated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "strange?name%20.db")
	openAt(t, path, program(t, 2)).Close()
	if copies, _ := filepath.Glob(path + ".before*"); len(copies) != 0 {
		t.Errorf("a new file was copied: %v", copies)
	}
	db := openAt(t, path, program(t, 3))
	if has(t, db, "one") || !has(t, db, "two") {
		t.Error("the third migration was not applied")
	}
	db.Close()
	openAt(t, path, program(t, 3)).Close()
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
		t.Errorf("the folder holds %v, want the file and its copy", entries)
	}
	before := openAt(t, path+".before-0003", program(t, 2))
	if !has(t, before, "one") {
		t.Error("the copy is not the file as it was before")
	}
}

func TestAFailedMigrationLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	openAt(t, path, program(t, 1)).Close()
	broken := program(t, 3)
	broken[1].SQL = "CREATE TABLE two (x TEXT) STRICT; CREATE TABLE two (x TEXT);"
	if _, err := open(t.Context(), path, quietly, broken); err == nil || !strings.Contains(err.Error(), "0002_two") {
		t.Errorf("got %v, want an error naming the file", err)
	}
	if db := openAt(t, path, program(t, 1)); has(t, db, "two") {
		t.Error("half a migration stayed")
	}
}

func TestAnotherHistoryOrProgramsFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	openAt(t, path, program(t, 3)).Close()
	if _, err := open(t.Context(), path, quietly, program(t, 2)); err == nil || !strings.Contains(err.Error(), "newer than this program") {
		t.Errorf("an older program: %v", err)
	}
	edited := program(t, 3)
	edited[0].Sum = "0000"
	if _, err := open(t.Context(), path, quietly, edited); err == nil || !strings.Contains(err.Error(), "was edited") {
		t.Errorf("an edited file: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other")
	db := openAt(t, other, nil)
	err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		_, err := tx.Exec("CREATE TABLE theirs (x)", nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := open(t.Context(), other, quietly, program(t, 1)); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("a file of another program: %v", err)
	}
	if err := os.WriteFile(other, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t.Context(), other, quietly, program(t, 1)); err == nil {
		t.Error("a file that is no database was opened")
	}
}

func TestProgramsMayStartAtOnce(t *testing.T) {
	t.Parallel()
	for _, existing := range []int{0, 1} {
		path := filepath.Join(t.TempDir(), "db")
		if existing > 0 {
			openAt(t, path, program(t, existing)).Close()
		}
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				db, err := open(t.Context(), path, quietly, program(t, 3))
				if err == nil {
					err = db.Close()
				}
				errs[i] = err
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Errorf("starting from version %d: %v", existing, err)
		}
	}
}

func TestAfterCloseNothingIsReadOrWritten(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), "db"), program(t, 1))
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	none := func(store.Tx) error { return nil }
	if err := db.Read(t.Context(), identity.System(), none); !errors.Is(err, errClosed) {
		t.Errorf("reading: %v", err)
	}
	if err := db.Write(t.Context(), identity.System(), none); !errors.Is(err, errClosed) {
		t.Errorf("writing: %v", err)
	}
}

func TestATransactionIsAllOrNothing(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), "db"), program(t, 1))
	wrong := errors.New("wrong")
	insert := func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO one VALUES (@x)`, store.Args{"x": "second"})
		return err
	}
	fail := func(tx store.Tx) error { return errors.Join(insert(tx), wrong) }
	if err := db.Write(t.Context(), identity.System(), fail); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = db.Write(t.Context(), identity.System(), func(tx store.Tx) error { _ = insert(tx); panic("worse") })
	}()
	if err := db.Read(t.Context(), identity.System(), insert); err == nil {
		t.Error("a read wrote")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := db.Write(ctx, identity.System(), func(tx store.Tx) error { cancel(); return insert(tx) }); err != nil {
		t.Errorf("a write whose caller left after it began: %v", err)
	}
	if err := db.Write(ctx, identity.System(), insert); !errors.Is(err, context.Canceled) {
		t.Errorf("a write whose caller had left: %v", err)
	}
	rows := 0
	err := db.Read(t.Context(), identity.System(), func(tx store.Tx) error {
		return tx.Query(`SELECT x FROM one`, nil, func(store.Scan) error { rows++; return nil })
	})
	if err != nil || rows != 2 {
		t.Errorf("%d rows, %v, want the first and the one of the caller that left", rows, err)
	}
}

func TestAFullDiskIsSaidInASentence(t *testing.T) {
	t.Parallel()
	db := openAt(t, filepath.Join(t.TempDir(), "db"), program(t, 1))
	err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		if err := tx.Query(`PRAGMA max_page_count = 1`, nil, func(store.Scan) error { return nil }); err != nil {
			return err
		}
		for range 1000 {
			if _, err := tx.Exec(`INSERT INTO one VALUES (@x)`, store.Args{"x": strings.Repeat("x", 1000)}); err != nil {
				return err
			}
		}
		return nil
	})
	if f := fault.From(err); f.Code != fault.Internal || !strings.Contains(f.Message, "disk is full") {
		t.Errorf("got %v", err)
	}
	if err := db.Read(t.Context(), identity.System(), func(tx store.Tx) error {
		return tx.Query(`SELECT x FROM one`, nil, func(store.Scan) error { return nil })
	}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
