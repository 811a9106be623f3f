package palace

import (
	"fmt"
	"testing"

	"liminal/internal/capture"
)

// An event was there when the piece had come that its last byte is in.
//
// Requirements: PAL-03 (of each block)
func TestEventsHaveTheTimesAtWhichTheyCame(t *testing.T) {
	t.Parallel()
	one, comment, two := "event: a\ndata: 1\n\n", ": a comment\n\n", "data: 2\r\ndata: 3\r\n\r\n"
	part := one + comment + two + "data: cu"
	at := func(n int) int64 { return int64(100 + n) } // the part begins at byte 100
	for name, c := range map[string]struct {
		marks []capture.Mark
		want  string
	}{
		"piece by piece":         {[]capture.Mark{{End: 100, After: 1}, {End: at(len(one)), After: 20}, {End: at(len(part)), After: 30}}, "[{a 1 20} { 23 30}]"},
		"an event in two pieces": {[]capture.Mark{{End: at(5), After: 1}, {End: at(len(one) + 4), After: 20}, {End: at(len(part)), After: 30}}, "[{a 1 20} { 23 30}]"},
		"all at once":            {[]capture.Mark{{End: at(1000), After: 7}}, "[{a 1 7} { 23 7}]"},
		"the rest is not noted":  {[]capture.Mark{{End: at(len(one)), After: 7}}, "[{a 1 7} { 23 -1}]"},
		"nothing is noted":       {nil, "[{a 1 -1} { 23 -1}]"},
	} {
		if got := fmt.Sprint(Frames([]byte(part), 100, c.marks)); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}
