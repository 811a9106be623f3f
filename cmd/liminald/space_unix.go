//go:build unix

package main

import "syscall"

// freeSpace is how much a folder may grow, in bytes.
func freeSpace(dir string) (uint64, error) {
	var fs syscall.Statfs_t
	err := syscall.Statfs(dir, &fs)
	return fs.Bavail * uint64(fs.Bsize), err //nolint:gosec,unconvert // a block size is positive, and of another type elsewhere
}
