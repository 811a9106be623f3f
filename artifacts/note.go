package artifacts

import (
	"regexp"

	"liminal/internal/fault"
)

// What the program itself writes as the note of a version.
const (
	NoteBack    = "back to version %d"     // its document is that of an earlier one
	NoteBackFor = "back to version %d: %s" // with why
	NotePatch   = "patch %d: %s"           // a proposal made it, with what that says of itself
)

var notes = []struct {
	format string
	reads  *regexp.Regexp
}{
	{NoteBack, regexp.MustCompile(`^back to version (\d+)$`)},
	{NoteBackFor, regexp.MustCompile(`(?s)^back to version (\d+): (.+)$`)},
	{NotePatch, regexp.MustCompile(`(?s)^patch (\d+): (.+)$`)},
}

// NoteSaid is a version's note taken apart; nil where a person wrote it. Only its
// text is stored, and it is read back here, beside the forms it is written in.
func NoteSaid(note string) *fault.Sentence {
	for _, n := range notes {
		if m := n.reads.FindStringSubmatch(note); m != nil {
			said := fault.Say(n.format, 0, "")
			said.Values = m[1:]
			return said
		}
	}
	return nil
}
