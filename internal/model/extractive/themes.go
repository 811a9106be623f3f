package extractive

import (
	"cmp"
	"slices"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/words"
)

// Between what a person wants compared.
var between = pattern("between")

// instruct are words that say what to do with documents, not what to look for.
var instruct = pattern("instruct")

// askedThemes are the themes the question names.
func (t turn) askedThemes(documents []document) []theme {
	question := unnamed(t.question, documents)
	for word := range strings.Lines(t.material["ignore"]) {
		question = knowledge.Without(question, word)
	}
	var out []theme
	for _, part := range between.Split(strings.Trim(question, " ?!."), -1) {
		name := strings.Trim(knowledge.Fold(instruct.ReplaceAllString(part, " ")), " .?!:")
		if !names(name) || ofTitles(name, documents) || len(out) == maxThemes {
			continue
		}
		th := theme{name: content(name)}
		for _, d := range documents {
			th.rows = append(th.rows, about(name, d.passages))
		}
		out = append(out, th)
	}
	if !slices.ContainsFunc(out, func(th theme) bool {
		return slices.ContainsFunc(th.rows, func(r []knowledge.Quote) bool { return len(r) > 0 })
	}) {
		return nil // the question is about the documents as a whole
	}
	return out
}

// unnamed is a question with commas for the names of documents: "GPL-2", or
// the "2024" of another, is no theme.
func unnamed(question string, documents []document) string {
	var p papers
	for _, d := range documents {
		p.all = append(p.all, newTitled(d.id, d.title, d.file))
	}
	r := newReading(p, question)
	r.wholeTitles()
	r.scattered()
	r.shared()
	for i, w := range r.tokens { // what is left of names: years and the like
		year := w.text[0] >= '0' && w.text[0] <= '9'
		r.taken[i] = r.taken[i] || (year || kindOf(w).ok) && r.inTitles(w)
	}
	var out strings.Builder
	at := 0
	for i, w := range r.tokens {
		if r.taken[i] {
			out.WriteString(question[at:w.start] + ", ")
			at = w.end
		}
	}
	return out.String() + question[at:]
}

// ofTitles reports whether all that a text names stands in titles: "the home
// office policies" are the documents.
func ofTitles(text string, documents []document) bool {
	lang := words.Detect(text)
	return !slices.ContainsFunc(tokensOf(text), func(w token) bool {
		return !words.Stop(lang, w.text) && !slices.ContainsFunc(documents, func(d document) bool {
			return newTitled(d.id, d.title, d.file).has(w)
		})
	})
}

// names reports whether words name something to look for.
func names(text string) bool {
	lang := words.Detect(text)
	return slices.ContainsFunc(words.Split(text), func(x words.Word) bool {
		return len(x.Text) > 1 && !words.Stop(lang, x.Text) && !words.Weak(x.Text)
	})
}

// content is a name without the small words at its ends.
func content(name string) string {
	lang, list := words.Detect(name), words.Split(name)
	keep := func(x words.Word) bool { return !words.Stop(lang, x.Text) }
	first := slices.IndexFunc(list, keep)
	if first < 0 {
		return name
	}
	last := first
	for i, x := range list {
		if keep(x) {
			last = i
		}
	}
	return name[list[first].Start:list[last].End]
}

// underTheme is how much more a quote about a theme counts where its section is
// about it too.
const underTheme = 0.1

// akinTo reports whether a quote and the heading above it both speak of a theme.
func akinTo(name string, q knowledge.Quote) bool {
	above, said, some := stemsOf(q.Heading), stemsOf(q.Text), false
	for s := range stemsOf(name) {
		if words.Weak(s) {
			continue
		}
		if some = above[s] && said[s]; !some {
			return false
		}
	}
	return some
}

// about is what passages say about a theme.
func about(name string, passages []passage) []knowledge.Quote {
	quotes := knowledge.Quotes(name, passages, 4*maxRow)
	for i, q := range quotes {
		if akinTo(name, q) {
			quotes[i].Rating += underTheme
		}
	}
	slices.SortStableFunc(quotes, func(a, b knowledge.Quote) int { return cmp.Compare(b.Rating, a.Rating) })
	quotes = quotes[:min(len(quotes), maxRow)]
	if len(quotes) == 0 || quotes[0].Rating < onTheme {
		return nil
	}
	if at := slices.IndexFunc(quotes, func(q knowledge.Quote) bool { return q.Rating < nearBest*quotes[0].Rating }); at > 0 {
		quotes = quotes[:at]
	}
	return quotes
}
