package artifacts_test

import (
	"testing"

	"liminal/artifacts"
)

// However it is written that nothing is kept, it is read.
//
// Requirements: GRND-47 (the server keeps no transcript)
func TestADocumentThatKeepsNothingIsKnownHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]bool{
		`{"surface":{"keeps":"nothing"}}`:                true,
		`{"surface":{"keeps":"\u006eothing"}}`:           true,
		`{"surf\u0061ce":{"k\u0065eps":"\u006Eothing"}}`: true,
		`{"surface":{"keeps":"all"}}`:                    false,
		`{"surface":{}, "description":"keeps nothing"}`:  false,
		`{}`: false,
		``:   false,
	} {
		if got := artifacts.Unkept([]byte(doc)); got != want {
			t.Errorf("%s: %t", doc, got)
		}
	}
}
