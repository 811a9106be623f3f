package knowledge_test

import (
	"fmt"
	"strings"
	"testing"

	"liminal/internal/knowledge"
)

// A word of a question that stands nowhere in the documents is read as the one
// that is a slip of the keyboard away, and said to be; a word that is another
// word is not.
//
// Requirements: RAG-16
func TestAMistypedWordIsReadAsTheDocumentsSpellIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	for path, text := range map[string]string{
		"leave.md":     "# Leave\n\nEach employee has 28 days of vacation in a year. Sickness is reported by nine.\n",
		"vertrag.md":   "# Mietvertrag\n\n## Kündigung\n\nDie Kündigungsfrist beträgt drei Monate zum Ende eines Quartals. Die Kaution ist zwei Mieten hoch.\n",
		"machines.md":  "# Machines\n\nThe compressor is serviced every 500 hours. The dishwasher takes tablets only. A horse pulls the cart.\n",
		"delivery.md":  "# Delivery\n\nParcels leave the warehouse on Tuesday. The courier is called Fleming. The desk is available at noon.\n",
		"accounts.csv": "account,owner\n4711,Berger\n",
	} {
		if _, err := b.ingest(t, b.put(t, c, path, text).ID); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]struct{ quote, read string }{
		"How long is the vaccation?":                 {"28 days of vacation", "vaccation vacation"},
		"How many days of vcaation do I have?":       {"28 days of vacation", "vcaation vacation"},
		"Wie lang ist die Kündigungsfirst?":          {"drei Monate", "Kündigungsfirst Kündigungsfrist"},
		"Wie hoch ist die Kauton?":                   {"zwei Mieten", "Kauton Kaution"},
		"How often is the comprressor serviced?":     {"500 hours", "comprressor compressor"},
		"When do parcels leave the warehoues?":       {"Tuesday", ""},                      // their stems are alike, so it is found as it is
		"What does the dihswahser take?":             {"tablets", "dihswahser dishwasher"}, // two slips in a long word
		"How many days of vacation do I have?":       {"28 days of vacation", ""},
		"How many days has each employer?":           {"", ""}, // another word, and one that is known
		"Is the desk unavailable?":                   {"", ""},
		"What does a house cost?":                    {"", ""}, // no horse
		"Which courier carries the Flemmings' vans?": {"", ""},
		"What is the capital of Australia?":          {"", ""},
		"How do I configure MongoDB?":                {"", ""},
		"Who is the owner called Bergger?":           {"", ""}, // a name
	} {
		f, err := b.search(t, b.viewer, knowledge.Question{Text: question})
		if err != nil {
			t.Fatal(err)
		}
		var read []string
		for _, r := range f.ReadAs {
			read = append(read, r.Word+" "+r.As)
			if !strings.Contains(f.Question, r.As) || strings.Contains(f.Question, r.Word) {
				t.Errorf("%s: searched for as %q", question, f.Question)
			}
		}
		if got := fmt.Sprint(strings.Join(read, ", ")); got != want.read {
			t.Errorf("%s: read as %q, want %q", question, got, want.read)
		}
		if want.quote != "" && (len(f.Passages) == 0 || !strings.Contains(f.Passages[0].Text, want.quote) || f.Confidence == knowledge.Low) {
			t.Errorf("%s: %s, %+v", question, f.Confidence, f.Passages)
		}
		if want.read == "" && f.Question != question {
			t.Errorf("%s: searched for as %q", question, f.Question)
		}
	}
}

// Requirements: RAG-18
func TestAMistypedWordIsReadFromNobodyElsesDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine, theirs := b.newContext(t, b.viewer), b.newContext(t, b.viewer)
	for c, text := range map[string]string{mine: "# Mine\n\nThe stove is cleaned daily.\n", theirs: "# Theirs\n\nThe vacation has 28 days.\n"} {
		if _, err := b.ingest(t, b.put(t, c, "a.md", text).ID); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.search(t, b.viewer, knowledge.Question{Text: "How many days has the vaccation?", ContextIDs: []string{mine}})
	if err != nil || len(f.ReadAs) != 0 {
		t.Errorf("read as %v, %v", f.ReadAs, err)
	}
}

// A question whose words are all there is looked for once.
func TestSpellingCostsNothingWhereEveryWordIsThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	if _, err := b.ingest(t, b.put(t, c, "a.md", "# Leave\n\nEach employee has 28 days of vacation in a year.\n").ID); err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]int{"How many days of vacation does an employee have?": 1, "How many days of vaccation does an employee have?": 6} {
		before := b.Searches
		if _, err := b.search(t, b.viewer, knowledge.Question{Text: question}); err != nil {
			t.Fatal(err)
		}
		if n := b.Searches - before; n > want || want == 1 && n != 1 {
			t.Errorf("%s: the index was asked %d times, want at most %d", question, n, want)
		}
	}
}
