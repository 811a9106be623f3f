package api

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/files"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/quota"
)

// keyring is a ledger that remembers what it was asked to count.
type keyring struct {
	*inproc.Memory
	mu   sync.Mutex
	keys []string
}

func (k *keyring) Take(ctx context.Context, key string, rate float64, burst int) (time.Duration, error) {
	k.mu.Lock()
	k.keys = append(k.keys, key)
	k.mu.Unlock()
	return k.Memory.Take(ctx, key, rate, burst)
}

// A stranger must not fill the memory that everybody's limits, streams and
// sign-ins live in, and what is counted tells nobody's address.
//
// Requirements: SAFE-10, OBS-03
func TestWhatAStrangerSendsIsCountedUnderAShortName(t *testing.T) {
	t.Parallel()
	k := &keyring{}
	w := newWorld(t, func(o *Options) {
		k.Memory, _ = o.Log.(*inproc.Memory)
		o.Limits = quota.NewLimits(k)
	})
	nobody := &person{world: w}
	for _, email := range []string{"ada@example.org", "ada@example.org" + strings.Repeat("x", 900_000)} {
		for _, path := range []string{"login", "request_reset", "request_verification", "signup"} {
			nobody.post("/v1/auth/"+path, map[string]any{"email": email, "password": "correct horse"})
		}
	}
	for _, key := range k.keys {
		if len(key) > 120 || strings.Contains(key, "example.org") {
			t.Errorf("counted as %.120s… of %d bytes", key, len(key))
		}
	}
	if len(k.keys) == 0 {
		t.Error("nothing was counted")
	}
}

// Requirements: AUTH-16, SAFE-10
func TestASignInElsewhereRemembersLittleOfAStranger(t *testing.T) {
	t.Parallel()
	nobody := &person{world: newWorld(t)}
	for _, body := range []map[string]any{{"return": "/" + strings.Repeat("x", 100_000)}, {"tenant_id": strings.Repeat("x", 100_000)}} {
		nobody.post("/v1/auth/oauth/google/start", body).fails(400, "validation_error")
	}
}

// What makes rows and runs is bounded for who is signed in, too.
//
// Requirements: SAFE-04, OPS-12 (rate)
func TestWhateverMakesSomethingIsBounded(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]map[string]any{
		"POST /v1/contexts":               {"name": "c"},
		"POST /v1/artifacts":              {"type": "workflow", "name": "w", "schema": map[string]any{}},
		"PATCH /v1/artifacts/" + id.New(): {"patch": []any{}},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) {
				m, _ := o.Log.(*inproc.Memory)
				o.Limits = quota.NewLimits(frozen{m})
			})
			ada := w.signUp("ada@example.org")
			method, path, _ := strings.Cut(path, " ")
			for range quota.PlanOf(quota.Free).Chat.Burst {
				if got := ada.do(method, path, body).status; got == 429 {
					t.Fatal("bounded too soon")
				}
			}
			ada.do(method, path, body).fails(429, "rate_limited")
		})
	}
}

// lister counts how often somebody's files are listed.
type lister struct {
	Files
	listed int
}

func (l *lister) List(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]files.File, string, error) {
	l.listed++
	return l.Files.List(ctx, v, cursor, limit)
}

// Requirements: RAG-15, SAFE-10
func TestAContextOfManyFoldersLooksThroughTheFilesOnce(t *testing.T) {
	t.Parallel()
	l := &lister{}
	ada := newWorld(t, func(o *Options) { l.Files, o.Files = o.Files, l }).signUp("ada@example.org")
	ada.upload("a.txt", "one").ok()
	paths := []string{"files/a.txt"}
	for range 199 {
		paths = append(paths, "files")
	}
	made := ada.post("/v1/contexts", map[string]any{"name": "c", "paths": paths}).ok()
	if made["documents"] != 1.0 || l.listed != 1 {
		t.Errorf("%v documents, listed %d times", made["documents"], l.listed)
	}
}

// Requirements: AUTH-19, SAFE-10
func TestANetworkOfIPv6IsOneStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.PublicURL = "https://chat.example.org"
		m, _ := o.Log.(*inproc.Memory)
		o.Limits = quota.NewLimits(frozen{m})
	})
	w.signUp("ada@example.org")
	nobody := &person{world: w}
	last := 0
	for i := range quota.SignIn().Burst + 1 {
		last = nobody.do("POST", "/v1/auth/login", map[string]any{"email": "ada@example.org", "password": "wrong horse"},
			"X-Forwarded-For", fmt.Sprintf("2001:db8:1:2::%x", i+1)).status
	}
	if last != 429 {
		t.Errorf("the last try of a network: %d", last)
	}
	nobody.do("POST", "/v1/auth/login", map[string]any{"email": "ada@example.org", "password": "correct horse"},
		"X-Forwarded-For", "2001:db8:1:3::1").ok()
}
