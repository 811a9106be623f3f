package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// Crowd is the others.
type Crowd struct {
	people []*Person
	pace   time.Duration // from the beginning of one's turn to that of the next
}

// Turns are what a crowd noticed in a while.
type Turns struct {
	Took   []time.Duration // in order
	Failed int             // of these: no answer, or an error
	Why    string          // of the first that failed
}

func newCrowd(ctx context.Context, base string, n int, pace time.Duration) (*Crowd, error) {
	c := &Crowd{people: make([]*Person, n), pace: pace}
	var err error
	if c.people[0], err = newPerson(ctx, base, 0); err != nil { // the first account is the administrator's
		return nil, err
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n - 1 {
		wg.Go(func() { c.people[i+1], errs[i] = newPerson(ctx, base, i+1) })
	}
	wg.Wait()
	return c, errors.Join(errs...)
}

// chat lets everybody say hello again and again for a while, and waits until
// all have their answers.
func (c *Crowd) chat(ctx context.Context, lasts time.Duration) Turns {
	var mu sync.Mutex
	var all Turns
	ends := time.Now().Add(lasts)
	var wg sync.WaitGroup
	for i, p := range c.people {
		wg.Go(func() {
			next := time.Now().Add(c.pace * time.Duration(i) / time.Duration(len(c.people)))
			for next.Before(ends) && pause(ctx, time.Until(next)) {
				began := time.Now()
				next = began.Add(c.pace)
				err := p.hello(ctx)
				took := time.Since(began)
				mu.Lock()
				all.Took = append(all.Took, min(took, turnLimit))
				if err != nil {
					if all.Failed++; all.Why == "" {
						all.Why = err.Error()
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(all.Took)
	return all
}

func (p *Person) hello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, turnLimit)
	defer cancel()
	_, err := p.call(ctx, "POST", "/v1/chat", object{"message": "hello", "stream": false})
	return err
}

// at is a quantile of how long turns took.
func (t Turns) at(q float64) time.Duration {
	if len(t.Took) == 0 {
		return 0
	}
	return t.Took[max(0, int(math.Ceil(q*float64(len(t.Took))))-1)]
}

// with is both.
func (t Turns) with(o Turns) Turns {
	t.Took = slices.Sorted(slices.Values(slices.Concat(t.Took, o.Took)))
	t.Failed += o.Failed
	if t.Why == "" {
		t.Why = o.Why
	}
	return t
}
