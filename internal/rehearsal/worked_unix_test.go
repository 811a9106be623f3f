//go:build unix

package rehearsal_test

import (
	"syscall"
	"time"
)

// worked is the time processors have spent on this process.
func worked() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
