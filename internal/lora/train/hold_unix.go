//go:build unix

package train

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"liminal/internal/fault"
)

// hold makes this process the only one on this machine that has the file name in
// dir, until it ends, however it does.
func hold(dir, name string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a file's number is small
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fault.Wrap(fault.Conflict, err, "The job in %s is being trained by another process.", dir)
		}
		return func() {}, nil // a file system without locks: the fence holds without them
	}
	return func() { _ = f.Close() }, nil // which lets go
}
