package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/storetest"
	"liminal/migrations"
)

// proposals are the tables of a proposal.
var proposals = []string{"config_patch", "config_patch_change", "config_patch_event", "config_patch_approval"}

func administrator() string { return someone(id.New()) + "; SET LOCAL app.admin = 'on'" }

// Requirements: CFG-03, ISO-02
func TestAnAdministratorReadsEveryProposalAndWritesNoneOfTheirSteps(t *testing.T) {
	t.Parallel()
	d, owner := possessed(t)
	super, conn := connect(t, d.Super), connect(t, d.App)
	for _, table := range proposals {
		for who, reader := range map[string]struct {
			settings string
			sees     bool
		}{
			"an administrator": {administrator(), true}, "who proposed": {someone(owner.UserID), true}, "another": {someone(id.New()), false},
		} {
			if n, err := as(t, conn, reader.settings, "SELECT FROM "+table); n > 0 != reader.sees || err != nil {
				t.Errorf("%s reads %d rows of %s, %v", who, n, table, err)
			}
			for _, statement := range []string{"DELETE FROM " + table, touch(t, super, table)} {
				if n, err := as(t, conn, reader.settings, statement); n != 0 || err != nil {
					t.Errorf("%s: %s: %d rows, %v", who, statement, n, err)
				}
			}
			forge(t, super, conn, table, reader.settings)
		}
	}
}

// Requirements: CFG-15, ISO-02
func TestAdministratorsReadWhatTheSystemsOwnRunsAskAndNothingOfOthers(t *testing.T) {
	t.Parallel()
	d, _ := possessed(t)
	postgrestest.Exec(t, d.Super, `INSERT INTO interrupt (id, run_id, user_id, workflow_id, effect_id, type, message, status)
		SELECT gen_random_uuid(), id, user_id, workflow_id, 'e', 'action_choice', '?', 'pending' FROM run WHERE kind = 'patch'`)
	conn := connect(t, d.App)
	for table, update := range map[string]string{"run": "UPDATE run SET status = 'done'", "interrupt": "UPDATE interrupt SET answer = '1'"} {
		own := "SELECT FROM " + table + " WHERE user_id = '" + identity.SystemAccount + "'"
		for who, n := range map[string]int64{someone(id.New()): 0, administrator(): 1} {
			if seen, err := as(t, conn, who, own); seen != n || err != nil {
				t.Errorf("%s: %d rows of %s, %v", who, seen, table, err)
			}
			if all, err := as(t, conn, who, "SELECT FROM "+table); all != n || err != nil {
				t.Errorf("%s: %d rows of %s in all, %v", who, all, table, err)
			}
			if changed, err := as(t, conn, who, update); changed != 0 || err != nil {
				t.Errorf("%s: %s: %d rows, %v", who, update, changed, err)
			}
		}
	}
}

// Requirements: CFG-11, ISO-02
func TestAPersonWritesRecordingsOfTheirOwnRunsOnly(t *testing.T) {
	t.Parallel()
	d, owner := possessed(t)
	conn := connect(t, d.App)
	const record = `INSERT INTO recording (run_id, user_id, kind, status, body) SELECT id, user_id, 'chat', 'done', '\x00' FROM run WHERE kind = 'chat' LIMIT 1`
	if n, err := as(t, conn, someone(owner.UserID), record); n != 1 || err != nil {
		t.Errorf("one's own: %d rows, %v", n, err)
	}
	const forged = `INSERT INTO recording (run_id, user_id, kind, status, body) VALUES (gen_random_uuid(), $1, 'chat', 'done', '\x00')`
	_, err := as(t, conn, administrator(), forged, owner.UserID)
	if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "42501" {
		t.Errorf("another's: %v", err)
	}
}

// A database of the program before this one keeps its people and artifacts.
//
// Requirements: OPS-04, ART-06, CFG-15
func TestADatabaseFromBeforeProposalsGoesOn(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	have, err := migrations.Of(migrations.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.MigrateFiles(t.Context(), d.Owner, postgrestest.App, quiet, have[:4]); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, d.Super, `INSERT INTO app_user (id, email, role) VALUES (gen_random_uuid(), 'a@example.org', 'admin')`,
		`INSERT INTO artifact (id, type, name, visibility, version, schema, created_by)
			VALUES ('22222222-2222-4222-8222-222222222222', 'workflow.chat', 'default', 'global', 3, '{"kind":"workflow.chat"}', 'user')`)
	if _, err := postgres.MigrateFiles(t.Context(), d.Owner, postgrestest.App, quiet, have); err != nil {
		t.Fatal(err)
	}
	db := postgrestest.Open(t, d.App, postgres.Options{})
	s := store.New(db, store.Options{})
	people, _, err := s.ListUsers(t.Context(), identity.UserFilter{})
	if err != nil || len(people) != 1 || people[0].Email != "a@example.org" {
		t.Errorf("people %v, %v", people, err)
	}
	a, err := s.Artifact(t.Context(), identity.System(), "22222222-2222-4222-8222-222222222222")
	if err != nil || a.Version != 3 || a.Meta != nil || a.Rollout != nil {
		t.Errorf("artifact %+v, %v", a, err)
	}
	storetest.Possess(t, storetest.Backend{Store: s, Index: postgres.NewIndex(db, postgres.IndexOptions{})}) // what is new works on it
}

// A conversation from before versions is a path; what a program of that
// release, which goes on beside this one, says in it stands on the path.
//
// Requirements: OPS-04, CHAT-16
func TestADatabaseFromBeforeVersionsGoesOn(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	have, err := migrations.Of(migrations.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.MigrateFiles(t.Context(), d.Owner, postgrestest.App, quiet, have[:5]); err != nil {
		t.Fatal(err)
	}
	const who, talk, second = "11111111-1111-4111-8111-111111111111", "33333333-3333-4333-8333-333333333333", "55555555-5555-4555-8555-555555555555"
	turn := func(question, text string, seq int) string {
		return fmt.Sprintf(`WITH r AS (SELECT gen_random_uuid() AS id), q AS (
				INSERT INTO message (id, conversation_id, user_id, run_id, sender, role, content, seq) SELECT %s, '%s', '%s', id, 'user', 'user', '%s', %d FROM r)
			INSERT INTO message (id, conversation_id, user_id, run_id, sender, role, content, seq)
			SELECT gen_random_uuid(), '%[2]s', '%[3]s', id, 'assistant', 'assistant', 'to %[4]s', %[5]d + 1 FROM r`, question, talk, who, text, seq)
	}
	postgrestest.Exec(t, d.Super, `INSERT INTO app_user (id, email, role) VALUES ('`+who+`', 'a@example.org', 'user')`,
		`INSERT INTO conversation (id, user_id, title, last_seq) VALUES ('`+talk+`', '`+who+`', 'one', 2)`, turn("gen_random_uuid()", "one", 1))
	if _, err := postgres.MigrateFiles(t.Context(), d.Owner, postgrestest.App, quiet, have); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, d.Super, turn("'"+second+"'", "two", 3), `UPDATE conversation SET last_seq = 4`)
	s := store.New(postgrestest.Open(t, d.App, postgres.Options{}), store.Options{})
	storetest.GoesOn(t, s, identity.Viewer{UserID: who}, talk, second)
}

// Who said something of answers before there was anything to learn is due.
//
// Requirements: OPS-04
func TestADatabaseFromBeforeLearningIsLearntFrom(t *testing.T) {
	t.Parallel()
	d := postgrestest.Empty(t)
	have, err := migrations.Of(migrations.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.MigrateFiles(t.Context(), d.Owner, postgrestest.App, quiet, have[:11]); err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, d.Super, storetest.TaughtBefore("'2026-01-01T00:00:00Z'", `'\x00'`)...)
	if _, err := postgres.MigrateFiles(t.Context(), d.Owner, postgrestest.App, quiet, have); err != nil {
		t.Fatal(err)
	}
	storetest.IsDue(t, store.New(postgrestest.Open(t, d.App, postgres.Options{}), store.Options{}))
}
