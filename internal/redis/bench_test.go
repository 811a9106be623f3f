package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"liminal/internal/inproc"
	"liminal/internal/stream"
)

// BenchmarkStreams has so many answers written at 20 tokens a second each,
// with one reader each, and reports how old a token is when it is read, and
// what it costs this process (Redis itself not counted).
//
//	LANE_REDIS=… go test -run '^$' -bench Streams -benchtime 1x ./internal/redis
func BenchmarkStreams(b *testing.B) {
	const rate, seconds = 20, 5
	for _, streams := range []int{50, 500} {
		for name, open := range map[string]func(testing.TB) stream.Log{
			"inproc": func(testing.TB) stream.Log { return inproc.New(inproc.Options{}) },
			"redis":  func(t testing.TB) stream.Log { return open(t, Options{}).Log() },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, streams), func(b *testing.B) {
				for b.Loop() {
					(&crowd{b: b, log: open(b), streams: streams, rate: rate, tokens: rate * seconds}).run()
				}
			})
		}
	}
}

type crowd struct {
	b                     *testing.B
	log                   stream.Log
	streams, rate, tokens int

	mu   sync.Mutex
	ages []time.Duration
}

func (c *crowd) run() {
	ctx, cancel := context.WithCancel(c.b.Context())
	defer cancel()
	var readers, writers sync.WaitGroup
	for i := range c.streams {
		readers.Go(func() { c.read(ctx, fmt.Sprint("r", i)) })
	}
	cpu, began := processor(), time.Now()
	for i := range c.streams {
		writers.Go(func() { c.write(ctx, fmt.Sprint("r", i), i) })
	}
	writers.Wait()
	took := time.Since(began)
	readers.Wait()
	used := processor() - cpu
	slices.Sort(c.ages)
	n := len(c.ages)
	if n == 0 {
		c.b.Fatal("nothing was read")
	}
	c.b.ReportMetric(float64(c.ages[n/2].Microseconds()), "p50-µs")
	c.b.ReportMetric(float64(c.ages[n*99/100].Microseconds()), "p99-µs")
	c.b.ReportMetric(float64(used.Microseconds())/float64(c.streams*c.tokens), "cpu-µs/token")
	c.b.ReportMetric(float64(c.streams*c.tokens)/took.Seconds(), "tokens/s")
}

func (c *crowd) write(ctx context.Context, run string, offset int) {
	pause := time.Second / time.Duration(c.rate)
	next := time.Now().Add(pause * time.Duration(offset) / time.Duration(c.streams))
	for range c.tokens {
		time.Sleep(time.Until(next))
		next = next.Add(pause)
		data := strconv.Quote(strconv.FormatInt(time.Now().UnixNano(), 10))
		if _, err := c.log.Append(ctx, run, stream.Event{Kind: stream.Token, Attempt: 1, Node: "answer", Data: json.RawMessage(data)}); err != nil {
			c.b.Error(err)
			return
		}
	}
	if err := c.log.Finish(ctx, run, time.Minute); err != nil {
		c.b.Error(err)
	}
}

func (c *crowd) read(ctx context.Context, run string) {
	ages := make([]time.Duration, 0, c.tokens)
	for e, err := range c.log.Follow(ctx, run, 0) {
		if err != nil {
			c.b.Error(err)
			return
		}
		var text string
		_ = json.Unmarshal(e.Data, &text)
		at, _ := strconv.ParseInt(text, 10, 64)
		ages = append(ages, time.Since(time.Unix(0, at)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ages = append(c.ages, ages...)
}

// processor is the time this process has spent on its processors.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
