package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"
	"time"
)

// giveBack is how long a release may take; after that the lease ends it.
const giveBack = time.Second

// leases holds the places this process has taken.
type leases struct {
	m *Memory

	mu   sync.Mutex
	held map[string]string // member: the key of its places
}

func newLeases(m *Memory) *leases { return &leases{m: m, held: map[string]string{}} }

// acquire takes one of so many places of key. release never fails: a place
// that cannot be given back now is free when its lease ends.
func (l *leases) acquire(ctx context.Context, key string, most int) (release func(), ok bool, err error) {
	member := rand.Text()
	taken := 0
	err = l.m.once(func() (err error) {
		taken, err = acquireScript.Run(ctx, l.m.client, []string{key}, member, most, l.m.o.Lease.Milliseconds()).Int()
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("redis: take a place of %s: %w", key, err)
	}
	if taken == 0 {
		return func() {}, false, nil
	}
	l.mu.Lock()
	l.held[member] = key
	l.mu.Unlock()
	return sync.OnceFunc(func() {
		l.mu.Lock()
		delete(l.held, member)
		l.mu.Unlock()
		l.free(context.WithoutCancel(ctx), key, member)
	}), true, nil
}

func (l *leases) free(ctx context.Context, key, member string) {
	ctx, cancel := context.WithTimeout(ctx, giveBack)
	defer cancel()
	err := l.m.once(func() error {
		return silent(releaseScript.Run(ctx, l.m.client, []string{key}, member, key).Err())
	})
	if err != nil {
		l.m.o.Logger.WarnContext(ctx, "redis: a place was not given back; its lease will end it", "key", key, "error", err)
	}
}

// renew extends what is held, three times within a lease, until ctx ends.
func (l *leases) renew(ctx context.Context) {
	tick := time.NewTicker(l.m.o.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.renewAll(ctx)
		}
	}
}

func (l *leases) renewAll(ctx context.Context) {
	l.mu.Lock()
	held := maps.Clone(l.held)
	l.mu.Unlock()
	for member, key := range held {
		if !l.extend(ctx, member, key) {
			return // the rest would fail alike
		}
	}
}

// extend holds a place for another lease; false: Redis is away.
func (l *leases) extend(ctx context.Context, member, key string) bool {
	err := silent(renewScript.Run(ctx, l.m.client, []string{key}, member, l.m.o.Lease.Milliseconds()).Err())
	if l.m.outage.saw(err) {
		return false
	}
	if err != nil {
		l.m.o.Logger.WarnContext(ctx, "redis: a place was not renewed", "key", key, "error", err)
	}
	l.mu.Lock()
	_, still := l.held[member]
	l.mu.Unlock()
	if !still { // given back while it was renewed
		l.free(ctx, key, member)
	}
	return true
}
