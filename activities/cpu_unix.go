//go:build unix

package activities

import (
	"syscall"
	"time"
)

// processTime is the processor time this process has used, without the
// processes it began.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
