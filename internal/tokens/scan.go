package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner cuts a text into words as the pattern of a family of models does.
// These patterns end in \s+(?!\S), white space that no word follows, which
// cannot be said to regexp; so they are written out here.
type scanner struct {
	folded bool // contractions in capitals too; a sign before a word belongs to it; lines end a word
	digits int  // at most in a number; 0: any
}

// The families.
var (
	gpt2   = scanner{}
	llama3 = scanner{folded: true, digits: 3}
	qwen2  = scanner{folded: true, digits: 1}
)

const qwen2Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// scanners are the patterns by their text in tokenizer.json.
var scanners = map[string]scanner{
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`:                                          gpt2,
	`'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`:                                             gpt2,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: llama3,
	qwen2Pattern: qwen2,
}

// words are the words of a text, which they make up.
func (g scanner) words(text string) []string {
	var out []string
	for text != "" {
		n := g.next(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// find is words as places in the text.
func (g scanner) find(text string) [][]int {
	var out [][]int
	for at := 0; at < len(text); {
		n := g.next(text[at:])
		out = append(out, []int{at, at + n})
		at += n
	}
	return out
}

// next is the length of the word a text begins with, at least one.
func (g scanner) next(text string) int {
	if n := g.contraction(text); n > 0 {
		return n
	}
	first, size := utf8.DecodeRuneInString(text)
	rest := text[size:]
	if n := g.word(first, size, text, rest); n > 0 {
		return n
	}
	if n := g.number(text); n > 0 {
		return n
	}
	if first == ' ' && !g.folded {
		if n := g.number(rest); n > 0 {
			return 1 + n
		}
	}
	if n := g.signs(first, text, rest); n > 0 {
		return n
	}
	return g.blanks(text)
}

// contraction is the length of an 's, 't, 're, 've, 'm, 'll or 'd.
func (g scanner) contraction(text string) int {
	if text[0] != '\'' {
		return 0
	}
	after := text[1:]
	if g.folded {
		after = after[:min(len(after), 4)]
		// A long s is an s in a pattern that takes capitals.
		after = strings.ReplaceAll(strings.ToLower(after), "ſ", "s\x00")
	}
	for _, end := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if strings.HasPrefix(after, end) {
			if end == "s" && strings.HasPrefix(after, "s\x00") {
				return 1 + len("ſ")
			}
			return 1 + len(end)
		}
	}
	return 0
}

// word is the length of letters with, before them, a space or in other
// families any one sign.
func (g scanner) word(first rune, size int, text, rest string) int {
	if unicode.IsLetter(first) {
		return while(text, unicode.IsLetter)
	}
	joins := first == ' '
	if g.folded {
		joins = first != '\r' && first != '\n' && !unicode.IsNumber(first)
	}
	if n := while(rest, unicode.IsLetter); joins && n > 0 {
		return size + n
	}
	return 0
}

func (g scanner) number(text string) int {
	n, digits := 0, 0
	for _, r := range text {
		if !unicode.IsNumber(r) || g.digits > 0 && digits == g.digits {
			break
		}
		n, digits = n+utf8.RuneLen(r), digits+1
	}
	return n
}

// signs is the length of what is neither white space, letter nor number, with
// a space before and in other families the ends of lines after it.
func (g scanner) signs(first rune, text, rest string) int {
	n := 0
	if first == ' ' {
		if n = while(rest, sign); n == 0 {
			return 0
		}
		n++
	} else if n = while(text, sign); n == 0 {
		return 0
	}
	if g.folded {
		n += while(text[n:], lineEnd)
	}
	return n
}

// blanks is the length of the white space a text begins with: to its last end
// of line in some families, else without its last character where a word
// follows and it is not all of it.
func (g scanner) blanks(text string) int {
	n := while(text, unicode.IsSpace)
	if n == 0 { // no valid text
		_, n = utf8.DecodeRuneInString(text)
		return n
	}
	if g.folded {
		if end := strings.LastIndexAny(text[:n], "\r\n"); end >= 0 {
			return end + 1
		}
	}
	_, last := utf8.DecodeLastRuneInString(text[:n])
	if n < len(text) && n > last {
		return n - last
	}
	return n
}

// while is the length of the characters of a class a text begins with.
func while(text string, class func(rune) bool) int {
	for at, r := range text {
		if !class(r) {
			return at
		}
	}
	return len(text)
}

func sign(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

func lineEnd(r rune) bool { return r == '\r' || r == '\n' }
