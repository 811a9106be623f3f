package extractive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/words"
)

type passage = knowledge.Passage

func passageOf(b model.Block) passage {
	p := passage{Text: b.Text}
	if b.Source != nil {
		p.Source = *b.Source
	}
	if p.End == 0 {
		p.End = p.Start + len(b.Text)
	}
	return p
}

const (
	maxQuotes = 3
	fits      = 0.5  // a passage retrieval rated at least this answers (C-60)
	unrated   = 0.55 // the same for a quote of passages nobody has rated
	mayFit    = 0.42 // and one rated less may, when a quote of it holds so much of what is asked
	mayHold   = 0.5
	nearBest  = 0.88 // quotes rated at least this share of the best are shown too
	// certainly is how much of what is asked a quote holds that is called an answer,
	// and surely where it lacks what such a question asks for, such as a number.
	certainly = 0.7
	surely    = 0.9
)

// Form is how an answer of quotes is meant.
type Form string

// The forms of an answer.
const (
	Answer  Form = "answer"  // the quotes answer
	Closest Form = "closest" // they may: what comes closest is shown, and said to be that
	Nothing Form = "nothing" // nothing answers; what comes closest may be shown, not cited
)

// FormOf tells the form of an answer by its beginning, in any language it is
// written in.
func FormOf(text string) Form {
	for _, say := range []phrases{english(), german()} {
		switch {
		case strings.HasPrefix(text, say.unsure):
			return Closest
		case strings.HasPrefix(text, say.nothing), strings.HasPrefix(text, say.noSource):
			return Nothing
		}
	}
	return Answer
}

// answer quotes what answers the question, what may, or says that nothing does.
func (t turn) answer(w *writer, from []passage) error {
	if len(from) == 0 {
		return w.say(t.say.noSource)
	}
	form, quotes, err := t.choose(w.ctx, from)
	if err != nil {
		return err
	}
	above := ""
	switch form {
	case Nothing:
		return t.closest(w, quotes)
	case Closest:
		above = "\n\n"
		if err := w.say(t.say.unsure); err != nil {
			return err
		}
	default:
	}
	shown := quotes[:min(len(quotes), t.manner.quotes)]
	for i, q := range shown {
		if err := t.cite(w, t.cut(q), i+1, above, len(shown) > 1); err != nil {
			return err
		}
		above = "\n\n"
	}
	return nil
}

// choose chooses the quotes to show, the best first, and how they are meant: by
// the words of the question alone, or by its meaning too.
func (t turn) choose(ctx context.Context, from []passage) (Form, []knowledge.Quote, error) {
	if t.meaning != nil {
		return t.byMeaning(ctx, from)
	}
	quotes := rank(t.question, knowledge.Quotes(t.question, from, 6*maxQuotes))
	if !answers(quotes, from) {
		return Nothing, quotes, nil
	}
	form, share := Answer, t.manner.nearBest
	if !certain(quotes[0]) {
		form, share = Closest, min(share, mayAnswer)
	}
	end := slices.IndexFunc(quotes, func(q knowledge.Quote) bool { return q.Rating < share*quotes[0].Rating })
	if end < 0 {
		end = len(quotes)
	}
	return form, quotes[:end], nil
}

// mayAnswer is the share of the best quote's rating from which on others are
// shown beside it where it is not certain to answer.
const mayAnswer = 0.75

// certain reports whether a quote may be shown as the answer: words of the
// question that stand neither in it nor above it say that it is about something
// else. Who asks is told so, instead of being shown a wrong quote like a right one.
func certain(q knowledge.Quote) bool {
	if q.Score > 0 && q.Score < fits {
		return false
	}
	if q.Kind {
		return q.Held >= certainly
	}
	return q.Held >= surely
}

// rank weighs in how well retrieval found the whole passage to fit, and whether
// its section is about the question.
func rank(question string, quotes []knowledge.Quote) []knowledge.Quote {
	for i := range quotes {
		if s := quotes[i].Score; s > 0 {
			quotes[i].Rating = 0.7*quotes[i].Rating + 0.3*s
		}
		if akinTo(question, quotes[i]) {
			quotes[i].Rating += underTheme
		}
	}
	slices.SortStableFunc(quotes, func(a, b knowledge.Quote) int { return cmp.Compare(b.Rating, a.Rating) })
	return quotes
}

// answers reports whether the best quote may be called an answer.
func answers(quotes []knowledge.Quote, from []passage) bool {
	if len(quotes) == 0 {
		return false
	}
	rated := slices.ContainsFunc(from, func(p passage) bool { return p.Score > 0 })
	if rated {
		return quotes[0].Score >= fits || quotes[0].Score >= mayFit && quotes[0].Held >= mayHold
	}
	return quotes[0].Rating >= unrated
}

// cite writes quote n, one of several, with its place, behind a gap, and its
// Citation event.
func (t turn) cite(w *writer, q knowledge.Quote, n int, gap string, several bool) error {
	if err := w.say(gap + t.inList(t.block(q, fmt.Sprintf(" [%d]", n))+"\n\n— "+t.place(q), several)); err != nil {
		return err
	}
	source := q.Source
	return w.send(model.Event{Type: model.Citation, Source: &source, Quote: q.Text})
}

// block is a quote as a Markdown block quote: sentences with their white space
// folded, so that hard-wrapped lines flow; items and code line by line, rows
// under the names of their columns. mark ends it.
func (t turn) block(q knowledge.Quote, mark string) string {
	text := q.Text
	if names, rows, ok := q.Table(); ok {
		return "> " + strings.Join(table(names, rows, mark), "\n> ")
	}
	var lines []string
	last := words.Sentence{Paragraph: -1}
	for _, s := range words.Sentences(text) {
		line := text[s.Start:s.End]
		if s.Form != words.Code {
			line = knowledge.Fold(line)
		}
		if t.manner.running && s.Form == words.Item && s.Paragraph != last.Paragraph {
			line = bullet.ReplaceAllString(line, "")
		}
		switch {
		case s.Paragraph == last.Paragraph && s.Form != words.Code:
			lines[len(lines)-1] += " " + line
		case t.manner.running && s.Form == words.Item && last.Form == words.Item:
			lines[len(lines)-1] += " · " + line
		case len(lines) > 0 && s.Form != last.Form && !fenced(s.Form, last.Form):
			lines = append(lines, "", line)
		default:
			lines = append(lines, line)
		}
		last = s
	}
	lines = closed(lines, text)
	switch end := &lines[len(lines)-1]; {
	case mark != "" && strings.HasPrefix(strings.TrimSpace(*end), "```"):
		lines = append(lines, strings.TrimSpace(mark))
	case last.Form == words.Row:
		*end = inCell(*end, mark)
	default:
		*end += mark
	}
	return "> " + strings.Join(lines, "\n> ")
}

// inCell is a row of a table with mark at the end of its last cell: behind that
// it would be a cell of no column, which no reader of Markdown shows.
func inCell(row, mark string) string {
	cells, whole := strings.CutSuffix(row, "|")
	if mark == "" || !whole {
		return row + mark
	}
	return strings.TrimRight(cells, " ") + mark + " |"
}

// table is rows as a table of Markdown, with as many columns as the longest of
// them: of others only what stands under a name would be shown.
func table(names []string, rows [][]string, mark string) []string {
	width := len(names)
	for _, r := range rows {
		width = max(width, len(r))
	}
	line := func(cells []string) string {
		whole := make([]string, width)
		for i, c := range cells {
			whole[i] = knowledge.Fold(c)
		}
		return "| " + strings.Join(whole, " | ") + " |"
	}
	lines := []string{line(names), "|" + strings.Repeat("---|", width)}
	for _, r := range rows {
		lines = append(lines, line(r))
	}
	lines[len(lines)-1] = inCell(lines[len(lines)-1], mark)
	return lines
}

func fenced(a, b words.Form) bool {
	return (a == words.Code || a == words.Fence) && (b == words.Code || b == words.Fence)
}

// closed gives code whose fence lies outside the quote one of its own, so
// that what follows is not read as code.
func closed(lines []string, text string) []string {
	if len(lines) == 0 {
		lines = []string{knowledge.Fold(text)}
	}
	open := 0
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			open++
		}
	}
	if open%2 == 1 {
		lines = append(lines, "```")
	}
	return lines
}

// place says where a quote stands: "Title, Heading, page 3".
func (t turn) place(q knowledge.Quote) string {
	s := "**" + cmp.Or(q.Title, q.Path) + "**"
	if h := strings.TrimPrefix(strings.TrimPrefix(q.Heading, q.Title), " › "); h != "" {
		s += ", " + h
	}
	if q.Page > 0 {
		s += fmt.Sprintf(", %s %d", t.say.page, q.Page)
	}
	return s
}

// closest says that nothing fits and shows what comes nearest, without
// citations.
func (t turn) closest(w *writer, quotes []knowledge.Quote) error {
	if len(quotes) == 0 {
		return w.say(t.say.nothing)
	}
	if err := w.say(t.say.nothing + " " + t.say.closest); err != nil {
		return err
	}
	shown := quotes[:min(len(quotes), t.manner.quotes)]
	for _, q := range shown {
		q = t.cut(q)
		if err := w.say("\n\n" + t.inList(t.block(q, "")+"\n\n— "+t.place(q), len(shown) > 1)); err != nil {
			return err
		}
	}
	return nil
}

// unable says plainly that nothing can be generated, and what can be done.
func (t turn) unable(w *writer) error {
	switch {
	case thanks.MatchString(strings.ToLower(strings.TrimSpace(t.question))) && greets(t.question):
		return w.say(t.say.welcome)
	case leaves.MatchString(strings.ToLower(strings.TrimSpace(t.question))) && greets(t.question):
		return w.say(t.say.goodbye)
	case greets(t.question):
		return w.say(t.say.hello + " " + t.say.banner + " " + t.say.abilities)
	}
	switch opinion(t.question) {
	case "like", "always":
		return w.say(t.say.praised)
	case "dislike", "never":
		return w.say(t.say.blamed)
	}
	if m := strings.ToLower(t.question); asksForList(m) || wantsList.MatchString(m) && fileTask.MatchString(m) {
		return w.say(t.say.noneHere + " " + t.say.toAdd) // it is asked to chat where there are none
	}
	return w.say(t.say.banner + " " + t.say.abilities)
}
