package devserver

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistence "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
)

// When this fails after an upgrade of the server, runs have become a tenth
// dearer: keepStatements has to find the server's pool of connections again.
func TestTheServersConnectionsKeepTheirStatements(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "with space & %.db")
	if err := makeFile(t.Context(), path, runSchema); err != nil {
		t.Fatal(err)
	}
	c := sqlConfig(path)
	for range 2 { // the second time it is done already
		if kept, err := keepStatements(sqlplugin.DbKindMain, c); err != nil || !kept {
			t.Fatalf("kept %v, %v", kept, err)
		}
	}
	db, err := persistence.NewSQLDB(sqlplugin.DbKindMain, c, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		t.Fatal(err)
	}
	pool := poolOf(db)
	inside := func(f func(*keepingConn)) {
		t.Helper()
		one, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = one.Close() }()
		_ = one.Raw(func(c any) error { f(c.(*keepingConn)); return nil })
	}
	ask := func(ctx context.Context, want int) {
		t.Helper()
		var n int
		if err := pool.GetContext(ctx, &n, "SELECT ?", want); err != nil || n != want {
			t.Fatalf("%d, %v", n, err)
		}
	}
	for n := range 3 {
		ask(t.Context(), n)
	}
	inside(func(c *keepingConn) {
		if len(c.kept) != 1 {
			t.Errorf("%d statements are kept", len(c.kept))
		}
	})
	var mode string
	if err := pool.Get(&mode, "PRAGMA journal_mode"); err != nil || mode != "wal" {
		t.Errorf("the file is in mode %q, %v", mode, err)
	}

	// The same text while its rows are being read.
	tx := pool.MustBeginTx(t.Context(), nil)
	defer func() { _ = tx.Rollback() }()
	two := "SELECT 1 UNION ALL SELECT 2"
	outer, err := tx.Query(two)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for outer.Next() {
		inner, err := tx.Query(two)
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			sum++
		}
		_ = inner.Close()
	}
	if _ = outer.Close(); sum != 4 {
		t.Errorf("%d rows of 4", sum)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}

	// A table that changes under a statement, and more texts than are kept.
	pool.MustExec("CREATE TABLE changing (a)")
	pool.MustExec("INSERT INTO changing VALUES (1)")
	columns := func() int {
		found, err := pool.Queryx("SELECT * FROM changing")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = found.Close() }()
		names, _ := found.Columns()
		return len(names)
	}
	if got := columns(); got != 1 {
		t.Fatalf("%d columns", got)
	}
	pool.MustExec("ALTER TABLE changing ADD COLUMN b")
	if got := columns(); got != 2 {
		t.Errorf("%d columns after another was added", got)
	}
	for n := range 2 * maxStatements {
		pool.MustExec(fmt.Sprintf("SELECT 1 LIMIT %d", n))
	}
	inside(func(c *keepingConn) {
		if len(c.kept) > maxStatements {
			t.Errorf("%d statements are kept", len(c.kept))
		}
	})
}
