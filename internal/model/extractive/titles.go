package extractive

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"liminal/internal/words"
)

// token is a piece of a name: letters of one case pattern, or digits.
// "BankNegara2024" is three.
type token struct {
	text       string // lower case
	en, de     string // its stems
	start, end int    // in bytes
	upper      bool   // begins with a capital
	word       int    // which word it is a piece of
}

// tokensOf splits a text as names are compared.
func tokensOf(text string) []token {
	var out []token
	word, start := 0, -1
	var prev rune
	flush := func(end int) {
		if start >= 0 {
			out = append(out, newToken(text, start, end, word))
		}
		start = -1
	}
	for at, r := range text {
		letter, digit := unicode.IsLetter(r), unicode.IsDigit(r)
		switch {
		case !letter && !digit:
			flush(at)
			if r != '’' && r != '\'' {
				word++
			}
		case start < 0:
			start = at
		case digit != unicode.IsDigit(prev), unicode.IsUpper(r) && unicode.IsLower(prev):
			flush(at)
			start = at
		}
		prev = r
	}
	flush(len(text))
	return out
}

func newToken(text string, start, end, word int) token {
	raw := text[start:end]
	t := token{text: strings.ToLower(raw), start: start, end: end, word: word}
	t.en, t.de = words.Stem(words.English, t.text), words.Stem(words.German, t.text)
	for _, r := range raw {
		t.upper = unicode.IsUpper(r)
		break
	}
	return t
}

// is reports whether two tokens are forms of one word.
func (t token) is(o token) bool {
	if t.text == o.text {
		return true
	}
	return len(t.text) > 3 && len(o.text) > 3 && (t.en == o.en || t.de == o.de)
}

// titled is a document by its names, without the glue of them.
type titled struct {
	id, title string
	tokens    []token // of the title
	file      []token // of the name of its file, where that is another
	common    bool    // the title is a single word with an article: "The lease"
}

// extensions are no part of a name people use.
var extensions = regexp.MustCompile(`(?i)\.(?:pdf|docx?|pptx?|xlsx?|md|txt|html?|csv|rtf|odt)$`)

func newTitled(id, title, file string) titled {
	whole := tokensOf(extensions.ReplaceAllString(title, ""))
	d := titled{id: id, title: title, tokens: unglued(whole), file: unglued(tokensOf(extensions.ReplaceAllString(file, "")))}
	d.common = len(d.tokens) == 1 && len(whole) > 1
	return d
}

// glue are words that hold a name together and are no part of it.
var glue = wordSet("glue")

// unglued are the tokens of a name that tell it from others; all of them where
// it has nothing but glue. The last one always does: "Offer A" is not "an offer".
func unglued(name []token) []token {
	if len(name) < 2 {
		return name
	}
	end := len(name) - 1
	out := slices.DeleteFunc(slices.Clone(name[:end]), func(t token) bool { return glue[t.text] })
	return append(out, name[end])
}

// idle reports whether a token says nothing of which document is meant.
func (t token) idle() bool {
	return glue[t.text] || words.Stop(words.English, t.text) || words.Stop(words.German, t.text)
}

// names are what a document is called: its title, and its file unless that is
// a single word, which may mean anything.
func (d titled) names() [][]token {
	if len(d.file) < 2 {
		return [][]token{d.tokens}
	}
	return [][]token{d.tokens, d.file}
}

// words are all the words a document is called by.
func (d titled) words() []token { return slices.Concat(d.tokens, d.file) }

// has reports whether a name of the document holds a word.
func (d titled) has(w token) bool {
	return slices.ContainsFunc(d.words(), func(t token) bool { return t.is(w) || t.endsIn(w) })
}

// like reports whether two documents have most words of a name in common.
func (d titled) like(o titled) bool {
	for _, a := range d.names() {
		for _, b := range o.names() {
			same := 0
			for _, t := range a {
				if slices.ContainsFunc(b, t.is) {
					same++
				}
			}
			if 2*same >= max(len(a), len(b)) && same > 0 {
				return true
			}
		}
	}
	return false
}

// abbreviates reports whether w is a short word of a name, or more of them:
// "GPLs" of "GPL-3".
func (d titled) abbreviates(w token) bool {
	return slices.ContainsFunc(d.words(), func(t token) bool {
		return t.text == w.text || len(t.text) > 1 && t.text+"s" == w.text
	})
}

// endsIn reports whether w is the end of a compound: "Vertrag" of
// "Mietvertrag".
func (t token) endsIn(w token) bool {
	return len(w.text) >= 5 && len(t.text) > len(w.text) && (strings.HasSuffix(t.text, w.text) || len(w.de) >= 5 && strings.HasSuffix(t.de, w.de))
}
