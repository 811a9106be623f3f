package lesson

import (
	"math"
	"regexp"
	"strings"
	"unicode"

	"liminal/internal/words"
)

// shape is how a text is written, whatever it says.
type shape struct {
	words    int
	sentence float64 // words of a sentence, on average
	items    int     // of lists
	rows     int     // of tables
	headings int
	code     int // 0: none, 1: it comes first, 2: prose comes before it
	german   bool
	informal int // times a person is addressed as du, less those as Sie
	asks     bool
	emojis   int
	opens    bool // with words that answer nothing
	examples int
}

// shapeOf reads a text's shape.
func shapeOf(text string) shape {
	text = strings.TrimSpace(aside.ReplaceAllString(quoteMark.ReplaceAllString(text, "$1"), ""))
	s := shape{german: words.Detect(text) == words.German}
	prose, last := 0, ""
	for _, part := range words.Sentences(text) {
		line := text[part.Start:part.End]
		n := len(strings.Fields(line))
		switch part.Form {
		case words.Heading:
			s.headings++
		case words.Row:
			s.rows++
		case words.Fence, words.Code:
			if s.code == 0 {
				s.code = 1
				if s.words > fewWords {
					s.code = 2
				}
			}
			continue
		case words.Item:
			if item.MatchString(line) {
				s.items++
			}
			prose++
		default:
			prose++
			if bold.MatchString(line) {
				s.headings++
			}
		}
		s.words += n
		last = line
	}
	s.sentence = float64(s.words) / float64(max(prose, 1))
	s.asks = strings.HasSuffix(strings.TrimRight(last, " *_)\"”“"), "?")
	s.informal = len(informal.FindAllString(text, -1)) - len(formal.FindAllString(text, -1))
	s.opens = filler.MatchString(strings.ToLower(text[:min(len(text), 200)]))
	s.examples = len(exampleIn.FindAllString(text, -1))
	for _, r := range text {
		if unicode.Is(unicode.So, r) && r > 0x2190 || r >= 0x1F300 && r <= 0x1FAFF {
			s.emojis++
		}
	}
	return s
}

// fewWords may stand before code that comes first: "Here it is:".
const fewWords = 12

var (
	// What quotes are marked with says nothing of how they are written: "> " before
	// their lines, and "— **Title**, heading" and "[1]" behind them.
	quoteMark = regexp.MustCompile(`(?m)^(\s*(?:- )?)> ?`)
	aside     = regexp.MustCompile(`(?m)^\s*— \*\*.*$| ?\[\d{1,3}\]`)

	numbered  = regexp.MustCompile(`(?m)^\s*\d{1,3}[.)]\s`)
	item      = regexp.MustCompile(`^\s*(?:[-*+•◦‣▪–]|\d{1,3}[.)]|\[[ xX]\])\s`)
	bold      = regexp.MustCompile(`^\*\*[^*\n]{1,80}\*\*:?$`)
	informal  = regexp.MustCompile(`\b(?:[Dd]u|[Dd]ich|[Dd]ir|[Dd]ein(?:e[mnrs]?)?)\b`)
	formal    = regexp.MustCompile(`[^.!?:\s"„] (?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)\b`)
	filler    = regexp.MustCompile(`^\W*(?:sure|certainly|of course|great question|good question|absolutely|happy to|i'd be happy|i would be happy|thank you for|thanks for|let me|as an ai|natürlich|gerne?\b|klar\b|selbstverständlich|gute frage|danke für|vielen dank|ich helfe|sehr gern)`)
	exampleIn = regexp.MustCompile(`(?i)\b(?:for example|for instance|e\.g\.|zum beispiel|beispielsweise|z\. ?b\.)`)
)

// telling is how many words a text has at least of which it says something that
// they are no list, no table and so on.
const telling = 12

// value is what a shape says of a kind, "" for nothing. usual is what the
// person's answers mostly look like.
func (s shape) value(k kind, usual shape) string {
	long := s.words >= telling
	switch k {
	case kindLength:
		return ratio(float64(s.words), float64(usual.words), "short", "long")
	case kindSimple:
		return ratio(s.sentence, usual.sentence, "yes", "no")
	case kindList:
		return yesNo(s.items > 1, long)
	case kindTable:
		return yesNo(s.rows > 1, long)
	case kindHeading:
		return yesNo(s.headings > 0, long)
	case kindEmoji:
		return yesNo(s.emojis > 0, long)
	case kindExample:
		return yesNo(s.examples > 0, long)
	case kindClosing:
		return yesNo(s.asks, long)
	case kindOpening:
		return yesNo(s.opens, long)
	case kindLanguage:
		if s.words < 4 {
			return ""
		}
		return map[bool]string{true: "de", false: "en"}[s.german]
	case kindCode:
		return [...]string{"", "first", "last"}[s.code]
	case kindAddress:
		if !s.german || s.informal == 0 {
			return ""
		}
		return map[bool]string{true: "du", false: "sie"}[s.informal > 0]
	}
	return ""
}

func yesNo(is, known bool) string {
	switch {
	case is:
		return "yes"
	case known:
		return "no"
	}
	return ""
}

// A text is short, or long, from these shares of another's words on.
const (
	shortShare = 0.75
	longShare  = 4.0 / 3
)

func ratio(of, to float64, less, more string) string {
	switch {
	case of == 0 || to == 0:
		return ""
	case of <= shortShare*to:
		return less
	case of >= longShare*to:
		return more
	}
	return ""
}

// alike is how much two shapes have in common, 0 to 1.
func (s shape) alike(o shape) float64 {
	sum := closeness(float64(s.words), float64(o.words)) + closeness(s.sentence, o.sentence)
	n := 2.0
	for _, same := range []bool{
		s.items > 1 == (o.items > 1), s.rows > 1 == (o.rows > 1), s.headings > 0 == (o.headings > 0), s.code == o.code,
		s.german == o.german, s.asks == o.asks, s.emojis > 0 == (o.emojis > 0), s.opens == o.opens,
	} {
		if n++; same {
			sum++
		}
	}
	return sum / n
}

// closeness is 1 for equal sizes, and less the more often one goes into the
// other.
func closeness(a, b float64) float64 {
	return 1 / (1 + math.Abs(math.Log((a+1)/(b+1))))
}
