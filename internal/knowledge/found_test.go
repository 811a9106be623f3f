package knowledge_test

import (
	"strings"
	"testing"

	"liminal/internal/knowledge"
)

// memoryModel is a text that defines a term of words that say little each.
const memoryModel = `# The memory model

A program that changes data which several goroutines use at once must order such changes.

## Order

The happens before relation is the transitive closure of the union of the two relations above. What happens before a read is seen by it.

## Advice

Use channels or locks. Do not be clever. Everything else may go wrong in a way that nobody sees for years.
`

// Requirements: RAG-16
func TestAQuestionIsVagueOnlyWhenNothingWasFoundOfIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	for path, text := range map[string]string{
		"model.md":   memoryModel,
		"garden.md":  "# The garden\n\nThe gate is open from eight to six. Dogs stay on the path. Nothing grows in winter.\n",
		"kitchen.md": "# The kitchen\n\nThe stove is cleaned by whoever used it last. Pots are dried at once. The window stays shut at night.\n",
	} {
		if _, err := b.ingest(t, b.put(t, c, path, text).ID); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]string{
		"What does 'happens before' mean in Go?": "happens before relation",
		"What is “happens before”?":              "happens before relation",
		"What does happens before mean?":         "happens before relation",
		"What is it?":                            "",
		"How does it work?":                      "",
		"What does 'good way' mean?":             "", // no text has it
		"Wie funktioniert das?":                  "",
		"What does it mean, and what is new?":    "",
	} {
		f, err := b.search(t, b.viewer, knowledge.Question{Text: question})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if f.Clarity != knowledge.Vague || len(f.Passages) != 0 {
				t.Errorf("%s: %s, %d passages", question, f.Clarity, len(f.Passages))
			}
			continue
		}
		if f.Clarity != knowledge.Clear || len(f.Passages) == 0 || !strings.Contains(f.Passages[0].Text, want) || f.Confidence == knowledge.Low {
			t.Errorf("%s: %s, %s, %+v", question, f.Clarity, f.Confidence, f.Passages)
		}
	}
}

// Requirements: RAG-16
func TestNoQuestionIsVagueWhereThereIsNothingToFind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ask := func(of ...string) knowledge.Found {
		f, err := b.search(t, b.viewer, knowledge.Question{Text: "What is it?", ContextIDs: of})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := ask(); f.Clarity != knowledge.Nothing {
		t.Errorf("without a context: %s", f.Clarity)
	}
	c, empty := b.newContext(t, b.viewer), b.newContext(t, b.viewer)
	if f := ask(empty); f.Clarity != knowledge.Nothing || len(f.Unread) != 0 {
		t.Errorf("in an empty context: %s, unread %v", f.Clarity, f.Unread)
	}
	one := b.put(t, c, "a.md", "# The gate\n\nThe gate is open from eight to six.\n")
	one.Status = knowledge.Waiting
	if err := b.SetDocument(t.Context(), b.viewer, one); err != nil {
		t.Fatal(err)
	}
	if f := ask(c); f.Clarity != knowledge.Nothing || len(f.Unread) != 1 || !f.Unread[0].Coming() {
		t.Errorf("while the only document is read: %s, unread %v", f.Clarity, f.Unread)
	}
	if _, err := b.ingest(t, one.ID); err != nil {
		t.Fatal(err)
	}
	if f := ask(c); f.Clarity != knowledge.Vague {
		t.Errorf("once it is read: %s", f.Clarity)
	}
	if f := ask(empty, c); f.Clarity != knowledge.Vague {
		t.Errorf("with an empty context beside it: %s", f.Clarity)
	}
}

// Requirements: RAG-16
func TestAWordThatIsNoneDoesNotHideWhatIsThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	for path, text := range map[string]string{
		"shop.md": "# The shop\n\nA bicycle costs 499 euros. A helmet costs 40 euros. Repairs of a bicycle take two days.\n",
		"rest.md": "# The archive\n\nOrdered files are kept ready for two weeks in the reading room. Copies cost ten cents.\n",
	} {
		if _, err := b.ingest(t, b.put(t, c, path, text).ID); err != nil {
			t.Fatal(err)
		}
	}
	for question, found := range map[string]bool{
		"What does a bicycle cost?":           true,
		"xx1 What does a bicycle cost?":       true,
		"qwe, What does a bicycle cost?":      true,
		"What does a bicycle cost? q7z":       true,
		"waht does teh bicycle cost?":         false, // two: nobody knows what is asked
		"teh bicycle costs what?":             true,
		"BW-210 What does a bicycle cost?":    false, // the name of something that is not there
		"Australia What does a bicycle cost?": false,
		"What does a bicycle cost in Norway?": false,
		"xx1 What does it cost?":              false, // nothing is left to look for
	} {
		f, err := b.search(t, b.viewer, knowledge.Question{Text: question})
		if err != nil {
			t.Fatal(err)
		}
		clear := f.Clarity == knowledge.Clear && strings.Contains(f.Passages[0].Text, "499 euros")
		if found && !clear || !found && f.Confidence == knowledge.High {
			t.Errorf("%s: %s, %s, %.2f", question, f.Clarity, f.Confidence, f.AverageSimilarity)
		}
	}
}
