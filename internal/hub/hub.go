// Package hub keeps hot state in process: the stream log of runs, the ledger
// of what people have spent, and a cache.
//
// It is the default where one process serves everybody; losing it loses no
// durable state. It implements stream.Log, quota.Ledger and cache.Cache and
// may import those ports only.
package hub

import (
	"context"
	"sync"
	"time"

	"liminal/internal/quota"
	"liminal/internal/stream"
)

// Stride is a distance of Base from one start of the program to the next that
// no run outgrows: 2^32 events, and two million starts before a number is too
// large for JavaScript.
const Stride = 1 << 32

// Options of a hub; the zero value is the defaults.
type Options struct {
	// Base lies below the Seq of every event, and grows with every start of the
	// program: generation × Stride. A reader that comes with a number below it
	// is from before the start and sees a Reset first.
	Base int64
	// RunBytes bounds what is kept of one run; the oldest events go first. 0: 8 MiB.
	RunBytes int
	// Idle is how long a run that has not finished is remembered without an
	// event or a reader: it waits for a person, or was ended from outside.
	// 0: one hour.
	Idle time.Duration
	// CacheBytes bounds the cache. 0: 64 MiB.
	CacheBytes int
}

// Hub is the in-process stream log and ledger, and holds the cache. It is safe for concurrent use
// and starts no goroutines.
type Hub struct {
	o Options

	mu     sync.Mutex
	runs   map[string]*log
	swept  time.Time
	closed bool

	ledger ledger
	cache  *Cache
}

var (
	_ stream.Log   = (*Hub)(nil)
	_ quota.Ledger = (*Hub)(nil)
)

// New returns an empty hub.
func New(o Options) *Hub {
	if o.RunBytes <= 0 {
		o.RunBytes = 8 << 20
	}
	if o.Idle <= 0 {
		o.Idle = time.Hour
	}
	return &Hub{o: o, runs: map[string]*log{}, swept: time.Now(), ledger: newLedger(), cache: NewCache(o.CacheBytes)}
}

// Append implements stream.Log.
func (h *Hub) Append(_ context.Context, run string, events ...stream.Event) (int64, error) {
	l := h.hold(run)
	defer h.drop(run, l)
	return l.append(time.Now(), events), nil
}

// Finish implements stream.Log. Finishing again counts keep anew.
func (h *Hub) Finish(_ context.Context, run string, keep time.Duration) error {
	l := h.hold(run)
	defer h.drop(run, l)
	l.finish()
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.forget != nil {
		l.forget.Stop()
	}
	l.forget = time.AfterFunc(keep, func() { h.forget(run, l) })
	return nil
}

// Close forgets every run; readers end, those that come later too.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for run, l := range h.runs {
		if l.forget != nil {
			l.forget.Stop()
		}
		l.finish()
		delete(h.runs, run)
	}
}

// hold returns the run's log, made if need be, and keeps it from being swept
// until drop.
func (h *Hub) hold(run string) *log {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, ok := h.runs[run]
	if !ok {
		h.sweep(time.Now())
		l = newLog(h.o.Base, h.o.RunBytes)
		l.finished = h.closed
		h.runs[run] = l
	}
	l.holders++
	return l
}

// drop forgets a log that holds nothing once nobody looks at it: a reader of
// a run that never was must leave no trace.
func (h *Hub) drop(run string, l *log) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.holders--
	l.touched = time.Now()
	if l.holders == 0 && l.forget == nil && l.empty() && h.runs[run] == l {
		delete(h.runs, run)
	}
}

func (h *Hub) forget(run string, l *log) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runs[run] == l {
		delete(h.runs, run)
	}
}

// sweep forgets, now and then, runs that have been idle.
func (h *Hub) sweep(now time.Time) {
	if now.Sub(h.swept) < h.o.Idle/16 {
		return
	}
	h.swept = now
	for run, l := range h.runs {
		if l.holders == 0 && l.forget == nil && now.Sub(l.touched) > h.o.Idle {
			delete(h.runs, run)
		}
	}
}
