package words

import (
	_ "embed" // the word list
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// bilingual is what everyday words are called in the other language; the file
// says how its lines are meant.
//
//go:embed bilingual.txt
var bilingual string

// dictionary is, of a language, what a stem is called.
type dictionary map[Language]langWords

// langWords is what the stems of one language are called.
type langWords map[string]names

type names struct{ other, same []string } // in the other language, and in its own

var bothWays = sync.OnceValue(func() dictionary {
	d := dictionary{German: {}, English: {}}
	for line := range strings.Lines(bilingual) {
		de, en, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		d.add(German, strings.Fields(de), strings.Fields(en))
		d.add(English, strings.Fields(en), strings.Fields(de))
	}
	return d
})

func (d dictionary) add(l Language, from, to []string) {
	for _, w := range from {
		stem := Stem(l, w)
		n := d[l][stem]
		for _, t := range to {
			if !slices.Contains(n.other, t) {
				n.other = append(n.other, t)
			}
		}
		for _, s := range from {
			if s = Stem(l, s); s != stem && !slices.Contains(n.same, s) {
				n.same = append(n.same, s)
			}
		}
		d[l][stem] = n
	}
}

// Translations are words of the other language for a folded word of l, nil
// where none is known. A German compound is taken apart, "statuszeile" has the
// words for both of its parts, and a form of a verb is looked up as that verb.
func Translations(l Language, word string) []string {
	d := bothWays()[l]
	if list := d[Stem(l, word)].other; list != nil || l != German {
		return list
	}
	if list := d.verb(word); list != nil {
		return list
	}
	for at := len(word) - shortestPart; at >= shortestPart; at-- {
		if !utf8.RuneStart(word[at]) {
			continue
		}
		last := d[Stem(l, word[at:])].other
		if last == nil {
			continue
		}
		for _, link := range []string{"", "s", "es", "n", "en"} {
			first, ok := strings.CutSuffix(word[:at], link)
			if !ok || len(first) < shortestPart {
				continue
			}
			if list := d[Stem(l, first)].other; list != nil {
				return slices.Concat(list, last)
			}
		}
	}
	return nil
}

// verb is what the German verb is called that word is a form of: "geschmiert",
// "abgeholt" and "schmiert" have stems of their own.
func (d langWords) verb(word string) []string {
	base, ok := strings.CutSuffix(word, "t")
	if !ok {
		if base, ok = strings.CutSuffix(word, "en"); !ok || !strings.Contains(base, "ge") {
			return nil
		}
	}
	base = strings.TrimSuffix(base, "e")
	forms := []string{base}
	for _, prefix := range separable {
		if rest, ok := strings.CutPrefix(base, prefix+"ge"); ok && len(rest) > 2 {
			forms = append(forms, prefix+rest)
		}
	}
	for _, form := range forms {
		for _, ending := range []string{"en", "n"} {
			if list := d[Stem(German, form+ending)].other; len(form) > 3 && list != nil {
				return list
			}
		}
	}
	return nil
}

// separable are what may stand before the "ge" of a participle; nothing as well.
var separable = []string{"", "ab", "an", "auf", "aus", "bei", "ein", "her", "mit", "nach", "vor", "weg", "zu", "zurück", "krank"}

// Synonyms are stems of words that may be said instead of a folded word of l:
// those with the same translation. nil where none is known.
func Synonyms(l Language, word string) []string { return bothWays()[l][Stem(l, word)].same }

// shortestPart is how many bytes a part of a compound has at least.
const shortestPart = 4
