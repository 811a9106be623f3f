//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Process is the processor time this process has used, user and system, without
// that of processes it began; 0 where the system does not say.
func Process() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
