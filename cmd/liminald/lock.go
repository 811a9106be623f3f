package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"liminal/internal/filelock"
)

// lock makes this process the only one on a data folder. The kernel lets go of
// it when the process ends, however it ends.
type lock struct{ file *os.File }

// lockData makes the folder and takes its lock, or says who has it.
func lockData(dir string) (*lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the data folder %s cannot be made: %w", dir, withoutPath(err))
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data folder %s cannot be written to: %w", dir, withoutPath(err))
	}
	if err := filelock.Try(f); err != nil {
		holder := holderOf(f)
		_ = f.Close() // only read
		if errors.Is(err, filelock.ErrTaken) {
			return nil, fmt.Errorf("another liminald%s is using the data in %s; stop it, or choose another folder with --data", holder, dir)
		}
		return nil, fmt.Errorf("the data folder %s cannot be locked: %w", dir, err)
	}
	l := &lock{f}
	if err := l.sign(); err != nil {
		return nil, errors.Join(fmt.Errorf("the data folder %s cannot be written to: %w", dir, withoutPath(err)), l.release())
	}
	return l, nil
}

// sign writes our process id for the sentence a second process will print.
func (l *lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func (l *lock) release() error { return l.file.Close() }

func holderOf(f *os.File) string {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0) // an unreadable id only makes the sentence shorter
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n]))); err == nil {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

// withoutPath strips the path from an error whose sentence names it already.
func withoutPath(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}
