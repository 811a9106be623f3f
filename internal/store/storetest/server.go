package storetest

import (
	"os"
	"testing"
)

// Server returns the value of an environment variable that names a real server
// for tests: LANE_POSTGRES, LANE_REDIS or LANE_TEMPORAL. `make test` starts
// them (scripts/lane.sh) and sets LANE_REQUIRED; under it, and under CI=true, a
// test that lacks its server fails. Elsewhere it is skipped and says so.
func Server(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	switch {
	case value != "":
	case Required():
		t.Fatalf("%s is not set: this test needs the servers of scripts/lane.sh", name)
	default:
		t.Skipf("SKIPPED, NOT PASSED: %s is not set; run scripts/lane.sh run -- go test …", name)
	}
	return value
}

// Required reports whether a test that cannot run here must fail.
func Required() bool { return os.Getenv("LANE_REQUIRED") != "" || os.Getenv("CI") == "true" }

// Long leaves out a test that takes long where -short asks for it, and nowhere
// that a skip must not pass for a success.
func Long(t testing.TB, why string) {
	t.Helper()
	switch {
	case !testing.Short():
	case Required():
		t.Fatalf("-short leaves out a test that is required here: %s", why)
	default:
		t.Skipf("SKIPPED, NOT PASSED: -short: %s", why)
	}
}
