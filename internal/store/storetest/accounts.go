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
	t.Run("a token that was made up ends no session", func(t *testing.T) { forgedRotation(t, open) })
	t.Run("of many rotations of one token one wins and the session ends", func(t *testing.T) { rotationRace(t, open) })
	t.Run("an expired session does not rotate", func(t *testing.T) { expiredSession(t, open) })
	t.Run("a session changes its id and keeps its family", func(t *testing.T) { newID(t, open) })
	t.Run("sessions end together", func(t *testing.T) { revocations(t, open) })
	t.Run("no session escapes its end", func(t *testing.T) { revocationRace(t, open) })
	t.Run("ended sessions are swept", func(t *testing.T) { sweptSessions(t, open) })
	t.Run("accounts change", func(t *testing.T) { changedAccounts(t, open) })
	t.Run("an administrator is always left", func(t *testing.T) { lastAdministrator(t, open) })
	t.Run("accounts are listed by page, tenant and email", func(t *testing.T) { listedAccounts(t, open) })
	t.Run("settings are merged and checked", func(t *testing.T) { chosen(t, open) })
	t.Run("a deleted account leaves nothing", func(t *testing.T) { deletedAccount(t, open) })
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
	want(t, "viewer", got(s.Viewer(t.Context(), u.ID))(t), identity.Viewer{UserID: u.ID, Role: identity.RoleAdmin, Plan: "paid", TenantID: "default", Locale: "de"})
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
	u.Email, u.CreatedAt, u.TenantID = "grace@example.org", c.now(), "default"
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
	return sessionOf(t, s, person(t, s).UserID, hash, expires)
}

func sessionOf(t testing.TB, s *store.Store, userID, hash string, expires time.Time) identity.Session {
	t.Helper()
	n := identity.Session{ID: id.New(), UserID: userID, RefreshHash: hash, UserAgent: "test", Address: "::1", ExpiresAt: expires}
	need(t, s.OpenSession(t.Context(), n))
	return got(sessionNow(t, s, n.ID))(t)
}

func sessionNow(t testing.TB, s *store.Store, id string) (identity.Session, error) {
	n, _, err := s.Session(t.Context(), id)
	return n, err
}

// traded is the trade of a session's token for the next, under the same id.
func traded(n identity.Session, from, to string, expires time.Time) identity.Rotation {
	return identity.Rotation{
		ID: n.ID, UserID: n.UserID, OldHash: from, NewID: n.ID, NewHash: to, Expires: expires,
		Grace: 5 * time.Minute, Tolerance: 10 * time.Second,
	}
}

func rotation(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	later := c.now().Add(time.Hour)
	n := session(t, s, "one", later)
	want(t, "family", n.FamilyID, n.ID)
	want(t, "client", n.Client, identity.Web)
	want(t, "signed in", n.SignedInAt, c.now())
	c.add(time.Minute)
	got(s.RotateSession(t.Context(), traded(n, "one", "two", later.Add(time.Hour))))(t)
	now, u, err := s.Session(t.Context(), n.ID)
	need(t, err)
	want(t, "hash", now.RefreshHash, "two")
	want(t, "expiry", now.ExpiresAt, later.Add(time.Hour))
	want(t, "owner", u.ID, n.UserID)
	want(t, "agent", now.UserAgent, "test")
	want(t, "used", now.UsedAt, c.now())
	want(t, "signed in", now.SignedInAt, n.SignedInAt)

	_, err = s.RotateSession(t.Context(), traded(n, "one", "three", later))
	wantFault(t, err, fault.Conflict)
	want(t, "open after an honest repetition", got(sessionNow(t, s, n.ID))(t).RevokedAt.IsZero(), true)
	c.add(10 * time.Second)
	ended, err := s.RotateSession(t.Context(), traded(n, "one", "three", later))
	wantFault(t, err, fault.Unauthorized)
	want(t, "ended", strings.Join(ended, " "), n.ID)
	want(t, "open after a token came twice", got(sessionNow(t, s, n.ID))(t).RevokedAt.IsZero(), false)
	_, err = s.RotateSession(t.Context(), traded(n, "two", "three", later))
	wantFault(t, err, fault.Unauthorized)

	want(t, "ended again", len(got(s.RevokeSession(t.Context(), n.ID))(t)), 0)
	want(t, "ended unknown", len(got(s.RevokeSession(t.Context(), id.New()))(t)), 0)
	_, err = sessionNow(t, s, id.New())
	wantFault(t, err, fault.NotFound)
}

func forgedRotation(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	later := c.now().Add(time.Hour)
	n := session(t, s, "one", later)
	forged := traded(n, "made up", "two", later)
	forged.Forged = true
	ended, err := s.RotateSession(t.Context(), forged)
	wantFault(t, err, fault.Unauthorized)
	want(t, "ended", len(ended), 0)
	forged.OldHash = "one" // of before there were seals
	got(s.RotateSession(t.Context(), forged))(t)
	want(t, "hash", got(sessionNow(t, s, n.ID))(t).RefreshHash, "two")
}

func rotationRace(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	n := session(t, s, "old", time.Now().Add(time.Hour))
	errs := race(writers, func(int) error {
		r := traded(n, "old", id.New(), time.Now().Add(time.Hour))
		r.Tolerance = 0
		_, err := s.RotateSession(t.Context(), r)
		return err
	})
	want(t, "winners", winners(t, errs, fault.Unauthorized), 1)
	want(t, "open", got(sessionNow(t, s, n.ID))(t).RevokedAt.IsZero(), false)
}

func expiredSession(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	n := session(t, s, "h", c.now().Add(time.Hour))
	c.add(time.Hour)
	_, err := s.RotateSession(t.Context(), traded(n, "h", "i", c.now().Add(time.Hour)))
	wantFault(t, err, fault.Unauthorized)
}

// nextID gives a session its next id and returns that session.
func nextID(t testing.TB, s *store.Store, n identity.Session, from, to string, expires time.Time) identity.Session {
	t.Helper()
	r := traded(n, from, to, expires)
	r.NewID = id.New()
	got(s.RotateSession(t.Context(), r))(t)
	return got(sessionNow(t, s, r.NewID))(t)
}

func newID(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	first := session(t, s, "one", c.now().Add(time.Hour))
	c.add(30 * time.Minute)
	second := nextID(t, s, first, "one", "two", c.now().Add(time.Hour))
	want(t, "family", second.FamilyID, first.ID)
	want(t, "signed in", second.SignedInAt, first.SignedInAt)
	want(t, "made", second.CreatedAt, c.now())
	want(t, "agent", second.UserAgent, "test")
	want(t, "expiry of the old id", got(sessionNow(t, s, first.ID))(t).ExpiresAt, c.now().Add(5*time.Minute))
	list := got(s.ListSessions(t.Context(), first.UserID))(t)
	want(t, "open ids", len(list), 2)
	want(t, "the sign-in", list[0], second)
	want(t, "the token of the id in its grace", list[1].RefreshHash, "")

	third := nextID(t, s, second, "two", "three", c.now().Add(2*time.Hour))
	c.add(10 * time.Second)
	ended, err := s.RotateSession(t.Context(), traded(first, "one", "stolen", c.now().Add(time.Hour)))
	wantFault(t, err, fault.Unauthorized)
	want(t, "ended", len(ended), 3)
	want(t, "open", got(sessionNow(t, s, third.ID))(t).RevokedAt.IsZero(), false)
}

func revocations(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	later := time.Now().Add(time.Hour)
	mine := session(t, s, "mine", later)
	other := sessionOf(t, s, mine.UserID, "other", later)
	stranger := session(t, s, "stranger", later)
	want(t, "sign-ins", len(got(s.ListSessions(t.Context(), mine.UserID))(t)), 2)
	want(t, "ended", strings.Join(got(s.RevokeSessions(t.Context(), mine.UserID, mine.FamilyID))(t), " "), other.ID)
	want(t, "ended", strings.Join(got(s.SetPassword(t.Context(), identity.Credential{UserID: mine.UserID, Hash: "new", Algorithm: "a"}, ""))(t), " "), mine.ID)
	_, c, err := s.User(t.Context(), mine.UserID)
	need(t, err)
	want(t, "hash", c.Hash, "new")
	want(t, "a stranger's is open", got(sessionNow(t, s, stranger.ID))(t).RevokedAt.IsZero(), true)
	_, err = s.SetPassword(t.Context(), identity.Credential{UserID: id.New()}, "")
	wantFault(t, err, fault.NotFound)
}

// revocationRace: what ends all sessions misses none that is changing its id.
func revocationRace(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	n := session(t, s, "0", time.Now().Add(time.Hour))
	race(writers, func(i int) error {
		if i == writers/2 {
			_, err := s.RevokeSessions(t.Context(), n.UserID, "")
			return err
		}
		r := traded(n, "0", "next", time.Now().Add(time.Hour))
		r.NewID = id.New()
		_, err := s.RotateSession(t.Context(), r)
		return err
	})
	want(t, "open", len(got(s.ListSessions(t.Context(), n.UserID))(t)), 0)
}

func sweptSessions(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	month := 30 * 24 * time.Hour
	ended := session(t, s, "a", c.now().Add(time.Hour))
	revoked := session(t, s, "b", c.now().Add(time.Hour))
	got(s.RevokeSession(t.Context(), revoked.ID))(t)
	first := session(t, s, "c", c.now().Add(time.Hour))
	second := nextID(t, s, first, "c", "d", c.now().Add(2*month))
	c.add(time.Hour)
	want(t, "removed", got(s.SweepSessions(t.Context()))(t), 2)
	for _, n := range []identity.Session{ended, revoked} {
		_, err := sessionNow(t, s, n.ID)
		wantFault(t, err, fault.NotFound)
	}
	got(sessionNow(t, s, first.ID))(t)
	c.add(month)
	want(t, "removed when no token can be alive", got(s.SweepSessions(t.Context()))(t), 1)
	got(sessionNow(t, s, second.ID))(t)
}

func changedAccounts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	root := got(s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "root@example.org", Active: true, Unverified: true}, identity.Credential{}))(t)
	want(t, "the first account is confirmed", root.Unverified, false)
	u := got(s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "ada@example.org", Active: true, Unverified: true, TenantID: "acme"}, identity.Credential{}))(t)
	off, user, admin, plan := false, identity.RoleUser, identity.RoleAdmin, "paid"
	for _, c := range []identity.UserChange{{Role: &user}, {Active: &off}} {
		_, err := s.ChangeUser(t.Context(), root.ID, c)
		wantFault(t, err, fault.Conflict)
	}
	_, err := s.DeleteUser(t.Context(), root.ID)
	wantFault(t, err, fault.Conflict)
	yes := true
	changed := got(s.ChangeUser(t.Context(), u.ID, identity.UserChange{Role: &admin, Plan: &plan, Unverified: &off, SingleSession: &yes}))(t)
	u.Role, u.Plan, u.Unverified, u.SingleSession = admin, plan, false, true
	want(t, "changed", changed, u)
	now, _, err := s.User(t.Context(), u.ID)
	need(t, err)
	want(t, "stored", now, u)
	got(s.ChangeUser(t.Context(), root.ID, identity.UserChange{Role: &user}))(t)
	_, err = s.ChangeUser(t.Context(), id.New(), identity.UserChange{})
	wantFault(t, err, fault.NotFound)
}

func lastAdministrator(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	ids := make([]string, 8)
	for i := range ids {
		ids[i] = got(s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New(), Active: true, Role: identity.RoleAdmin}, identity.Credential{}))(t).ID
	}
	user := identity.RoleUser
	errs := race(len(ids), func(i int) error {
		_, err := s.ChangeUser(t.Context(), ids[i], identity.UserChange{Role: &user})
		return err
	})
	want(t, "who stepped down", winners(t, errs, fault.Conflict), len(ids)-1)
}

func listedAccounts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	for _, tenant := range []string{"a", "b", "a", "a"} {
		got(s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", TenantID: tenant}, identity.Credential{}))(t)
	}
	list, next, err := s.ListUsers(t.Context(), identity.UserFilter{Tenant: "a", Limit: 2})
	need(t, err)
	want(t, "first page", len(list), 2)
	rest, end, err := s.ListUsers(t.Context(), identity.UserFilter{Tenant: "a", Limit: 2, Cursor: next})
	need(t, err)
	want(t, "second page", len(rest), 1)
	want(t, "end", end, "")
	one, _, err := s.ListUsers(t.Context(), identity.UserFilter{Email: strings.ToUpper(rest[0].Email)})
	need(t, err)
	want(t, "by email", len(one) == 1 && one[0] == rest[0], true)
	_, _, err = s.ListUsers(t.Context(), identity.UserFilter{Cursor: "nonsense"})
	wantFault(t, err, fault.Invalid)
}

func chosen(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	zone, voice := "Europe/Berlin", "calm"
	got(s.ChangeSettings(t.Context(), v.UserID, identity.SettingsChange{Timezone: &zone, Flags: map[string]any{"a": true, "b": "x"}}))(t)
	set := got(s.ChangeSettings(t.Context(), v.UserID, identity.SettingsChange{DefaultVoice: &voice, Flags: map[string]any{"b": nil}}))(t)
	for _, n := range []identity.Settings{set, got(s.Settings(t.Context(), v.UserID))(t)} {
		if n.Timezone != zone || n.DefaultVoice != voice || len(n.Flags) != 1 || n.Flags["a"] != true {
			t.Errorf("settings are %+v", n)
		}
	}
	wrong := "Mars/Olympus"
	_, err := s.ChangeSettings(t.Context(), v.UserID, identity.SettingsChange{Timezone: &wrong})
	wantFault(t, err, fault.Invalid)
}

// deletedAccount: nothing of a person stays, also not what only names them
// (DATA-01), and nothing of others goes.
func deletedAccount(t *testing.T, open Open) {
	b := open(t, unlimited)
	s := b.Store
	administrator(t, s)
	owner, other := person(t, s), person(t, s)
	o, kept := everything(t, b, owner), got(s.CreateArtifact(t.Context(), other, draft("kept"), ""))(t).ID
	n := sessionOf(t, s, owner.UserID, "h", time.Now().Add(time.Hour))
	want(t, "ended", strings.Join(got(s.DeleteUser(t.Context(), owner.UserID))(t), " "), n.ID)
	for name, try := range o.attempts(t, b) {
		code := fault.CodeOf(try(owner))
		if code != fault.NotFound && code != fault.Conflict { // a row that refers to its person, who is gone
			t.Errorf("%s is %q", name, code)
		}
	}
	_, err := sessionNow(t, s, n.ID)
	wantFault(t, err, fault.NotFound)
	_, _, err = s.User(t.Context(), owner.UserID)
	wantFault(t, err, fault.NotFound)
	got(s.Artifact(t.Context(), other, kept))(t)
	_, err = s.DeleteUser(t.Context(), owner.UserID)
	wantFault(t, err, fault.NotFound)
}
