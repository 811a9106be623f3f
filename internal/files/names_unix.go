//go:build unix

package files

import (
	"io/fs"
	"syscall"
)

// atOnce opens without waiting for anybody at the other end of a pipe.
const atOnce = syscall.O_NONBLOCK

// names is how many names a file has on its file system.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // 16 bits on some systems
	}
	return 1
}
