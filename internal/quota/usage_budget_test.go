package quota

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// usageList is UsageStore in a list.
type usageList struct {
	account Account
	entries []Entry
}

func (b *usageList) AddUsage(_ context.Context, _ identity.Viewer, e Entry) error {
	b.entries = append(b.entries, e)
	return nil
}

func (b *usageList) Account(_ context.Context, _ identity.Viewer, since string) (Account, error) {
	a := Account{Budget: b.account.Budget}
	for _, l := range b.account.Lines {
		if l.Day >= since {
			a.Lines = append(a.Lines, l)
		}
	}
	return a, nil
}

func (b *usageList) ConversationUse(context.Context, identity.Viewer, string) (Use, error) {
	return Use{}, nil
}

// newYearsEve is late enough for both renewals to be in the next year.
var newYearsEve = time.Date(2026, 12, 31, 23, 30, 0, 0, time.FixedZone("", -3600)) // 00:30 of the 1st, in UTC: 2027

func budgetsOf(account Account, plan identity.Budget) *Budgets {
	return NewBudgets(&usageList{account: account}, BudgetOptions{
		Plan: func(identity.Viewer) identity.Budget { return plan }, Now: func() time.Time { return newYearsEve.Add(-time.Hour) },
	})
}

func line(day, model string, tokens int64, usd float64) Line {
	return Line{Day: day, Model: model, Use: Use{Calls: 1, Input: tokens - 1, Output: 1, CostUSD: usd}}
}

var spentALot = []Line{
	line("2026-11-30", "a", 1_000_000, 100), // another month
	line("2026-12-01", "a", 500, 2), line("2026-12-30", "b", 700, 3),
	line("2026-12-31", "a", 1000, 1), line("2026-12-31", "b", 234, 0.5),
}

// Requirements: OBS-09
func TestABudgetIsOfADayInTokensAndOfAMonthInDollars(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		plan identity.Budget
		own  *identity.Budget
		says string // "": it can be afforded
	}{
		"no bound":                 {},
		"tokens left":              {plan: identity.Budget{TokensPerDay: 1235}},
		"tokens used up":           {plan: identity.Budget{TokensPerDay: 1234}, says: "today is used up: 1,234 of 1,234 tokens. It is renewed on 2027-01-01 00:00 UTC"},
		"dollars left":             {plan: identity.Budget{USDPerMonth: 6.51}},
		"dollars used up":          {plan: identity.Budget{USDPerMonth: 6.5}, says: "this month is used up: 6.50 of 6.50 US dollars. It is renewed on 2027-01-01 00:00 UTC"},
		"more of one's own":        {plan: identity.Budget{TokensPerDay: 1}, own: &identity.Budget{TokensPerDay: 5000}},
		"no bound of one's own":    {plan: identity.Budget{TokensPerDay: 1, USDPerMonth: 1}, own: &identity.Budget{}},
		"less of one's own":        {plan: identity.Budget{TokensPerDay: 5000}, own: &identity.Budget{TokensPerDay: 100}, says: "1,234 of 100 tokens"},
		"the day before the month": {plan: identity.Budget{TokensPerDay: 1, USDPerMonth: 1}, says: "of today"},
	} {
		err := budgetsOf(Account{Budget: c.own, Lines: spentALot}, c.plan).Afford(t.Context(), ada)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			continue
		}
		details, _ := fault.From(err).Details.(map[string]any)
		if !errors.Is(err, fault.RateLimited) || fault.Reason(err) != fault.Budget || details["renews_at"] != "2027-01-01T00:00:00Z" || details["retry_after"] != 1800 {
			t.Errorf("%s: %v", what, details)
		}
	}
}

func TestTheSystemHasNoBudget(t *testing.T) {
	t.Parallel()
	b := budgetsOf(Account{Lines: spentALot}, identity.Budget{TokensPerDay: 1})
	if err := errors.Join(b.Afford(t.Context(), identity.System()), b.AddUsage(t.Context(), identity.System(), Entry{Use: Use{Calls: 1}})); err != nil {
		t.Error(err)
	}
	if err := b.AddUsage(t.Context(), ada, Entry{}); err != nil { // nothing used
		t.Error(err)
	}
	if got := b.store.(*usageList).entries; len(got) != 0 {
		t.Errorf("entered %v", got)
	}
}

// Requirements: OBS-09
func TestUsageIsOfTodayTheMonthAndEachModel(t *testing.T) {
	t.Parallel()
	u, err := budgetsOf(Account{Lines: spentALot}, identity.Budget{TokensPerDay: 9}).Usage(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	if u.Day != (Use{2, 1232, 2, 1.5}) || u.Month != (Use{4, 2430, 4, 6.5}) || u.Budget.TokensPerDay != 9 || len(u.Models) != 2 {
		t.Errorf("got %+v", u)
	}
	if u.Models[0] != (Line{Model: "a", Use: Use{2, 1498, 2, 3}}) || u.Models[1] != (Line{Model: "b", Use: Use{2, 932, 2, 3.5}}) {
		t.Errorf("by model: %+v", u.Models)
	}
	if got := NewBudgets(&usageList{}, BudgetOptions{}); got.plan(identity.Viewer{Plan: Unverified}).TokensPerDay >= got.plan(identity.Viewer{Plan: Free}).TokensPerDay {
		t.Errorf("plans: %+v and %+v", got.plan(identity.Viewer{Plan: Unverified}), got.plan(identity.Viewer{Plan: Free}))
	}
}
