package activities

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// What one person uses of what everybody shares is paced while others are
// there. The engine does some writes for each call on another queue, and more
// for each run below another one, and all of them wait for each other in its
// history; an operation is about 2 % of a processor's second. And who computes
// without an end has a third of half of the processors.
const (
	costCall = 1
	costRun  = 3
	// operations is how many of them one person may have a second for each
	// processor of this process.
	operations = 8
	// computed is what part of half of the processors one person may use.
	computed = 1.0 / 3
	// saved is how many seconds' worth of either one may use at once.
	saved = 1.5
	// mostOwed is how many seconds' worth one may owe.
	mostOwed = 5
	// together is how long a person counts as being there.
	together = 10 * time.Second
	// maxPeople bounds what is remembered of who was there.
	maxPeople = 10_000
)

func processors() float64 { return float64(runtime.GOMAXPROCS(0)) }

// enginePace is in operations a second, computePace in processors.
func enginePace() float64  { return operations * processors() }
func computePace() float64 { return computed * max(1, processors()/2) }

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

// take waits until a person may use so many tokens, of which there are rate a
// second.
func (p *pace) take(ctx context.Context, person string, cost, rate float64) error {
	wait := p.reserve(person, cost, rate, time.Now())
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
func (p *pace) reserve(person string, cost, rate float64, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.people == nil || len(p.people) >= maxPeople {
		p.people = map[string]*bucket{}
	}
	b := p.people[person]
	if b == nil {
		b = &bucket{tokens: saved * rate, at: now}
		p.people[person] = b
	}
	b.tokens = min(saved*rate, b.tokens+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if p.alone(person, now) {
		b.tokens = max(0, b.tokens-cost)
		return 0
	}
	b.tokens = max(-mostOwed*rate, b.tokens-cost)
	return time.Duration(-b.tokens / rate * float64(time.Second))
}

// alone notes that a person is there, and reports whether nobody else was
// lately.
func (p *pace) alone(person string, now time.Time) bool {
	if p.latest[0].person != person {
		p.latest[1], p.latest[0] = p.latest[0], seen{person, now}
	}
	p.latest[0].at = now
	return p.latest[1].person == "" || now.Sub(p.latest[1].at) > together
}
