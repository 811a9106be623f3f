package main

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Struck is a fault that happened: from At until it was made good at Healed.
type Struck struct {
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
	Healed time.Time `json:"healed"`
}

// A platform is left alone between two faults, so that what one does can be
// told from what the next does.
const (
	calm      = 5 * time.Second
	calmShort = 2 * time.Second // where there is little time
)

// both lets two things go wrong at once.
func both(a, b Fault) Fault {
	return Fault{Name: a.Name + " + " + b.Name, Do: func(ctx context.Context, r *rand.Rand) error {
		first, second := rand.New(rand.NewPCG(r.Uint64(), 1)), rand.New(rand.NewPCG(r.Uint64(), 2)) //nolint:gosec // must be repeatable
		done := make(chan error, 1)
		go func() { done <- a.Do(ctx, first) }()
		err := b.Do(ctx, second)
		return errors.Join(<-done, err)
	}}
}

// storm lets faults happen one after the other until the time is up: every
// kind once in each round, in an order of the seed's.
func storm(ctx context.Context, deployment Deployment, o options, log *slog.Logger) ([]Struck, error) {
	r := rand.New(rand.NewPCG(o.seed, 77)) //nolint:gosec // must be repeatable
	until := time.Now().Add(o.lasts)
	var all []Struck
	var deck []Fault
	for {
		if !pause(ctx, o.calm+time.Duration(r.IntN(2500))*time.Millisecond) || !time.Now().Before(until) {
			return all, ctx.Err()
		}
		if len(deck) == 0 {
			deck = deployment.Faults()
			r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		f := deck[0]
		deck = deck[1:]
		if len(deck) > 0 && r.IntN(5) == 0 {
			f, deck = both(f, deck[0]), deck[1:]
		}
		s := Struck{Name: f.Name, At: time.Now()}
		err := f.Do(ctx, r)
		s.Healed = time.Now()
		all = append(all, s)
		log.Info("fault", "name", f.Name, "healed_after", s.Healed.Sub(s.At).Round(time.Millisecond))
		if err != nil {
			return all, err
		}
	}
}
