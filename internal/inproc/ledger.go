package inproc

import (
	"context"
	"sync"
	"time"
)

// ledger counts what is spent: token buckets and places.
type ledger struct {
	mu      sync.Mutex
	buckets map[string]*bucket
	places  map[string]int
	swept   time.Time
}

// bucket had so many tokens at a time; full is when it would be full again.
type bucket struct {
	tokens float64
	at     time.Time
	full   time.Time
}

func newLedger() ledger {
	return ledger{buckets: map[string]*bucket{}, places: map[string]int{}, swept: time.Now()}
}

// sweepEvery is how often full buckets are forgotten: they are as good as new.
const sweepEvery = time.Minute

// Take implements quota.Ledger.
func (m *Memory) Take(_ context.Context, key string, rate float64, burst int) (time.Duration, error) {
	return m.ledger.take(time.Now(), key, rate, float64(burst)), nil
}

func (l *ledger) take(now time.Time, key string, rate, burst float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	b, ok := l.buckets[key]
	if !ok {
		b = &bucket{tokens: burst, at: now}
		l.buckets[key] = b
	}
	b.tokens = min(burst, b.tokens+rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return seconds((1 - b.tokens) / rate)
	}
	b.tokens--
	b.full = now.Add(seconds((burst - b.tokens) / rate))
	return 0
}

// seconds rounds up: who waits that long finds a token. A bucket that never
// refills says thirty years.
func seconds(s float64) time.Duration { return time.Duration(min(s, 1e9)*float64(time.Second)) + 1 }

func (l *ledger) sweep(now time.Time) {
	if now.Sub(l.swept) < sweepEvery {
		return
	}
	l.swept = now
	for key, b := range l.buckets {
		if now.After(b.full) {
			delete(l.buckets, key)
		}
	}
}

// Acquire implements quota.Ledger.
func (m *Memory) Acquire(_ context.Context, key string, most int) (release func(), ok bool, err error) {
	l := &m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places[key] >= most {
		return func() {}, false, nil
	}
	l.places[key]++
	return sync.OnceFunc(func() { l.giveBack(key) }), true, nil
}

func (l *ledger) giveBack(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places[key]--; l.places[key] <= 0 {
		delete(l.places, key)
	}
}
