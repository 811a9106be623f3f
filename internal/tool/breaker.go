package tool

import (
	"sync"
	"time"
)

// A tool that fails Trips times within Window rests for CoolDown: calls fail
// at once. After that a single call is let through; it closes the breaker or
// begins the rest again (TOOL-15, ISO-09; 001 §18 names the first two).
const (
	Trips    = 5
	Window   = time.Minute
	CoolDown = 30 * time.Second
)

// verdict is what a call says about the health of its tool.
type verdict int

const (
	healthy verdict = iota
	broken
	unknown // the person's mistake, or cancelled: says nothing
)

// breaker watches one tool.
type breaker struct {
	mu       sync.Mutex
	failures []time.Time // within Window, oldest first
	until    time.Time   // rests until then; zero while closed
	probing  bool
}

// enter reports whether a call may go ahead, and for how long not.
func (b *breaker) enter(now time.Time) (rest time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
		return 0, true
	case now.Before(b.until):
		return b.until.Sub(now), false
	case b.probing:
		return time.Second, false
	}
	b.probing = true
	return 0, true
}

// leave records how the call went.
func (b *breaker) leave(now time.Time, v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probe := b.probing && !b.until.IsZero()
	if probe {
		b.probing = false
	}
	switch {
	case v == healthy && probe:
		b.until, b.failures = time.Time{}, nil
	case v == broken && probe:
		b.until = now.Add(CoolDown)
	case v == broken:
		b.fail(now)
	}
}

func (b *breaker) fail(now time.Time) {
	for len(b.failures) > 0 && now.Sub(b.failures[0]) > Window {
		b.failures = b.failures[1:]
	}
	b.failures = append(b.failures, now)
	if len(b.failures) >= Trips {
		b.until, b.failures = now.Add(CoolDown), nil
	}
}
