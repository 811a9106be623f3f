package extractive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
)

// compose gathers and composes, as the document assistant does.
func (d *desk) compose(t testing.TB, task, locale, message, source string, need knowledge.Need) (string, []model.Event) {
	t.Helper()
	ctx := context.Background()
	g, err := d.library.Gather(ctx, d.viewer, need)
	must(t, err)
	var content []model.Block
	for _, p := range g.Passages {
		content = append(content, model.Block{Type: model.Passage, Text: p.Text, Source: &p.Source})
	}
	var named []string
	for _, c := range g.Documents {
		line, err := json.Marshal(map[string]string{"id": c.ID, "title": c.Title})
		must(t, err)
		named = append(named, string(line))
	}
	text := model.Frame("documents", strings.Join(named, "\n")) + "\n\n"
	if source != "" {
		text += model.Frame("source_text", source) + "\n\n"
	}
	content = append(content, model.Block{Type: model.Text, Text: text + message})
	var out strings.Builder
	var citations []model.Event
	for e, err := range (extractive.Model{}).Stream(ctx, model.Request{Task: task, Locale: locale, Messages: []model.Message{{Role: model.User, Content: content}}}) {
		must(t, err)
		switch e.Type {
		case model.TextDelta:
			out.WriteString(e.Text)
		case model.Citation:
			citations = append(citations, e)
			d.exact(t, e)
		default:
		}
	}
	marked(t, out.String(), len(citations))
	return out.String(), citations
}

// marked fails unless the numbers 1 to n, and no others, stand in a text.
func marked(t testing.TB, text string, n int) {
	t.Helper()
	for i := 1; i <= n; i++ {
		if !strings.Contains(text, fmt.Sprintf("[%d]", i)) {
			t.Errorf("citation %d is not marked: %s", i, text)
		}
	}
	if strings.Contains(text, fmt.Sprintf("[%d]", n+1)) {
		t.Errorf("a mark without its citation: %s", text)
	}
}

func (d *desk) ids(names ...string) []string {
	var out []string
	for _, n := range names {
		out = append(out, d.titles[n])
	}
	return out
}

// Requirements: LG-24
func TestASummaryQuotesUnderHeadingsInOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	text, citations := d.compose(t, extractive.TaskSummary, "en", "Summarize the library rules", "", knowledge.Need{DocumentIDs: d.ids("library-rules.md")})
	if len(citations) < 4 || !strings.Contains(text, "**Borrowing**") || !strings.Contains(text, "No language model is configured") {
		t.Errorf("%d citations: %s", len(citations), text)
	}
	if !slices.IsSortedFunc(citations, func(a, b model.Event) int { return a.Source.Start - b.Source.Start }) {
		t.Error("not in the order of the document")
	}
}

// Requirements: LG-24
func TestASummaryOfSeveralDocumentsHasAPartForEach(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	text, citations := d.compose(t, extractive.TaskSummary, "de", "Fasse beide zusammen", "", knowledge.Need{DocumentIDs: d.ids("archiv-ordnung.txt", "pool-rules.md")})
	archive, pool := strings.Index(text, "\n## ORDNUNG"), strings.Index(text, "\n## Harbour Pool Rules")
	if strings.Contains(text, "> 1.3") || !strings.Contains(text, "kosten 8 Euro") {
		t.Error("headings are quoted as statements")
	}
	if archive < 0 || pool < archive || !strings.Contains(text, "Es ist kein Sprachmodell eingerichtet") {
		t.Errorf("parts at %d and %d", archive, pool)
	}
	seen := map[string]int{}
	for _, c := range citations {
		seen[c.Source.DocumentID]++
	}
	if len(seen) != 2 {
		t.Errorf("cited %v", seen)
	}
}

// Requirements: LG-24
func TestAComparisonPutsTheSameThemeSideBySide(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	text, _ := d.compose(t, extractive.TaskCompare, "en", "Compare the two", "", knowledge.Need{DocumentIDs: d.ids("library-rules.md", "pool-rules.md")})
	theme := text[max(0, strings.Index(text, "### Complaints")):]
	for _, want := range []string{"ten working days", "five working days", "*Figures side by side:* Town Library Rules: ten working days · Harbour Pool Rules: five working days"} {
		if !strings.Contains(theme, want) {
			t.Errorf("%q is not under the theme: %s", want, theme)
		}
	}
	if !strings.Contains(text, "Headings found only in **Harbour Pool Rules**: Tickets; Safety.") {
		t.Errorf("what only one has is not named: %s", text)
	}
}

// Requirements: LG-24
func TestAComparisonOfOneThingNamesWhoSaysNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	message := "Compare complaints and the sauna in Town Library Rules and Harbour Pool Rules"
	text, citations := d.compose(t, extractive.TaskCompare, "en", message, "", knowledge.Need{DocumentIDs: d.ids("library-rules.md", "pool-rules.md"), Question: message, Ignore: []string{"compare"}})
	if !strings.Contains(text, "### complaints") || !strings.Contains(text, "### sauna\n\n**Town Library Rules**: nothing found on this.") || len(citations) != 3 {
		t.Errorf("%d citations: %s", len(citations), text)
	}
}

// Requirements: LG-24
func TestACheckQuotesForEachSentenceOrSaysThatNothingFits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, fixtures...)
	source := "Dear team,\n\nReaders may borrow 20 books at a time. A late return costs nothing. Parking is free for all employees.\n\nBest regards"
	text, citations := d.compose(t, extractive.TaskCheck, "en", "Check this email", source, knowledge.Need{DocumentIDs: d.ids("library-rules.md")})
	for _, want := range []string{
		"1. “Readers may borrow 20 books at a time.”", "> A reader may borrow up to 12 books at a time.", "the text: 20 · the documents: 12",
		"2. “A late return costs nothing.”", "20 cents per book and day", "3. “Parking is free for all employees.”\n\n   *Nothing in the documents speaks of this.*",
		"something close to 2 of 3 sentences",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it", want)
		}
	}
	if strings.Contains(text, "Dear team") || len(citations) < 2 {
		t.Errorf("%d citations", len(citations))
	}
}

// Requirements: TOOL-08
func TestTheWebIsQuotedWithLinksAndWithoutCitations(t *testing.T) {
	t.Parallel()
	req := user(model.Frame("web_results", `{"title":"Notice [periods]","url":"https://example.org/a(b)","text":"A notice period of one month is usual."}
{"title":"x","url":"javascript:alert(1)","text":"A notice period of nine years is usual."}`)+"\n\nHow long is a usual notice period?", model.Block{
		Type: model.Passage, Text: "The notice period is three months.", Source: &model.Source{DocumentID: "d", Title: "Contract", End: 34, Score: 0.9},
	})
	req.Task = extractive.TaskAnswer
	text, cited := "", 0
	for e, err := range (extractive.Model{}).Stream(t.Context(), req) {
		must(t, err)
		text += e.Text
		if e.Type == model.Citation {
			cited++
		}
	}
	if cited != 1 || !strings.Contains(text, "From the web, unchecked:") || !strings.Contains(text, `[Notice \[periods\]](https://example.org/a%28b%29)`) || strings.Contains(text, "javascript") {
		t.Errorf("%d citations: %s", cited, text)
	}
}
