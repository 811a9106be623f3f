package lesson

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/learning"
	"liminal/internal/words"
)

// The reasons a lesson is refused, as details of the error name them.
const (
	ReasonLength    = "length"
	ReasonLine      = "line"
	ReasonAddress   = "address"
	ReasonTool      = "tool"
	ReasonOrder     = "order"
	ReasonQuote     = "quote"
	ReasonDirective = "directive"
)

// quoted is how many words in a row a lesson may not share with what it was
// derived from: it would carry what somebody wrote into every answer.
const quoted = 6

var (
	address = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://|www\.|\b[a-z0-9-]+\.(?:com|org|net|io|de|ai|dev|app|info|eu|co|uk|ru|cn|me|xyz)\b|[^\s@]+@[^\s@]+\.[^\s@]+|data:|javascript:`)
	// order is a word of orders to disregard what else is told, or to give away
	// what is not theirs. overrule is such an order for certain: a person may well
	// write "Ignore my typos".
	order = regexp.MustCompile(`(?i)\b(?:ignor\w*|disregard\w*|forget\w*|overrid\w*|overrul\w*|bypass\w*|circumvent\w*|disobey\w*|pretend\w*|reveal\w*|leak\w*|` +
		`vergiss|vergessen|missacht\w*|umgeh\w*|verrat\w*|preisgeben|gib dich als)\b`)
	overrule = regexp.MustCompile(`(?i)\b(?:jail ?break\w*|exfiltrat\w*|developer mode|system ?prompts?|(?:previous|prior|above|these|your|all|any) (?:instructions?|rules|guidelines|polic(?:y|ies))|safety rules|passwords?|api keys?|credentials?|` +
		`(?:alle|deine|diese|die|vorherigen?|obigen?|jede) (?:anweisung(?:en)?|regeln?|richtlinien?|vorgaben?)|passw[oö]rt\w*|zugangsdaten)\b`)
)

// Check refuses what is no sentence about manner, with an error of fault.Invalid
// whose details name the reason: one that is empty, longer than
// learning.MaxLesson or of several lines; that holds an address, the name of a
// tool, or an order to disregard what else a model is told; that repeats six
// words in a row of the events it was made of; or whose directive is none. A
// lesson is told to a model before every answer, and what it is made of may
// have been written by anybody. What rules write needs no look at cases.
func Check(l learning.Lesson, cases []learning.Case, toolNames []string) error {
	refuse := func(reason, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).With(map[string]any{"field": "text", "reason": reason})
	}
	text := strings.TrimSpace(l.Text)
	if n := utf8.RuneCountInString(text); n == 0 || n > learning.MaxLesson {
		return refuse(ReasonLength, "A lesson has 1 to %d characters; this one has %d.", learning.MaxLesson, n)
	}
	if strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsAny(text, "<>{}`") {
		return refuse(ReasonLine, "A lesson is one line of plain text, without marks of code.")
	}
	if address.MatchString(text) {
		return refuse(ReasonAddress, "A lesson says how to answer; addresses have no place in it.")
	}
	folded := " " + words.Fold(text) + " "
	for _, name := range toolNames {
		if name != "" && named(folded, words.Fold(name)) {
			return refuse(ReasonTool, "A lesson says how to answer; it may not name the tool %s.", name)
		}
	}
	if overrule.MatchString(folded) || l.MadeBy != learning.ByPerson && order.MatchString(folded) {
		return refuse(ReasonOrder, "A lesson says how to answer. It cannot tell the assistant to disregard or to give away anything.")
	}
	if d := l.Directive; d != nil && wishOf(kind(d.Kind), d.Value).directive() == nil {
		return refuse(ReasonDirective, "There is no directive %s: %s.", d.Kind, d.Value)
	}
	if _, ours := ofRules(text); ours || l.MadeBy == learning.ByPerson {
		return nil
	}
	for _, c := range cases {
		for _, source := range []string{c.Question, c.Answer, c.Corrected, c.Notes(), c.Situation} {
			if shares(text, source) {
				return refuse(ReasonQuote, "A lesson may not repeat %d words in a row of what it was made of.", quoted)
			}
		}
	}
	return nil
}

// named reports whether a text holds a name as a word of its own.
func named(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inName(before) && !inName(after) {
			return true
		}
		at = end
	}
}

func inName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// shares reports whether two texts have a run of words in common that is too
// long for chance.
func shares(a, b string) bool {
	if b == "" {
		return false
	}
	runs := map[string]bool{}
	each(a, func(run string) bool { runs[run] = true; return false })
	return len(runs) > 0 && each(b, func(run string) bool { return runs[run] })
}

// each calls f with every run of words of a text until it is true.
func each(text string, f func(run string) bool) bool {
	var list []string
	for _, w := range words.Split(text) {
		list = append(list, w.Text)
	}
	for i := 0; i+quoted <= len(list); i++ {
		if f(strings.Join(list[i:i+quoted], " ")) {
			return true
		}
	}
	return false
}
