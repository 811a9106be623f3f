package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/store/storetest"
	"liminal/internal/stream"
)

// reading follows a run in the background.
type reading struct {
	events chan stream.Event
	err    error // once events is closed
	cancel context.CancelFunc
}

func follow(t testing.TB, l *Log, run string, after int64) *reading {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &reading{events: make(chan stream.Event), cancel: cancel}
	var done sync.WaitGroup
	t.Cleanup(done.Wait)
	t.Cleanup(cancel)
	done.Go(func() {
		defer close(r.events)
		for e, err := range l.Follow(ctx, run, after) {
			if err != nil {
				r.err = err
				return
			}
			select {
			case r.events <- e:
			case <-ctx.Done():
				return
			}
		}
	})
	return r
}

// next is the next event; a test that waits too long for it fails.
func (r *reading) next(t testing.TB) stream.Event {
	t.Helper()
	select {
	case e, open := <-r.events:
		if !open {
			t.Fatalf("the log ended the stream: %v", r.err)
		}
		return e
	case <-time.After(30 * time.Second):
		t.Fatal("no event came")
	}
	return stream.Event{}
}

// text reads tokens until there are so many bytes.
func (r *reading) text(t testing.TB, length int) string {
	t.Helper()
	var b strings.Builder
	for b.Len() < length {
		e := r.next(t)
		var piece string
		if e.Kind != stream.Token || json.Unmarshal(e.Data, &piece) != nil {
			t.Fatalf("got %s %s instead of text after %q", e.Kind, e.Data, b.String())
		}
		b.WriteString(piece)
	}
	return b.String()
}

func put(t testing.TB, l *Log, run string, pieces ...string) int64 {
	t.Helper()
	var last int64
	for _, p := range pieces {
		seq, err := l.Append(t.Context(), run, storetest.Token(p, 1))
		if err != nil {
			t.Fatal(err)
		}
		if seq <= last || seq >= 1<<53 {
			t.Fatalf("number %d after %d", seq, last)
		}
		last = seq
	}
	return last
}

// wipe is a FLUSHALL of one Memory's keys: the test stack's other tests go on.
func wipe(t testing.TB, m *Memory) {
	t.Helper()
	for _, key := range keysOf(t, m) {
		if err := m.client.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func keysOf(t testing.TB, m *Memory) (keys []string) {
	t.Helper()
	for i := m.client.Scan(t.Context(), 0, m.o.Prefix+"*", 1000).Iterator(); i.Next(t.Context()); {
		keys = append(keys, i.Val())
	}
	return keys
}

// split appends through one process and follows through another.
type split struct {
	stream.Log
	other stream.Log
}

func (s split) Append(ctx context.Context, run string, events ...stream.Event) (int64, error) {
	return s.other.Append(ctx, run, events...)
}

// Requirements: STREAM-24 (missed events are replayed), STREAM-32
func TestStreamLogAcrossProcesses(t *testing.T) {
	t.Parallel()
	storetest.StreamLog(t, func(t testing.TB, _ int64) stream.Log {
		one, other := pair(t, Options{})
		return split{one.Log(), other.Log()}
	})
}

// Requirements: STREAM-32
func TestAnOutageLosesNoEventAndRepeatsNone(t *testing.T) {
	t.Parallel()
	prefix := "liminal:" + id.New() + ":"
	writer, line := through(t, Options{Prefix: prefix, Patience: time.Minute})
	reader, other := through(t, Options{Prefix: prefix})
	r := follow(t, reader.Log(), "r", 0)
	put(t, writer.Log(), "r", "one ")
	if got := r.text(t, 4); got != "one " {
		t.Fatalf("read %q", got)
	}
	line.set(true, false, false)
	other.set(true, false, false)
	appended := make(chan int64)
	go func() { appended <- put(t, writer.Log(), "r", "two ", "three ") }()
	line.waitRefused(t)
	other.waitRefused(t)
	line.set(false, false, false)
	<-appended
	other.set(false, false, false)
	put(t, writer.Log(), "r", "four")
	if got := r.text(t, 14); got != "two three four" {
		t.Errorf("after the outage the reader has %q", got)
	}
}

// Requirements: STREAM-32
func TestALostAnswerAppendsNothingTwice(t *testing.T) {
	t.Parallel()
	m, line := through(t, Options{Patience: time.Minute})
	put(t, m.Log(), "r", "one ") // the script is known from here on
	line.set(false, true, false)
	appended := make(chan int64)
	go func() { appended <- put(t, m.Log(), "r", "two ") }()
	line.waitRefused(t)
	line.set(false, false, false)
	<-appended
	put(t, m.Log(), "r", "three")
	if got := follow(t, m.Log(), "r", 0).text(t, 13); got != "one two three" {
		t.Errorf("the log holds %q", got)
	}
}

func TestAnOutageIsWaitedForOnceAndNotByEachCall(t *testing.T) {
	t.Parallel()
	for name, still := range map[string]bool{"refused": false, "hanging": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, line := through(t, Options{Patience: 200 * time.Millisecond, Answer: 2 * time.Second, Followers: time.Millisecond})
			line.set(!still, false, still)
			began := time.Now()
			for range 500 {
				if _, err := m.Log().Append(t.Context(), "r", storetest.Token("x", 1)); err == nil {
					t.Fatal("appended to nothing")
				}
			}
			if took := time.Since(began); took > time.Minute { // each for itself, they would wait 100 s and more
				t.Errorf("500 calls took %v, of which few wait", took)
			}
			for what, err := range map[string]error{
				"finish": m.Log().Finish(t.Context(), "r", time.Minute), "ping": m.Ping(t.Context()),
				"set":  m.Cache().Set(t.Context(), "auth:k", nil, time.Minute),
				"take": second(m.Ledger().Take(t.Context(), "k", 1, 1)),
			} {
				if err == nil {
					t.Errorf("%s needs no Redis", what)
				}
			}
			for _, err := range m.Log().Follow(t.Context(), "r", 0) {
				if err == nil {
					t.Error("read from nothing")
				}
			}
			line.set(false, false, false)
			until(t, "Redis is found again", func() bool {
				_, err := m.Log().Append(t.Context(), "r", storetest.Token("x", 1))
				return err == nil
			})
		})
	}
}

func second[T any](_ T, err error) error { return err }

func TestClosingEndsEveryFollower(t *testing.T) {
	t.Parallel()
	m, err := Open(t.Context(), storetest.Server(t, "LANE_REDIS"), Options{Prefix: "liminal:" + id.New() + ":"})
	if err != nil {
		t.Fatal(err)
	}
	put(t, m.Log(), "r", "x")
	followers := make([]*reading, 10)
	for i := range followers {
		followers[i] = follow(t, m.Log(), "r", 0)
		followers[i].text(t, 1)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range followers {
		select {
		case _, open := <-f.events:
			if open {
				t.Error("an event after the end")
			}
		case <-time.After(30 * time.Second):
			t.Error("a follower outlives its Memory")
		}
	}
}

func TestAFollowerLeavesAtOnceWhateverRedisDoes(t *testing.T) {
	t.Parallel()
	for name, still := range map[string]bool{"while it waits": false, "while Redis hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, line := through(t, Options{Answer: 10 * time.Minute})
			put(t, m.Log(), "r", "x")
			ctx, cancel := context.WithCancel(t.Context())
			read, left := make(chan bool), make(chan time.Time)
			go func() {
				for range m.Log().Follow(ctx, "r", 0) {
					read <- true
				}
				left <- time.Now()
			}()
			<-read
			if still {
				line.set(false, false, true)
				m.topics.publish(m.Log().keys("r")[0], "") // it reads, and gets no answer
			}
			began := time.Now()
			cancel()
			if took := (<-left).Sub(began); took > 30*time.Second { // Redis itself is given minutes to answer
				t.Errorf("it left after %v", took)
			}
			line.set(true, false, false) // nor is closing to wait for minutes
		})
	}
}

// Requirements: DATA-13, STREAM-24 (missed events are replayed)
func TestALossOfRedisIsAResetAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Idle: 20 * time.Second}) // a follower looks each third of it
	l := m.Log()
	before := put(t, l, "r", "one ", "two ")
	r := follow(t, l, "r", 0)
	r.text(t, 8)
	wipe(t, m)
	if e := r.next(t); e.Kind != stream.Reset || string(e.Data) != `{"reason":"gap"}` {
		t.Fatalf("a follower whose log is gone sees %s %s", e.Kind, e.Data)
	}
	after := put(t, l, "r", "three")
	if got := r.text(t, 5); got != "three" {
		t.Errorf("then it reads %q", got)
	}
	if after <= before {
		t.Errorf("number %d after %d", after, before)
	}
	for place, want := range map[int64]stream.Kind{0: stream.Token, before: stream.Reset, after + 1: stream.Reset} {
		again := follow(t, l, "r", place)
		if e := again.next(t); e.Kind != want {
			t.Errorf("who comes back at %d sees %s first, want %s", place, e.Kind, want)
		} else if want == stream.Reset {
			again.text(t, 5)
		}
	}
	if _, err := l.Append(t.Context(), "r", storetest.Token(" four", 1)); err != nil {
		t.Fatal(err)
	}
	r.text(t, 5)
	wipe(t, m)
	put(t, l, "r", "five") // between two looks of the follower
	if e := r.next(t); e.Kind != stream.Reset {
		t.Fatalf("a follower whose log began anew sees %s", e.Kind)
	}
	if e := r.next(t); e.Kind != stream.Reset { // it may have looked in between
		if string(e.Data) != `"five"` {
			t.Errorf("then it reads %s", e.Data)
		}
	} else {
		r.text(t, 4)
	}
}

func TestALogOverItsBoundDropsTheOldestAndSaysSo(t *testing.T) {
	t.Parallel()
	m := open(t, Options{RunBytes: 20_000})
	var seqs []int64
	for i := range 1000 {
		seq, err := m.Log().Append(t.Context(), "r", stream.Event{Kind: stream.Status, Data: json.RawMessage(fmt.Sprint(i))})
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	r := follow(t, m.Log(), "r", 0)
	if e := r.next(t); e.Kind != stream.Reset {
		t.Errorf("who begins sees %s first", e.Kind)
	}
	oldest, err := strconv.Atoi(string(r.next(t).Data))
	kept := 1000 - oldest
	if err != nil || kept < 50 || kept > 200 {
		t.Errorf("%d events are kept, want what fits", kept)
	}
	if n, err := m.client.XLen(t.Context(), m.Log().keys("r")[0]).Result(); err != nil || int(n) != kept {
		t.Errorf("Redis holds %d, %v", n, err)
	}
	if e := follow(t, m.Log(), "r", seqs[989]).next(t); string(e.Data) != "990" {
		t.Errorf("who comes back within what is kept sees %s %s", e.Kind, e.Data)
	}
	if e := follow(t, m.Log(), "r", seqs[10]).next(t); e.Kind != stream.Reset {
		t.Errorf("who comes back before it sees %s", e.Kind)
	}
}

// Requirements: STREAM-24 (afterwards the turn counts as done)
func TestARunIsForgottenInTime(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Idle: time.Hour})
	l, ctx := m.Log(), t.Context()
	lives := func(what string, low, high time.Duration) {
		t.Helper()
		for _, key := range l.keys("r") {
			if ttl, err := m.client.PTTL(ctx, key).Result(); err != nil || ttl <= low || ttl > high {
				t.Errorf("%s: %s lives for %v, %v", what, key, ttl, err)
			}
		}
	}
	put(t, l, "r", "x")
	lives("without a reader", 59*time.Minute, time.Hour)
	for _, key := range l.keys("r") {
		m.client.PExpire(ctx, key, time.Minute)
	}
	follow(t, l, "r", 0).text(t, 1)
	lives("with a reader", 59*time.Minute, time.Hour)
	if err := l.Finish(ctx, "r", 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	put(t, l, "r", "y")
	lives("finished", 4*time.Minute, 5*time.Minute)
	if l.Last(ctx, "r") == 0 || l.Last(ctx, "unknown") != 0 {
		t.Errorf("the last numbers are %d and %d", l.Last(ctx, "r"), l.Last(ctx, "unknown"))
	}
}

// What one message cannot carry is read.
func TestLargeEventsArrive(t *testing.T) {
	t.Parallel()
	m := open(t, Options{})
	r := follow(t, m.Log(), "r", 0)
	long := strings.Repeat("a", maxNews+1)
	put(t, m.Log(), "r", "b", long, "c")
	if got := r.text(t, len(long)+2); got != "b"+long+"c" {
		t.Errorf("%d bytes arrived", len(got))
	}
}

func TestMessagesThatCannotBeReadAreNoPanic(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"x", "1:2:3:", "1:2:3:0:4", "1:2:3:0:4:99:short", "1:2:3:0:4:-1:x", "1:2:3:0:4:1:x", "1:2:3:0:4:3:{}\n"} {
		if b, err := decodedBatch(s); err == nil && (len(b.events) != 1 || b.events[0].Seq != 4) {
			t.Errorf("%q gave %+v", s, b)
		}
	}
	for _, reply := range [][]any{{1}, {"a", "b", "c", "d", "e", "f", "g"}, {int64(1), int64(1), int64(1), int64(0), int64(0), "5-0", "no head"}} {
		if p, err := decodedPage(reply); err == nil {
			t.Errorf("%v gave %+v", reply, p)
		}
	}
}
