//go:build unix && !linux

package cell

import "syscall"

// confine bounds this process as far as these systems do.
func confine(int64) error {
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
