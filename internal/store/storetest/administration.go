package storetest

import (
	"fmt"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/store"
)

// Administration proves identity.Administration and quota.PlanStore.
func Administration(t *testing.T, open Open) {
	t.Run("accounts are found by what they are", func(t *testing.T) { foundAccounts(t, open) })
	t.Run("what is told of accounts is theirs", func(t *testing.T) { peopleFigures(t, open) })
	t.Run("acts are written down with what they did", func(t *testing.T) { auditedActs(t, open) })
	t.Run("a refused act leaves no entry", func(t *testing.T) { refusedActs(t, open) })
	t.Run("plans have versions, and one of two edits wins", func(t *testing.T) { planVersions(t, open) })
	t.Run("numbers of one's own go with the account", func(t *testing.T) { ownNumbers(t, open) })
}

func foundAccounts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	for i, u := range []identity.User{
		{Email: "root@example.org", Handle: "Root", Role: identity.RoleAdmin, Active: true},
		{Email: "ada_l@example.org", Handle: "Ada", Role: identity.RolePower, Plan: "paid", Active: true},
		{Email: "bob@example.com", Handle: "100% Bob", Role: identity.RoleUser, Active: false},
	} {
		u.ID = id.New()
		_, err := s.CreateUser(t.Context(), u, identity.Credential{})
		if err != nil {
			t.Fatal(i, err)
		}
	}
	for what, c := range map[string]struct {
		filter identity.UserFilter
		want   string
	}{
		"part of an address":     {identity.UserFilter{Search: "EXAMPLE.ORG"}, "[Root Ada]"},
		"part of a name":         {identity.UserFilter{Search: "ada"}, "[Ada]"},
		"signs of patterns":      {identity.UserFilter{Search: "0%"}, "[100% Bob]"},
		"an underscore":          {identity.UserFilter{Search: "a_l"}, "[Ada]"},
		"nobody by a pattern":    {identity.UserFilter{Search: "r_ot"}, "[]"},
		"nobody by an odd sign":  {identity.UserFilter{Search: "a\x00\xff"}, "[]"},
		"by role":                {identity.UserFilter{Role: identity.RoleAdmin}, "[Root]"},
		"by plan":                {identity.UserFilter{Plan: "paid"}, "[Ada]"},
		"who is suspended":       {identity.UserFilter{State: "suspended"}, "[100% Bob]"},
		"who is active, by plan": {identity.UserFilter{State: "active", Plan: "free"}, "[Root]"},
	} {
		list, _, err := s.ListUsers(t.Context(), c.filter)
		need(t, err)
		names := []string{}
		for _, u := range list {
			names = append(names, u.Handle)
		}
		want(t, what, fmt.Sprint(names), c.want)
	}
}

func peopleFigures(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	a, b, none := person(t, s), person(t, s), person(t, s)
	began := c.now()
	sessionOf(t, s, a.UserID, "h", began.Add(time.Hour))
	sessionOf(t, s, b.UserID, "g", began.Add(time.Hour))
	ended := sessionOf(t, s, a.UserID, "i", began.Add(time.Hour))
	_, err := s.RevokeSession(t.Context(), ended.ID)
	need(t, err)
	need(t, s.AddUsage(t.Context(), a, entry(id.New(), "a", 1, "m")))
	need(t, s.AddUsage(t.Context(), b, entry(id.New(), "a", 1, "m")))
	need(t, s.AddUsage(t.Context(), b, entry(id.New(), "b", 1, "n")))
	need(t, s.PutFile(t.Context(), b, files.File{Path: "files/b", UserID: b.UserID, Name: "b", Size: 40}, files.Bounds{File: 100, Total: 100, Count: 10}))
	got(s.Accept(t.Context(), b, chat.NewTurn{ConversationID: id.New(), Message: "hello"}))(t)

	told := got(s.PeopleFigures(t.Context(), []string{a.UserID, b.UserID, none.UserID}))(t)
	one, two, three := told[a.UserID], told[b.UserID], told[none.UserID]
	want(t, "a's sign-ins", one.SignIns, 1)
	want(t, "a's use", one.Today, identity.Spent{Calls: 1, Input: 100, Output: 20, CostUSD: 0.25})
	want(t, "b's use", two.Month, identity.Spent{Calls: 2, Input: 200, Output: 40, CostUSD: 0.5})
	want(t, "b's files", fmt.Sprint(two.StoredBytes, two.Files), "40 1")
	want(t, "b was seen", two.LastSeen.Before(began), false)
	want(t, "nobody's figures", fmt.Sprint(three.SignIns, three.LastSeen.IsZero(), three.Today, len(three.Limits)), "0 true {0 0 0 0} 0")
	want(t, "of nobody", len(got(s.PeopleFigures(t.Context(), nil))(t)), 0)
}

func auditedActs(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	admin := administrator(t, s)
	v := factor(t, s)
	by := admin.UserID
	role, plan, budget := identity.RolePower, "paid", &identity.Budget{TokensPerDay: 5}
	limits := map[string]float64{"files": 7}
	got(s.ChangeUser(t.Context(), v.UserID, identity.UserChange{By: by, Role: &role, Plan: &plan}))(t)
	got(s.ChangeUser(t.Context(), v.UserID, identity.UserChange{By: by, Role: &role}))(t) // changes nothing
	got(s.ChangeUser(t.Context(), v.UserID, identity.UserChange{By: by, Budget: &budget, Limits: &limits}))(t)
	got(s.ChangeUser(t.Context(), v.UserID, identity.UserChange{Plan: &plan}))(t) // nobody's act
	n := identity.Session{ID: id.New(), UserID: v.UserID, RefreshHash: "h", ExpiresAt: time.Now().Add(time.Hour), Proofs: identity.Proofs{Factor: true}}
	need(t, s.OpenSession(t.Context(), n))
	want(t, "ended", fmt.Sprint(got(s.EndUserSessions(t.Context(), by, v.UserID))(t)), fmt.Sprint([]string{n.ID}))
	need(t, s.ClearFactor(t.Context(), by, v.UserID))
	_, err := s.Factor(t.Context(), v.UserID)
	wantFault(t, err, fault.NotFound)

	list, next, err := s.ListAudit(t.Context(), identity.AuditFilter{Limit: 3})
	need(t, err)
	rest, end, err := s.ListAudit(t.Context(), identity.AuditFilter{Limit: 3, Cursor: next, UserID: v.UserID})
	need(t, err)
	want(t, "end", end, "")
	said := ""
	for _, e := range append(list, rest...) {
		said += fmt.Sprintln(e.What, e.Was, e.Became)
		if e.By != by || e.UserID != v.UserID || e.UserEmail == "" || e.ByEmail == "" || e.At.IsZero() {
			t.Errorf("an entry is %+v", e)
		}
	}
	want(t, "the log", said, `user.factor_cleared map[mfa_enabled:true] map[mfa_enabled:false]
user.signed_out map[sessions:1] map[]
user.changed map[budget:<nil> limits:map[]] map[budget:map[tokens_per_day:5 usd_per_month:0] limits:map[files:7]]
user.changed map[plan:free role:user] map[plan:paid role:power]
`)
	_, err = s.DeleteUser(t.Context(), v.UserID)
	need(t, err)
	list, _, err = s.ListAudit(t.Context(), identity.AuditFilter{UserID: v.UserID})
	need(t, err)
	want(t, "entries of who has gone", len(list), 4)
	want(t, "their address", list[0].UserEmail, "")
	_, _, err = s.ListAudit(t.Context(), identity.AuditFilter{Cursor: "nonsense"})
	wantFault(t, err, fault.Invalid)
}

func refusedActs(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	admin := administrator(t, s)
	v := person(t, s)
	user, off := identity.RoleUser, false
	for _, c := range []identity.UserChange{{Role: &user, By: admin.UserID}, {Active: &off, By: admin.UserID}} {
		_, err := s.ChangeUser(t.Context(), admin.UserID, c)
		wantFault(t, err, fault.Conflict)
	}
	wantFault(t, s.ClearFactor(t.Context(), admin.UserID, v.UserID), fault.Conflict)
	wantFault(t, s.ClearFactor(t.Context(), admin.UserID, id.New()), fault.NotFound)
	_, err := s.EndUserSessions(t.Context(), admin.UserID, id.New())
	wantFault(t, err, fault.NotFound)
	_, err = s.EndUserSessions(t.Context(), admin.UserID, identity.SystemAccount)
	wantFault(t, err, fault.Forbidden)
	list, _, err := s.ListAudit(t.Context(), identity.AuditFilter{})
	need(t, err)
	want(t, "entries", len(list), 0)
}

func planVersions(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	admin := administrator(t, s)
	want(t, "first revision", got(s.PlanRevision(t.Context()))(t), 0)
	edit := func(base int, chats float64) quota.PlanEdit {
		return quota.PlanEdit{
			Plan: quota.Free, Base: base, Values: quota.Values{"chat_per_minute": chats},
			Was: quota.Values{"chat_per_minute": 60}, Became: quota.Values{"chat_per_minute": chats},
		}
	}
	errs := race(writers, func(i int) error { return s.SetPlan(t.Context(), admin, edit(0, float64(i+1))) })
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	need(t, s.SetPlan(t.Context(), admin, edit(1, 99)))
	c := got(s.PlanChanges(t.Context()))(t)
	want(t, "revision", c.Revision, got(s.PlanRevision(t.Context()))(t))
	p := c.Plans[quota.Free]
	want(t, "latest", fmt.Sprint(p.Plan, p.Version, p.Values, p.By == admin.UserID, p.At.IsZero(), len(c.Plans)), "free2 map[chat_per_minute:99] true false 1")
	list, _, err := s.ListAudit(t.Context(), identity.AuditFilter{})
	need(t, err)
	want(t, "the log", fmt.Sprint(len(list), list[0].What, list[0].Plan, list[0].Was, list[0].Became), "2plan.changedfreemap[chat_per_minute:60] map[chat_per_minute:99]")
}

func ownNumbers(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	admin := administrator(t, s)
	v := person(t, s)
	before := got(s.PlanRevision(t.Context()))(t)
	give := func(limits map[string]float64) {
		got(s.ChangeUser(t.Context(), v.UserID, identity.UserChange{By: admin.UserID, Limits: &limits}))(t)
	}
	give(map[string]float64{"files": 7})
	c := got(s.PlanChanges(t.Context()))(t)
	want(t, "of their own", fmt.Sprint(c.People[v.UserID], c.Revision > before), "map[files:7] true")
	want(t, "told", got(s.PeopleFigures(t.Context(), []string{v.UserID}))(t)[v.UserID].Limits["files"], 7)
	give(map[string]float64{})
	want(t, "taken back", len(got(s.PlanChanges(t.Context()))(t).People), 0)
	give(map[string]float64{"files": 8})
	_, err := s.DeleteUser(t.Context(), v.UserID)
	need(t, err)
	want(t, "after they left", len(got(s.PlanChanges(t.Context()))(t).People), 0)
}
