package sqlite

import (
	"path/filepath"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

func benchStore(t testing.TB) *store.Store {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "a?b.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return store.New(db, store.Options{Running: -1})
}

func user(t testing.TB, s *store.Store) identity.Viewer {
	u, err := s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New() + "@x", Active: true}, identity.Credential{Hash: "h", Algorithm: "a"})
	if err != nil {
		t.Fatal(err)
	}
	return u.Viewer("")
}

func BenchmarkTurn(b *testing.B) {
	s := benchStore(b)
	v := user(b, s)
	for b.Loop() {
		a, err := s.Accept(b.Context(), v, chat.NewTurn{Message: "hello"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.CloseTurn(b.Context(), v, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Done}, Message: &chat.Message{Role: "assistant", Content: "hi"}}); err != nil {
			b.Fatal(err)
		}
	}
}
