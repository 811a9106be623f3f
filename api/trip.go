package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/quota"
)

// maxTripped bounds the callers that are remembered; the ledger counts on
// without it.
const maxTripped = 10_000

// trips are the callers whose errors have used up what they may make. What is
// spent is counted in the ledger, for all servers; that it is spent is
// remembered by each for as long as it holds (SAFE-10).
type trips struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (t *trips) trip(who string, now time.Time, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.until) >= maxTripped {
		clear(t.until)
	}
	if t.until == nil {
		t.until = map[string]time.Time{}
	}
	t.until[who] = now.Add(wait)
}

func (t *trips) wait(who string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.until[who].Sub(now)
	if left <= 0 {
		delete(t.until, who)
	}
	return left
}

// caller names whoever a request's errors count against: the person, or
// without one the address.
func (x *exchange) caller() string {
	if x.viewer.UserID != "" {
		return x.viewer.UserID
	}
	return x.origin()
}

// tripped is RateLimited while a caller has made too many errors.
func (s *server) tripped(who string) error {
	left := s.trips.wait(who, s.Now())
	if left <= 0 {
		return nil
	}
	seconds := int((left + time.Second - 1) / time.Second)
	return fault.New(fault.RateLimited, "Too many of your requests have failed. Try again in %d seconds.", seconds).
		With(quota.Exceeded{Rule: quota.Faults().Name, RetryAfter: seconds})
}

// failed counts an answer that was an error against its caller.
func (s *server) failed(ctx context.Context, x *exchange, status int) {
	if status < http.StatusBadRequest || status == http.StatusTooManyRequests {
		return
	}
	err := s.Limits.Spend(context.WithoutCancel(ctx), quota.Faults(), x.caller())
	if err == nil {
		return
	}
	if e, ok := fault.From(err).Details.(quota.Exceeded); ok {
		s.trips.trip(x.caller(), s.Now(), time.Duration(e.RetryAfter)*time.Second)
	}
}
