package api

import (
	"testing"

	"liminal/internal/leaktest"
)

// A reader that leaves, a socket that closes and a run that ends must leave
// no goroutine behind.
func TestMain(m *testing.M) { leaktest.Main(m) }
