package webhook

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// pauses are those after a first attempt, a second one and so on. An attempt after
// the last pause is the last, a bit more than a day after the first.
var pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour,
}

// jitter is the part of a pause that chance adds: what failed together is not sent
// together again.
const jitter = 0.2

// maxAsked bounds how long a receiver may ask us to wait.
const maxAsked = 10 * time.Hour

// pause is how long to wait after so many attempts; ok is false when they were all.
// asked is what the receiver wants at least.
func pause(attempts int, asked time.Duration) (wait time.Duration, ok bool) {
	if attempts < 1 || attempts > len(pauses) {
		return 0, false
	}
	wait = pauses[attempts-1]
	wait += time.Duration(rand.Float64() * jitter * float64(wait)) //nolint:gosec // nobody guesses anything by it
	return max(wait, min(asked, maxAsked)), true
}

// askedToWait is the Retry-After of who is busy, in seconds; dates are not read.
func askedToWait(code int, h http.Header) time.Duration {
	if code != http.StatusTooManyRequests && code != http.StatusServiceUnavailable {
		return 0
	}
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 20)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
