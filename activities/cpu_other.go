//go:build !unix

package activities

import "time"

var started = time.Now()

// processTime is the clock's: what a slot was held for counts in full.
func processTime() time.Duration { return time.Since(started) }
