package api

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A reader that leaves, a socket that closes and a run that ends must leave
// no goroutine behind. Those that are ending are waited for: on a busy machine
// they take longer than goleak waits by itself.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for deadline := time.Now().Add(time.Minute); err != nil && time.Now().Before(deadline); {
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines were left behind:", err)
		code = 1
	}
	os.Exit(code)
}
