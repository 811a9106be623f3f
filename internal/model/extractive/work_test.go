package extractive_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/extractive"
)

// Each line of testdata/work/phrasings.txt is a message and what it wants done
// with whole documents; all of them have to be right.
//
// Requirements: LG-08, LG-10
func TestWorkIsToldFromQuestions(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/work/phrasings.txt")
	must(t, err)
	schema := json.RawMessage(`{"type":"object","required":["intent","work","confidence"],"properties":{
		"intent":{"enum":["qa_with_docs","analysis","code_edit","smalltalk","other"]},
		"work":{"enum":["summarize","compare","audit","several","list","answer"]},"confidence":{"type":"number"}}}`)
	seen := map[string]int{}
	for i, line := range strings.Split(string(raw), "\n") {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		want, message, ok := strings.Cut(line, " = ")
		if !ok {
			t.Errorf("phrasings.txt:%d: %q is no line as in: work = message", i+1, line)
			continue
		}
		req := user(strings.ReplaceAll(message, "|", "\n"))
		req.Task, req.Schema = extractive.TaskIntent, schema
		got := structured[struct{ Intent, Work string }](t, req)
		if got.Work != want || got.Intent == "" {
			t.Errorf("phrasings.txt:%d: %q is %+v, want %s", i+1, message, got, want)
		}
		seen[want]++
	}
	if len(seen) != 6 || seen["answer"] < 30 || seen["summarize"]+seen["compare"]+seen["audit"] < 30 {
		t.Errorf("there are %v lines", seen)
	}
}

// What people call a document has other articles in it than its title, and none
// of them makes another document meant.
//
// Requirements: LG-14, LG-15
func TestArticlesAreNoPartOfATitle(t *testing.T) {
	t.Parallel()
	askDocuments(t, "testdata/documents-articles", nil)
}

// Of documents with one name, a word beside it that one title holds tells which.
//
// Requirements: LG-14, LG-15
func TestAWordBesideANameTellsWhichVersion(t *testing.T) {
	t.Parallel()
	askDocuments(t, "testdata/documents-versions", nil)
}

// A row of a table is too short to be like a sentence; that it has the name of
// what the sentence is about is enough.
//
// Requirements: LG-24
func TestACheckFindsTheRowOfATable(t *testing.T) {
	t.Parallel()
	table := "| Article | Price | In stock |\n|---|---|---|\n| Stapler | 12.90 | 40 |\n| Desk lamp Aurora | 45.00 | 7 |\n| Bookcase | 180.00 | 2 |\n"
	source := "Our stapler is offered to every customer of ours for 11 euros including delivery. The desk lamp Aurora costs 45 euros. Curtains are washed twice a year."
	req := user(model.Frame("source_text", source)+"\n\nCheck this", model.Block{
		Type: model.Passage, Text: table, Source: &model.Source{DocumentID: "d", Title: "Price list", End: len(table), Score: 0.6},
	})
	req.Task = extractive.TaskCheck
	text, cited := "", 0
	for e, err := range (extractive.Model{}).Stream(t.Context(), req) {
		must(t, err)
		text += e.Text
		if e.Type == model.Citation {
			cited++
			if row := table[e.Source.Start:e.Source.End]; row != e.Quote {
				t.Errorf("%q does not stand there, but %q", e.Quote, row)
			}
		}
	}
	for _, want := range []string{"| Stapler | 12.90 | 40", "| Desk lamp Aurora | 45.00 | 7", "something close to 2 of 3 sentences"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it: %s", want, text)
		}
	}
	if silent := strings.Count(text, "Nothing in the documents speaks of this."); cited != 2 || silent != 1 {
		t.Errorf("%d citations, %d sentences nothing speaks of: %s", cited, silent, text)
	}
}
