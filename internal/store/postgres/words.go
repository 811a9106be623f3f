package postgres

import (
	"strings"
	"unicode"

	"github.com/pgvector/pgvector-go"
	"golang.org/x/text/unicode/norm"

	"liminal/internal/id"
	"liminal/internal/words"
)

// mostWords bounds the words of one search: more make it slower, not better.
const mostWords = 32

// telling cuts a question into its different words, folded, without those that
// English and German texts are full of; when it has no others, all of them.
func telling(text string) []string {
	var telling, rest []string
	known := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }) {
		folded := strings.TrimSpace(fold(w))
		switch {
		case folded == "" || known[folded]:
		case words.Stop(words.English, w) || words.Stop(words.German, w):
			rest = append(rest, folded)
		default:
			telling = append(telling, folded)
		}
		known[folded] = true
	}
	if len(telling) == 0 {
		telling = rest
	}
	return telling[:min(len(telling), mostWords)]
}

// fold brings a text to the form that words are compared in: lower case, no
// diacritics, and nothing but letters and numbers between spaces. The server's
// own parser would take a path or an address for one word.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := true
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.IsMark(r):
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			b.WriteRune(unicode.ToLower(r))
			space = false
		case !space:
			b.WriteByte(' ')
			space = true
		}
	}
	return b.String()
}

func anyOf(list []string) string { return joined(list, " | ") }
func allOf(list []string) string { return joined(list, " & ") }

// joined quotes every word: nothing a person writes is syntax. Folded words
// hold no quote.
func joined(list []string, operator string) string {
	return "'" + strings.Join(list, "'"+operator+"'") + "'"
}

// vectorText is a vector as pgvector reads it.
func vectorText(v []float32) string { return pgvector.NewVector(v).String() }

// ids are those of list that are ids, nil when there are none: what is no id
// is nobody's, and the server would refuse the whole list for it.
func ids(list []string) (valid []string) {
	for _, s := range list {
		if id.Valid(s) {
			valid = append(valid, s)
		}
	}
	return valid
}
