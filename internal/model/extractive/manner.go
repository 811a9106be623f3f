package extractive

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/model"
)

// manner is how answers are put: what the directives of a request's adapters
// say of it. It changes how much is quoted and how it is set out, never a word
// of a quote, nor what is said of how sure it is.
type manner struct {
	quotes   int     // of an answer, at most
	nearBest float64 // share of the best quote's rating from which on others are shown too
	brief    bool    // quotes are cut to the sentence that answers
	listed   bool    // several quotes are the items of a list
	running  bool    // items of a list are shown one behind the other
	summary  [len(summaryLengths)]int
	themes   int // of a comparison
	row      int // quotes of one document on one theme
	closest  int // quotes for a sentence that is looked up
	pages    int // of the web
	language string
}

// mannerOf reads directives; of two of a kind that of the heavier adapter
// counts, of equal ones the later.
func mannerOf(adapters []model.Adapter) manner {
	m := manner{
		quotes: maxQuotes, nearBest: nearBest, summary: summaryLengths, themes: maxThemes, row: maxRow, closest: maxClosest, pages: maxPages,
	}
	adapters = slices.Clone(adapters)
	slices.SortStableFunc(adapters, func(a, b model.Adapter) int { return cmp.Compare(a.Weight, b.Weight) })
	values := map[string]string{}
	for _, a := range adapters {
		for _, d := range a.Directives {
			if a.Weight > 0 {
				values[d.Kind] = d.Value
			}
		}
	}
	switch values[model.DirectiveLength] {
	case "short":
		m.quotes, m.brief, m.summary = 1, true, [...]int{3, 2, 1}
		m.themes, m.row, m.closest, m.pages = maxThemes/2, 1, 1, 1
	case "long":
		m.quotes, m.nearBest, m.summary = maxQuotes+2, mayAnswer, [...]int{16, 10, 7}
	}
	m.listed, m.running = values[model.DirectiveList] == "yes", values[model.DirectiveList] == "no"
	m.language = values[model.DirectiveLanguage]
	return m
}

// cut is a quote as long as the person wants it.
func (t turn) cut(q knowledge.Quote) knowledge.Quote {
	if t.manner.brief {
		return knowledge.Brief(t.question, q)
	}
	return q
}

// inList is a part of an answer as an item of a list, where it is one of
// several.
func (t turn) inList(text string, several bool) string {
	if !t.manner.listed || !several {
		return text
	}
	return "- " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n  "), "\n  \n", "\n\n")
}

// bullet is the mark of an item that says nothing: numbers and letters, which
// are referred to, stay.
var bullet = regexp.MustCompile(`^[-*+•◦‣▪–]\s+`)
