package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// together is how many places one message renews.
const together = 256

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
	ctx, cancel := context.WithTimeout(ctx, l.m.o.Answer) // after that the lease ends it
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
	for members := range slices.Chunk(slices.Collect(maps.Keys(held)), together) {
		if !l.extend(ctx, members, held) {
			return // the rest would fail alike
		}
	}
}

// extend holds places for another lease, all in one message: thousands, one
// after the other, would outlast it. false: Redis is away.
func (l *leases) extend(ctx context.Context, members []string, held map[string]string) bool {
	err := l.send(ctx, members, held, renewScript.EvalSha)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		// Redis has lost what it knew, and may lose it again at any moment:
		// the script goes along with every place.
		err = l.send(ctx, members, held, renewScript.Eval)
	}
	if l.m.outage.saw(err) {
		return false
	}
	if err != nil {
		l.m.o.Logger.WarnContext(ctx, "redis: places were not renewed", "places", len(members), "error", err)
	}
	for _, member := range members {
		l.mu.Lock()
		_, still := l.held[member]
		l.mu.Unlock()
		if !still { // given back while it was renewed
			l.free(ctx, held[member], member)
		}
	}
	return true
}

// evaluate is one of the two ways to run a script: by its digest or by its text.
type evaluate func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

// send returns the first error there is.
func (l *leases) send(ctx context.Context, members []string, held map[string]string, renew evaluate) error {
	message := l.m.client.Pipeline()
	for _, member := range members {
		renew(ctx, message, []string{held[member]}, member, l.m.o.Lease.Milliseconds())
	}
	answers, err := message.Exec(ctx)
	if len(answers) == 0 {
		return silent(err)
	}
	for _, a := range answers {
		if err := silent(a.Err()); err != nil {
			return err
		}
	}
	return nil
}
