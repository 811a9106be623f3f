// Package inproc keeps hot state in this process: the event log of runs, the
// ledger of rate limits, and a cache. internal/redis keeps the same for many
// processes.
//
// It is the default where one process serves everybody; losing it loses no
// durable state. It implements stream.Log, quota.Ledger and cache.Cache and
// may import those ports only.
package inproc

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

// Options of a Memory; the zero value is the defaults.
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

// Memory is the event log of runs and the ledger of rate limits in this
// process, and holds its cache. It is safe for concurrent use and starts no
// goroutines.
type Memory struct {
	o Options

	mu     sync.Mutex
	runs   map[string]*log
	swept  time.Time
	closed bool

	ledger ledger
	cache  *Cache
}

var (
	_ stream.Log   = (*Memory)(nil)
	_ quota.Ledger = (*Memory)(nil)
)

// New returns an empty memory.
func New(o Options) *Memory {
	if o.RunBytes <= 0 {
		o.RunBytes = 8 << 20
	}
	if o.Idle <= 0 {
		o.Idle = time.Hour
	}
	return &Memory{o: o, runs: map[string]*log{}, swept: time.Now(), ledger: newLedger(), cache: NewCache(o.CacheBytes)}
}

// Append implements stream.Log.
func (m *Memory) Append(_ context.Context, run string, events ...stream.Event) (int64, error) {
	l := m.hold(run)
	defer m.drop(run, l)
	return l.append(time.Now(), events), nil
}

// Finish implements stream.Log. Finishing again counts keep anew.
func (m *Memory) Finish(_ context.Context, run string, keep time.Duration) error {
	l := m.hold(run)
	defer m.drop(run, l)
	l.finish()
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.forget != nil {
		l.forget.Stop()
	}
	l.forget = time.AfterFunc(keep, func() { m.forget(run, l) })
	return nil
}

// Close forgets every run; readers end, those that come later too.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for run, l := range m.runs {
		if l.forget != nil {
			l.forget.Stop()
		}
		l.finish()
		delete(m.runs, run)
	}
}

// hold returns the run's log, made if need be, and keeps it from being swept
// until drop.
func (m *Memory) hold(run string) *log {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.runs[run]
	if !ok {
		m.sweep(time.Now())
		l = newLog(m.o.Base, m.o.RunBytes)
		l.finished = m.closed
		m.runs[run] = l
	}
	l.holders++
	return l
}

// drop forgets a log that holds nothing once nobody looks at it: a reader of
// a run that never was must leave no trace.
func (m *Memory) drop(run string, l *log) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.holders--
	l.touched = time.Now()
	if l.holders == 0 && l.forget == nil && l.empty() && m.runs[run] == l {
		delete(m.runs, run)
	}
}

func (m *Memory) forget(run string, l *log) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[run] == l {
		delete(m.runs, run)
	}
}

// sweep forgets, now and then, runs that have been idle.
func (m *Memory) sweep(now time.Time) {
	if now.Sub(m.swept) < m.o.Idle/16 {
		return
	}
	m.swept = now
	for run, l := range m.runs {
		if l.holders == 0 && l.forget == nil && now.Sub(l.touched) > m.o.Idle {
			delete(m.runs, run)
		}
	}
}
