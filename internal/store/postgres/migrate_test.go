package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/migrations"
)

var quiet = slog.New(slog.DiscardHandler)

func files(t *testing.T, texts ...string) []migrations.Migration {
	t.Helper()
	dir := fstest.MapFS{}
	for i := 0; i < len(texts); i += 2 {
		dir[texts[i]] = &fstest.MapFile{Data: []byte(texts[i+1])}
	}
	all, err := migrations.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ledger is what a database has had: "number name sum".
func ledger(t *testing.T, url string) []string {
	t.Helper()
	rows, err := connect(t, url).Query(t.Context(), `SELECT number || ' ' || name || ' ' || sum FROM migration ORDER BY number`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Requirements: OPS-01, OPS-04
func TestOfManyStartersOneMigratesAFreshDatabase(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	all, err := migrations.Of(migrations.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var together sync.WaitGroup
	applied := 0
	for range 4 {
		together.Go(func() {
			done, err := postgres.Migrate(t.Context(), d.Owner, postgrestest.App, quiet)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			applied += len(done)
		})
	}
	together.Wait()
	if _, err := postgres.Migrate(t.Context(), d.Owner, postgrestest.Owner, quiet); err != nil { // its own role: takes nothing from it
		t.Error(err)
	}
	if _, err := connect(t, d.Owner).Exec(t.Context(), "UPDATE migration SET applied_at = now()"); err != nil {
		t.Error(err)
	}
	if applied != len(all) || len(ledger(t, d.Owner)) != len(all) {
		t.Errorf("%d applied, the ledger has %d, want %d once", applied, len(ledger(t, d.Owner)), len(all))
	}
	postgrestest.Open(t, d.App, postgres.Options{})
}

// Requirements: OPS-03
func TestMigrateRefusesAHistoryThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	ctx := t.Context()
	a, b := "CREATE TABLE a (id int)", "CREATE TABLE b (id int)"
	if _, err := postgres.MigrateFiles(ctx, d.Owner, "", quiet, files(t, "0001_a.sql", a, "0002_b.sql", b)); err != nil {
		t.Fatal(err)
	}
	before := ledger(t, d.Owner)
	for says, have := range map[string][]migrations.Migration{
		"was edited":                           files(t, "0001_a.sql", a+" ", "0002_b.sql", b, "0003_c.sql", "CREATE TABLE c (id int)"),
		"newer than this program":              files(t, "0001_a.sql", a),
		"0002_b where this program has 0002_x": files(t, "0001_a.sql", a, "0002_x.sql", "CREATE TABLE x (id int)", "0003_b.sql", b),
	} {
		if _, err := postgres.MigrateFiles(ctx, d.Owner, "", quiet, have); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
	}
	if after := ledger(t, d.Owner); !slices.Equal(before, after) {
		t.Errorf("the ledger became %v", after)
	}
}

// Requirements: OPS-01
func TestAMigrationThatFailsLeavesNothingBehindAndIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	first := []string{"0001_a.sql", "CREATE TABLE a (id int)"}
	applied, err := postgres.MigrateFiles(t.Context(), d.Owner, "", quiet, files(t, append(first, "0002_b.sql", "CREATE TABLE b (id int); SELECT 1/0")...))
	if err == nil || !strings.Contains(err.Error(), "0002_b") || len(applied) != 1 {
		t.Fatalf("applied %d, %v", len(applied), err)
	}
	if n := len(ledger(t, d.Owner)); n != 1 {
		t.Errorf("the ledger has %d entries", n)
	}
	applied, err = postgres.MigrateFiles(t.Context(), d.Owner, "", quiet, files(t, append(first, "0002_b.sql", "CREATE TABLE b (id int)")...))
	if err != nil || len(applied) != 1 {
		t.Errorf("applied %d after the repair, %v", len(applied), err)
	}
}

func TestMigrateWaitsForAnotherAndSaysSoWhenItGivesUp(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	other := connect(t, d.Owner)
	if _, err := other.Exec(t.Context(), "SELECT pg_advisory_lock(x'6c696d696e616c'::bigint)"); err != nil {
		t.Fatal(err)
	}
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := postgres.Migrate(ctx, d.Owner, "", quiet)
		ended <- err
	}()
	const asks = "state = 'idle' AND query LIKE 'SELECT pg_try_advisory_lock%'"
	var once string
	err := session(t.Context(), other, asks)
	err = errors.Join(err, other.QueryRow(t.Context(), "SELECT clock_timestamp()::text").Scan(&once))
	err = errors.Join(err, session(t.Context(), other, asks+" AND query_start > '"+once+"'")) // it has heard that another has the lock
	giveUp()
	if err := errors.Join(err, <-ended); err == nil || !strings.Contains(err.Error(), "another program migrates") {
		t.Errorf("got %v", err)
	}
}

func TestMigrateSaysWhoMustCreateTheExtension(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	postgrestest.Exec(t, d.Super, "DROP EXTENSION vector")
	if _, err := postgres.Migrate(t.Context(), d.Owner, "", quiet); err == nil || !strings.Contains(err.Error(), "superuser run CREATE EXTENSION vector") {
		t.Errorf("got %v", err)
	}
}

func TestOpenRefusesADatabaseItCannotWorkOn(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	all, err := migrations.Of(migrations.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(says string) {
		t.Helper()
		_, err := postgres.Open(t.Context(), d.App, postgres.Options{Logger: quiet})
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want it to say %q", err, says)
		}
	}
	refused("has no tables of Liminal yet; run liminald migrate")
	if _, err := postgres.MigrateFiles(t.Context(), d.Owner, postgrestest.App, quiet, all[:len(all)-1]); err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	refused(fmt.Sprintf("behind this program by 1 migrations, from %04d_%s on; run liminald migrate", last.Number, last.Name))
	if _, err := postgres.Migrate(t.Context(), d.Owner, postgrestest.App, quiet); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, d.Super, "UPDATE pg_extension SET extversion = '0.8.1' WHERE extname = 'vector'")
	refused("pgvector is 0.8.1; before 0.8.2")
	postgrestest.Exec(t, d.Owner, "INSERT INTO migration (number, name, sum) VALUES (99, 'later', '')")
	refused("newer than this program")
}

// What a later migration makes is the program's to use, and nothing else is.
//
// Requirements: ISO-02
func TestTheProgramsRoleHasItsRightsAndNoMore(t *testing.T) {
	t.Parallel()
	d := postgrestest.Fresh(t)
	postgrestest.Exec(t, d.Owner, "CREATE TABLE later (id bigint GENERATED ALWAYS AS IDENTITY, said text)")
	postgrestest.Exec(t, d.App, "INSERT INTO later (said) VALUES ('x')", "UPDATE later SET said = 'y'", "DELETE FROM later")
	conn := connect(t, d.App)
	for _, statement := range []string{
		"UPDATE migration SET sum = ''", "DELETE FROM migration", "ALTER TABLE message DISABLE ROW LEVEL SECURITY", "DROP POLICY mine ON message",
		"TRUNCATE message", "CREATE TABLE mine (id int)", "SELECT app_grant('lane_app')", "SET ROLE lane_owner",
	} {
		if _, err := as(t, conn, "", statement); err == nil {
			t.Errorf("the program may %s", statement)
		}
	}
	open, err := as(t, conn, "", `SELECT FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND (prosecdef OR proname IN ('app_guard', 'app_grant'))
		AND has_function_privilege('public', oid, 'EXECUTE')`)
	if err != nil || open != 0 {
		t.Errorf("everybody who may connect may run %d functions of the owner's, %v", open, err)
	}
}

// script runs scripts/migrate.sh as a person with psql would.
func script(t *testing.T, d postgrestest.Database, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "../../../scripts/migrate.sh", args...)
	c.Env = append(os.Environ(), "DATABASE_URL="+d.App, "LIMINAL_MIGRATE_URL="+d.Owner)
	if _, err := exec.LookPath("psql"); err != nil { // not installed: the test stack's
		psql, libraries := program(t, "/usr/lib/postgresql/*/bin/psql")
		c.Env = append(c.Env, "PATH="+filepath.Dir(psql)+":"+os.Getenv("PATH"), "LD_LIBRARY_PATH="+libraries)
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

// Requirements: OPS-01, OPS-03, OPS-04
func TestTheScriptAndTheProgramAcceptWhatTheOtherDid(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	if out, err := script(t, d); err != nil || !strings.Contains(out, "applied 0001_kernel") {
		t.Fatalf("%v: %s", err, out)
	}
	done, err := postgres.Migrate(t.Context(), d.Owner, postgrestest.App, quiet)
	if err != nil || len(done) != 0 {
		t.Fatalf("the program applied %d files after the script, %v", len(done), err)
	}
	other := postgrestest.New(t)
	if byScript, byProgram := ledger(t, d.Owner), ledger(t, other.Owner); !slices.Equal(byScript, byProgram) {
		t.Errorf("the script's ledger is %v, the program's %v", byScript, byProgram)
	}
	for _, migrated := range []postgrestest.Database{d, other} {
		if out, err := script(t, migrated); err != nil || strings.Contains(out, "applied") {
			t.Errorf("running it again: %v: %s", err, out)
		}
	}
	db := postgrestest.Open(t, d.App, postgres.Options{})
	if some, err := store.New(db, store.Options{}).Accounts(t.Context()); err != nil || some {
		t.Errorf("%t, %v", some, err)
	}
}

// Requirements: OPS-03
func TestTheScriptRefusesFilesThatAreNotWhatWasApplied(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(says string) {
		t.Helper()
		d := d
		d.App = d.Owner // no grants
		out, err := script(t, d, dir)
		if (err == nil) != (says == "") || !strings.Contains(out, says) {
			t.Errorf("%v: %s, want it to say %q", err, out, says)
		}
	}
	write("0001_a.sql", "CREATE TABLE a (id int);\n")
	write("0002_b.sql", "CREATE TABLE b (id int);\nSELECT 1/0;\n")
	run("division by zero")
	write("0002_b.sql", "CREATE TABLE b (id int);\n")
	run("")
	write("0001_a.sql", "CREATE TABLE a (id bigint);\n")
	write("0003_c.sql", "CREATE TABLE c (id int);\n")
	run("0001_a was edited after it was applied")
	write("0001_a.sql", "CREATE TABLE a (id int);\n")
	if err := os.Rename(filepath.Join(dir, "0003_c.sql"), filepath.Join(dir, "0005_c.sql")); err != nil {
		t.Fatal(err)
	}
	run("stands where number 3 is expected")
	for _, name := range []string{"0005_c.sql", "0002_b.sql"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	run("newer than this folder")
	if n := len(ledger(t, d.Owner)); n != 2 {
		t.Errorf("the ledger has %d entries, want 2", n)
	}
}
