package tool

import (
	"context"
	"sync"
	"time"
)

// Each tool has a circuit breaker. A tool that fails BreakerTrips times within
// BreakerWindow rests for CoolDown: calls fail at once. After that a single call
// is let through; it closes the breaker or begins the rest again (TOOL-15,
// ISO-09; 001 §18 names the first two).
const (
	BreakerTrips  = 5
	BreakerWindow = time.Minute
	CoolDown      = 30 * time.Second
)

// Verdict is what a call says about the health of its tool.
type Verdict string

// The verdicts.
const (
	Healthy Verdict = "healthy"
	Broken  Verdict = "broken"
	Unknown Verdict = "unknown" // the person's mistake, or cancelled: says nothing
)

// Breakers are the circuit breakers of all tools: they remember how tools fare.
// All that share one agree on which tools rest.
type Breakers interface {
	// Enter asks to call a tool. When it may be called leave is set, and takes
	// once how that went. Otherwise the tool rests, for rest at least. An
	// error means that nobody knows: the call may go ahead.
	Enter(ctx context.Context, tool string) (leave func(Verdict), rest time.Duration, err error)
}

// LocalBreakers are the circuit breakers of one process; redis.Breakers are
// those of many.
type LocalBreakers struct {
	now func() time.Time

	mu    sync.Mutex
	tools map[string]*breaker
}

var _ Breakers = (*LocalBreakers)(nil)

// NewLocalBreakers returns breakers that are all closed. now is their clock;
// nil: time.Now.
func NewLocalBreakers(now func() time.Time) *LocalBreakers {
	if now == nil {
		now = time.Now
	}
	return &LocalBreakers{now: now, tools: map[string]*breaker{}}
}

// Enter implements Breakers. It never fails.
func (l *LocalBreakers) Enter(_ context.Context, tool string) (leave func(Verdict), rest time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.tools[tool]
	if !ok {
		b = &breaker{}
		l.tools[tool] = b
	}
	probe, rest := b.enter(l.now())
	if rest > 0 {
		return nil, rest, nil
	}
	return func(v Verdict) {
		l.mu.Lock()
		defer l.mu.Unlock()
		b.leave(l.now(), probe, v)
	}, 0, nil
}

// breaker watches one tool.
type breaker struct {
	failures []time.Time // within BreakerWindow, oldest first
	until    time.Time   // rests until then; zero while closed
	probing  time.Time   // a probe is under way since; zero: none
}

// enter reports for how long no call may go ahead, and whether one that may is
// the probe. A probe that does not come back within CoolDown is given up.
func (b *breaker) enter(now time.Time) (probe bool, rest time.Duration) {
	switch {
	case b.until.IsZero():
		return false, 0
	case now.Before(b.until):
		return false, b.until.Sub(now)
	case !b.probing.IsZero() && now.Sub(b.probing) < CoolDown:
		return false, time.Second
	}
	b.probing = now
	return true, 0
}

// leave records how a call went.
func (b *breaker) leave(now time.Time, probe bool, v Verdict) {
	switch {
	case probe && v == Healthy:
		*b = breaker{}
	case probe && v == Broken:
		*b = breaker{until: now.Add(CoolDown)}
	case probe:
		b.probing = time.Time{}
	case v == Broken && b.until.IsZero(): // what began before the rest says nothing new
		b.fail(now)
	}
}

func (b *breaker) fail(now time.Time) {
	for len(b.failures) > 0 && now.Sub(b.failures[0]) > BreakerWindow {
		b.failures = b.failures[1:]
	}
	b.failures = append(b.failures, now)
	if len(b.failures) >= BreakerTrips {
		*b = breaker{until: now.Add(CoolDown)}
	}
}
