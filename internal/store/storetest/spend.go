package storetest

import (
	"fmt"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/store"
)

// Spend proves quota.UsageStore.
func Spend(t *testing.T, open Open) {
	t.Run("an attempt counts once, and models apart", func(t *testing.T) { countsOnce(t, open) })
	t.Run("days are apart, and end at midnight of UTC", func(t *testing.T) { daysApart(t, open) })
	t.Run("what was spent outlives its conversation", func(t *testing.T) { outlives(t, open) })
	t.Run("a budget of one's own comes with the account", func(t *testing.T) { ownBudget(t, open) })
}

func entry(runID, effect string, attempt int, model string) quota.Entry {
	return quota.Entry{RunID: runID, Effect: effect, Attempt: attempt, Model: model, Use: quota.Use{Calls: 1, Input: 100, Output: 20, CostUSD: 0.25}}
}

func lines(t testing.TB, s *store.Store, v identity.Viewer, since string) (list []string) {
	t.Helper()
	for _, l := range got(s.Account(t.Context(), v, since))(t).Lines {
		list = append(list, fmt.Sprint(l.Day, " ", l.Model, " ", l.Use))
	}
	return list
}

func countsOnce(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, runID := person(t, s), id.New()
	all := []quota.Entry{entry(runID, "a", 1, "m"), entry(runID, "a", 2, "m"), entry(runID, "b", 1, "m"), entry(runID, "b", 1, "n"), entry(id.New(), "a", 1, "m")}
	for _, err := range race(writers, func(i int) error { return s.AddUsage(t.Context(), v, all[i%len(all)]) }) {
		need(t, err)
	}
	wantLines(t, lines(t, s, v, "2026-05-04"), []string{"2026-05-04 m {4 400 80 1}", "2026-05-04 n {1 100 20 0.25}"})
}

func daysApart(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	for _, later := range []time.Duration{0, 11*time.Hour + 59*time.Minute, time.Minute} {
		c.add(later)
		need(t, s.AddUsage(t.Context(), v, entry(id.New(), "a", 1, "m")))
	}
	wantLines(t, lines(t, s, v, "2026-05-01"), []string{"2026-05-04 m {2 200 40 0.5}", "2026-05-05 m {1 100 20 0.25}"})
	wantLines(t, lines(t, s, v, "2026-05-05"), []string{"2026-05-05 m {1 100 20 0.25}"})
}

func outlives(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "hello"})
	for _, e := range []quota.Entry{entry(a.Run.ID, "a", 1, "m"), entry(a.Run.ID, "b", 1, "n"), entry(a.Run.ID, "b", 1, "n")} {
		e.ConversationID = a.ConversationID
		need(t, s.AddUsage(t.Context(), v, e))
	}
	need(t, s.AddUsage(t.Context(), v, entry(id.New(), "a", 1, "m")))
	want(t, "use", got(s.ConversationUse(t.Context(), v, a.ConversationID))(t), quota.Use{Calls: 2, Input: 200, Output: 40, CostUSD: 0.5})
	need(t, s.DeleteConversation(t.Context(), v, a.ConversationID))
	want(t, "lines", len(lines(t, s, v, "2000-01-01")), 2)
}

func ownBudget(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	want(t, "without", got(s.Account(t.Context(), v, "2000-01-01"))(t).Budget == nil, true)
	set := func(b *identity.Budget) {
		got(s.ChangeUser(t.Context(), v.UserID, identity.UserChange{Budget: &b}))(t)
	}
	set(&identity.Budget{TokensPerDay: 5, USDPerMonth: 1.5})
	active := true
	got(s.ChangeUser(t.Context(), v.UserID, identity.UserChange{Active: &active}))(t)
	want(t, "with", *got(s.Account(t.Context(), v, "2000-01-01"))(t).Budget, identity.Budget{TokensPerDay: 5, USDPerMonth: 1.5})
	set(nil)
	want(t, "taken back", got(s.Account(t.Context(), v, "2000-01-01"))(t).Budget == nil, true)
}
