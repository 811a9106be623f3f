package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// beyond is where the locked byte lies: nobody may read what is locked, and what a file
// says stands before it.
const beyond = 1 << 30

func lock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: beyond})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrTaken
	}
	return err
}
