package api

import (
	"testing"

	"go.uber.org/goleak"
)

// A reader that leaves, a socket that closes and a run that ends must leave
// no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
