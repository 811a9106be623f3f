package extractive

import (
	"regexp"
	"slices"
	"strings"

	"liminal/internal/knowledge"
)

const (
	numberWord = `(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|ein(?:e[nmrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|fünfzehn|zwanzig|dreißig|vierzig|fünfzig|sechzig|neunzig|hundert)`
	monthWord  = `(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|march|märz|april?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\b`
	unitWord   = `(?:%|percent|per cent|prozent|euros?|eur|dollars?|usd|pounds?|cents?|rm|chf|seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|quartale?|jahre?n?|people|persons?|members?|personen|mitglieder|times|mal|km|kg|m|gb|mb)`
)

// figure is a number, date or amount as a text writes it.
var figure = regexp.MustCompile(`(?i)(?:^|[^\pL\pN.])(\d{1,2}\.? ` + monthWord + `(?: \d{4})?|` + monthWord + ` \d{1,2}(?:, \d{4})?|(?:[€$£]\s?)?\d[\d.,:/-]*(?:\s?(?:[€$£%]|(?:-?[\pL]+[ -])?` + unitWord + `\b))?|` + numberWord + `[ -](?:[\pL]+[ -])?` + unitWord + `\b)`)

// counting is numbers that only count: items, sections and paragraphs.
var counting = regexp.MustCompile(`(?mi)^[\s#>*-]*(?:\d{1,3}[.)]|\d+(?:\.\d+)+|§+\s*\d+\w?)\s|\((?:\d{1,3}|[a-z])\)|(?:§+|section|chapter|article|page|step|abschnitt|kapitel|artikel|absatz|seite|ziffer|nr\.|no\.)\s*\d[\d.]*`)

// figures are the numbers, dates and amounts of a text as they stand there,
// each once.
func figures(text string) []string {
	var out []string
	text = knowledge.Fold(counting.ReplaceAllString(text, " "))
	for _, m := range figure.FindAllStringSubmatch(text, -1) {
		f := strings.TrimRight(m[1], ".,:/- ")
		if f != "" && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, f) }) {
			out = append(out, f)
		}
	}
	return out
}

// differ reports whether two texts both give figures, and not the same.
func differ(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	same := func(x, y []string) bool {
		return !slices.ContainsFunc(x, func(f string) bool {
			return !slices.ContainsFunc(y, func(g string) bool { return strings.EqualFold(f, g) })
		})
	}
	return !same(a, b) || !same(b, a)
}
