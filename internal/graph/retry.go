package graph

import (
	"strconv"
	"time"
)

const (
	// defaultBackoff is the pause before the first retry (001 §18).
	defaultBackoff = time.Second
	// backoffFactor is what the pause is multiplied by before each further one.
	backoffFactor = 4
	// briefBackoff is the pause before a retry of what did nothing wrong itself.
	briefBackoff = 50 * time.Millisecond
	// maxRetryAfter bounds the pause what was called may ask for.
	maxRetryAfter = time.Minute
	// maxGivenUp is how many attempts of a call may be given up, of a call that
	// may be tried again at all, before they count: what ends its worker each
	// time has to end as well.
	maxGivenUp = 12
	// maxRecovery bounds the pause after such an attempt. It grows, so that a
	// machine with too much to do has less of it.
	maxRecovery = time.Minute
)

// failed takes a failure: another attempt after a pause that grows with
// each, or the slot is settled. What was refused is not tried again.
func (r *Run) failed(t *thread, place int, f Failure) {
	n, s := r.graph.node(t.Node), t.Slots[place]
	if f.Code == CodeTimeout && r.remaining() <= 0 {
		r.failTrace(s.Trace, ResultFailed, &f)
		r.endOfTime(n.id, "did not finish")
		return
	}
	again := (f.Retryable || f.Code == CodeTimeout) && f.Code != CodeUncertain
	if f.After > 0 && min(f.After, maxRetryAfter) >= r.remaining() {
		again = false // it would be too late, and who waits would be told of the time instead
	}
	if again && f.GivenUp && s.Retries > 0 && s.GivenUp < maxGivenUp {
		s.GivenUp++
	}
	if again && f.Code != CodeValidation && s.Attempt > 0 && s.Attempt-s.GivenUp <= r.retries(s, f) {
		r.failTrace(s.Trace, ResultRetried, &f)
		s.Trace, s.Phase = -1, waiting
		r.backoff(t, place, f)
		return
	}
	if f.Code == CodeUncertain {
		r.disallow(s.Tool)
	}
	r.failTrace(s.Trace, ResultFailed, &f)
	s.Trace = -1
	f.Retryable, f.Soon, f.GivenUp, f.After = false, false, false, 0
	s.Phase, s.Failure = settled, &f
	r.settled(t, place)
}

// retries is how often a call is tried again after such a failure. A tool may
// say that once its time was up, trying often only costs more time.
func (r *Run) retries(s *slot, f Failure) int {
	if late := r.graph.tools[s.Tool].LateRetries; f.Code == CodeTimeout && late > 0 {
		return min(late, s.Retries)
	}
	return s.Retries
}

// backoff waits before the next attempt, never past the end of the run's time
// (GRAPH-14): as long as what failed asks for, and at least what grows from
// attempt to attempt. A pause that may be short is still one, so that the
// effects are the same.
func (r *Run) backoff(t *thread, place int, f Failure) {
	n, s := r.graph.node(t.Node), t.Slots[place]
	if r.remaining() <= 0 {
		r.endOfTime(n.id, "was not tried again")
		return
	}
	d := n.backoff
	for range s.Attempt - s.GivenUp - 1 {
		d *= backoffFactor
	}
	switch {
	case f.GivenUp:
		d = recovery(s.GivenUp)
	case f.Soon:
		d = min(d, briefBackoff)
	}
	d = max(d, min(f.After, maxRetryAfter))
	r.emit(t, place, Effect{
		ID: s.CallID + "~" + strconv.Itoa(s.Attempt), Attempt: s.Attempt, Kind: KindWait,
		Wait: &Wait{Until: r.state.Clock.Add(min(d, r.remaining()))},
	})
}

// recovery is the pause after a call was given up for the nth time.
func recovery(n int) time.Duration {
	d := briefBackoff
	for range n - 1 {
		d = min(d*backoffFactor, maxRecovery)
	}
	return d
}
