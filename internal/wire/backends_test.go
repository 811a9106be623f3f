package wire

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"liminal/internal/config"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// A process that was killed in the middle of a request leaves its claim of the
// key. The next one has the data folder to itself, and whoever asks again is
// not told for the rest of the lease that the first still runs.
//
// Requirements: API-06
func TestAKeyIsFreeAtOnceAfterItsProcessWasKilled(t *testing.T) {
	t.Parallel()
	c, err := config.Load([]string{"SHARED_FS_ROOT=" + t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := func() backends {
		p := &Platform{}
		t.Cleanup(func() { _ = p.Close(t.Context()) })
		b, err := p.embedded(t.Context(), Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := start()
	u, err := first.store.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "ada@example.org", Role: identity.RoleUser, Active: true},
		identity.Credential{Hash: "hash", Algorithm: "argon2id"})
	if err != nil {
		t.Fatal(err)
	}
	ada := u.Viewer(id.New())
	claim := func(b backends, holder string) error {
		_, err := b.store.ClaimKey(t.Context(), ada, quota.Key{Route: "POST /v1/chat", Key: "k", Fingerprint: "f", Holder: holder}, time.Hour)
		return err
	}
	if err := claim(first, "killed"); err != nil {
		t.Fatal(err)
	}
	if err := claim(first, "another"); !errors.Is(err, fault.Conflict) {
		t.Fatalf("while it runs: %v", err)
	}
	if err := claim(start(), "another"); err != nil {
		t.Errorf("after the start of the next process: %v", err)
	}
}
