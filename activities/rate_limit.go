package activities

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// What one person uses of what everybody shares is limited while others are
// there. The engine does some writes for each call on another queue, and more
// for each run below another one, and all of them wait for each other in its
// history; an operation is about 2 % of a processor's second. And who computes
// without an end has a third of half of the processors.
const (
	costCall = 1
	costRun  = 3
	// operationsPerProcessor is how many of them one person may have a second
	// for each processor of this process.
	operationsPerProcessor = 8
	// computeShare is what part of half of the processors one person may use.
	computeShare = 1.0 / 3
	// burstSeconds is how many seconds' worth of either one may use at once.
	burstSeconds = 1.5
	// maxDebtSeconds is how many seconds' worth one may owe.
	maxDebtSeconds = 5
	// presence is how long a person counts as being there.
	presence = 10 * time.Second
	// maxPeople bounds what is remembered of who was there.
	maxPeople = 10_000
)

func processors() float64 { return float64(runtime.GOMAXPROCS(0)) }

// engineRate is in operations a second, computeRate in processors.
func engineRate() float64  { return operationsPerProcessor * processors() }
func computeRate() float64 { return computeShare * max(1, processors()/2) }

// rateLimit is a token bucket a person. Who is alone waits for nobody.
type rateLimit struct {
	mu     sync.Mutex
	people map[string]*tokenBucket
	latest [2]presentPerson // the two people who were here last
}

type tokenBucket struct {
	tokens float64 // may be below zero: then somebody waits
	at     time.Time
}

type presentPerson struct {
	person string
	at     time.Time
}

// wait waits until a person may use so many tokens, of which there are rate a
// second.
func (l *rateLimit) wait(ctx context.Context, person string, cost, rate float64) error {
	wait := l.reserve(person, cost, rate, time.Now())
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
func (l *rateLimit) reserve(person string, cost, rate float64, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.people == nil || len(l.people) >= maxPeople {
		l.people = map[string]*tokenBucket{}
	}
	b := l.people[person]
	if b == nil {
		b = &tokenBucket{tokens: burstSeconds * rate, at: now}
		l.people[person] = b
	}
	b.tokens = min(burstSeconds*rate, b.tokens+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if l.alone(person, now) {
		b.tokens = max(0, b.tokens-cost)
		return 0
	}
	b.tokens = max(-maxDebtSeconds*rate, b.tokens-cost)
	return time.Duration(-b.tokens / rate * float64(time.Second))
}

// note says that a person is there, who uses nothing now.
func (l *rateLimit) note(person string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alone(person, now)
}

// alone notes that a person is there, and reports whether nobody else was
// lately.
func (l *rateLimit) alone(person string, now time.Time) bool {
	if l.latest[0].person != person {
		l.latest[1], l.latest[0] = l.latest[0], presentPerson{person, now}
	}
	l.latest[0].at = now
	return l.latest[1].person == "" || now.Sub(l.latest[1].at) > presence
}
