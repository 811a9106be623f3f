package storetest

import (
	"os"
	"testing"
)

// Lane returns the value of an environment variable that names a real server
// for tests: LANE_POSTGRES, LANE_REDIS or LANE_TEMPORAL. `make test` starts
// them (scripts/lane.sh) and sets LANE_REQUIRED, under which a test that lacks
// its server fails; without it the test is skipped and says so.
func Lane(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	switch {
	case value != "":
	case os.Getenv("LANE_REQUIRED") != "":
		t.Fatalf("%s is not set: this test needs the servers of scripts/lane.sh", name)
	default:
		t.Skipf("SKIPPED, NOT PASSED: %s is not set; run scripts/lane.sh run -- go test …", name)
	}
	return value
}
