package palace

import (
	"context"
	"time"

	"liminal/internal/identity"
	"liminal/internal/view"
)

// Spent is what exchanges cost together.
type Spent struct {
	// USD is of those whose price is known; nil: none is.
	USD       *float64 `json:"usd" nullable:"true"`
	Unpriced  int      `json:"unpriced"` // exchanges of models without a price
	ListPrice bool     `json:"at_list_price"`
	// CacheShare is how much of what was read the cache gave; nil: nothing was read.
	CacheShare *float64 `json:"cache_share" nullable:"true"`
	// Context is how many tokens the last request and its answer have.
	Context int64 `json:"context_tokens"`
}

// Day is what a model cost on one day, in UTC.
type Day struct {
	Day       string `json:"day"` // 2026-11-28
	Model     string `json:"model"`
	Exchanges int    `json:"exchanges"`
	Unpriced  int    `json:"unpriced"`
	Usage
	USD       *float64 `json:"usd" nullable:"true"`
	ListPrice bool     `json:"-"`
}

// MissFigure is what one cause of misses cost.
type MissFigure struct {
	Cause  view.Cause `json:"cause"`
	Count  int        `json:"count"`
	Tokens int64      `json:"tokens"`
	USD    *float64   `json:"usd" nullable:"true"`
}

// RulerFigure is how far forecasts were off, as shares of the requests.
type RulerFigure struct {
	P50       float64 `json:"p50"`
	P90       float64 `json:"p90"`
	Exchanges int     `json:"exchanges"`
	Told      bool    `json:"told"` // false: too far off for anything to be told from them
}

// Costs are sums of the ledger.
type Costs struct {
	Days      []Day `json:"days"` // the newest first
	Exchanges int   `json:"exchanges"`
	Unpriced  int   `json:"unpriced"`
	Usage
	USD       *float64     `json:"usd" nullable:"true"`
	ListPrice bool         `json:"at_list_price"`
	Misses    []MissFigure `json:"misses"` // the dearest first
	Ruler     RulerFigure  `json:"ruler"`
	// Saved is of those of them that were sent in a view.
	Saved Saved `json:"saved"`
}

// CostFilter narrows the ledger; what is empty does not.
type CostFilter struct {
	AgentID, LineageID string
	Since              time.Time
}

// Missed is a miss in a list.
type Missed struct {
	ExchangeID    string    `json:"exchange"`
	LineageID     string    `json:"lineage"`
	AgentID       string    `json:"agent"`
	At            time.Time `json:"at"`
	Model         string    `json:"model"`
	PredictedRead *int64    `json:"predicted_read" nullable:"true"`
	Read          int64     `json:"read"`
	Miss
}

// Ledger is what exchanges cost, as it is asked for.
type Ledger interface {
	PalaceCosts(ctx context.Context, v identity.Viewer, f CostFilter) (Costs, error)
	// PalaceMisses are the newest first.
	PalaceMisses(ctx context.Context, v identity.Viewer, f CostFilter, cursor string, limit int) (list []Missed, next string, err error)
	// PalaceExchangeBefore is the one before in its lineage of which something was charged.
	PalaceExchangeBefore(ctx context.Context, v identity.Viewer, e Exchange) (Exchange, error)
}

// RulerOf are the figures of forecasts.
func RulerOf(off []float64) RulerFigure {
	r := view.RulerOf(off)
	return RulerFigure{P50: r.P50, P90: r.P90, Exchanges: r.N, Told: r.Holds()}
}

// Add adds what a model cost on a day.
func (c *Costs) Add(d Day) {
	c.Days = append(c.Days, d)
	c.Exchanges, c.Unpriced, c.ListPrice = c.Exchanges+d.Exchanges, c.Unpriced+d.Unpriced, c.ListPrice || d.ListPrice
	c.Input, c.Read, c.Output = c.Input+d.Input, c.Read+d.Read, c.Output+d.Output
	c.Write5m, c.Write1h = c.Write5m+d.Write5m, c.Write1h+d.Write1h
	if d.USD != nil {
		if c.USD == nil {
			c.USD = new(float64)
		}
		*c.USD += *d.USD
	}
}
