package identity

import (
	"errors"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
)

// withCache is setup with a cache by the same clock.
func withCache(t *testing.T, change ...func(*Options)) (bundle, *memCache) {
	t.Helper()
	var s *memCache
	b := setup(t, append([]func(*Options){func(o *Options) {
		s = newMemCache(o.Now)
		o.Cache = s
	}}, change...)...)
	return b, s
}

func (b bundle) logIn(t *testing.T, email string, d Device) SignIn {
	t.Helper()
	in, err := b.LogIn(t.Context(), SignInTry{Email: email, Password: "correct horse"}, d)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func (b bundle) refresh(t *testing.T, token string) SignIn {
	t.Helper()
	in, err := b.Refresh(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// works checks whether an access token opens anything.
func (b bundle) works(t *testing.T, what string, in SignIn, want bool) {
	t.Helper()
	v, err := b.Authenticate(t.Context(), in.Access)
	if got := err == nil; got != want {
		t.Errorf("%s: works is %v, want %v: %v", what, got, want, err)
	}
	if err != nil && !errors.Is(err, fault.Unauthorized) && !errors.Is(err, fault.Forbidden) {
		t.Errorf("%s: %v", what, err)
	}
	if err == nil && v.UserID != in.User.ID {
		t.Errorf("%s: acts as %s", what, v.UserID)
	}
}

// Requirements: AUTH-17
func TestAMirroredSessionNeedsNoStore(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	in := b.signUp(t, "ada@example.org")
	b.works(t, "first", in, true)
	reads := b.store.reads
	for range 10 {
		b.works(t, "again", in, true)
	}
	if b.store.reads != reads {
		t.Errorf("%d reads of the store for cached requests", b.store.reads-reads)
	}
	b.clock.pass(sessionCacheTTL)
	b.works(t, "after the cached session", in, true)
	if b.store.reads != reads+1 {
		t.Errorf("%d reads after the cached session expired", b.store.reads-reads)
	}
}

// Requirements: AUTH-05
func TestALogOutCountsAtOnceForMirroredSessionsToo(t *testing.T) {
	t.Parallel()
	b, s := withCache(t)
	in := b.signUp(t, "ada@example.org")
	b.works(t, "before", in, true)
	if err := b.LogOut(t.Context(), in.Access, ""); err != nil {
		t.Fatal(err)
	}
	b.works(t, "after", in, false)
	if got := s.items[sessionCacheKey(in.SessionID)]; got.value != sessionEnded || got.until.Sub(b.clock.now()) < 30*time.Minute {
		t.Errorf("the denylist has %q until %v", got.value, got.until)
	}
	// Somebody who read the store before the end cannot put it back.
	b.cacheSession(t.Context(), in.SessionID, b.cachedSessionOf(Session{ID: in.SessionID, ExpiresAt: in.ExpiresAt}, in.User))
	b.works(t, "after a late write to the cache", in, false)
	reads := b.store.reads
	b.works(t, "again", in, false)
	if b.store.reads != reads {
		t.Error("a token of the denylist asked the store")
	}
}

// Requirements: DATA-13
func TestLosingTheCacheLosesNoSessionAndRevivesNone(t *testing.T) {
	t.Parallel()
	b, s := withCache(t)
	open, ended := b.signUp(t, "ada@example.org"), b.signUp(t, "bob@example.org")
	if err := b.LogOut(t.Context(), ended.Access, ended.Refresh); err != nil {
		t.Fatal(err)
	}
	s.lose()
	b.works(t, "open", open, true)
	b.works(t, "ended", ended, false)
	s.fail(true)
	b.works(t, "open, no cache", open, true)
	b.works(t, "ended, no cache", ended, false)
	b.refresh(t, open.Refresh)
	b.logIn(t, "bob@example.org", Device{})
}

// Requirements: AUTH-17
func TestASessionInUseForADayChangesItsID(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	first := b.signUp(t, "ada@example.org")
	b.clock.pass(23 * time.Hour)
	same := b.refresh(t, first.Refresh)
	if same.SessionID != first.SessionID {
		t.Error("the id changed before a day was over")
	}
	b.clock.pass(time.Hour)
	next := b.refresh(t, same.Refresh)
	if next.SessionID == first.SessionID || next.ExpiresAt.Sub(b.clock.now()) != 7*24*time.Hour {
		t.Errorf("after a day: id %s, until %v", next.SessionID, next.ExpiresAt)
	}
	b.works(t, "the new id", next, true)
	b.clock.pass(rotateGrace)
	b.works(t, "the new id, later", next, true)
	if _, err := b.Refresh(t.Context(), same.Refresh); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("the token of the old id: %v", err)
	}
	b.works(t, "the new id, after the old one's token came again", next, false)
}

// Requirements: AUTH-17
func TestTheOldIDStaysGoodForItsGrace(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	first := b.signUp(t, "ada@example.org")
	b.clock.pass(24*time.Hour - time.Minute)
	fresh := b.refresh(t, first.Refresh) // a new access token of the old id
	b.clock.pass(time.Minute)
	b.works(t, "before", fresh, true)
	next := b.refresh(t, fresh.Refresh)
	b.clock.pass(rotateGrace - time.Second)
	b.works(t, "in the grace", fresh, true)
	b.clock.pass(time.Second)
	b.works(t, "after the grace", fresh, false)
	b.works(t, "the new id", next, true)
	list, own, err := b.Sessions(t.Context(), Viewer{UserID: first.User.ID, SessionID: next.SessionID})
	if err != nil || len(list) != 1 || own != first.SessionID || list[0].ID != next.SessionID {
		t.Errorf("sessions = %+v of %s, %v", list, own, err)
	}
}

// Requirements: AUTH-03
func TestTwoPagesThatWakeTogetherStaySignedIn(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	first := b.signUp(t, "ada@example.org")
	won := b.refresh(t, first.Refresh)
	if _, err := b.Refresh(t.Context(), first.Refresh); !errors.Is(err, fault.Conflict) {
		t.Errorf("the second page: %v", err)
	}
	b.works(t, "the first page", won, true)
	b.clock.pass(tradeTolerance)
	if _, err := b.Refresh(t.Context(), first.Refresh); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("a thief: %v", err)
	}
	b.works(t, "the family of a stolen token", won, false)
}

// Requirements: AUTH-18 (configurable per plan)
func TestSessionsLastByClientAndPlan(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t, func(o *Options) {
		o.Life = func(client, plan string) time.Duration {
			return map[string]time.Duration{"mobile free": 24 * time.Hour, "web paid": 30 * 24 * time.Hour}[client+" "+plan]
		}
	})
	b.signUp(t, "ada@example.org")
	for client, want := range map[string]time.Duration{Mobile: 24 * time.Hour, Web: 7 * 24 * time.Hour, "": 7 * 24 * time.Hour} {
		if in := b.logIn(t, "ada@example.org", Device{Client: client}); in.ExpiresAt.Sub(b.clock.now()) != want {
			t.Errorf("%q lasts %v, want %v", client, in.ExpiresAt.Sub(b.clock.now()), want)
		}
	}
	in := b.logIn(t, "ada@example.org", Device{})
	if _, err := b.change(t.Context(), in.User.ID, UserChange{Plan: new("paid")}); err != nil {
		t.Fatal(err)
	}
	if in = b.refresh(t, in.Refresh); in.ExpiresAt.Sub(b.clock.now()) != 30*24*time.Hour {
		t.Errorf("a paid session lasts %v", in.ExpiresAt.Sub(b.clock.now()))
	}
}

// Requirements: AUTH-07
func TestASingleSessionEndsTheOthers(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	first := b.signUp(t, "ada@example.org")
	second := b.logIn(t, "ada@example.org", Device{})
	b.works(t, "two at once", first, true)
	if _, err := b.KeepOneSession(t.Context(), first.User.Viewer(first.SessionID), true); err != nil {
		t.Fatal(err)
	}
	third := b.logIn(t, "ada@example.org", Device{})
	b.works(t, "the first", first, false)
	b.works(t, "the second", second, false)
	b.works(t, "the third", third, true)
	if _, err := b.Refresh(t.Context(), first.Refresh); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("a refresh of the first: %v", err)
	}
}

func TestSessionsEndOneByOneAndTogether(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	one := b.signUp(t, "ada@example.org")
	two, three := b.logIn(t, "ada@example.org", Device{}), b.logIn(t, "ada@example.org", Device{})
	eve := b.signUp(t, "eve@example.org")
	v := one.User.Viewer(one.SessionID)
	if err := b.EndSession(t.Context(), v, eve.SessionID); !errors.Is(err, fault.NotFound) {
		t.Errorf("ending another's: %v", err)
	}
	if err := b.EndSession(t.Context(), v, two.SessionID); err != nil {
		t.Fatal(err)
	}
	b.works(t, "the ended one", two, false)
	b.works(t, "another", three, true)
	if err := b.EndOtherSessions(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	b.works(t, "another, later", three, false)
	b.works(t, "its own", one, true)
	b.works(t, "a stranger's", eve, true)
}

// Requirements: AUTH-21
func TestAChangeOfAnAccountCountsInMirroredSessions(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	admin, ada := b.signUp(t, "root@example.org"), b.signUp(t, "ada@example.org")
	root := admin.User.Viewer(admin.SessionID)
	b.works(t, "before", ada, true)
	if _, err := b.ChangeUser(t.Context(), root, ada.User.ID, UserChange{Role: new(RolePower), Plan: new("paid")}); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Authenticate(t.Context(), ada.Access); err != nil || v.Role != RolePower || v.Plan != "paid" {
		t.Errorf("after: %+v, %v", v, err)
	}
	if _, err := b.ChangeUser(t.Context(), root, ada.User.ID, UserChange{Active: new(false)}); err != nil {
		t.Fatal(err)
	}
	b.works(t, "switched off", ada, false)
	b.store.deactivate("root@example.org") // behind our back
	b.works(t, "switched off by somebody else", admin, false)
	if _, err := b.ChangeUser(t.Context(), ada.User.Viewer(""), admin.User.ID, UserChange{}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("a user changes accounts: %v", err)
	}
	if _, err := b.ChangeUser(t.Context(), root, ada.User.ID, UserChange{Role: new(RoleSystem)}); !errors.Is(err, fault.Invalid) {
		t.Errorf("a person becomes the system: %v", err)
	}
}

func TestManyRequestsAndOneLogOutRace(t *testing.T) {
	t.Parallel()
	b, _ := withCache(t)
	in := b.signUp(t, "ada@example.org")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if i == 10 {
				_ = b.LogOut(t.Context(), in.Access, "")
			}
			_, _ = b.Authenticate(t.Context(), in.Access)
		})
	}
	all.Wait()
	b.works(t, "after the race", in, false)
}
