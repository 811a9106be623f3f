package lesson

import (
	"slices"
	"strings"
	"unicode"
)

// Marks of a text that no lesson is derived from, and that can be told by rule.
const (
	markBegins   kind = "begins" // its first words, up to a mark that ends them
	markEnds     kind = "ends"   // its last line, where it has several
	markBold     kind = "bold"
	markCapitals kind = "capitals"
	markNumbered kind = "numbered"
	markQuoted   kind = "quoted"
)

var marks = []kind{markBegins, markEnds, markBold, markCapitals, markNumbered, markQuoted}

// Shares of texts from which on they have a manner in common, and up to which they
// do without it.
const (
	commonShare = 2.0 / 3
	seldomShare = 0.5
)

// Manner is how wanted texts are written, as far as that can be told by rule: what
// most of them have in common, and most of the usual ones have not. The zero value
// asks for nothing.
type Manner struct {
	wants map[kind]string
	usual shape
}

// MannerOf reads it from texts that are wanted, such as corrections, and from those
// that are usual, such as a model's own answers. Of no texts of one of the two it
// is the zero value. What a text says nothing of, such as of headings where it is
// a few words, does not count.
func MannerOf(wanted, usual []string) Manner {
	m := Manner{wants: map[kind]string{}}
	if len(wanted) == 0 || len(usual) == 0 {
		return m
	}
	m.usual = middling(usual)
	for _, k := range slices.Concat(kinds, marks) {
		of := map[string]int{}
		for _, text := range wanted {
			of[m.value(k, text)]++
		}
		for value, n := range of {
			if value == "" || float64(n) < commonShare*float64(len(wanted)) {
				continue
			}
			have := 0
			for _, text := range usual {
				if m.keeps(k, value, text) {
					have++
				}
			}
			if float64(have) <= seldomShare*float64(len(usual)) {
				m.wants[k] = value
			}
		}
	}
	return m
}

// Kinds names what it asks for, in one order, without a word of the texts.
func (m Manner) Kinds() []string {
	list := []string{}
	for _, k := range slices.Concat(kinds, marks) {
		if m.wants[k] != "" {
			list = append(list, string(k))
		}
	}
	return list
}

// Kept is how many of the things it asks for a text has; at most len(Kinds()).
func (m Manner) Kept(text string) (n int) {
	for k, value := range m.wants {
		if m.keeps(k, value, text) {
			n++
		}
	}
	return n
}

func (m Manner) keeps(k kind, value, text string) bool {
	got := m.value(k, text)
	return got == value || got == "" && value == "no" // so little that there is none of it
}

// value is what a text says of a kind, "" for nothing.
func (m Manner) value(k kind, text string) string {
	text = strings.TrimSpace(text)
	switch k {
	case markBegins:
		at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' })
		if at < 0 || text[at] == '\'' || len(strings.Fields(text[:at])) > fewBegin {
			return ""
		}
		return strings.ToLower(strings.TrimSpace(text[:at]))
	case markEnds:
		at := strings.LastIndexByte(text, '\n')
		if last := strings.ToLower(strings.TrimSpace(text[at+1:])); at >= 0 && len(strings.Fields(last)) <= fewWords {
			return last
		}
		return ""
	case markBold:
		return yes(strings.Count(text, "**") > 1)
	case markCapitals:
		return yes(text == strings.ToUpper(text) && text != strings.ToLower(text))
	case markNumbered:
		return yes(len(numbered.FindAllString(text, -1)) > 1)
	case markQuoted:
		return yes(strings.HasPrefix(text, ">") || strings.Contains(text, "\n>"))
	}
	return shapeOf(text).value(k, m.usual)
}

// fewBegin is how many words a beginning has at most that stands by itself, as a
// greeting does.
const fewBegin = 4

// yes is of what a person would wish for only where it is: that a text has no bold
// word says nothing.
func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// middling is the shape of texts of a middling length: what others are held
// against.
func middling(texts []string) shape {
	var sizes []int
	var sentences []float64
	for _, text := range texts {
		s := shapeOf(text)
		sizes, sentences = append(sizes, s.words), append(sentences, s.sentence)
	}
	slices.Sort(sizes)
	slices.Sort(sentences)
	return shape{words: sizes[len(sizes)/2], sentence: sentences[len(sentences)/2]}
}
