package redis

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestAnOutageBeginsWithAFailureAndEndsWithAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := outage{patience: 5 * time.Second}
		if o.hopeless() || !o.bearable(time.Second) {
			t.Error("an outage before any failure")
		}
		o.saw(io.EOF)
		time.Sleep(3 * time.Second)
		o.saw(io.EOF)
		if o.hopeless() || !o.bearable(time.Second) || o.bearable(2*time.Second) {
			t.Error("patience is not counted from the first failure")
		}
		time.Sleep(3 * time.Second)
		o.saw(io.EOF)
		if !o.hopeless() {
			t.Error("it is tried at once after a long outage")
		}
		time.Sleep(rest)
		if o.hopeless() {
			t.Error("it is never tried again")
		}
		time.Sleep(time.Hour)
		o.saw(io.EOF)
		if !o.bearable(time.Second) {
			t.Error("a failure of an hour ago counts as the same outage")
		}
		o.saw(redis.Nil)
		time.Sleep(stale)
		if o.hopeless() || !o.bearable(time.Second) {
			t.Error("an answer did not end the outage")
		}
	})
}

func TestOnlyWhatMayPassIsTriedAgain(t *testing.T) {
	t.Parallel()
	for want, errs := range map[bool][]error{
		true:  {io.EOF, errors.New("connection refused"), redis.ErrPoolTimeout, reply("LOADING Redis is loading"), reply("READONLY You can't write")},
		false: {nil, redis.Nil, redis.ErrClosed, context.Canceled, context.DeadlineExceeded, reply("ERR syntax error"), reply("WRONGTYPE")},
	} {
		for _, err := range errs {
			if transient(err) != want {
				t.Errorf("%v: tried again %v, want %v", err, !want, want)
			}
		}
	}
}

// reply is an error Redis answered.
type reply string

func (r reply) Error() string { return string(r) }

// RedisError marks it as go-redis marks its own.
func (reply) RedisError() {}
