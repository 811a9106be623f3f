package quota

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Use is what model calls used.
type Use struct {
	Calls   int64
	Input   int64   // tokens, with those read from and written to a cache
	Output  int64   // tokens
	CostUSD float64 // the part that is known; a model without a price costs 0
}

// Tokens is how many there are of all classes.
func (u Use) Tokens() int64 { return u.Input + u.Output }

// Add returns the sum.
func (u Use) Add(o Use) Use {
	return Use{Calls: u.Calls + o.Calls, Input: u.Input + o.Input, Output: u.Output + o.Output, CostUSD: u.CostUSD + o.CostUSD}
}

// Entry is what one attempt of one step of a run used of one model.
type Entry struct {
	RunID          string
	Effect         string
	Attempt        int
	ConversationID string // empty unless the run is a chat turn
	Model          string
	Use
}

// Line is what a person used of a model in a day.
type Line struct {
	Day   string // "2026-11-20", of UTC
	Model string
	Use
}

// Account is what a person used, and the budget that is theirs alone.
type Account struct {
	Budget *identity.Budget // nil: their plan's
	Lines  []Line           // by day and model
}

// UsageStore keeps what was used, per person.
type UsageStore interface {
	// AddUsage writes an entry. The same run, effect, attempt and model again
	// changes nothing, so a step that is told twice is counted once.
	AddUsage(ctx context.Context, v identity.Viewer, e Entry) error
	// Account reads what v used since a day.
	Account(ctx context.Context, v identity.Viewer, since string) (Account, error)
	// ConversationUse sums what a conversation of v's used. Of one that is not
	// theirs it is nothing.
	ConversationUse(ctx context.Context, v identity.Viewer, conversationID string) (Use, error)
}

// Budgets bounds what people's model calls use: tokens a day and dollars a
// month, by plan or by what an administrator gave a person. A budget is
// checked before each call and never cuts one that is under way, so calls
// that run at the same time may together go over it by what they use.
type Budgets struct {
	store UsageStore
	plan  func(v identity.Viewer) identity.Budget
	now   func() time.Time
}

// BudgetOptions of Budgets; the zero value is the defaults.
type BudgetOptions struct {
	// Plan is the budget of a person's plan; nil: that of the plan as it ships.
	// A place whose model costs nothing has no need of one.
	Plan func(v identity.Viewer) identity.Budget
	Now  func() time.Time
}

// NewBudgets returns budgets over a store of usage.
func NewBudgets(s UsageStore, o BudgetOptions) *Budgets {
	if o.Plan == nil {
		o.Plan = func(v identity.Viewer) identity.Budget { return PlanOf(v.Plan).Budget }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Budgets{store: s, plan: o.Plan, now: o.Now}
}

// DayOf is the day of a time, as Line has it.
func DayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// Usage is what a person used today and this month, and what they may use.
type Usage struct {
	Day, Month  Use
	Models      []Line // of this month, by model; Day is empty
	Budget      identity.Budget
	DayRenews   time.Time
	MonthRenews time.Time
}

// Usage reads it.
func (b *Budgets) Usage(ctx context.Context, v identity.Viewer) (Usage, error) {
	now := b.now().UTC()
	month, today := monthOf(now), DayOf(now)
	u := Usage{MonthRenews: month.AddDate(0, 1, 0), DayRenews: time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)}
	a, err := b.store.Account(ctx, v, DayOf(month))
	if err != nil {
		return u, err
	}
	u.Budget = b.Of(v, a.Budget)
	for _, l := range a.Lines {
		u.Month = u.Month.Add(l.Use)
		if l.Day == today {
			u.Day = u.Day.Add(l.Use)
		}
		u.Models = byModel(u.Models, l)
	}
	return u, nil
}

// Of is the budget that holds for v: their own, or, where that is nil, their
// plan's.
func (b *Budgets) Of(v identity.Viewer, own *identity.Budget) identity.Budget {
	if own != nil {
		return *own
	}
	return b.plan(v)
}

func byModel(list []Line, l Line) []Line {
	at, found := slices.BinarySearchFunc(list, l.Model, func(a Line, model string) int { return strings.Compare(a.Model, model) })
	if !found {
		return slices.Insert(list, at, Line{Model: l.Model, Use: l.Use})
	}
	list[at].Use = list[at].Add(l.Use)
	return list
}

// Afford is asked before each model call. When a budget is used up it returns
// RateLimited, whose details name the reason fault.Budget, what was used, the
// limit and when it is renewed. The system has no budget.
func (b *Budgets) Afford(ctx context.Context, v identity.Viewer) error {
	if v.UserID == "" {
		return nil
	}
	u, err := b.Usage(ctx, v)
	switch {
	case err != nil:
		return err
	case u.Budget.TokensPerDay > 0 && u.Day.Tokens() >= u.Budget.TokensPerDay:
		used, limit := u.Day.Tokens(), u.Budget.TokensPerDay
		return b.overdrawn("tokens_per_day", float64(used), float64(limit), u.DayRenews, fault.New(fault.RateLimited,
			"Your budget of today is used up: %s of %s tokens. It is renewed on %s UTC; until then an administrator can give you more.", grouped(used), grouped(limit), u.DayRenews.Format("2006-01-02 15:04")))
	case u.Budget.USDPerMonth > 0 && u.Month.CostUSD >= u.Budget.USDPerMonth:
		return b.overdrawn("usd_per_month", u.Month.CostUSD, u.Budget.USDPerMonth, u.MonthRenews, fault.New(fault.RateLimited,
			"Your budget of this month is used up: %.2f of %.2f US dollars. It is renewed on %s UTC; until then an administrator can give you more.", u.Month.CostUSD, u.Budget.USDPerMonth, u.MonthRenews.Format("2006-01-02 15:04")))
	}
	return nil
}

func (b *Budgets) overdrawn(what string, used, limit float64, renews time.Time, over *fault.Error) error {
	return over.With(map[string]any{
		"reason": fault.Budget, "budget": what, "used": used, "limit": limit,
		"renews_at": renews.Format(time.RFC3339), "retry_after": max(1, int(renews.Sub(b.now()).Seconds())),
	})
}

// grouped writes a number with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// AddUsage writes down what an attempt used; nothing is no entry.
func (b *Budgets) AddUsage(ctx context.Context, v identity.Viewer, e Entry) error {
	if v.UserID == "" || e.Calls == 0 {
		return nil
	}
	return b.store.AddUsage(ctx, v, e)
}

// Conversation is what a conversation of v's used.
func (b *Budgets) Conversation(ctx context.Context, v identity.Viewer, conversationID string) (Use, error) {
	return b.store.ConversationUse(ctx, v, conversationID)
}
