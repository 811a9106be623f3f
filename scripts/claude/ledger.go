package main

import (
	"errors"
	"fmt"
)

// costsSeen are the sums of the ledger.
type costsSeen struct {
	Exchanges, Unpriced int
	USD                 *float64
	Input               int64 `json:"input_tokens"`
	Read                int64 `json:"cache_read_tokens"`
	Write5m             int64 `json:"cache_write_5m_tokens"`
	Write1h             int64 `json:"cache_write_1h_tokens"`
	Ruler               struct {
		P50, P90  float64
		Exchanges int
		Told      bool
	}
}

type missSeen struct {
	Exchange, Cause, Where string
	Read, Tokens           int64
	Predicted              *int64 `json:"predicted_read"`
}

// ledger holds what the session cost against a backend that bills by a prompt cache.
func (s *stage) ledger() error {
	var c costsSeen
	if err := s.ask("GET", "/v1/palace/costs?days=2", nil, &c); err != nil {
		return err
	}
	if c.USD == nil {
		return errors.New("nothing of the session has a price")
	}
	fmt.Printf("the session: %d exchanges (%d without a price), $%.4f; %d tokens read, %d written for 5m, %d for 1h, %d neither; the ruler is off by %.2f%% (p50), %.2f%% (p90) of %d\n",
		c.Exchanges, c.Unpriced, *c.USD, c.Read, c.Write5m, c.Write1h, c.Input, 100*c.Ruler.P50, 100*c.Ruler.P90, c.Ruler.Exchanges)
	misses, err := list[missSeen](s, "/v1/palace/misses?limit=100")
	if err != nil {
		return err
	}
	for _, m := range misses {
		fmt.Printf("  missed %d tokens: %s (%s)\n", m.Tokens, m.Cause, m.Where)
		if m.Cause == "upstream" || m.Cause == "unknown" {
			return fmt.Errorf("a miss of %s has no cause, and the backend forgets nothing", m.Exchange)
		}
	}
	if !c.Ruler.Told {
		return fmt.Errorf("the ruler is off by %.2f%% at its 90th percentile", 100*c.Ruler.P90)
	}
	return nil
}
