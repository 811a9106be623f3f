package artifacts_test

import (
	"fmt"
	"slices"
	"testing"

	"liminal/artifacts"
)

// The program's own notes are taken apart, and a person's are left alone.
//
// Requirements: GRND-37 (errors)
func TestANoteOfTheProgramIsTakenApart(t *testing.T) {
	t.Parallel()
	for note, want := range map[string][]string{
		fmt.Sprintf(artifacts.NoteBack, 3):                         {"back to version {1}", "3"},
		fmt.Sprintf(artifacts.NoteBackFor, 1, "People\nasked."):    {"back to version {1}: {2}", "1", "People\nasked."},
		fmt.Sprintf(artifacts.NotePatch, 12, "Was du gesagt hast"): {"patch {1}: {2}", "12", "Was du gesagt hast"},
		"back to version one":                                      nil,
		"warmer":                                                   nil,
	} {
		said := artifacts.NoteSaid(note)
		if said == nil {
			if want != nil {
				t.Errorf("%q is not taken apart", note)
			}
			continue
		}
		if got := append([]string{said.Text}, said.Values...); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", note, got, want)
		}
	}
}
