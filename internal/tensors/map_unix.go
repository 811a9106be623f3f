//go:build unix

package tensors

import (
	"os"
	"syscall"
)

// mapFile maps a file for reading: a write to its numbers ends the process.
func mapFile(f *os.File, size int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED) //nolint:gosec // descriptors are small
}

func unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return syscall.Munmap(b)
}
