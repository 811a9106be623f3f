package knowledge_test

import (
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// A question in one language finds the sentence in the other that answers it, and
// holds the half of what is asked that makes a quote an answer; one about something
// else does not. Requirements: RAG-13
func TestAQuestionIsAnsweredFromTheOtherLanguage(t *testing.T) {
	t.Parallel()
	german := "Diese Ordnung gilt für alle Mieter. Die Kaution beträgt drei Monatsmieten und wird auf ein Konto gelegt. " +
		"Zur Masterarbeit wird zugelassen, wer mindestens 75 Leistungspunkte erworben hat. Haustiere sind im Innenhof verboten."
	english := "This manual is for whoever runs the boiler. Grease the bearings of the fan every 400 hours. " +
		"After greasing, the noise of the fan may rise for two hours. The filter is cleaned by the tenant."
	for _, c := range []struct {
		question, text, want string
		holds                bool
	}{
		{"How much is the deposit?", german, "Kaution", true},
		{"How many credit points do I need to start the master's thesis?", german, "75", true},
		{"Are pets allowed in the courtyard?", german, "Haustiere", true},
		{"Wie oft müssen die Lager geschmiert werden?", english, "every 400 hours", true},
		{"Wer reinigt den Filter?", english, "tenant", true},
		{"How do I bake bread without yeast?", german, "", false},
		{"Wann fährt die Fähre nach Island?", english, "", false},
	} {
		p := knowledge.Passage{Source: model.Source{DocumentID: "d", End: len(c.text)}, Text: c.text}
		quotes := knowledge.Quotes(c.question, []knowledge.Passage{p}, 1)
		if held := len(quotes) > 0 && quotes[0].Held >= 0.5; held != c.holds {
			t.Errorf("%s: %+v", c.question, quotes)
		} else if held && !strings.Contains(quotes[0].Text, c.want) {
			t.Errorf("%s: %q, want %q in it", c.question, quotes[0].Text, c.want)
		}
	}
}
