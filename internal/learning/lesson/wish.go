package lesson

import (
	"slices"
	"strings"

	"liminal/internal/learning"
	"liminal/internal/model"
)

// kind is what a wish is about.
type kind string

// The kinds, in the order lessons are listed in. The first three are directives.
const (
	kindLength   kind = model.DirectiveLength
	kindList     kind = model.DirectiveList
	kindLanguage kind = model.DirectiveLanguage
	kindAddress  kind = "address"
	kindOpening  kind = "opening"
	kindCode     kind = "code"
	kindTable    kind = "table"
	kindHeading  kind = "heading"
	kindExample  kind = "example"
	kindSimple   kind = "simple"
	kindEmoji    kind = "emoji"
	kindClosing  kind = "closing"
)

// wish is one thing a person may want of answers.
type wish struct {
	kind   kind
	value  string
	en, de string // the lesson
}

// wishes are all that rules know, the values of a kind in a row.
var wishes = []wish{
	{kindLength, "short", "Keep answers short.", "Antworte kurz."},
	{kindLength, "long", "Answer in detail.", "Antworte ausführlich."},
	{kindList, "yes", "Use bullet points where there are several things to say.", "Nutze Aufzählungen, wo es mehrere Punkte gibt."},
	{kindList, "no", "Write running text without bullet points.", "Schreib Fließtext ohne Aufzählungen."},
	{kindLanguage, "de", "Answer in German.", "Antworte auf Deutsch."},
	{kindLanguage, "en", "Answer in English.", "Antworte auf Englisch."},
	{kindAddress, "du", "In German, say du.", "Sprich mich mit Du an."},
	{kindAddress, "sie", "In German, say Sie.", "Sprich mich mit Sie an."},
	{kindOpening, "no", "Begin with the answer itself, without an introduction.", "Beginne mit der Antwort selbst, ohne Einleitung."},
	{kindOpening, "yes", "Begin with a sentence that leads to the answer.", "Beginne mit einem Satz, der zur Antwort hinführt."},
	{kindCode, "first", "Show code first and explain it afterwards.", "Zeig zuerst den Code und erkläre ihn danach."},
	{kindCode, "last", "Explain first and show code afterwards.", "Erkläre zuerst und zeig den Code danach."},
	{kindTable, "yes", "Put comparisons and figures into a table.", "Setz Vergleiche und Zahlen in eine Tabelle."},
	{kindTable, "no", "Do without tables.", "Verzichte auf Tabellen."},
	{kindHeading, "yes", "Structure answers with headings.", "Gliedere Antworten mit Überschriften."},
	{kindHeading, "no", "Do without headings.", "Verzichte auf Überschriften."},
	{kindExample, "yes", "Give an example.", "Gib ein Beispiel."},
	{kindExample, "no", "Leave out examples.", "Lass Beispiele weg."},
	{kindSimple, "yes", "Use plain words and short sentences.", "Nutze einfache Worte und kurze Sätze."},
	{kindSimple, "no", "Use technical terms.", "Nutze Fachbegriffe."},
	{kindEmoji, "yes", "Use emojis.", "Nutze Emojis."},
	{kindEmoji, "no", "Do without emojis.", "Verzichte auf Emojis."},
	{kindClosing, "yes", "End with a question that leads on.", "Ende mit einer Frage, die weiterführt."},
	{kindClosing, "no", "End without a question or an offer.", "Ende ohne Rückfrage oder Angebot."},
}

// kinds are those of wishes, in their order.
var kinds = []kind{
	kindLength, kindList, kindLanguage, kindAddress, kindOpening, kindCode, kindTable, kindHeading, kindExample, kindSimple, kindEmoji, kindClosing,
}

func wishOf(k kind, value string) wish {
	for _, w := range wishes {
		if w.kind == k && w.value == value {
			return w
		}
	}
	return wish{}
}

// values are the two that a kind has, the first one counting as positive.
func values(k kind) (first, second string) {
	i := slices.IndexFunc(wishes, func(w wish) bool { return w.kind == k })
	return wishes[i].value, wishes[i+1].value
}

// opposite is the other wish of the same kind.
func (w wish) opposite() wish {
	first, second := values(w.kind)
	if w.value == first {
		return wishOf(w.kind, second)
	}
	return wishOf(w.kind, first)
}

// text is the lesson in a language, "de" or "en".
func (w wish) text(locale string) string {
	if strings.HasPrefix(locale, "de") {
		return w.de
	}
	return w.en
}

// directive is what a program can follow of a wish; nil for the others.
func (w wish) directive() *learning.Directive {
	if w.kind != kindLength && w.kind != kindList && w.kind != kindLanguage {
		return nil
	}
	return &learning.Directive{Kind: string(w.kind), Value: w.value}
}

// ofRules reports whether a text is one that rules write.
func ofRules(text string) (wish, bool) {
	i := slices.IndexFunc(wishes, func(w wish) bool { return w.en == text || w.de == text })
	if i < 0 {
		return wish{}, false
	}
	return wishes[i], true
}

// said is the wish that a lesson is, whoever worded it.
func said(l learning.Lesson) (wish, bool) {
	if w, ok := ofRules(l.Text); ok {
		return w, true
	}
	if list := heard(l.Text, true); len(list) > 0 {
		return list[0], true
	}
	return wish{}, false
}

// keeps reports whether an answer is as a wish asks for. before is the answer
// that the wish was said of, liked whether it was as the person likes it: what
// is relative is held against it.
func (w wish) keeps(answer, before string, liked bool) bool {
	is, was := shapeOf(answer), shapeOf(before)
	if w.kind != kindLength && w.kind != kindSimple {
		got := is.value(w.kind, was)
		if got == "" && w.value == "no" {
			return true // so little that there is none of it
		}
		return got == w.value
	}
	size, ref := float64(is.words), float64(was.words)
	if w.kind == kindSimple {
		size, ref = is.sentence, was.sentence
	}
	less := w.value == "short" || w.kind == kindSimple && w.value == "yes"
	switch {
	case liked && less:
		return size <= longShare*ref
	case liked:
		return size >= shortShare*ref
	case less:
		return size <= shortShare*ref
	}
	return size >= longShare*ref
}

// Meaning is what a lesson asks for, as far as rules know it: a kind such as
// "length" or "table", and one of its two values.
func Meaning(l learning.Lesson) (kind, value string, known bool) {
	w, ok := said(l)
	return string(w.kind), w.value, ok
}
