package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/insights"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Insights proves insights.Store.
func Insights(t *testing.T, open Open) {
	t.Run("turns are told with their times and calls", func(t *testing.T) { toldTurns(t, open) })
	t.Run("what was used is told by person, day and model", func(t *testing.T) { toldSpend(t, open) })
	t.Run("what was asked is told of the turns that are named", func(t *testing.T) { toldQuestions(t, open) })
	t.Run("a tenant's administrators read of theirs only, and nobody else does", func(t *testing.T) { toldWhom(t, open) })
}

// tenanted is an administrator of a tenant, and somebody in it.
func tenanted(t testing.TB, s *store.Store, tenant string) (admin, somebody identity.Viewer) {
	t.Helper()
	for _, v := range []*identity.Viewer{&admin, &somebody} {
		u, err := s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: id.New() + "@example.org", Active: true, TenantID: tenant}, identity.Credential{})
		need(t, err)
		*v = u.Viewer(id.New())
		v.Role = identity.RoleUser
	}
	admin.Role = identity.RoleAdmin
	return admin, somebody
}

func toldTurns(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	admin, v := tenanted(t, s, "a")
	accept(t, s, v, chat.NewTurn{Message: "before"})
	c.add(time.Minute)
	since := c.now()

	with := accept(t, s, v, chat.NewTurn{Message: "with a recording"})
	c.add(time.Second)
	without := accept(t, s, v, chat.NewTurn{Message: "without one"})
	c.add(time.Second)
	waited := accept(t, s, v, chat.NewTurn{Message: "it asked"})
	ask(t, s, v, waited.Run.ID, "e")
	c.add(time.Second)
	given := accept(t, s, v, chat.NewTurn{Message: "given up"})
	c.add(time.Second)
	need(t, s.CreateRun(t.Context(), v, job(v, "no turn")))
	accept(t, s, v, chat.NewTurn{Message: "under way"})

	end := answer(with.Run.ID, "y")
	end.End.Recording = recorded(pin("g", 1))
	closeTurn(t, s, v, end)
	closeTurn(t, s, v, answer(without.Run.ID, "y"))
	closeTurn(t, s, v, answer(waited.Run.ID, "y"))
	closeTurn(t, s, v, chat.Close{RunID: given.Run.ID, End: run.End{Status: run.Cancelled}})

	list := got(s.Turns(t.Context(), admin, since, "", 100))(t)
	var told []string
	for _, one := range list {
		told = append(told, fmt.Sprint(one.Status, " ", one.Took, " ", one.ToolCalls, " ", one.At.Sub(since)))
	}
	want(t, "turns", fmt.Sprintf("%q", told), `["running -1ns -1 4s" "cancelled 1s -1 3s" "done -1ns -1 2s" "done 3s -1 1s" "done 1.234s 4 0s"]`)
	want(t, "whose", list[0].UserID, v.UserID)
	want(t, "which", list[4].RunID, with.Run.ID)
	want(t, "the newest", len(got(s.Turns(t.Context(), admin, since, "", 2))(t)), 2)
}

func toldSpend(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	admin, v := tenanted(t, s, "a")
	enter := func(model string, use quota.Use) {
		need(t, s.AddUsage(t.Context(), v, quota.Entry{RunID: id.New(), Effect: "e", Attempt: 1, Model: model, Use: use}))
	}
	enter("large", quota.Use{Calls: 1, Input: 9})
	c.add(24 * time.Hour)
	enter("large", quota.Use{Calls: 1, Input: 10, Output: 5, CostUSD: 0.5})
	enter("large", quota.Use{Calls: 1, Input: 10, Output: 5, CostUSD: 0.25})
	enter("small", quota.Use{Calls: 1})
	list := got(s.Spent(t.Context(), admin, quota.DayOf(c.now())))(t)
	want(t, "spent", plain(list), plain([]insights.Spent{
		{UserID: v.UserID, Line: quota.Line{Day: "2026-05-05", Model: "large", Use: quota.Use{Calls: 2, Input: 20, Output: 10, CostUSD: 0.75}}},
		{UserID: v.UserID, Line: quota.Line{Day: "2026-05-05", Model: "small", Use: quota.Use{Calls: 1}}},
	}))
}

func toldQuestions(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	admin, v := tenanted(t, s, "a")
	first, second := accept(t, s, v, chat.NewTurn{Message: "one"}), accept(t, s, v, chat.NewTurn{Message: "two"})
	closeTurn(t, s, v, answer(first.Run.ID, "no question"))
	long := accept(t, s, v, chat.NewTurn{Message: strings.Repeat("ä", insights.QuestionLength+1)})
	runs := []string{second.Run.ID, id.New(), long.Run.ID, first.Run.ID}
	for range askedTwice {
		runs = append(runs, id.New()) // more than are read at once
	}
	again := accept(t, s, v, chat.NewTurn{Message: "three", ConversationID: first.ConversationID, Replaces: first.MessageID})
	runs = append(runs, again.Run.ID) // what it replaces is set aside
	list := got(s.Asked(t.Context(), admin, append(runs, second.Run.ID)))(t)
	want(t, "asked", plain(list), plain([]insights.Asked{{UserID: v.UserID, Text: "two"}, {UserID: v.UserID, Text: "three"}, {UserID: v.UserID, Text: "two"}}))
	want(t, "of none", len(got(s.Asked(t.Context(), admin, nil))(t)), 0)
}

// askedTwice is more than one statement reads.
const askedTwice = 600

func toldWhom(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	admin, v := tenanted(t, s, "a")
	other, _ := tenanted(t, s, "b")
	turn := accept(t, s, v, chat.NewTurn{Message: "x"})
	need(t, s.AddUsage(t.Context(), v, quota.Entry{RunID: turn.Run.ID, Effect: "e", Attempt: 1, Model: "m", Use: quota.Use{Calls: 1}}))
	count := func(v identity.Viewer) string {
		turns, err := s.Turns(t.Context(), v, time.Unix(0, 0), "", 10)
		if err != nil {
			wantFault(t, err, fault.Forbidden)
			_, err = s.Spent(t.Context(), v, "2000-01-01")
			wantFault(t, err, fault.Forbidden)
			_, err = s.Asked(t.Context(), v, []string{turn.Run.ID})
			wantFault(t, err, fault.Forbidden)
			return "forbidden"
		}
		return fmt.Sprint(len(turns), len(got(s.Spent(t.Context(), v, "2000-01-01"))(t)), len(got(s.Asked(t.Context(), v, []string{turn.Run.ID}))(t)))
	}
	want(t, "theirs", count(admin), "1 1 1")
	want(t, "another tenant's", count(other), "0 0 0")
	want(t, "somebody's", count(v), "forbidden")
}
