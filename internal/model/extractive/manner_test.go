package extractive_test

import (
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/extractive"
)

const lending = `Books may be borrowed for four weeks. They may be renewed twice if nobody has reserved them.

Films may be borrowed for seven days. Films cannot be renewed.

Games may be borrowed for two weeks, and a deposit of ten euros is paid for each game that is borrowed.

Journals may be borrowed over a weekend only. The newest issue of a journal may not be borrowed at all.

These may be borrowed with a letter:

- rare prints
- maps
- records
`

// told is what a person reads who wants answers in some manner, and how many
// citations stand in it.
func told(t *testing.T, task, question, locale string, adapters ...model.Adapter) (string, []model.Event) {
	t.Helper()
	var content []model.Block
	for _, part := range strings.Split(lending, "\n\n") {
		if strings.HasPrefix(part, "These") {
			part += "\n\n- rare prints\n- maps\n- records"
		}
		if strings.HasPrefix(part, "- ") {
			continue
		}
		at := strings.Index(lending, part)
		content = append(content, model.Block{Type: model.Passage, Text: part, Source: &model.Source{
			DocumentID: "d", Title: "Lending", Start: at, End: at + len(part), Score: 0.9,
		}})
	}
	req := model.Request{Task: task, Locale: locale, Adapters: adapters, Messages: []model.Message{
		{Role: model.User, Content: append(content, model.Block{Type: model.Text, Text: question})},
	}}
	var text strings.Builder
	var cited []model.Event
	for e, err := range (extractive.Model{}).Stream(t.Context(), req) {
		must(t, err)
		switch e.Type {
		case model.TextDelta:
			text.WriteString(e.Text)
		case model.Citation:
			cited = append(cited, e)
			if lending[e.Source.Start:e.Source.End] != e.Quote {
				t.Errorf("a quote that does not stand there: %q", e.Quote)
			}
		default:
		}
	}
	return text.String(), cited
}

func wants(kind, value string) model.Adapter {
	return model.Adapter{ID: kind, Weight: 1, Directives: []model.Directive{{Kind: kind, Value: value}}}
}

func TestShortAnswersQuoteLessAndLongOnesMore(t *testing.T) {
	t.Parallel()
	for _, task := range []string{extractive.TaskAnswer, extractive.TaskSummary} {
		question := "What may be borrowed?"
		usual, cited := told(t, task, question, "en")
		short, fewer := told(t, task, question, "en", wants("length", "short"))
		long, more := told(t, task, question, "en", wants("length", "long"))
		if len(fewer) == 0 || 4*len(fewer) > 3*len(cited) || len(more) < len(cited) || len(short) >= len(usual) || len(long) < len(usual) {
			t.Errorf("%s: %d, %d and %d quotes; %d, %d and %d bytes:\n%s", task, len(fewer), len(cited), len(more), len(short), len(usual), len(long), short)
		}
	}
	usual, _ := told(t, extractive.TaskAnswer, "May games be borrowed, and what deposit is paid?", "en")
	if again, _ := told(t, extractive.TaskAnswer, "May games be borrowed, and what deposit is paid?", "en", model.Adapter{ID: "a", Weight: 1, Instructions: "Be brief."}); again != usual {
		t.Error("an adapter without directives changes the answer")
	}
	if again, _ := told(t, extractive.TaskAnswer, "May games be borrowed, and what deposit is paid?", "en", model.Adapter{ID: "a", Directives: []model.Directive{{Kind: "length", Value: "short"}, {Kind: "colour", Value: "red"}}}); again != usual {
		t.Error("an adapter whose gate is closed changes the answer")
	}
}

// A quote that is cut still holds what answers, and stands where it says.
func TestALongQuoteIsCutToWhatAnswers(t *testing.T) {
	t.Parallel()
	text := "The reading room is on the second floor of the building. It has forty desks with lamps. Every desk has a socket. " +
		"The reading room closes at ten in the evening on weekdays. On Sundays it stays closed. Coats are left in the hall. Bags are left there too."
	passage := model.Block{Type: model.Passage, Text: text, Source: &model.Source{
		DocumentID: "d", Title: "Reading room", Heading: "The reading room", Start: 100, End: 100 + len(text), Score: 0.9,
	}}
	question := "When does the reading room close in the evening?"
	for length, most := range map[string]int{"": 7, "short": 3} {
		req := user(question, passage)
		req.Task, req.Adapters = extractive.TaskAnswer, []model.Adapter{wants("length", length)}
		var cited []model.Event
		for e, err := range (extractive.Model{}).Stream(t.Context(), req) {
			must(t, err)
			if e.Type == model.Citation {
				cited = append(cited, e)
			}
		}
		if len(cited) == 0 {
			t.Fatalf("%q: no quote", length)
		}
		q := cited[0]
		if !strings.Contains(q.Quote, "closes at ten in the evening") || text[q.Source.Start-100:q.Source.End-100] != q.Quote || strings.Count(q.Quote, ".") > most || length == "" && strings.Count(q.Quote, ".") < most {
			t.Errorf("%q: %q", length, q.Quote)
		}
	}
}

func TestListsAreMadeOrUndoneWithoutAWordOfAQuote(t *testing.T) {
	t.Parallel()
	usual, cited := told(t, extractive.TaskAnswer, "What may be borrowed?", "en")
	listed, same := told(t, extractive.TaskAnswer, "What may be borrowed?", "en", wants("list", "yes"))
	if n := strings.Count("\n"+listed, "\n- >"); n != len(cited) || len(same) != len(cited) || strings.HasPrefix(usual, "- ") {
		t.Errorf("%d items of %d quotes: %s", n, len(cited), listed)
	}
	question := "What may be borrowed with a letter?"
	usual, _ = told(t, extractive.TaskAnswer, question, "en")
	running, cited := told(t, extractive.TaskAnswer, question, "en", wants("list", "no"))
	if !strings.Contains(usual, "- maps") || strings.Contains(running, "- maps") || !strings.Contains(running, "rare prints · maps · records") || len(cited) == 0 {
		t.Errorf("%s\n\nbefore: %s", running, usual)
	}
	short, _ := told(t, extractive.TaskAnswer, question, "en", wants("length", "short"))
	if !strings.Contains(short, "- maps") || !strings.Contains(short, "- records") {
		t.Errorf("a part of a list passes for all of it: %s", short)
	}
}

func TestItsOwnSentencesAreInTheLanguageAskedFor(t *testing.T) {
	t.Parallel()
	question := "Who invented the telephone?"
	if text, _ := told(t, extractive.TaskAnswer, question, "en", wants("language", "de")); !strings.HasPrefix(text, "Nichts in deinen Dokumenten") || extractive.FormOf(text) != extractive.Nothing {
		t.Errorf("%s", text)
	}
	german := wants("language", "de")
	english := wants("language", "en")
	english.Weight = 0.4
	if text, _ := told(t, extractive.TaskAnswer, question, "en", german, english); !strings.HasPrefix(text, "Nichts in deinen Dokumenten") {
		t.Errorf("the lighter adapter counts: %s", text)
	}
	if text, _ := told(t, extractive.TaskAnswer, question, "de", english); !strings.HasPrefix(text, "Nothing in your documents") {
		t.Errorf("%s", text)
	}
}
