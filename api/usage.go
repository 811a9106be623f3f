package api

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

func (s *server) usageRoutes() {
	add(s, route("GET /v1/usage", "usage", "What my model calls used, and what they may use", scopeRead), s.usage)
}

// Use is what model calls used (OBS-09).
type Use struct {
	Calls   int64   `json:"calls"`
	Input   int64   `json:"input_tokens" doc:"with those read from and written to a cache"`
	Output  int64   `json:"output_tokens"`
	Tokens  int64   `json:"tokens_used" doc:"of all classes"`
	CostUSD float64 `json:"cost_usd" doc:"the part that is known; a model without a price costs 0"`
}

func useView(u quota.Use) Use {
	return Use{Calls: u.Calls, Input: u.Input, Output: u.Output, Tokens: u.Tokens(), CostUSD: u.CostUSD}
}

// ModelUse is what one model was used.
type ModelUse struct {
	Model string `json:"model"`
	Use
}

// Budget bounds what a person's model calls use; 0 is no bound.
type Budget struct {
	TokensPerDay int64   `json:"tokens_per_day" required:"false" minimum:"0" doc:"0: no bound"`
	USDPerMonth  float64 `json:"usd_per_month" required:"false" minimum:"0" doc:"0: no bound; counts what has a price"`
}

// Given is a budget, or null, which takes one back, or nothing at all.
type Given struct {
	named  bool
	budget *Budget
}

// UnmarshalJSON reads a budget and null alike.
func (g *Given) UnmarshalJSON(b []byte) error {
	g.named = true
	return json.Unmarshal(b, &g.budget)
}

// Schema is that of a budget, or null.
func (Given) Schema(r huma.Registry) *huma.Schema { return Nullable[Budget]{}.Schema(r) }

// The most an administrator may write: more means no bound, which is 0.
const (
	mostTokens = 1 << 50
	mostUSD    = 1e9
)

func (g Given) check() error {
	if b := g.budget; b != nil && (b.TokensPerDay < 0 || b.TokensPerDay > mostTokens || !(b.USDPerMonth >= 0 && b.USDPerMonth <= mostUSD)) {
		return invalidField("budget", "A budget is not negative, and 0 for no bound.")
	}
	return nil
}

// Usage is what a person used, and may use. Days and months are of UTC.
type Usage struct {
	Today       Use        `json:"today"`
	Month       Use        `json:"month"`
	Models      []ModelUse `json:"models" doc:"of this month"`
	Budget      Budget     `json:"budget"`
	DayRenews   time.Time  `json:"today_renews_at"`
	MonthRenews time.Time  `json:"month_renews_at"`
}

func (s *server) usage(ctx context.Context, _ *struct{}) (Usage, error) {
	out := Usage{Models: []ModelUse{}}
	if s.Budgets == nil {
		return out, nil
	}
	u, err := s.Budgets.Usage(ctx, viewerOf(ctx))
	if err != nil {
		return out, err
	}
	out.Today, out.Month, out.Budget = useView(u.Day), useView(u.Month), Budget(u.Budget)
	out.DayRenews, out.MonthRenews = u.DayRenews, u.MonthRenews
	for _, l := range u.Models {
		out.Models = append(out.Models, ModelUse{l.Model, useView(l.Use)})
	}
	return out, nil
}

// overdrawn adds to the failure of a run for want of budget what was used, the
// limit, and when it is renewed.
func (s *server) overdrawn(ctx context.Context, v identity.Viewer, failed *fault.Error) error {
	if fault.Reason(failed) != fault.Budget || s.Budgets == nil {
		return failed
	}
	err := s.Budgets.Afford(ctx, v)
	if fault.Reason(err) != fault.Budget {
		return failed // it has been renewed meanwhile, or nobody knows
	}
	now, _ := fault.From(err).Details.(map[string]any)
	said, _ := failed.Details.(map[string]any)
	maps.Copy(now, said)
	return failed.With(now)
}

// conversationUse is what a conversation of the viewer's used.
func (s *server) conversationUse(ctx context.Context, conversationID string) (Use, error) {
	if s.Budgets == nil {
		return Use{}, nil
	}
	u, err := s.Budgets.Conversation(ctx, viewerOf(ctx), conversationID)
	return useView(u), err
}

var _ = identity.Budget(Budget{}) // the same fields, under their JSON names
