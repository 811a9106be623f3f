//go:build !unix

package activities

import "time"

var started = time.Now()

// processTime is an upper bound of the processor time this process has used.
func processTime() time.Duration { return time.Since(started) }
