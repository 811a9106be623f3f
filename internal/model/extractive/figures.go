package extractive

import (
	"regexp"
	"slices"
	"strings"

	"liminal/internal/knowledge"
)

const (
	numberWord = `(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|ein(?:e[nmrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|fünfzehn|zwanzig|dreißig|vierzig|fünfzig|sechzig|neunzig|hundert)`
	unitWord   = `(?:%|percent|per cent|prozent|euros?|eur|dollars?|usd|pounds?|cents?|rm|chf|seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|quartale?|jahre?n?|people|persons?|members?|personen|mitglieder|times|mal|km|kg|m|gb|mb)`
)

// figure is a number, date or amount as a text writes it.
var figure = regexp.MustCompile(`(?i)(?:[€$£]\s?)?\d[\d.,:/-]*(?:\s?(?:[€$£%]|(?:-?[\pL]+[ -])?` + unitWord + `\b))?|\b` + numberWord + `[ -](?:[\pL]+[ -])?` + unitWord + `\b`)

// figures are the numbers, dates and amounts of a text as they stand there,
// each once.
func figures(text string) []string {
	var out []string
	for _, f := range figure.FindAllString(knowledge.Fold(text), -1) {
		f = strings.TrimRight(f, ".,:/- ")
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
