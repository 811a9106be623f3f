//go:build unix

package files

import (
	"io/fs"
	"syscall"
)

// names is how many names a file has on its file system.
func names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // 16 bits on some systems
	}
	return 1
}
