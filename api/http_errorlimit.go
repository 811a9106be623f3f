package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/quota"
)

// maxBlocked bounds the callers that are remembered; the ledger counts on
// without it.
const maxBlocked = 10_000

// errorLimits are the callers whose errors have used up what they may make.
// What is spent is counted in the ledger, for all servers; that it is spent is
// remembered by each for as long as it holds (SAFE-10).
type errorLimits struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (l *errorLimits) block(who string, now time.Time, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.until) >= maxBlocked {
		clear(l.until)
	}
	if l.until == nil {
		l.until = map[string]time.Time{}
	}
	l.until[who] = now.Add(wait)
}

func (l *errorLimits) wait(who string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.until[who].Sub(now)
	if left <= 0 {
		delete(l.until, who)
	}
	return left
}

// caller names whoever a request's errors count against: the person, or
// without one the address.
func (req *request) caller() string {
	if req.viewer.UserID != "" {
		return req.viewer.UserID
	}
	return req.origin()
}

// tooManyErrors is RateLimited while a caller has made too many errors.
func (s *server) tooManyErrors(who string) error {
	left := s.errorLimits.wait(who, s.Now())
	if left <= 0 {
		return nil
	}
	seconds := int((left + time.Second - 1) / time.Second)
	return fault.New(fault.RateLimited, "Too many of your requests have failed. Try again in %d seconds.", seconds).
		With(quota.Exceeded{Rule: quota.Faults().Name, RetryAfter: seconds})
}

// countError counts an answer that was an error against its caller.
func (s *server) countError(ctx context.Context, req *request, status int) {
	if status < http.StatusBadRequest || status == http.StatusTooManyRequests {
		return
	}
	err := s.Limits.Spend(context.WithoutCancel(ctx), quota.Faults(), req.caller())
	if err == nil {
		return
	}
	if e, ok := fault.From(err).Details.(quota.Exceeded); ok {
		s.errorLimits.block(req.caller(), s.Now(), time.Duration(e.RetryAfter)*time.Second)
	}
}
