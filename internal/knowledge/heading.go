package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"liminal/internal/knowledge/extract"
)

// calls reports whether a text is one of the headings above the passage, or
// the title: it names what is said and says nothing.
func (p *Passage) calls(text string) bool {
	if len(text) > 2*extract.MaxHeading {
		return false
	}
	plain := alnum(text)
	return plain != "" && (plain == alnum(p.Title) ||
		slices.ContainsFunc(strings.Split(p.Heading, extract.HeadingSeparator), func(h string) bool { return calledBy(alnum(h), plain) }))
}

// calledBy reports whether a text is a heading, that without its number, or the
// number: "2.3. Where is it?" and "Chapter 2. Places" may be read as two sentences.
func calledBy(heading, text string) bool {
	if heading == text {
		return true
	}
	number := headingNumber.FindString(heading)
	return number != "" && len(heading) > len(number) && (heading[len(number):] == text || number == text || strings.Trim(text, digits) == "" && strings.HasPrefix(heading, text))
}

// headingNumber is what a heading begins with that only counts, of its letters
// and digits.
var headingNumber = regexp.MustCompile(`^(?:chapter|section|part|article|appendix|kapitel|abschnitt|teil|artikel|anhang)?\d+`)

// ofPart is the rating of what stands in a section that is asked for by its
// number, whatever its words.
const ofPart = 1.0

// numbered reports whether a heading above the passage has a number: "7" is
// that of "7. Additional Terms", "§ 7" and "Section 7".
func (p *Passage) numbered(number string) bool {
	return slices.ContainsFunc(strings.Split(p.Heading, extract.HeadingSeparator), func(h string) bool {
		m := headNumber.FindStringSubmatch(h)
		return m != nil && m[1] == number
	})
}

var headNumber = regexp.MustCompile(`^(?:§\s*|(?i:section|clause|article|chapter|abschnitt|artikel|kapitel|ziffer)\s+)?(\d{1,3}(?:\.\d{1,3})*)(?:[.):\s]|$)`)

// alnum is the letters and digits of a text, in lower case.
func alnum(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s))
}
