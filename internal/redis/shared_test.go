package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// until polls what another process or the clock of Redis brings about.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}

// Requirements: SAFE-04
func TestABucketGivesExactlyItsBurstToManyOverTwoConnections(t *testing.T) {
	t.Parallel()
	one, other := pair(t, Options{})
	rule := quota.Rule{Name: "chat", Burst: 60, Per: 100 * time.Hour} // nothing refills while the test runs
	limits := []*quota.Limits{quota.NewLimits(one.Ledger()), quota.NewLimits(other.Ledger())}
	var taken, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			switch err := limits[i%2].Spend(t.Context(), rule, "ada"); {
			case err == nil:
				taken.Add(1)
			case strings.Contains(err.Error(), "Too many"):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 60 || refused.Load() != 140 {
		t.Errorf("%d taken and %d refused, want 60 and 140", taken.Load(), refused.Load())
	}
}

// Requirements: API-16, SAFE-04
func TestABucketRefillsAtItsRate(t *testing.T) {
	t.Parallel()
	l := open(t, Options{}).Ledger()
	take := func() time.Duration {
		wait, err := l.Take(t.Context(), "k", 4, 2)
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	if first, second := take(), take(); first != 0 || second != 0 {
		t.Fatalf("the burst was refused: %v, %v", first, second)
	}
	wait := take()
	for n := 0; wait == 0 && n < 100; n++ { // a busy machine pauses, and the bucket refills
		wait = take()
	}
	if wait <= 0 || wait > 251*time.Millisecond {
		t.Errorf("the third waits %v, want 250 ms at most", wait)
	}
	time.Sleep(wait) // by the clock of another process
	if wait := take(); wait != 0 {
		t.Errorf("who waited as told waits %v more", wait)
	}
	if wait, err := l.Take(t.Context(), "never", 0, 0); err != nil || wait < 1000*time.Hour {
		t.Errorf("a bucket that holds nothing says %v, %v", wait, err)
	}
}

func TestAPlaceIsHeldWhileItsProcessLivesAndFreeAfterwards(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	prefix := "liminal:" + id.New() + ":"
	dying, line := through(t, Options{Prefix: prefix, Lease: lease})
	other := open(t, Options{Prefix: prefix, Lease: lease})
	acquire := func() bool {
		release, ok, err := other.Ledger().Acquire(t.Context(), "sockets:ada", 1)
		if err != nil {
			t.Fatal(err)
		}
		release()
		return ok
	}
	if _, ok, err := dying.Ledger().Acquire(t.Context(), "sockets:ada", 1); !ok || err != nil {
		t.Fatal(ok, err)
	}
	first := clock(t, other)
	until(t, "the place is held for two leases", func() bool {
		held := leaseOf(t, other, "sockets:ada")
		if acquire() && clock(t, other) < held {
			t.Fatal("a place that is held was given away")
		}
		return held > first+float64(2*lease.Milliseconds())
	})
	wipe(t, other)
	until(t, "a place that was lost is there again", func() bool { return len(keysOf(t, other)) > 0 })
	line.set(true, false, false)
	until(t, "the place of a dead process is free", acquire)
}

// leaseOf is when the last lease of a key's places ends, and clock what time it
// is, both in ms of Redis. A busy machine pauses for longer than a lease, and
// then a place is free by right.
func leaseOf(t testing.TB, m *Memory, key string) (ends float64) {
	t.Helper()
	places, err := m.client.ZRangeWithScores(t.Context(), m.key("rl:places:"+key), -1, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		ends = p.Score
	}
	return ends
}

func clock(t testing.TB, m *Memory) float64 {
	t.Helper()
	now, err := m.client.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return float64(now.UnixMilli())
}

func TestAPlaceGivenBackWhileItIsRenewedIsFree(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Lease: time.Hour}) // renewed by nobody else
	release, ok, err := m.Ledger().Acquire(t.Context(), "k", 1)
	if err != nil || !ok {
		t.Fatalf("not free: %v, %v", ok, err)
	}
	m.leases.mu.Lock()
	held := maps.Clone(m.leases.held)
	m.leases.mu.Unlock()
	release()
	for member, key := range held {
		m.leases.extend(t.Context(), []string{member}, held) // as one that began before it was given back
		if n, err := m.client.ZCard(t.Context(), key).Result(); n != 0 || err != nil {
			t.Errorf("%d places are held, %v", n, err)
		}
	}
	if len(held) != 1 {
		t.Errorf("held were %v", held)
	}
}

// Requirements: ISO-09
func TestTwoBoxesAgreeOnWhichToolRests(t *testing.T) {
	t.Parallel()
	one, other := pair(t, Options{})
	var calls atomic.Int64
	failing := &atomic.Bool{}
	failing.Store(true)
	boxes := make([]*tool.Box, 2)
	for i, b := range []*Breakers{one.Breakers(), other.Breakers()} {
		box, err := tool.NewBox([]tool.Tool{counted{&calls, failing}}, tool.Options{Breakers: b})
		if err != nil {
			t.Fatal(err)
		}
		boxes[i] = box
	}
	call := func(i int) error {
		_, err := boxes[i].Call(t.Context(), tool.Spec{Name: "t"}, &tool.Call{Viewer: identity.Viewer{UserID: "ada"}})
		return err
	}
	for i := range tool.BreakerTrips {
		_ = call(i % 2)
	}
	for i := range boxes {
		if err := call(i); err == nil || !strings.Contains(err.Error(), "does not answer; it is tried again at ") {
			t.Errorf("box %d calls a tool that rests: %v", i, err)
		}
	}
	if calls.Load() != tool.BreakerTrips {
		t.Errorf("%d calls, want %d", calls.Load(), tool.BreakerTrips)
	}
	rested := func() { // as if the time had passed
		if err := one.client.HIncrBy(t.Context(), one.key("cb:t"), "until", -tool.CoolDown.Milliseconds()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	rested()
	if err := call(0); err == nil || calls.Load() != tool.BreakerTrips+1 {
		t.Errorf("no probe is let through: %v", err)
	}
	if err := call(1); err == nil || calls.Load() != tool.BreakerTrips+1 {
		t.Errorf("a failed probe did not begin the rest again for all: %v", err)
	}
	failing.Store(false)
	rested()
	if err := call(0); err != nil {
		t.Errorf("a good probe fails: %v", err)
	}
	if err := call(1); err != nil {
		t.Errorf("the other box still keeps it at rest: %v", err)
	}
}

// counted fails or not, and counts.
type counted struct {
	calls   *atomic.Int64
	failing *atomic.Bool
}

func (c counted) Name() string { return "t" }

func (c counted) Run(context.Context, *tool.Call) (map[string]any, error) {
	c.calls.Add(1)
	if c.failing.Load() {
		return nil, errors.New("down")
	}
	return map[string]any{}, nil
}

func TestModelsAnswerWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	m, line := through(t, Options{})
	line.set(true, false, false)
	leave, err := m.Decodes(1).Enter(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if _, _, err := m.Breakers().Enter(t.Context(), "t"); err == nil {
		t.Error("breakers that cannot be asked say nothing of it")
	}
}

// names is the table of what may be in Redis (DATA-10).
var names = []string{"stream:", "rl:", "cb:", "auth:", "chat:summary:", "router:last:"}

// Requirements: DATA-10
func TestEveryKeyIsNamespacedAndOfTheTable(t *testing.T) {
	t.Parallel()
	m, ctx := open(t, Options{Lease: time.Hour}), t.Context()
	put(t, m.Log(), "run", "x")
	if _, err := m.Log().Append(ctx, "run", stream.Event{Kind: stream.Interrupt, Key: "q"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Log().Finish(ctx, "other", time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Ledger().Take(ctx, "chat:ada", 0.001, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Ledger().Acquire(ctx, "sockets:ada", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Decodes(1).Enter(ctx, "ada"); err != nil {
		t.Fatal(err)
	}
	for _, end := range []tool.Verdict{tool.Broken, tool.Unknown} {
		leave, _, err := m.Breakers().Enter(ctx, "t")
		if err != nil {
			t.Fatal(err)
		}
		leave(end)
	}
	if _, err := m.Cache().Count(ctx, "auth:failures:ada", time.Minute); err != nil {
		t.Fatal(err)
	}
	keys := keysOf(t, m)
	for _, key := range keys {
		rest, ours := strings.CutPrefix(key, m.o.Prefix)
		if !ours || !strings.HasPrefix(key, "liminal:") || !begins(rest, names) {
			t.Errorf("the key %s is not of the table", key)
		}
		if ttl, err := m.client.PTTL(ctx, key).Result(); err != nil || ttl <= 0 {
			t.Errorf("%s stays for ever: %v, %v", key, ttl, err)
		}
	}
	if len(keys) != 8 { // two of a run with events, one of one without
		t.Errorf("%d keys: %v", len(keys), keys)
	}
}

func begins(s string, any []string) bool {
	for _, prefix := range any {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// Requirements: DATA-13
func TestTheSharedStateIsLostAndGoesOn(t *testing.T) {
	t.Parallel()
	one, other := pair(t, Options{})
	stop := make(chan struct{})
	var wiping sync.WaitGroup
	wiping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				wipe(t, one)
				one.client.ScriptFlush(t.Context())
			}
		}
	})
	for i := range 200 {
		m := []*Memory{one, other}[i%2]
		put(t, m.Log(), "r", "x")
		if _, err := m.Ledger().Take(t.Context(), "k", 1, 1); err != nil {
			t.Error(err)
		}
		if release, _, err := m.Ledger().Acquire(t.Context(), "k", 1); err != nil {
			t.Error(err)
		} else {
			release()
		}
		if leave, _, err := m.Breakers().Enter(t.Context(), "t"); err != nil {
			t.Error(err)
		} else if leave != nil {
			leave(tool.Broken)
		}
		if _, err := m.Cache().Count(t.Context(), fmt.Sprint("auth:", i), time.Minute); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wiping.Wait()
	last := put(t, one.Log(), "r", "end")
	if e := follow(t, other.Log(), "r", last-1).next(t); string(e.Data) != `"end"` && e.Kind != stream.Reset {
		t.Errorf("afterwards a reader sees %s %s", e.Kind, e.Data)
	}
}

// A server with thousands of streams, and a Redis a few milliseconds away:
// renewing one place after the other would take longer than a lease.
//
// Requirements: ISO-08 (a third answer waits), SAFE-04
func TestManyPlacesAreHeldOverASlowLine(t *testing.T) {
	t.Parallel()
	const people, lease = 1200, 5 * time.Second
	prefix := "liminal:" + id.New() + ":"
	m, w := through(t, Options{Prefix: prefix, Lease: lease})
	other := open(t, Options{Prefix: prefix, Lease: lease})
	for i := range people {
		if _, ok, err := m.Ledger().Acquire(t.Context(), fmt.Sprint("streams:", i), 1); !ok || err != nil {
			t.Fatalf("place %d: %v, %v", i, ok, err)
		}
	}
	w.far(6 * time.Millisecond)
	began := clock(t, other)
	for i := range people {
		key := fmt.Sprint("streams:", i)
		until(t, "each place is held for two leases", func() bool {
			held := leaseOf(t, other, key)
			release, ok, err := other.Ledger().Acquire(t.Context(), key, 1)
			if err != nil {
				t.Fatal(err)
			}
			release()
			if now := clock(t, other); ok && now < held {
				t.Fatalf("place %d, which is held, was given away after %v ms", i, now-began)
			}
			return held > began+float64(2*lease.Milliseconds())
		})
	}
}

// forgetful makes Redis forget its scripts before every message of many.
type forgetful struct {
	client *redis.Client
}

func (f forgetful) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (f forgetful) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (f forgetful) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := f.client.ScriptFlush(ctx).Err(); err != nil {
			return err
		}
		return next(ctx, cmds)
	}
}

// A script that is lost between two messages takes no place from anybody.
//
// Requirements: DATA-13
func TestPlacesAreRenewedThoughScriptsAreLostEachTime(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Lease: time.Hour})
	for i := range 3 {
		if _, ok, err := m.Ledger().Acquire(t.Context(), fmt.Sprint("streams:", i), 1); !ok || err != nil {
			t.Fatalf("place %d: %v, %v", i, ok, err)
		}
	}
	held := keysOf(t, m)
	for _, key := range held {
		if err := m.client.PExpire(t.Context(), key, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
	}
	m.client.AddHook(forgetful{client: m.client})
	m.leases.renewAll(t.Context())
	for _, key := range held {
		if left, err := m.client.PTTL(t.Context(), key).Result(); err != nil || left <= time.Minute {
			t.Errorf("%s was not renewed: %v left, %v", key, left, err)
		}
	}
}
