package view

import (
	"slices"
	"time"
)

// Price is what tokens cost, in units of the price of one token of input.
type Price struct {
	Read    float64 // from the cache
	Write5m float64 // into it, for five minutes
	Write1h float64 // for an hour
	Output  float64
}

// UsualPrice is for a model that is on no list of prices. Newer ones read their cache
// for less; what is set aside then wins less than this says.
var UsualPrice = Price{Read: 0.1, Write5m: 1.25, Write1h: 2, Output: 5}

// TTL is how long the cache of a request keeps what is written.
func TTL(hour bool) time.Duration {
	if hour {
		return time.Hour
	}
	return 5 * time.Minute
}

func (p Price) write(hour bool) float64 {
	if hour {
		return p.Write1h
	}
	return p.Write5m
}

// thoughtAgain is which share of the thinking that a changed beginning makes invalid
// is thought again. It is a guess: nobody has measured it.
const thoughtAgain = 0.25

// Estimate is what it costs to set something aside while the cache is warm, and what
// is won: instead of reading all behind the first change, what stays of it is written
// anew, once, and with each request from then on so much less is read.
func (p Price) Estimate(e Estimate, hour bool) Estimate {
	behind, removed, placed := float64(e.Behind), float64(e.Removed), float64(e.Placed)
	e.Extra = p.write(hour)*(behind-removed+placed) - p.Read*behind + p.thinking(e.Thinking)
	e.Gain = p.Read * (removed - placed)
	return e
}

// thinking is what it costs that thinking is not valid any more.
func (p Price) thinking(tokens int64) float64 { return thoughtAgain * p.Output * float64(tokens) }

// BreakEven is after how many requests an estimate has paid for itself; 0 where it
// costs nothing, -1 where it never has.
func (e Estimate) BreakEven() float64 {
	switch {
	case e.Extra <= 0:
		return 0
	case e.Gain <= 0:
		return -1
	}
	return e.Extra / e.Gain
}

// fewLineages is below how many lineages that came as far there is too little to
// expect from.
const fewLineages = 20

// Expect is how many requests a lineage that has made some will still make: the lower
// quartile of what those of its person, that came as far, then made. Where there are
// too few of them, half as many as it has made. totals are the requests of lineages
// that have ended.
func Expect(made int, totals []int) float64 {
	var still []int
	for _, t := range totals {
		if t >= made {
			still = append(still, t-made)
		}
	}
	if len(still) < fewLineages {
		return float64(made) / 2
	}
	slices.Sort(still)
	return float64(still[(len(still)-1)/4])
}
