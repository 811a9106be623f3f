package api

import (
	"context"

	"liminal/internal/palace"
)

func (s *server) palaceCostRoutes() {
	add(s, route("GET /v1/palace/costs", "palaceCosts", "What captured exchanges cost, by day and model, what missing the provider's cache cost, and how well it is foretold", scopeRead), s.palaceCosts)
	add(s, route("GET /v1/palace/exchanges/{id}/difference", "palaceDifference", "Where a request and the one before it in its history begin to differ", scopeRead), s.palaceDifference)
	add(s, route("GET /v1/palace/misses", "palaceMisses", "Exchanges that the provider's cache gave less than it had, each with why, the newest first", scopeRead), s.palaceMisses)
}

// PalaceCosts are sums of what captured exchanges cost.
type PalaceCosts struct{ palace.Costs }

// PalaceMissed is an exchange that the provider's cache gave less than it had.
type PalaceMissed struct{ palace.Missed }

// OfLedger narrows the ledger.
type OfLedger struct {
	Agent   string `query:"agent" format:"uuid" doc:"of an agent"`
	Lineage string `query:"lineage" format:"uuid" doc:"of a history"`
}

func (f OfLedger) filter() palace.CostFilter {
	return palace.CostFilter{AgentID: f.Agent, LineageID: f.Lineage}
}

type palaceCostsInput struct {
	OfLedger
	Days int `query:"days" minimum:"1" maximum:"3660" default:"30" doc:"how many days, in UTC, with today"`
}

func (s *server) palaceCosts(ctx context.Context, in *palaceCostsInput) (PalaceCosts, error) {
	f := in.filter()
	f.Since = s.Now().UTC().AddDate(0, 0, 1-in.Days)
	c, err := s.Palace.PalaceCosts(ctx, viewerOf(ctx), f)
	return PalaceCosts{c}, err
}

type palaceMissesInput struct {
	Paged
	OfLedger
}

func (s *server) palaceMisses(ctx context.Context, in *palaceMissesInput) (Page[PalaceMissed], error) {
	list, next, err := s.Palace.PalaceMisses(ctx, viewerOf(ctx), in.filter(), in.Cursor, in.Limit)
	return page(list, next, func(m palace.Missed) PalaceMissed { return PalaceMissed{m} }), err
}

// PalaceDifference is where two requests begin to differ.
type PalaceDifference struct{ palace.Difference }

func (s *server) palaceDifference(ctx context.Context, in *ByID) (PalaceDifference, error) {
	d, err := s.Palace.Difference(ctx, viewerOf(ctx), in.ID)
	return PalaceDifference{d}, err
}
