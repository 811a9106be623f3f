package activities

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// What the engine does for a person is paced while others are there too: each
// call on another queue costs it some writes, and each run below another one
// some more, and all of them wait for each other in its history. On an embedded
// engine an operation is about 2 % of a processor's second.
const (
	costCall = 1
	costRun  = 3
	// perProcessor is how many operations of one person a second the engine
	// does for each processor of this process.
	perProcessor = 12
	// together is how long a person counts as being there.
	together = 10 * time.Second
	// maxPeople bounds what is remembered of who was there.
	maxPeople = 10_000
)

// pace is a token bucket a person. Who is alone waits for nobody.
type pace struct {
	mu     sync.Mutex
	people map[string]*bucket
	latest [2]seen // the two people who were here last
}

type bucket struct {
	tokens float64 // may be below zero: then somebody waits
	at     time.Time
}

type seen struct {
	person string
	at     time.Time
}

// take waits until the engine may do so many operations for a person.
func (p *pace) take(ctx context.Context, person string, cost int) error {
	wait := p.reserve(person, float64(cost), time.Now())
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reserve takes tokens and says how long to wait until they are there.
func (p *pace) reserve(person string, cost float64, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	rate := ratePerSecond()
	if p.people == nil || len(p.people) >= maxPeople {
		p.people = map[string]*bucket{}
	}
	b := p.people[person]
	if b == nil {
		b = &bucket{tokens: rate / 2, at: now}
		p.people[person] = b
	}
	b.tokens = min(rate/2, b.tokens+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if p.note(person, now) {
		b.tokens = max(0, b.tokens-cost)
		return 0
	}
	b.tokens -= cost
	return time.Duration(-b.tokens / rate * float64(time.Second))
}

// ratePerSecond is how many operations a second one person may have beside
// others.
func ratePerSecond() float64 { return perProcessor * float64(runtime.GOMAXPROCS(0)) }

// alone notes that a person is there, and reports whether nobody else was
// lately.
func (p *pace) alone(person string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.note(person, now)
}

func (p *pace) note(person string, now time.Time) bool {
	if p.latest[0].person != person {
		p.latest[1], p.latest[0] = p.latest[0], seen{person, now}
	}
	p.latest[0].at = now
	return p.latest[1].person == "" || now.Sub(p.latest[1].at) > together
}
