package rehearsal_test

import "time"

var started = time.Now()

// worked is the time since the tests began, times two: who asks halves it.
func worked() time.Duration { return 2 * time.Since(started) }
