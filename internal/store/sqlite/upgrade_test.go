package sqlite

import (
	"path/filepath"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/store/storetest"
	"liminal/migrations"
)

// A file of the program before this one keeps its people and artifacts.
//
// Requirements: OPS-04, ART-06, CFG-15
func TestAFileFromBeforeProposalsGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	have, err := migrations.Of(migrations.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	old := openAt(t, path, have[:4])
	err = old.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		for _, statement := range []string{
			`INSERT INTO app_user (id, email, role, created_at) VALUES ('11111111-1111-4111-8111-111111111111', 'a@example.org', 'admin', 1)`,
			`INSERT INTO artifact (id, type, name, visibility, version, schema, created_by, created_at, updated_at)
				VALUES ('22222222-2222-4222-8222-222222222222', 'workflow.chat', 'default', 'global', 3, '{"kind":"workflow.chat"}', 'user', 1, 1)`,
		} {
			if _, err := tx.Exec(statement, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s := store.New(openAt(t, path, have), store.Options{})
	people, _, err := s.ListUsers(t.Context(), identity.UserFilter{})
	if err != nil || len(people) != 1 || people[0].Email != "a@example.org" {
		t.Errorf("people %v, %v", people, err)
	}
	a, err := s.Artifact(t.Context(), identity.System(), "22222222-2222-4222-8222-222222222222")
	if err != nil || a.Version != 3 || a.Meta != nil || a.Rollout != nil {
		t.Errorf("artifact %+v, %v", a, err)
	}
	if v, err := s.Viewer(t.Context(), identity.SystemAccount); err != nil || v != identity.Steward() {
		t.Errorf("the system's account is %+v, %v", v, err)
	}
}

// What was said before messages could be searched is found, as is what a
// program of that release says beside this one.
//
// Requirements: OPS-04, CHAT-11
func TestAFileFromBeforeSearchIsSearched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	have, err := migrations.Of(migrations.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	const me, talk = "11111111-1111-4111-8111-111111111111", "33333333-3333-4333-8333-333333333333"
	said := func(db *DB, statements ...string) {
		t.Helper()
		if err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
			for _, statement := range statements {
				if _, err := tx.Exec(statement, nil); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	message := func(id, text, seq string) string {
		return `INSERT INTO message (id, conversation_id, user_id, sender, role, content, seq, created_at)
			VALUES ('` + id + `', '` + talk + `', '` + me + `', 'user', 'user', '` + text + `', ` + seq + `, ` + seq + `)`
	}
	old := openAt(t, path, have[:6])
	said(old, `INSERT INTO app_user (id, email, role, created_at) VALUES ('`+me+`', 'a@example.org', 'user', 1)`,
		`INSERT INTO conversation (id, user_id, title, last_seq, created_at, updated_at) VALUES ('`+talk+`', '`+me+`', 'one', 1, 1, 1)`,
		message("44444444-4444-4444-8444-444444444444", "the old Schlüssel", "1"))
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path, have)
	said(db, message("55555555-5555-4555-8555-555555555555", "the new schlüssel", "2"))
	s, v := store.New(db, store.Options{}), identity.Viewer{UserID: me}
	list, _, err := s.SearchMessages(t.Context(), v, []string{"schluss"}, "", 10)
	if err != nil || len(list) != 2 || list[0].Content != "the new schlüssel" || list[1].Content != "the old Schlüssel" {
		t.Errorf("found %+v, %v", list, err)
	}
	said(db, `UPDATE message SET content = 'nothing' WHERE seq = 2`)
	if list, _, err = s.SearchMessages(t.Context(), v, []string{"schluss"}, "", 10); err != nil || len(list) != 1 {
		t.Errorf("found %+v, %v", list, err)
	}
}

// A conversation from before versions is a path; what a program of that
// release, which goes on beside this one, says in it stands on the path.
//
// Requirements: OPS-04, CHAT-16
func TestAFileFromBeforeVersionsGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	have, err := migrations.Of(migrations.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	old := openAt(t, path, have[:5])
	said := func(db *DB, statements ...string) {
		t.Helper()
		if err := db.Write(t.Context(), identity.System(), func(tx store.Tx) error {
			for _, statement := range statements {
				if _, err := tx.Exec(statement, nil); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	const talk = "33333333-3333-4333-8333-333333333333"
	message := func(id, run, role, text, seq string) string {
		return `INSERT INTO message (id, conversation_id, user_id, run_id, sender, role, content, seq, created_at)
			VALUES ('` + id + `', '` + talk + `', '11111111-1111-4111-8111-111111111111', '` + run + `', '` + role + `', '` + role + `', '` + text + `', ` + seq + `, 1)`
	}
	said(old, `INSERT INTO app_user (id, email, role, created_at) VALUES ('11111111-1111-4111-8111-111111111111', 'a@example.org', 'user', 1)`,
		`INSERT INTO conversation (id, user_id, title, last_seq, created_at, updated_at) VALUES ('`+talk+`', '11111111-1111-4111-8111-111111111111', 'one', 2, 1, 1)`,
		message("q1", "r1", "user", "one", "1"), message("a1", "r1", "assistant", "to one", "2"))
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path, have)
	said(db, message("55555555-5555-4555-8555-555555555555", "r2", "user", "two", "3"), message("a2", "r2", "assistant", "to two", "4"),
		`UPDATE conversation SET last_seq = 4`)
	s, v := store.New(db, store.Options{}), identity.Viewer{UserID: "11111111-1111-4111-8111-111111111111"}
	storetest.GoesOn(t, s, v, talk, "55555555-5555-4555-8555-555555555555")
}

// Who said something of answers before there was anything to learn is due.
//
// Requirements: OPS-04
func TestAFileFromBeforeLearningIsLearntFrom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	have, err := migrations.Of(migrations.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	old := openAt(t, path, have[:11])
	err = old.Write(t.Context(), identity.System(), func(tx store.Tx) error {
		for _, statement := range storetest.TaughtBefore("1", "x'00'") {
			if _, err := tx.Exec(statement, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.IsDue(t, store.New(openAt(t, path, have), store.Options{}))
}
