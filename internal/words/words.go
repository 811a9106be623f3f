// Package words is what text is made of: words, their stems, sentences, and
// roughly how many tokens they are.
//
// Embedding, chunking, retrieval and the keyless model all read text through
// it, so that they agree on what a word and a sentence is. It may import the
// standard library, x/text and the Snowball stemmers, and nothing of ours.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is one word of a text. Text[Start:End] is how it is written there.
type Word struct {
	Start, End int
	Text       string   // folded: NFC, lower case, digit groups joined
	Parts      []string // folded pieces of "max_tokens" or "GetOrCreate"; nil for a plain word
}

// Split finds the words of text. Letters and digits make words; a single
// joining character between them (as in "rag.search_v1", "127.0.0.1",
// "chat-stream") keeps them together, with the pieces in Parts.
func Split(text string) []Word {
	var out []Word
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !inWord(r) {
			at += n
			continue
		}
		end := wordEnd(text, at)
		out = append(out, newWord(text, at, end))
		at = end
	}
	return out
}

// maxWord bounds one word, so that a file of one endless line (base64, say)
// costs no more than any other.
const maxWord = 128

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

func joins(r rune) bool { return strings.ContainsRune("_.-/:@'’+#,", r) }

// wordEnd returns where the word beginning at start ends.
func wordEnd(text string, start int) int {
	end, prev := start, rune(0)
	for at := start; at < len(text) && at-start < maxWord; {
		r, n := utf8.DecodeRuneInString(text[at:])
		if wide(r) {
			if end == start {
				return at + n // scripts without spaces: every sign is a word
			}
			return end
		}
		if inWord(r) {
			at += n
			end, prev = at, r
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[at+n:])
		if !joins(r) || !inWord(next) || wide(next) || !keeps(prev, r, next) {
			break
		}
		at += n
	}
	return end
}

// keeps reports whether a joining character really joins: a comma only
// between digits, a colon or a slash not between plain words of a sentence.
func keeps(prev, joint, next rune) bool {
	digits := unicode.IsDigit(prev) && unicode.IsDigit(next)
	switch joint {
	case ',':
		return digits
	case ':':
		return digits
	case '\'', '’':
		return unicode.IsLetter(prev) && unicode.IsLetter(next)
	}
	return true
}

// wide reports whether r belongs to a script written without spaces.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func newWord(text string, start, end int) Word {
	raw := text[start:end]
	w := Word{Start: start, End: end, Text: Fold(raw)}
	pieces := pieces(raw)
	if len(pieces) > 1 {
		w.Parts = pieces
	}
	switch {
	case grouped(w.Text):
		w.Text, w.Parts = strings.ReplaceAll(w.Text, ",", ""), nil
	case strings.HasSuffix(w.Text, "'s"):
		w.Text, w.Parts = strings.TrimSuffix(w.Text, "'s"), nil
	}
	return w
}

// Fold is the form words are compared in.
func Fold(s string) string {
	s = strings.ToLower(norm.NFC.String(s))
	return strings.ReplaceAll(s, "’", "'")
}

// grouped reports whether s is a number with thousands commas: "10,000".
func grouped(s string) bool {
	groups := strings.Split(s, ",")
	if len(groups) < 2 || len(groups[0]) > 3 {
		return false
	}
	for i, g := range groups {
		if strings.Trim(g, "0123456789") != "" || g == "" || i > 0 && len(g) != 3 {
			return false
		}
	}
	return true
}

// pieces cuts an identifier at joining characters and at camel-case borders.
func pieces(raw string) []string {
	var out []string
	start, prev := 0, rune(0)
	cut := func(end int) {
		if end > start {
			out = append(out, Fold(raw[start:end]))
		}
	}
	for at, r := range raw {
		switch {
		case !inWord(r):
			cut(at)
			start = at + utf8.RuneLen(r)
		case unicode.IsUpper(r) && unicode.IsLower(prev):
			cut(at)
			start = at
		}
		prev = r
	}
	cut(len(raw))
	return out
}

// Tokens estimates how many tokens a language model's tokeniser makes of
// text: a word of n letters counts 1 + (n-1)/6, a number one token per three
// digits, a wide character one, other signs one, runs of one sign one per
// four. On English and German prose and on source code this lies within about
// fifteen per cent of the common byte-pair tokenisers, which is all that cutting and
// accounting without a model need.
func Tokens(text string) int {
	n := 0
	var run counted
	for _, r := range text {
		k := kindOf(r)
		if k == run.kind && (k != sign || r == run.last) {
			run.runes++
			run.last = r
			continue
		}
		n += run.tokens()
		run = counted{kind: k, last: r, runes: 1}
	}
	return n + run.tokens()
}

type kind int

const (
	space kind = iota
	letter
	digit
	sign
	broad
)

func kindOf(r rune) kind {
	switch {
	case unicode.IsSpace(r):
		return space
	case wide(r):
		return broad
	case unicode.IsLetter(r), unicode.Is(unicode.Mn, r):
		return letter
	case unicode.IsDigit(r):
		return digit
	}
	return sign
}

// counted is a run of characters of one kind.
type counted struct {
	kind  kind
	last  rune
	runes int
}

func (c counted) tokens() int {
	switch c.kind {
	case letter:
		return 1 + (c.runes-1)/6
	case digit:
		return (c.runes + 2) / 3
	case sign:
		return (c.runes + 3) / 4
	case broad:
		return c.runes
	default:
		return 0
	}
}

// Plain is a word without what writing it does not need: lower case and no
// diacritics, so that "Übergabe" is found by "ubergabe".
func Plain(word string) string {
	var b strings.Builder
	b.Grow(len(word))
	for _, r := range norm.NFKD.String(word) {
		if !unicode.IsMark(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
