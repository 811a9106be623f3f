// Package filelock locks a file for one process at a time. The system lets go of it
// when the file is closed, or its process ends, however it ends.
//
// It imports the standard library and golang.org/x/sys.
package filelock

import (
	"errors"
	"os"
)

// ErrTaken says that another process has the lock.
var ErrTaken = errors.New("another process has locked the file")

// Lock waits for the lock of a file that is open for writing.
func Lock(f *os.File) error { return lock(f, true) }

// Try takes the lock, or is ErrTaken.
func Try(f *os.File) error { return lock(f, false) }
