package sqlite

import (
	"path/filepath"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/store"
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
