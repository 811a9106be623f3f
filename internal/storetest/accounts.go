package storetest

import (
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// Accounts proves identity.Store.
func Accounts(t *testing.T, open Open) {
	t.Run("the first account, and only it, becomes an administrator", func(t *testing.T) { firstAccount(t, open) })
	t.Run("an email belongs to one account", func(t *testing.T) { oneEmail(t, open) })
	t.Run("an account comes back as it was stored", func(t *testing.T) { accountRoundTrip(t, open) })
	t.Run("a run started without a request acts as its person is now", func(t *testing.T) { viewerNow(t, open) })
	t.Run("a session rotates", func(t *testing.T) { rotation(t, open) })
	t.Run("of many rotations of one token one wins and the session ends", func(t *testing.T) { rotationRace(t, open) })
	t.Run("an expired session does not rotate", func(t *testing.T) { expiredSession(t, open) })
}

func firstAccount(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	want(t, "accounts before", got(s.Accounts(t.Context()))(t), false)
	admins := make([]bool, writers)
	errs := race(writers, func(i int) error {
		u, err := s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New(), Active: true}, identity.Credential{})
		admins[i] = u.Role == identity.RoleAdmin
		return err
	})
	want(t, "accounts made", winners(t, errs, fault.Conflict), writers)
	n := 0
	for _, is := range admins {
		if is {
			n++
		}
	}
	want(t, "administrators", n, 1)
	want(t, "accounts after", got(s.Accounts(t.Context()))(t), true)
}

func viewerNow(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	u := got(s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "ada@example.org", Active: true, Plan: "paid", Locale: "de"}, identity.Credential{}))(t)
	want(t, "viewer", got(s.Viewer(t.Context(), u.ID))(t), identity.Viewer{UserID: u.ID, Role: identity.RoleAdmin, Plan: "paid", Locale: "de"})
	off := got(s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "off@example.org"}, identity.Credential{}))(t)
	for _, gone := range []string{off.ID, id.New()} {
		_, err := s.Viewer(t.Context(), gone)
		want(t, "code", fault.CodeOf(err), fault.NotFound)
	}
}

func oneEmail(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	errs := race(writers, func(int) error {
		_, err := s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "Ada@Example.org"}, identity.Credential{})
		return err
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	for _, err := range errs {
		if err == nil {
			continue
		}
		f := fault.From(err)
		if d, ok := f.Details.(map[string]any); !ok || d["field"] != "email" {
			t.Errorf("details are %v, want the field email", f.Details)
		}
		for _, word := range []string{"UNIQUE", "constraint", "app_user", "SQL"} {
			if strings.Contains(f.Message, word) {
				t.Errorf("the message %q names the database (%s)", f.Message, word)
			}
		}
		break
	}
}

func accountRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	person(t, s)
	u := identity.User{ID: id.New(), Email: "Grace@Example.org", Handle: "grace", Role: identity.RolePower, Plan: "paid", Active: true, Locale: "de"}
	stored := got(s.CreateUser(t.Context(), u, identity.Credential{UserID: u.ID, Hash: "$argon2id$…", Algorithm: "argon2id"}))(t)
	u.Email, u.CreatedAt = "grace@example.org", c.now()
	want(t, "the stored account", stored, u)
	found, credential, err := s.UserByEmail(t.Context(), "GRACE@example.org")
	need(t, err)
	want(t, "the account found", found, u)
	want(t, "its credential", credential, identity.Credential{UserID: u.ID, Hash: "$argon2id$…", Algorithm: "argon2id"})
	_, _, err = s.UserByEmail(t.Context(), "nobody@example.org")
	wantFault(t, err, fault.NotFound)
}

func session(t testing.TB, s *store.Store, hash string, expires time.Time) identity.Session {
	t.Helper()
	v := person(t, s)
	n := identity.Session{ID: id.New(), UserID: v.UserID, RefreshHash: hash, UserAgent: "test", Address: "::1", ExpiresAt: expires}
	need(t, s.OpenSession(t.Context(), n))
	return n
}

func rotation(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	later := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	n := session(t, s, "one", later)
	need(t, s.RotateSession(t.Context(), n.ID, "one", "two", later.Add(time.Hour)))
	now, u, err := s.Session(t.Context(), n.ID)
	need(t, err)
	want(t, "hash", now.RefreshHash, "two")
	want(t, "expiry", now.ExpiresAt, later.Add(time.Hour))
	want(t, "owner", u.ID, n.UserID)
	want(t, "agent", now.UserAgent, "test")
	wantFault(t, s.RotateSession(t.Context(), n.ID, "one", "three", later), fault.Unauthorized)
	now, _, err = s.Session(t.Context(), n.ID)
	need(t, err)
	if now.RevokedAt.IsZero() {
		t.Error("a token used twice left the session alive")
	}
	wantFault(t, s.RotateSession(t.Context(), n.ID, "two", "three", later), fault.Unauthorized)
	need(t, s.RevokeSession(t.Context(), n.ID))
	need(t, s.RevokeSession(t.Context(), id.New()))
	_, _, err = s.Session(t.Context(), id.New())
	wantFault(t, err, fault.NotFound)
}

func rotationRace(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	n := session(t, s, "old", time.Now().Add(time.Hour))
	errs := race(writers, func(int) error {
		return s.RotateSession(t.Context(), n.ID, "old", id.New(), time.Now().Add(time.Hour))
	})
	want(t, "winners", winners(t, errs, fault.Unauthorized), 1)
}

func expiredSession(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	n := session(t, s, "h", c.now().Add(time.Hour))
	c.add(time.Hour)
	wantFault(t, s.RotateSession(t.Context(), n.ID, "h", "i", c.now().Add(time.Hour)), fault.Unauthorized)
}
