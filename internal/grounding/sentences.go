package grounding

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Block gives how much of a text is a block that is over, and can be judged: a
// paragraph, or a line of a list, a table or a heading. 0: none is.
func Block(text string) int {
	for from := 0; ; {
		n := strings.IndexByte(text[from:], '\n')
		if n < 0 {
			return 0
		}
		end := from + n + 1
		line := strings.TrimSpace(text[from : end-1])
		if line == "" || apart(line) {
			for end < len(text) && (text[end] == '\n' || text[end] == '\r') {
				end++
			}
			return end
		}
		if end < len(text) && (text[end] == '\n' || apart(firstLine(text[end:]))) && strings.IndexByte(text[end:], '\n') >= 0 {
			for end < len(text) && text[end] == '\n' {
				end++
			}
			return end
		}
		from = end
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// apart reports whether a line stands for itself.
func apart(line string) bool {
	if line == "" {
		return false
	}
	switch line[0] {
	case '#', '|', '>':
		return true
	case '-', '*', '+':
		return len(line) > 1 && line[1] == ' ' || strings.Trim(line, "-*") == ""
	case '`':
		return strings.HasPrefix(line, "```")
	}
	k := 0
	for k < len(line) && line[k] >= '0' && line[k] <= '9' {
		k++
	}
	return k > 0 && k <= 2 && k+1 < len(line) && (line[k] == '.' || line[k] == ')') && line[k+1] == ' '
}

// abbreviations do not end a sentence.
var abbreviations = words(`nr art abs ca bzw dr prof st str vgl evtl ggf inkl usw z b d h u a o i v vs no al etc eg ie mr mrs ms co bd ff f rn ziff
	s p tel gem lt mio mrd tsd std min jan feb mär mar apr jun jul aug sep sept okt oct nov dez dec mo di mi do fr sa so mon tue wed thu fri sat sun hrsg rop`)

// starts are words that begin a sentence, so that a dot before them ends one
// even after a number.
var starts = words(`der die das den dem ein eine es er sie wir ihr ich du am an auf aus bei bis da dann dazu danach daher dort für hier im in mit nach
	noch außerdem zudem bitte soll möchtest the a an it you your there this that these on in at for he she we they if please then also next`)

// maxAside bounds what stands in brackets in the middle of a sentence.
const maxAside = 120

// sentences gives where each sentence of a block ends, with the white space
// behind it.
func sentences(text string) []int {
	var ends []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			if rest := firstLine(text[i+1:]); apart(rest) || i > 0 && text[i-1] == '\n' && rest != "" {
				ends = append(ends, i+1)
			}
		case '(':
			if n := strings.IndexAny(text[i+1:], "()\n"); n > 0 && n < maxAside && text[i+1+n] == ')' { // (our ref. 2026/0081)
				i += n
			}
		case '.', '!', '?':
			if end := ending(text, i); end > 0 {
				ends = append(ends, end)
				i = end - 1
			}
		case '[':
			if n := strings.IndexByte(text[i:], ']'); n > 0 && n < maxName {
				i += n
			}
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(text) {
		ends = append(ends, len(text))
	}
	return ends
}

// ending is where a sentence ends that may end with the mark at i; 0: it does
// not.
func ending(text string, i int) int {
	j := i + 1
	for j < len(text) && strings.ContainsRune(".!?)\"”“»*_", rune(text[j])) {
		j++
	}
	for j < len(text) { // quotes of several bytes
		r, n := utf8.DecodeRuneInString(text[j:])
		if r != '“' && r != '”' && r != '«' {
			break
		}
		j += n
	}
	if j < len(text) && text[j] != ' ' && text[j] != '\n' {
		return 0
	}
	k := skipSpace(text, j)
	for k < len(text) && text[k] == '[' { // markers behind it are its own
		n := strings.IndexByte(text[k:], ']')
		if n < 0 || !isMarker(text[k:k+n+1]) {
			break
		}
		k = skipSpace(text, k+n+1)
	}
	if k >= len(text) {
		return len(text)
	}
	if text[i] != '.' {
		return k
	}
	r, _ := utf8.DecodeRuneInString(text[k:])
	if unicode.IsLower(r) || unicode.IsDigit(r) && text[i-min(i, 1)] <= '9' && text[i-min(i, 1)] >= '0' {
		return 0
	}
	before := i
	for before > 0 && isWordByte(text[before-1]) {
		before--
	}
	w := strings.ToLower(text[before:i])
	if w == "" { // behind a bracket, a quote or a figure's sign
		if before > 0 && strings.IndexByte(")]}\"%*_`", text[before-1]) >= 0 || quoteEnds(text[:before]) {
			return k
		}
		return 0
	}
	if abbreviations[w] {
		return 0
	}
	if c := w[len(w)-1]; c >= '0' && c <= '9' && len(w) <= 2 { // 16. Mai, am 16.05. Klage einreichen
		next := k
		for next < len(text) && isWordByte(text[next]) {
			next++
		}
		if !starts[strings.ToLower(text[k:next])] {
			return 0
		}
	}
	return k
}

func quoteEnds(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r == '“' || r == '”' || r == '«' || r == '€'
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}
