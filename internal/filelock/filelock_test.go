package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file is one holder's until that closes it; who waits for it gets it then.
func TestAFileIsLockedForOneAtATime(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		t.Helper()
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second, third := open(), open(), open()
	if err := Lock(first); err != nil {
		t.Fatal(err)
	}
	if err := Try(second); !errors.Is(err, ErrTaken) {
		t.Errorf("taken twice: %v", err)
	}
	if _, err := first.WriteString("1"); err != nil {
		t.Error(err)
	}
	if raw, err := os.ReadFile(name); err != nil || string(raw) != "1" {
		t.Errorf("what stands in it is not read: %q, %v", raw, err)
	}
	got := make(chan error, 1)
	go func() { got <- Lock(third) }()
	_ = first.Close()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if err := Try(second); !errors.Is(err, ErrTaken) {
		t.Errorf("taken from who waited: %v", err)
	}
}
