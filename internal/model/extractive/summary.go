package extractive

import (
	"fmt"
	"strings"

	"liminal/internal/knowledge"
)

// Sentences quoted of a document in a summary, by how many documents there
// are: of one, of two, of more.
var summaryLengths = [...]int{10, 6, 4}

// summary quotes the sentences each document comes back to, under their
// headings and in its order: a part per document.
func (t turn) summary(w *writer) error {
	documents := t.documents()
	if len(t.passages) == 0 {
		if err := w.say(t.say.noSource); err != nil {
			return err
		}
		return t.web(w)
	}
	length := t.manner.summary[min(len(documents), len(summaryLengths))-1]
	if err := w.say(t.say.summary); err != nil {
		return err
	}
	n := &notes{}
	for _, d := range documents {
		if err := t.part(w, n, d, length, len(documents) > 1); err != nil {
			return err
		}
	}
	return t.web(w)
}

// part is one document's part of a summary.
func (t turn) part(w *writer, n *notes, d document, length int, named bool) error {
	if named {
		if err := w.say("\n\n## " + escapeMarkdown(d.title)); err != nil {
			return err
		}
	}
	quotes := knowledge.MatterOf(d.passages).Salient(length)
	if len(quotes) == 0 {
		return w.say("\n\n" + fmt.Sprintf(t.say.unread, escapeMarkdown(d.title)))
	}
	heading, page := "", 0
	for _, q := range quotes {
		if h := lastHeading(q.Heading, d.title); h != "" && h != heading {
			if err := w.say("\n\n**" + escapeMarkdown(h) + "**" + t.onPage(q.Page)); err != nil {
				return err
			}
			heading, page = h, q.Page
		} else if q.Page != page {
			if err := w.say("\n\n*" + capital(fmt.Sprintf("%s %d", t.say.page, q.Page)) + "*"); err != nil {
				return err
			}
			page = q.Page
		}
		if err := w.say("\n\n"); err != nil {
			return err
		}
		if err := t.quote(w, n, q, len(quotes) > 1); err != nil {
			return err
		}
	}
	return nil
}

// escapeMarkdown is a name as it may stand in Markdown: on one line, its marks taken
// literally.
func escapeMarkdown(name string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "<", `\<`, "`", "\\`").Replace(knowledge.Fold(name))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
