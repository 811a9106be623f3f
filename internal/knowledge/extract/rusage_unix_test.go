//go:build unix

package extract_test

import (
	"runtime"
	"syscall"
)

// childrenMemory is the most memory one of this process's children has had.
func childrenMemory() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
