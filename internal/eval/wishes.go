package eval

import (
	_ "embed" // wishes.json
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"

	"liminal/internal/words"
)

// wish is what a simulated person wants of every answer, with ways to say so.
type wish struct {
	Kind  string   `json:"kind"`
	Value string   `json:"value"`
	EN    []string `json:"en"`
	DE    []string `json:"de"`
}

//go:embed wishes.json
var wishTexts []byte

// readWishes are all of them, the two of a kind in a row.
func readWishes() ([]wish, error) {
	var list []wish
	err := json.Unmarshal(wishTexts, &list)
	return list, err
}

// draw picks n wishes of different kinds; of may leave kinds out.
func drawWishes(list []wish, n int, of func(kind string) bool, r *rand.Rand) []wish {
	var out []wish
	for _, i := range r.Perm(len(list) / 2) {
		if w := list[2*i+r.IntN(2)]; len(out) < n && of(w.Kind) {
			out = append(out, w)
		}
	}
	return out
}

// note is one of the ways to say a wish.
func (w wish) note(german bool, r *rand.Rand) string {
	if german {
		return w.DE[r.IntN(len(w.DE))]
	}
	return w.EN[r.IntN(len(w.EN))]
}

// What a person who wants it calls short or long, in words, and simple or
// technical, in words of the longest sentence.
const (
	shortWords, longWords    = 45, 90
	plainWords, learnedWords = 15, 18
)

var (
	quoteMarks = regexp.MustCompile(`(?m)^(?:- )?(?:  )?> ?`)
	listLine   = regexp.MustCompile(`(?m)^\s*(?:[-*•]|\d{1,2}[.)])\s+\S`)
	tableLine  = regexp.MustCompile(`(?m)^\s*\|.*\|\s*$`)
	headLine   = regexp.MustCompile(`(?m)^#{1,6} \S`)
	example    = regexp.MustCompile(`(?i)\bfor example\b|\bfor instance\b|\be\.g\.|\bzum beispiel\b|\bbeispielsweise\b|\bz\. ?B\.`)
	emoji      = regexp.MustCompile(`[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}]`)
	opening    = regexp.MustCompile(`(?i)^\s*(?:sure|of course|certainly|great question|happy to|gern|natürlich|klar|gute frage)\b`)
	du, sie    = regexp.MustCompile(`\b[Dd](?:u|ich|ir|ein\w*)\b`), regexp.MustCompile(`[\p{L},] (?:Sie|Ihnen|Ihr\w*)\b`)
)

// kept reports whether an answer is as a person wants it; known is false where
// the wish says nothing of it, such as of code where there is none. It is
// written apart from what lessons are derived with.
func (w wish) kept(answer string) (kept, known bool) {
	yes := w.Value == "yes"
	switch w.Kind {
	case "length":
		n := len(strings.Fields(answer))
		return w.Value == "short" && n <= shortWords || w.Value == "long" && n >= longWords, true
	case "list":
		items := len(listLine.FindAllString(answer, -1)) + len(listLine.FindAllString(quoteMarks.ReplaceAllString(answer, ""), -1))
		return items > 1 == yes, !yes || items > 1 || len(prose(answer)) > 2
	case "language":
		return string(words.Detect(answer)) == w.Value, true
	case "address":
		informal, formal := len(du.FindAllString(answer, -1)), len(sie.FindAllString(answer, -1))
		return informal > formal == (w.Value == "du"), informal+formal > 0
	case "opening":
		return opening.MatchString(answer) == yes, true
	case "code":
		at := strings.Index(answer, "```")
		return len(strings.Fields(answer[:max(at, 0)])) <= 12 == (w.Value == "first"), at >= 0
	case "table":
		return tableLine.MatchString(answer) == yes, true
	case "heading":
		return headLine.MatchString(answer) == yes, true
	case "example":
		return example.MatchString(answer) == yes, true
	case "simple":
		n := longestSentence(answer)
		return yes && n <= plainWords || !yes && n >= learnedWords, true
	case "emoji":
		return emoji.MatchString(answer) == yes, true
	default:
		return strings.HasSuffix(strings.TrimRight(answer, " \n"), "?") == yes, true
	}
}

// asides are the places of quotes.
var asides = regexp.MustCompile(`(?m)^\s*— .*$`)

// prose are the sentences of a text, without the places of quotes.
func prose(text string) []string {
	text = quoteMarks.ReplaceAllString(asides.ReplaceAllString(text, ""), "")
	var out []string
	for _, s := range words.Sentences(text) {
		if s.Form == words.Prose || s.Form == words.Item {
			out = append(out, text[s.Start:s.End])
		}
	}
	return out
}

// longestSentence is how many words the longest sentence has.
func longestSentence(text string) int {
	most := 0
	for _, s := range prose(text) {
		most = max(most, len(strings.Fields(s)))
	}
	return most
}
