package extractive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/words"
)

// Bounds of a comparison.
const (
	maxThemes  = 8
	maxRow     = 2    // quotes of one document on one theme
	onTheme    = 0.5  // the rating from which a quote speaks of a theme of the question
	fewThemes  = 2    // with fewer common headings, like sentences are paired too
	maxOnly    = 8    // headings named that only one document has
	sameTheme  = 0.5  // the share of words two headings have in common
	anchors    = 12   // sentences of the first document that others are held against
	closeTheme = 0.42 // how near sentences must be to make a theme by themselves
)

// A theme is something documents can be compared on, with what each says:
// one row a document.
type theme struct {
	name string
	rows [][]knowledge.Quote
}

// compare puts what documents say about the same next to each other. Where
// they differ is for the reader to see; only numbers, dates and amounts are
// held out of the quotes once more.
func (t turn) compare(w *writer) error {
	documents := t.documents()
	switch {
	case len(t.passages) == 0:
		return w.say(t.say.noSource)
	case len(documents) < 2:
		if err := w.say(t.say.oneDocument + "\n\n"); err != nil {
			return err
		}
		return t.summary(w)
	}
	themes, asked := t.askedThemes(documents), true
	if len(themes) == 0 {
		themes, asked = commonThemes(documents), false
	}
	if len(themes) == 0 {
		if err := w.say(t.say.nothingShared + "\n\n"); err != nil {
			return err
		}
		return t.summary(w)
	}
	if err := w.say(t.say.comparison); err != nil {
		return err
	}
	n := &notes{}
	if !asked {
		themes = themes[:min(len(themes), t.manner.themes)]
	}
	for _, th := range themes {
		if err := t.theme(w, n, th, documents); err != nil {
			return err
		}
	}
	if asked {
		return nil
	}
	return t.only(w, documents)
}

// theme writes one theme.
func (t turn) theme(w *writer, n *notes, th theme, documents []document) error {
	if err := w.say("\n\n### " + escapeMarkdown(th.name)); err != nil {
		return err
	}
	var sides [][]string
	var line []string
	for i, d := range documents {
		text, err := t.row(w, n, d, th.rows[i])
		if err != nil {
			return err
		}
		if f := figures(text); len(f) > 0 {
			sides = append(sides, f)
			line = append(line, fmt.Sprintf("%s: %s", escapeMarkdown(d.title), strings.Join(f, ", ")))
		}
	}
	for _, f := range sides[min(1, len(sides)):] {
		if differ(sides[0], f) {
			return w.say("\n\n*" + t.say.sideBySide + "* " + strings.Join(line, " · "))
		}
	}
	return nil
}

// row writes what one document says, and gives its words.
func (t turn) row(w *writer, n *notes, d document, quotes []knowledge.Quote) (string, error) {
	if len(quotes) == 0 {
		return "", w.say("\n\n**" + escapeMarkdown(d.title) + "**: " + t.say.silentOn)
	}
	if err := w.say("\n\n**" + escapeMarkdown(d.title) + "**" + t.onPage(quotes[0].Page)); err != nil {
		return "", err
	}
	var text strings.Builder
	quotes = quotes[:min(len(quotes), t.manner.row)]
	for _, q := range quotes {
		if err := w.say("\n\n"); err != nil {
			return "", err
		}
		if err := t.quote(w, n, q, len(quotes) > 1); err != nil {
			return "", err
		}
		text.WriteString(q.Text + "\n")
	}
	return text.String(), nil
}

// commonThemes are the headings documents share and, where these are few, the
// sentences that speak of the same.
func commonThemes(documents []document) []theme {
	out := headed(documents)
	if len(out) < fewThemes {
		out = append(out, paired(documents, out)...)
	}
	return out[:min(len(out), maxThemes)]
}

// sectionsOf are a document's passages by their innermost heading, in order.
func sectionsOf(d document) (names []string, by map[string][]passage) {
	by = map[string][]passage{}
	for _, p := range d.passages {
		h := lastHeading(p.Heading, d.title)
		if h == "" {
			continue
		}
		if _, known := by[h]; !known {
			names = append(names, h)
		}
		by[h] = append(by[h], p)
	}
	return names, by
}

// headed are the themes two documents or more have a heading for.
func headed(documents []document) []theme {
	used := make([]map[string]bool, len(documents))
	for i := range used {
		used[i] = map[string]bool{}
	}
	var out []theme
	for i, d := range documents {
		list, by := sectionsOf(d)
		for _, name := range list {
			if used[i][name] {
				continue
			}
			sections := make([][]passage, len(documents))
			sections[i] = by[name]
			if alike(name, documents, i+1, sections, used) {
				out = append(out, theme{name: numbering.ReplaceAllString(name, ""), rows: held(sections)})
			}
		}
	}
	return out
}

// alike puts the sections of the documents from one on whose headings name
// the same into their places, and reports whether there is any.
func alike(name string, documents []document, from int, sections [][]passage, used []map[string]bool) bool {
	found := false
	for j := from; j < len(documents); j++ {
		list, by := sectionsOf(documents[j])
		at := slices.IndexFunc(list, func(other string) bool { return !used[j][other] && akin(name, other) })
		if at >= 0 {
			sections[j], used[j][list[at]], found = by[list[at]], true, true
		}
	}
	return found
}

// numbering is the number a heading begins with.
var numbering = regexp.MustCompile(`^(?:§\s*)?(?:(?:section|chapter|article|abschnitt|kapitel|artikel)\s+)?(?:\d+(?:\.\d+)*|[IVX]+)[.):]?\s+`)

// akin reports whether two headings name the same.
func akin(a, b string) bool {
	one, other := stemsOf(numbering.ReplaceAllString(a, "")), stemsOf(numbering.ReplaceAllString(b, ""))
	if len(one) == 0 || len(other) == 0 {
		return false
	}
	both := 0
	for s := range one {
		if other[s] {
			both++
		}
	}
	return float64(both) > sameTheme*float64(len(one)+len(other)-both)
}

func stemsOf(text string) map[string]bool {
	out := map[string]bool{}
	lang := words.Detect(text)
	for _, s := range words.Stems(lang, text) {
		out[s] = true
	}
	return out
}

// held are the sentences of sections that belong next to each other: the
// salient ones of the first, and what comes closest to them in the others.
func held(sections [][]passage) [][]knowledge.Quote {
	out := make([][]knowledge.Quote, len(sections))
	var first []knowledge.Quote
	for i, s := range sections {
		if len(s) == 0 {
			continue
		}
		m := knowledge.MatterOf(s)
		if first == nil {
			first = m.Salient(maxRow)
			out[i] = first
			continue
		}
		for _, q := range first {
			for _, c := range m.Closest(q.Text, 1) {
				if c.Rating >= knowledge.Near && !holds(out[i], c) {
					out[i] = append(out[i], c)
				}
			}
		}
		if len(out[i]) == 0 {
			out[i] = m.Salient(maxRow)
		}
	}
	return out
}

func holds(list []knowledge.Quote, q knowledge.Quote) bool {
	return slices.ContainsFunc(list, func(o knowledge.Quote) bool {
		return o.DocumentID == q.DocumentID && o.Start < q.End && q.Start < o.End
	})
}

// paired are sentences of the first document that others have one close to,
// beyond those already shown.
func paired(documents []document, shown []theme) []theme {
	matters := make([]*knowledge.Matter, len(documents))
	for i, d := range documents {
		matters[i] = knowledge.MatterOf(d.passages)
	}
	var taken []knowledge.Quote
	for _, th := range shown {
		taken = append(taken, slices.Concat(th.rows...)...)
	}
	var out []theme
	for _, q := range matters[0].Salient(anchors) {
		if holds(taken, q) {
			continue
		}
		th := theme{rows: make([][]knowledge.Quote, len(documents))}
		th.rows[0] = []knowledge.Quote{q}
		for i, m := range matters[1:] {
			if c := m.Closest(q.Text, 1); len(c) > 0 && c[0].Rating >= closeTheme && !holds(taken, c[0]) {
				th.rows[i+1] = c
				th.name = sharedWords(q.Text, c[0].Text)
			}
		}
		if th.name == "" {
			continue
		}
		taken = append(taken, slices.Concat(th.rows...)...)
		out = append(out, th)
	}
	return out
}

// sharedWords names what two sentences have in common, as the first writes it.
func sharedWords(a, b string) string {
	const most = 3
	lang := words.Detect(a)
	other := stemsOf(b)
	var out []string
	for _, x := range words.Split(a) {
		if len(out) < most && len(x.Text) > 2 && !words.Stop(lang, x.Text) && !words.Weak(x.Text) && other[words.Stem(lang, x.Text)] {
			word := a[x.Start:x.End]
			if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, word) }) {
				out = append(out, word)
			}
		}
	}
	return strings.Join(out, ", ")
}

// only names the headings that one document alone has.
func (t turn) only(w *writer, documents []document) error {
	for i, d := range documents {
		list, _ := sectionsOf(d)
		var alone []string
		for _, name := range list {
			elsewhere := slices.ContainsFunc(documents, func(o document) bool {
				theirs, _ := sectionsOf(o)
				return o.id != documents[i].id && slices.ContainsFunc(theirs, func(x string) bool { return akin(name, x) })
			})
			if !elsewhere && len(alone) < maxOnly {
				alone = append(alone, escapeMarkdown(name))
			}
		}
		if len(alone) == 0 {
			continue
		}
		if err := w.say("\n\n" + fmt.Sprintf(t.say.onlyIn, escapeMarkdown(d.title), strings.Join(alone, "; "))); err != nil {
			return err
		}
	}
	return nil
}
