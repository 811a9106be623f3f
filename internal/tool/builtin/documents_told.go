package builtin

import (
	"fmt"
	"strings"

	"liminal/internal/knowledge"
)

// mostTold is how many documents are told by name; the rest are counted.
const mostTold = 50

// telling is how a list of documents is told in one language.
type telling struct {
	none, one, many, more   string
	waiting, reading, other string
	failed                  string
}

var (
	tellingEnglish = telling{
		none: "You have no documents yet. Drop files or a folder anywhere in this window, or choose them with the paper clip; once they are read, ask what stands in them.",
		one:  "You have one document:", many: "You have %d documents, the latest first:", more: "%d more stand under Contexts.",
		waiting: "not read yet", reading: "being read", failed: "could not be read: %s", other: "passed over: %s",
	}
	tellingGerman = telling{
		none: "Du hast noch keine Dokumente. Leg Dateien oder einen Ordner irgendwo in diesem Fenster ab, oder wähle sie mit der Büroklammer; sobald sie gelesen sind, frag nach dem, was darin steht.",
		one:  "Du hast ein Dokument:", many: "Du hast %d Dokumente, das neueste zuerst:", more: "%d weitere stehen unter Kontexte.",
		waiting: "noch nicht gelesen", reading: "wird gerade gelesen", failed: "ließ sich nicht lesen: %s", other: "übergangen: %s",
	}
)

// documentsThereAre is what a person hears who asks which documents there are.
func documentsThereAre(found []knowledge.Titled, german bool) string {
	say := tellingEnglish
	if german {
		say = tellingGerman
	}
	switch len(found) {
	case 0:
		return say.none
	case 1:
		return say.one + "\n\n" + say.line(found[0], found)
	}
	lines := []string{fmt.Sprintf(say.many, len(found)), ""}
	for _, d := range found[:min(len(found), mostTold)] {
		lines = append(lines, say.line(d, found))
	}
	if rest := len(found) - mostTold; rest > 0 {
		lines = append(lines, "", fmt.Sprintf(say.more, rest))
	}
	return strings.Join(lines, "\n")
}

// line is one document with its file, where that is called otherwise, and with
// why it is not searched, where it is not.
func (say telling) line(d knowledge.Titled, among []knowledge.Titled) string {
	line := bullets([]knowledge.Titled{{ID: d.ID, Title: label(d, among)}})
	if file, ok := calledData(d)["file"].(string); ok {
		line += " · `" + strings.ReplaceAll(file, "`", "'") + "`"
	}
	switch d.Status {
	case knowledge.Waiting:
		return line + " · " + say.waiting
	case knowledge.Reading:
		return line + " · " + say.reading
	case knowledge.Failed:
		return line + " · " + fmt.Sprintf(say.failed, inMarkdown.Replace(d.Error))
	case knowledge.Skipped:
		return line + " · " + fmt.Sprintf(say.other, inMarkdown.Replace(d.Error))
	case knowledge.Ready:
	}
	return line
}
