package extractive

import (
	"regexp"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// remembered is how many sentences of a conversation are kept.
const remembered = 12

// highlights quotes the sentences a conversation comes back to, each with who
// said it, in their order. Notes of earlier parts are shortened with it, so
// that they do not grow without end.
func (t turn) highlights(w *writer) error {
	var said []passage
	at := 0
	for _, name := range []string{"notes", "conversation"} {
		for line := range strings.Lines(t.material[name]) {
			role, text, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), ": ")
			if text = plainly(text); ok && text != "" {
				said = append(said, passage{Text: text, Source: model.Source{Start: at, End: at + len(text), Heading: role}})
				at += len(text) + 1
			}
		}
	}
	quotes := knowledge.MatterOf(said).Salient(remembered)
	if len(quotes) == 0 {
		return w.say(t.say.nothing)
	}
	for i, q := range quotes {
		line := "- " + q.Heading + ": " + knowledge.Fold(q.Text)
		if i > 0 {
			line = "\n" + line
		}
		if err := w.say(line); err != nil {
			return err
		}
	}
	return nil
}

// marks are the numbers of citations.
var marks = regexp.MustCompile(`\s*\[\d{1,3}\]`)

// plainly is a message of one line without the marks of quotes and headings.
func plainly(text string) string {
	return strings.TrimSpace(strings.NewReplacer("> ", "", "**", "", "###", "", "##", "", "“", "", "”", "").Replace(marks.ReplaceAllString(text, "")))
}
