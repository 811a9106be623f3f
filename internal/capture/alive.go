package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"liminal/internal/filelock"
)

// A writer holds the lock on a file of its own for as long as it lives, however it
// ends: who reads a spool knows by it that nothing more comes.
const aliveSuffix = ".writer"

func aliveFile(dir, writer string) string { return filepath.Join(dir, writer+aliveSuffix) }

// live makes a writer alive, until end is called.
func live(dir, writer string) (end func(), err error) {
	name := aliveFile(dir, writer)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		if err = filelock.Try(f); err != nil {
			err = errors.Join(err, f.Close(), os.Remove(name))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the lock of a spool's writer cannot be made: %w", err)
	}
	return sync.OnceFunc(func() { _ = errors.Join(os.Remove(name), f.Close()) }), nil
}

// lives reports whether a writer may still write. The file of one that was killed
// is removed.
func lives(dir, writer string) bool {
	if writer == "" { // of a version that did not say
		return false
	}
	name := aliveFile(dir, writer)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if filelock.Try(f) != nil {
		return true
	}
	_ = os.Remove(name) // else it is looked at again
	return false
}
