package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

func rowsOf(start int, columns, text string) knowledge.Passage {
	return knowledge.Passage{Source: model.Source{DocumentID: "d", Start: start, End: start + len(text), Columns: columns}, Text: text}
}

func TestTheColumnsOfARowAreNamedByTheLineAboveIt(t *testing.T) {
	t.Parallel()
	const ruled = "| Model | Price 2026 |\n|---|---:|\n| BW-210 | 49 |\n| BW-300 | 51 |"
	for what, c := range map[string]struct {
		p         knowledge.Passage
		row, want string
	}{
		"below a rule":                         {rowsOf(0, "", ruled), "| BW-300 | 51 |", "| Model | Price 2026 |"},
		"of a table below a text":              {rowsOf(9, "| Other |", "All of them:\n\n"+ruled), "| BW-210 | 49 |", "| Model | Price 2026 |"},
		"several of them":                      {rowsOf(0, "", ruled), "| BW-210 | 49 |\n| BW-300 | 51 |", "| Model | Price 2026 |"},
		"with the line itself":                 {rowsOf(0, "", ruled), ruled, ""},
		"without a rule":                       {rowsOf(0, "", "| Model | Price |\n| BW-210 | 49 |"), "| BW-210 | 49 |", "| Model | Price |"},
		"with a figure in a name":              {rowsOf(0, "", "| Family | Usage m3 |\n| Nguyen | 97 |"), "| Nguyen | 97 |", "| Family | Usage m3 |"},
		"below a year and a word":              {rowsOf(0, "", "| Family | 2025 |\n| Nguyen | 97 |"), "| Nguyen | 97 |", ""},
		"below values":                         {rowsOf(0, "", "| BW-200 | 48 |\n| BW-210 | 49 |"), "| BW-210 | 49 |", ""},
		"named before the passage":             {rowsOf(90, "| Model | Price |", "| Graz | yes |\n| Linz | no |"), "| Linz | no |", "| Model | Price |"},
		"the first, named before the passage":  {rowsOf(90, "| Model | Price |", "| Graz | yes |\n| Linz | no |"), "| Graz | yes |", "| Model | Price |"},
		"named somewhere before the passage":   {rowsOf(90, "", "| Graz | yes |\n| Linz | no |"), "| Linz | no |", ""},
		"that the passage begins with":         {rowsOf(90, "| City | Open |", "| City | Open |\n| Linz | no |"), "| Linz | no |", "| City | Open |"},
		"of another table than it begins with": {rowsOf(90, "| Model | Price |", "| Graz | yes |\n\n| City | Open |\n| Linz | no |"), "| Linz | no |", "| City | Open |"},
		"a part of it":                         {rowsOf(0, "", ruled), "| BW-300", ""},
		"no row":                               {rowsOf(0, "", "| Model | Price |\n| BW-210 | 49 |\n\nAll prices are net."), "All prices are net.", ""},
	} {
		at := strings.Index(c.p.Text, c.row)
		if got := c.p.ColumnsOf(at, at+len(c.row)); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	if got := knowledge.Cells(`| a \| b |  | c |`); !slices.Equal(got, []string{`a \| b`, "", "c"}) {
		t.Errorf("cells %q", got)
	}
}

func TestAQuoteOfARowKnowsItsColumns(t *testing.T) {
	t.Parallel()
	p := rowsOf(0, "", "# Stock\n\n| Model | Graz | Linz |\n|---|---|---|\n| BW-210 | 7 | 8 |\n| BW-300 | 51 | 22 |")
	for question, want := range map[string]string{"How many BW-300 are there?": "| BW-300 | 51 | 22 |", "Graz and Linz?": "| Model | Graz | Linz |\n|---|---|---|\n| BW-210 | 7 | 8 |\n| BW-300 | 51 | 22 |"} {
		quotes := knowledge.Quotes(question, []knowledge.Passage{p}, 1)
		if len(quotes) != 1 || quotes[0].Text != want || p.Text[quotes[0].Start:quotes[0].End] != want {
			t.Fatalf("%s: quoted %+v", question, quotes)
		}
		names, rows, ok := quotes[0].Table() // without its rule
		if !ok || strings.Join(names, ",") != "Model,Graz,Linz" || len(rows) > 2 || strings.Join(rows[len(rows)-1], ",") != "BW-300,51,22" {
			t.Errorf("%s: %v under %v", question, rows, names)
		}
	}
}

// A table is longer than a passage, and only its first one has the names.
//
// Requirements: RAG-13
func TestAPassageInTheMidstOfATableKnowsItsColumns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.newContext(t, b.viewer)
	markdown, csv := "# Prices\n\n| Model | Price | Delivered within |\n|---|---|---|\n", "Model,Price,Delivered within\n"
	for i := range 300 {
		markdown += fmt.Sprintf("| BW-%d | %d euros | %d days of work |\n", 1000+i, i, i%7)
		csv += fmt.Sprintf("CW-%d,%d euros,%d days of work\n", 1000+i, i, i%7)
	}
	for path, text := range map[string]string{"prices.md": markdown, "prices.csv": csv} {
		if _, err := b.ingest(t, b.put(t, c, path, text).ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, model := range []string{"BW-1217", "CW-1217", "BW-1000", "CW-1299"} {
		found, err := b.Library.Search(t.Context(), b.viewer, knowledge.Question{Text: "What is the price of " + model + "?", ContextIDs: []string{c}})
		if err != nil {
			t.Fatal(err)
		}
		quotes := knowledge.Quotes("What is the price of "+model+"?", found.Passages, 1)
		if len(quotes) != 1 || !strings.HasPrefix(quotes[0].Text, "| "+model) || quotes[0].Columns != "| Model | Price | Delivered within |" {
			t.Errorf("%s: quoted %+v", model, quotes)
			continue
		}
		x, err := b.Text(t.Context(), b.viewer, quotes[0].DocumentID)
		if err != nil || x.Text[quotes[0].Start:quotes[0].End] != quotes[0].Text {
			t.Errorf("%s does not stand where it says: %v", model, err)
		}
	}
}

// The row is taken that holds what is asked for in the column it is asked of, and
// those that have nothing where nothing is asked for. Requirements: RAG-13
func TestTheRowIsTakenThatHoldsTheValueInTheColumn(t *testing.T) {
	t.Parallel()
	rota := "| Name | Montag | Dienstag | Mittwoch |\n| Aylin | Früh | Nacht | frei |\n| Tobias | Nacht | Spät | Spät |\n| Rosa | frei | Früh | Nacht |\n"
	food := "| dish | gluten | milk | price |\n| Carrot cake | yes | yes | 4.20 |\n| Lentil soup | no | no | 6.80 |\n| Pancake | no | yes | 7.50 |\n"
	courses := "| Kurs | Plätze | Gebühr |\n| Töpfern | keine | 40 |\n| Segeln | 3 | 120 |\n"
	for _, c := range []struct{ question, text, first string }{
		{"Welcher Kurs hat keine Plätze?", courses, "Töpfern"},
		{"Wer hat am Mittwoch Nachtdienst?", rota, "Rosa"},
		{"Wer hat am Dienstag Nachtdienst?", rota, "Aylin"},
		{"Was arbeitet Tobias am Mittwoch?", rota, "Tobias"},
		{"Which dishes have no gluten and no milk?", food, "Lentil soup"},
		{"What is the price of the pancake?", food, "Pancake"},
	} {
		p := knowledge.Passage{Source: model.Source{DocumentID: "d", End: len(c.text)}, Text: c.text}
		quotes := knowledge.Quotes(c.question, []knowledge.Passage{p}, 1)
		if len(quotes) == 0 || !strings.Contains(quotes[0].Text, c.first) || strings.Contains(strings.TrimSpace(quotes[0].Text), "\n") {
			t.Errorf("%s: %+v, want the row of %s", c.question, quotes, c.first)
		}
	}
}

// "noch" is "still", and "nor" only after "weder".
func TestNochDoesNotAskForWhatHasNone(t *testing.T) {
	t.Parallel()
	courses := "| Kurs | Plätze | Termine |\n| Töpfern | keine | keine |\n| Segeln | 3 | 2 |\n"
	for question, full := range map[string]bool{"Welcher Kurs hat noch Plätze?": false, "Welcher Kurs hat weder Termine noch Plätze?": true} {
		p := knowledge.Passage{Source: model.Source{DocumentID: "d", End: len(courses)}, Text: courses}
		quotes := knowledge.Quotes(question, []knowledge.Passage{p}, 1)
		if len(quotes) == 0 {
			t.Fatalf("%s: no quote", question)
		}
		if got := quotes[0].Text; full != (strings.Contains(got, "Töpfern") && !strings.Contains(got, "Segeln")) {
			t.Errorf("%s: %q", question, got)
		}
	}
}
