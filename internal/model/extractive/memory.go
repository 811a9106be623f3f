package extractive

import (
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// remembered is how many sentences of a conversation are kept.
const remembered = 8

// highlights quotes the sentences a conversation comes back to, each with who
// said it. What came with the request as the summary so far is kept as it is.
func (t turn) highlights(w *writer) error {
	var passages []passage
	for line := range strings.Lines(t.material["conversation"]) {
		role, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && strings.TrimSpace(text) != "" {
			passages = append(passages, passage{Text: text, Source: model.Source{DocumentID: role, Heading: role, Start: len(passages)}})
		}
	}
	if earlier := strings.TrimSpace(t.material["summary"]); earlier != "" {
		if err := w.say(earlier + "\n"); err != nil {
			return err
		}
	} else if err := w.say(t.say.highlights + "\n"); err != nil {
		return err
	}
	for _, q := range knowledge.MatterOf(passages).Salient(remembered) {
		if err := w.say("- " + q.Heading + ": " + knowledge.Fold(q.Text) + "\n"); err != nil {
			return err
		}
	}
	return nil
}
