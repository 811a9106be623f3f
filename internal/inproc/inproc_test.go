package inproc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/cache"
	"liminal/internal/inproc"
	"liminal/internal/leaktest"
	"liminal/internal/quota"
	"liminal/internal/store/storetest"
	"liminal/internal/stream"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t testing.TB, o inproc.Options) *inproc.Memory {
	m := inproc.New(o)
	t.Cleanup(m.Close)
	return m
}

// Requirements: STREAM-24 (missed events are replayed), STREAM-32
func TestStreamLog(t *testing.T) {
	t.Parallel()
	storetest.StreamLog(t, func(t testing.TB, base int64) stream.Log { return open(t, inproc.Options{Base: base}) })
}

// Requirements: API-16
func TestLedger(t *testing.T) {
	t.Parallel()
	storetest.Ledger(t, func(t testing.TB) quota.Ledger { return open(t, inproc.Options{}) })
}

// Requirements: DATA-10
func TestCache(t *testing.T) {
	t.Parallel()
	storetest.Cache(t, func(t testing.TB) cache.Cache { return open(t, inproc.Options{}).Cache() })
}

func TestACacheForgetsInTimeAndHoldsNoMoreThanItsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inproc.NewCache(100_000)
		holds := func(key string) bool { _, ok, _ := c.Get(t.Context(), key); return ok }
		c.Set(t.Context(), "short", nil, time.Second)
		c.Set(t.Context(), "long", nil, time.Hour)
		c.Count(t.Context(), "counter", time.Minute)
		time.Sleep(59 * time.Second)
		c.Count(t.Context(), "counter", time.Minute)
		time.Sleep(time.Second)
		if holds("short") || !holds("long") || holds("counter") {
			t.Errorf("after a minute: short %v, long %v, counter %v", holds("short"), holds("long"), holds("counter"))
		}
		for i := range 1000 {
			c.Set(t.Context(), fmt.Sprint(i), make([]byte, 800), time.Hour)
			holds("long")
		}
		if holds("0") || !holds("999") || !holds("long") {
			t.Errorf("a full cache: oldest %v, newest %v, used again and again %v", holds("0"), holds("999"), holds("long"))
		}
	})
}

// read reads one follower's events until the log ends it, as a client would.
func read(ctx context.Context, m *inproc.Memory, run string, after int64) (kinds []stream.Kind) {
	for e := range m.Follow(ctx, run, after) {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// Requirements: STREAM-24 (afterwards the turn counts as done)
func TestAFinishedRunIsKeptForItsTimeAndThenForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inproc.Options{Base: 100})
		m.Append(t.Context(), "r", storetest.Token("a", 1), stream.Event{Kind: stream.MessageDone})
		m.Finish(t.Context(), "r", 30*time.Second)
		time.Sleep(29 * time.Second)
		if kinds := read(t.Context(), m, "r", 0); len(kinds) != 2 {
			t.Errorf("after 29 s a reader sees %v", kinds)
		}
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if kinds := read(ctx, m, "r", 102); len(kinds) != 1 || kinds[0] != stream.Reset {
			t.Errorf("after 31 s a reader sees %v, want a reset alone", kinds)
		}
	})
}

func TestALogOverItsBoundDropsTheOldestAndSaysSo(t *testing.T) {
	t.Parallel()
	m := open(t, inproc.Options{RunBytes: 20_000})
	for range 1000 {
		m.Append(t.Context(), "r", stream.Event{Kind: stream.Status, Data: json.RawMessage(`{"node":"n"}`)})
	}
	m.Finish(t.Context(), "r", time.Minute)
	kinds := read(t.Context(), m, "r", 0)
	if len(kinds) < 50 || len(kinds) > 200 || kinds[0] != stream.Reset {
		t.Errorf("%d events beginning with %s, want a reset and what fits", len(kinds), kinds[0])
	}
	if kinds := read(t.Context(), m, "r", 990); len(kinds) != 10 || kinds[0] != stream.Status {
		t.Errorf("a reader within what is kept sees %v, want the last ten", kinds)
	}
}

func TestARunNobodyFinishesIsForgottenWhenIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inproc.Options{Base: 100, Idle: time.Hour})
		m.Append(t.Context(), "idle", storetest.Token("a", 1))
		m.Append(t.Context(), "followed", storetest.Token("a", 1))
		ctx, cancel := context.WithCancel(t.Context())
		go read(ctx, m, "followed", 0)
		synctest.Wait()
		time.Sleep(2 * time.Hour)
		m.Append(t.Context(), "another", storetest.Token("a", 1))
		for run, want := range map[string]stream.Kind{"idle": stream.Reset, "followed": stream.Token} {
			for e := range m.Follow(t.Context(), run, map[string]int64{"idle": 101}[run]) {
				if e.Kind != want {
					t.Errorf("%s: got %s, want %s", run, e.Kind, want)
				}
				break
			}
		}
		cancel()
		synctest.Wait()
	})
}

func TestClosingEndsEveryReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := inproc.New(inproc.Options{})
		ended := make(chan bool)
		for range 10 {
			go func() { read(context.WithoutCancel(t.Context()), m, "r", 0); ended <- true }()
		}
		synctest.Wait()
		m.Close()
		for range 10 {
			<-ended
		}
		if kinds := read(t.Context(), m, "r", 0); len(kinds) != 0 {
			t.Errorf("a reader after the end sees %v", kinds)
		}
	})
}

// Requirements: API-16
func TestABucketRefillsAtItsRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inproc.Options{})
		take := func() time.Duration { wait, _ := m.Take(t.Context(), "k", 1, 2); return wait }
		burst := func() bool { first, second := take(), take(); return first == 0 && second == 0 }
		if !burst() {
			t.Error("the burst was refused")
		}
		wait := take()
		if wait <= 900*time.Millisecond || wait > 1001*time.Millisecond {
			t.Errorf("the third waits %v, want about a second", wait)
		}
		time.Sleep(wait)
		if wait := take(); wait != 0 {
			t.Errorf("who waited as told waits %v more", wait)
		}
		time.Sleep(time.Hour)
		if !burst() || take() == 0 {
			t.Error("an hour later the bucket holds more or less than its burst")
		}
	})
}

// BenchmarkToken appends a token to a run that one reader follows.
func BenchmarkToken(b *testing.B) {
	m := inproc.New(inproc.Options{})
	defer m.Close()
	done := make(chan bool)
	go func() { read(b.Context(), m, "r", 0); close(done) }()
	e := storetest.Token("seven letters ", 1)
	for b.Loop() {
		m.Append(b.Context(), "r", e)
	}
	m.Finish(b.Context(), "r", 0)
	<-done
}
