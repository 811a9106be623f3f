package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"liminal/internal/stream"
)

const (
	overhead = 120      // bytes an entry takes in Redis beside its data
	maxNews  = 64 << 10 // bytes of events one message carries; of more it only says that they are there
	// leastKeep is how long a finished run stays at least, so that followers
	// who were just told can still read its end.
	leastKeep = 5 * time.Second
	pageSize  = 1000
)

// Log is the stream.Log that all processes share. Its Seq are microseconds of
// the Redis server's clock, at least one apart: below 2^53 until the year
// 2255, and growing over a loss of all data unless the clock is set back at
// the same time. An event that was appended stays in its place; when an answer
// is lost on the way, trying again does not append it twice.
type Log struct{ m *Memory }

var _ stream.Log = (*Log)(nil)

// Log returns the log of runs.
func (m *Memory) Log() *Log { return &Log{m} }

// keys are a run's entries and state. The braces put both on one server of a
// cluster.
func (l *Log) keys(run string) []string {
	name := l.m.key("stream:{" + run + "}")
	return []string{name, name + ":state"}
}

// Append implements stream.Log. While Redis is away it tries again within
// Options.Patience; then the caller gets the error and may try later.
func (l *Log) Append(ctx context.Context, run string, events ...stream.Event) (int64, error) {
	keys, mark := l.keys(run), rand.Text()[:12]
	args, err := l.appending(keys[0], mark, events)
	if err != nil {
		return 0, fmt.Errorf("redis: append to run %s: %w", run, err)
	}
	var last int64
	err = l.m.again(ctx, func() (err error) {
		last, err = appendScript.Run(ctx, l.m.client, keys, args...).Int64()
		args[3] = mark // from now on it is a repetition
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("redis: append to run %s: %w", run, err)
	}
	return last, nil
}

func (l *Log) appending(channel, mark string, events []stream.Event) ([]any, error) {
	args := []any{channel, l.m.o.RunBytes, l.m.o.Idle.Milliseconds(), "", overhead, maxNews}
	for _, e := range events {
		entry, err := encoded(e, mark)
		if err != nil {
			return nil, err
		}
		again := 0
		if e.Again {
			again = 1
		}
		args = append(args, e.Key, entry, e.Call, e.Attempt, again)
	}
	return args, nil
}

// Finish implements stream.Log. Finishing again counts keep anew.
func (l *Log) Finish(ctx context.Context, run string, keep time.Duration) error {
	keys := l.keys(run)
	err := l.m.again(ctx, func() error {
		return finishScript.Run(ctx, l.m.client, keys, keys[0], max(keep, leastKeep).Milliseconds()).Err()
	})
	if silent(err) != nil {
		return fmt.Errorf("redis: finish run %s: %w", run, err)
	}
	return nil
}

// Last is the Seq of a run's newest event; 0 for a run that is not known, or
// when Redis does not answer.
func (l *Log) Last(ctx context.Context, run string) int64 {
	values, err := l.m.client.HMGet(ctx, l.keys(run)[1], "base", "last").Result()
	if l.m.outage.saw(err) || err != nil || values[0] == values[1] {
		return 0
	}
	text, _ := values[1].(string)
	last, _, err := number(text)
	if err != nil {
		return 0
	}
	return last
}
