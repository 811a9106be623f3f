package extractive

import (
	"slices"
	"strings"
	"unicode"

	"liminal/internal/knowledge"
	"liminal/internal/words"
)

// rowsOn are the rows of tables about what a sentence names: those whose first
// cell with a word in it stands in the sentence. A row has few words, so that it
// is never like a sentence as another sentence may be; its name is what says that
// both speak of the same.
func (t turn) rowsOn(claim string) []knowledge.Quote {
	said, most := tokensOf(claim), 0
	var out []knowledge.Quote
	seen := map[string]bool{}
	for _, p := range t.passages {
		rows := rowsOf(p)
		for _, row := range rows {
			named := nameIn(row.Text, said)
			if named == 0 || named < most || seen[row.DocumentID+row.Text] || namesColumns(row, rows) {
				continue
			}
			seen[row.DocumentID+row.Text] = true
			if named > most {
				most, out = named, nil
			}
			out = append(out, knowledge.Quote{Passage: row, Rating: knowledge.Near})
		}
	}
	return out[:min(len(out), maxClosest)]
}

// rowsOf are the rows of a passage's tables, each with the names of its columns.
func rowsOf(p passage) []passage {
	var out []passage
	for _, s := range words.Sentences(p.Text) {
		if s.Form != words.Row {
			continue
		}
		row := passage{Source: p.Part(s.Start, s.End), Text: p.Text[s.Start:s.End]}
		row.Columns = p.ColumnsOf(s.Start, s.End)
		out = append(out, row)
	}
	return out
}

// namesColumns reports whether a row is the one that names the columns of others.
func namesColumns(row passage, rows []passage) bool {
	text := strings.TrimSpace(row.Text)
	return slices.ContainsFunc(rows, func(o passage) bool { return o.Columns != "" && strings.TrimSpace(o.Columns) == text })
}

// nameIn is how many words a row's name has, all of which are said; 0 where one
// is not.
func nameIn(row string, said []token) int {
	for _, cell := range knowledge.Cells(row) {
		if strings.IndexFunc(cell, unicode.IsLetter) < 0 {
			continue // a number names nothing
		}
		n := 0
		for _, w := range tokensOf(cell) {
			if w.idle() {
				continue
			}
			if !slices.ContainsFunc(said, w.is) {
				return 0
			}
			n++
		}
		return n
	}
	return 0
}
