// Package leaktest fails the tests of a package that leave goroutines behind.
//
// It imports goleak only, and only tests import it.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines that are ending are waited for. On a busy machine
// that is longer than the half second that goleak waits by itself.
const patience = time.Minute

// Main runs a package's tests, and ends the program: with a failure also where
// goroutines are left behind.
func Main(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); {
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines were left behind:", err)
		code = 1
	}
	os.Exit(code)
}
