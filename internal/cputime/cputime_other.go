//go:build !unix

package cputime

import "time"

var started = time.Now()

// Process is the time since the process began: an upper bound for one processor.
func Process() time.Duration { return time.Since(started) }
