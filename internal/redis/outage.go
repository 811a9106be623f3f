package redis

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// rest is how long nobody tries again in an outage that has outlasted patience.
const rest = 2 * time.Second

// stale is how old a failure must be to say nothing of now.
const stale = 30 * time.Second

var errAway = errors.New("Redis does not answer")

// outage knows since when Redis has not answered. Once it has been away for
// longer than anybody waits, calls fail at once: a model that streams a
// thousand pieces must not wait a thousand times.
type outage struct {
	patience time.Duration
	since    atomic.Int64 // Unix nanoseconds; 0 while it answers
	last     atomic.Int64 // when a call found it away, Unix nanoseconds
}

// saw takes note of how a call went, and reports whether Redis was away.
func (o *outage) saw(err error) (away bool) {
	if !transient(err) {
		if err == nil || errors.Is(err, redis.Nil) {
			o.since.Store(0)
		}
		return false
	}
	now := time.Now()
	before := time.Unix(0, o.last.Swap(now.UnixNano()))
	if now.Sub(before) > stale {
		o.since.Store(now.UnixNano()) // another outage: nobody asked when the last one ended
	} else {
		o.since.CompareAndSwap(0, now.UnixNano())
	}
	return true
}

// bearable reports whether there is time for another try after wait.
func (o *outage) bearable(wait time.Duration) bool {
	since := o.since.Load()
	return since == 0 || time.Since(time.Unix(0, since))+wait < o.patience
}

// hopeless reports whether it is no use to try now.
func (o *outage) hopeless() bool {
	return !o.bearable(0) && time.Since(time.Unix(0, o.last.Load())) < rest
}

// states are the answers of a Redis that is about to be well again: it
// starts, or another one takes its place.
var states = []string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY ", "NOREPLICAS", "ERR max number of clients"}

// transient reports whether the same call may succeed later.
func transient(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) || errors.Is(err, redis.ErrClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	answer, ok := errors.AsType[redis.Error](err)
	if !ok {
		return true // the network
	}
	for _, s := range states {
		if strings.HasPrefix(answer.Error(), s) {
			return true
		}
	}
	return false
}
