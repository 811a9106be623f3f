package api

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"liminal/internal/cache"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/redis"
	"liminal/internal/store"
	"liminal/internal/store/storetest"
)

// process is a connection of its own to what processes share.
func process(t *testing.T, prefix string) cache.Cache {
	t.Helper()
	m, err := redis.Open(t.Context(), storetest.Server(t, "LANE_REDIS"), redis.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m.Cache()
}

// Requirements: AUTH-13, AUTH-14
func TestProcessesShareTicketsAndLocks(t *testing.T) {
	t.Parallel()
	prefix := "test:" + id.New() + ":"
	first := tunedWorld(t, func(o *identity.Options) { o.Cache = process(t, prefix) })
	o := first.server.Options
	s, _ := o.Conversations.(*store.Store)
	a, err := identity.NewAccounts(s, identity.Options{
		Key: bytes.Repeat([]byte("k"), 32), Cost: identity.Cost{Memory: 64, Passes: 1, Threads: 1}, Now: first.clock.now,
		Cache: process(t, prefix), Factors: s, FactorKey: bytes.Repeat([]byte("f"), 32), Providers: s, Administration: s, Keys: s, Grants: s,
	})
	first.must(err)
	o.sign(a)
	o.Factors, o.Elsewhere = a, a
	server := httptest.NewServer(newServer(o).handler())
	t.Cleanup(server.Close)
	beside := *first.world
	beside.url = server.URL
	second := &securedWorld{world: &beside, clock: first.clock}

	ada, secret, _ := first.enrol(first.signUp("ada@example.org"))
	(&person{world: &beside, token: ada.token}).get("/v1/auth/me").ok()
	ticket := first.logIn().ticket()
	verify := map[string]any{"ticket": ticket, "code": first.code(secret)}
	(&person{world: &beside}).post("/v1/auth/mfa/verify", verify).ok()
	if got := (&person{world: first.world}).post("/v1/auth/mfa/verify", verify); got.reason() != "ticket_unknown" {
		t.Errorf("the ticket again, elsewhere: %s", got.body)
	}
	for i := range 5 {
		_ = []*securedWorld{first, second}[i%2].logIn("mfa_code", first.wrong(secret))
	}
	for name, w := range map[string]*securedWorld{"first": first, "second": second} {
		if got := w.logIn("mfa_code", w.code(secret)); got.reason() != "mfa_locked" {
			t.Errorf("the %s process: %s", name, got.body)
		}
	}
}
