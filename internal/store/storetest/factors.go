package storetest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// Factors proves identity.Factors and identity.Providers.
func Factors(t *testing.T, open Open) {
	t.Run("a factor comes back as it was stored", func(t *testing.T) { factorRoundTrip(t, open) })
	t.Run("a draft gives way to another, a factor in use does not", func(t *testing.T) { factorDrafts(t, open) })
	t.Run("enabling marks the account and ends its sessions", func(t *testing.T) { factorEnabled(t, open) })
	t.Run("a sign-in that was overtaken opens no session", func(t *testing.T) { overtaken(t, open) })
	t.Run("a step counts once", func(t *testing.T) { steps(t, open) })
	t.Run("a recovery code counts once", func(t *testing.T) { recovery(t, open) })
	t.Run("a dropped factor leaves no mark", func(t *testing.T) { dropped(t, open) })
	t.Run("an account elsewhere is one person's", func(t *testing.T) { links(t, open) })
	t.Run("the last way in stays", func(t *testing.T) { unlinked(t, open) })
	t.Run("of many first callbacks one makes the account", func(t *testing.T) { linkRace(t, open) })
	t.Run("what a provider vouches for is proven", func(t *testing.T) { proven(t, open) })
}

// factor is a person with a factor in use, of the recovery codes "a" and "b".
func factor(t testing.TB, s *store.Store) identity.Viewer {
	t.Helper()
	v := person(t, s)
	need(t, s.DraftFactor(t.Context(), identity.Factor{UserID: v.UserID, Sealed: []byte{0, 1, 255}}))
	_ = got(s.EnableFactor(t.Context(), v.UserID, 100, []string{"a", "b"}))(t)
	return v
}

func factorRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, made := factor(t, s), c.now()
	c.add(time.Minute)
	f := got(s.Factor(t.Context(), v.UserID))(t)
	want(t, "secret", string(f.Sealed), "\x00\x01\xff")
	want(t, "step", f.LastStep, 100)
	want(t, "made", f.CreatedAt, made)
	want(t, "enabled", f.EnabledAt, made)
	if f.UserID != v.UserID || !slices.Equal(f.Recovery, []string{"a", "b"}) {
		t.Errorf("factor = %+v", f)
	}
	_, err := s.Factor(t.Context(), person(t, s).UserID)
	wantFault(t, err, fault.NotFound)
}

func factorDrafts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	_, err := s.EnableFactor(t.Context(), v.UserID, 1, nil)
	wantFault(t, err, fault.Conflict)
	for _, secret := range []string{"one", "two"} {
		need(t, s.DraftFactor(t.Context(), identity.Factor{UserID: v.UserID, Sealed: []byte(secret)}))
	}
	want(t, "draft", string(got(s.Factor(t.Context(), v.UserID))(t).Sealed), "two")
	_, err = s.SpendRecovery(t.Context(), v.UserID, "")
	wantFault(t, err, fault.Unauthorized)
	errs := race(writers, func(i int) error {
		_, err := s.EnableFactor(t.Context(), v.UserID, int64(i), []string{strconv.Itoa(i)})
		return err
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	wantFault(t, s.DraftFactor(t.Context(), identity.Factor{UserID: v.UserID, Sealed: []byte("three")}), fault.Conflict)
	want(t, "in use", string(got(s.Factor(t.Context(), v.UserID))(t).Sealed), "two")
}

func factorEnabled(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	other := factor(t, s)
	n := session(t, s, "hash", time.Now().Add(time.Hour))
	need(t, s.DraftFactor(t.Context(), identity.Factor{UserID: n.UserID, Sealed: []byte("x")}))
	ended := got(s.EnableFactor(t.Context(), n.UserID, 1, nil))(t)
	if !slices.Equal(ended, []string{n.ID}) {
		t.Errorf("ended %v, want %v", ended, n.ID)
	}
	now, u, err := s.Session(t.Context(), n.ID)
	need(t, err)
	if now.RevokedAt.IsZero() || !u.MFA {
		t.Errorf("session = %+v, user = %+v", now, u)
	}
	if f := got(s.Factor(t.Context(), other.UserID))(t); f.LastStep != 100 {
		t.Errorf("another's factor = %+v", f)
	}
}

// A sign-in looks at its proofs, and what follows ends every session before it
// has opened its own.
func overtaken(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	n := session(t, s, "hash", time.Now().Add(time.Hour))
	_, c, err := s.User(t.Context(), n.UserID)
	need(t, err)
	try := func(p identity.Proofs) error {
		return s.OpenSession(t.Context(), identity.Session{
			ID: id.New(), UserID: n.UserID, RefreshHash: "h", ExpiresAt: time.Now().Add(time.Hour), Proofs: p,
		})
	}
	need(t, try(identity.Proofs{Password: c.Hash}))
	got(s.SetPassword(t.Context(), identity.Credential{UserID: n.UserID, Hash: "another", Algorithm: "argon2id"}, ""))(t)
	wantFault(t, try(identity.Proofs{Password: c.Hash}), fault.Unauthorized)
	need(t, try(identity.Proofs{Password: "another"}))
	need(t, s.DraftFactor(t.Context(), identity.Factor{UserID: n.UserID, Sealed: []byte("x")}))
	need(t, try(identity.Proofs{}))
	got(s.EnableFactor(t.Context(), n.UserID, 1, nil))(t)
	wantFault(t, try(identity.Proofs{Password: "another"}), fault.Unauthorized)
	wantFault(t, try(identity.Proofs{}), fault.Unauthorized)
	need(t, try(identity.Proofs{Password: "another", Factor: true}))
	need(t, s.DropFactor(t.Context(), n.UserID))
	need(t, try(identity.Proofs{Password: "another"}))
}

func steps(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := factor(t, s)
	for _, used := range []int64{100, 99} {
		wantFault(t, s.SpendStep(t.Context(), v.UserID, used), fault.Unauthorized)
	}
	errs := race(writers, func(int) error { return s.SpendStep(t.Context(), v.UserID, 101) })
	want(t, "winners", winners(t, errs, fault.Unauthorized), 1)
	need(t, s.SpendStep(t.Context(), v.UserID, 102))
	wantFault(t, s.SpendStep(t.Context(), person(t, s).UserID, 1), fault.Unauthorized)
}

func recovery(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := factor(t, s)
	errs := race(writers, func(int) error {
		left, err := s.SpendRecovery(t.Context(), v.UserID, "a")
		if err == nil {
			want(t, "left", left, 1)
		}
		return err
	})
	want(t, "winners", winners(t, errs, fault.Unauthorized), 1)
	_, err := s.SpendRecovery(t.Context(), factor(t, s).UserID, "c")
	wantFault(t, err, fault.Unauthorized)
	need(t, s.ReplaceRecovery(t.Context(), v.UserID, []string{"c"}))
	_, err = s.SpendRecovery(t.Context(), v.UserID, "b")
	wantFault(t, err, fault.Unauthorized)
	want(t, "left", got(s.SpendRecovery(t.Context(), v.UserID, "c"))(t), 0)
}

func dropped(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := factor(t, s)
	for range 2 {
		need(t, s.DropFactor(t.Context(), v.UserID))
	}
	_, err := s.Factor(t.Context(), v.UserID)
	wantFault(t, err, fault.NotFound)
	u, _, err := s.User(t.Context(), v.UserID)
	need(t, err)
	want(t, "mark", u.MFA, false)
	need(t, s.DraftFactor(t.Context(), identity.Factor{UserID: v.UserID, Sealed: []byte("x")}))
}

func links(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	ada, bob := person(t, s), person(t, s)
	e := identity.External{Provider: "google", UID: "1"}
	_, err := s.LinkedUser(t.Context(), "google", "1")
	wantFault(t, err, fault.NotFound)
	for range 2 {
		need(t, s.LinkProvider(t.Context(), ada.UserID, e))
	}
	wantFault(t, s.LinkProvider(t.Context(), bob.UserID, e), fault.Conflict)
	want(t, "owner", got(s.LinkedUser(t.Context(), "google", "1"))(t), ada.UserID)
	need(t, s.LinkProvider(t.Context(), bob.UserID, identity.External{Provider: "github", UID: "1"}))
	want(t, "owner", got(s.LinkedUser(t.Context(), "github", "1"))(t), bob.UserID)
}

func unlinked(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	ada := person(t, s)
	for _, p := range []string{"google", "github"} {
		need(t, s.LinkProvider(t.Context(), ada.UserID, identity.External{Provider: p, UID: "1", Email: p + "@example.org"}))
		c.add(time.Second)
	}
	list := got(s.Links(t.Context(), ada.UserID))(t)
	if len(list) != 2 || list[0].Provider != "google" || list[1].Email != "github@example.org" || !list[1].LinkedAt.Equal(c.now().Add(-time.Second)) {
		t.Errorf("links = %+v", list)
	}
	for _, p := range []string{"google", "github"} { // she has a password
		wantFault(t, s.Unlink(t.Context(), person(t, s).UserID, p), fault.NotFound)
		need(t, s.Unlink(t.Context(), ada.UserID, p))
	}
	want(t, "links left", len(got(s.Links(t.Context(), ada.UserID))(t)), 0)

	e := identity.External{Provider: "google", UID: "2", Email: "bob@example.org"}
	bob := got(s.CreateLinked(t.Context(), identity.User{ID: id.New(), Email: e.Email, Active: true}, e))(t)
	wantFault(t, s.Unlink(t.Context(), bob.ID, "google"), fault.Conflict)
	want(t, "owner", got(s.LinkedUser(t.Context(), "google", "2"))(t), bob.ID)
	need(t, s.LinkProvider(t.Context(), bob.ID, identity.External{Provider: "github", UID: "2"}))
	errs := race(2, func(i int) error { return s.Unlink(t.Context(), bob.ID, []string{"google", "github"}[i]) })
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
}

func linkRace(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	e := identity.External{Provider: "google", UID: "1", Email: "Ada@Example.org"}
	errs := race(writers, func(int) error {
		_, err := s.CreateLinked(t.Context(), identity.User{ID: id.New(), Email: e.Email, Active: true}, e)
		return err
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	u, c, err := s.UserByEmail(t.Context(), "ada@example.org")
	need(t, err)
	want(t, "owner", got(s.LinkedUser(t.Context(), "google", "1"))(t), u.ID)
	want(t, "password", c.Hash, "")
	want(t, "role", u.Role, identity.RoleAdmin)
	taken := e
	_, err = s.CreateLinked(t.Context(), identity.User{ID: id.New(), Email: "eve@example.org", Active: true}, taken)
	wantFault(t, err, fault.Conflict)
	_, _, err = s.UserByEmail(t.Context(), "eve@example.org")
	wantFault(t, err, fault.NotFound) // all of it or nothing
}

func proven(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	want(t, "a sign-up's", got(s.EmailProven(t.Context(), person(t, s).UserID))(t), false)
	for _, verified := range []bool{true, false} {
		e := identity.External{Provider: "google", UID: id.New(), Email: id.New() + "@example.org", EmailVerified: verified}
		u := got(s.CreateLinked(t.Context(), identity.User{ID: id.New(), Email: e.Email, Active: true}, e))(t)
		want(t, "a provider's", got(s.EmailProven(t.Context(), u.ID))(t), verified)
	}
}
