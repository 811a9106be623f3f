package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/authserver"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// grant is a key of a program with the code it is fetched with.
func grant(t testing.TB, c *clock, s *store.Store, userID string) (identity.Key, identity.Secret) {
	t.Helper()
	k := identity.Key{ID: id.New(), UserID: userID, Name: "Program", CreatedAt: c.now(), ExpiresAt: c.now().Add(90 * 24 * time.Hour)}
	k.Scopes, k.Audience = []string{"mcp"}, identity.AudienceMCP
	code := identity.Secret{
		Hash: strings.ReplaceAll(k.ID, "-", ""), Kind: "code", KeyID: k.ID, UserID: userID, Client: "https://client.example/x", Redirect: "http://localhost/", Challenge: "c",
		ExpiresAt: c.now().Add(time.Minute),
	}
	need(t, s.CreateGrant(t.Context(), k, code, 3, time.Time{}))
	return k, code
}

func grantTraded(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	k, code := grant(t, c, s, v.UserID)
	if list := got(s.ListKeys(t.Context(), v.UserID))(t); len(list) != 1 || !list[0].ExpiresAt.Equal(code.ExpiresAt) || list[0].Hash != "" {
		t.Errorf("before its first text: %+v", list)
	}
	found, of, u, err := s.GrantSecret(t.Context(), code.Hash)
	need(t, err)
	if found != code || of.ID != k.ID || of.KeyID != k.ID || u.ID != v.UserID {
		t.Errorf("secret = %+v of %+v of %s", found, of, u.ID)
	}
	_, _, _, err = s.GrantSecret(t.Context(), "x")
	wantFault(t, err, fault.NotFound)

	k.Hash, k.TextUntil = "first", c.now().Add(time.Hour)
	next := identity.Secret{Hash: "r1", Kind: "refresh", KeyID: k.ID, UserID: v.UserID, Client: code.Client, ExpiresAt: k.ExpiresAt}
	// Of many who show a code at once, one gets what it is for.
	traded := make([]bool, writers)
	for _, err := range race(writers, func(i int) (err error) {
		mine := next
		mine.Hash += string(rune('a' + i))
		traded[i], err = s.Trade(t.Context(), code.Hash, k, mine, time.Time{})
		return err
	}) {
		need(t, err)
	}
	winner := slices.Index(traded, true)
	if winner < 0 || slices.Contains(traded[winner+1:], true) {
		t.Fatalf("traded = %v", traded)
	}
	now, _, err := s.Key(t.Context(), k.ID)
	need(t, err)
	if now.Hash != "first" || !now.TextUntil.Equal(k.TextUntil) || !now.ExpiresAt.Equal(k.ExpiresAt) {
		t.Errorf("after its first text: %+v", now)
	}
	used, _, _, err := s.GrantSecret(t.Context(), code.Hash)
	need(t, err)
	want(t, "used", used.UsedAt.Equal(c.now()), true)

	c.add(time.Hour)
	refresh := "r1" + string(rune('a'+winner))
	next.Hash, k.Hash = "r2", "second"
	want(t, "renewed", got(s.Trade(t.Context(), refresh, k, next, c.now()))(t), true)
	_, _, _, err = s.GrantSecret(t.Context(), code.Hash)
	wantFault(t, err, fault.NotFound) // it was used long enough ago
	need(t, s.RevokeKey(t.Context(), v.UserID, k.ID))
	next.Hash = "r3"
	want(t, "renewed after its end", got(s.Trade(t.Context(), "r2", k, next, c.now()))(t), false)
	_, _, _, err = s.GrantSecret(t.Context(), "r3")
	wantFault(t, err, fault.NotFound)
}

func clientsKept(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	register := func(most int) (authserver.Client, error) {
		one := authserver.Client{ID: id.New(), Name: "Bürorechner", Redirects: []string{"http://localhost/"}, CreatedAt: c.now()}
		return one, s.PutClient(t.Context(), one, most, c.now().Add(-24*time.Hour), c.now().Add(-366*24*time.Hour))
	}
	used, unused := got(register(2))(t), got(register(2))(t)
	_, err := register(2)
	wantFault(t, err, fault.RateLimited)
	need(t, s.UseClient(t.Context(), used.ID))
	got(register(2))(t)
	if is := got(s.RegisteredClient(t.Context(), used.ID))(t); is.Name != used.Name || !slices.Equal(is.Redirects, used.Redirects) || !is.CreatedAt.Equal(used.CreatedAt) {
		t.Errorf("client = %+v", is)
	}
	c.add(25 * time.Hour)
	got(register(1))(t) // those that nobody let in have gone
	_, err = s.RegisteredClient(t.Context(), unused.ID)
	wantFault(t, err, fault.NotFound)
	got(s.RegisteredClient(t.Context(), used.ID))(t)
	c.add(367 * 24 * time.Hour)
	got(register(1))(t)
	_, err = s.RegisteredClient(t.Context(), used.ID)
	wantFault(t, err, fault.NotFound)
}
