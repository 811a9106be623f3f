package eval

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"

	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/model"
	"liminal/internal/words"
)

// manners are how an answer is written, by kind of wish.
type manners map[string]string

// standIn answers in place of a language model: in manners that a lot draws for
// each question, except where a lesson it is told says otherwise. It knows
// nothing; what it shows is what lessons are worth to a model that follows them
// all.
type standIn struct {
	wishes []wish
	seed   uint64
}

func (s standIn) answer(_ context.Context, q Question, adapters []model.Adapter) (string, error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(q.Text)) // it never fails
	r := rand.New(rand.NewPCG(s.seed, h.Sum64()))
	m := manners{}
	for i := 0; i < len(s.wishes); i += 2 {
		m[s.wishes[i].Kind] = s.wishes[i+r.IntN(2)].Value
	}
	if r.IntN(2) == 0 {
		m["length"] = ""
	}
	for _, a := range adapters {
		for line := range strings.Lines(a.Instructions) {
			text, told := strings.CutPrefix(strings.TrimSpace(line), "- ")
			if kind, value, known := lesson.Meaning(learning.Lesson{Text: text}); told && known {
				m[kind] = value
			}
		}
	}
	return m.write(q.Text, r), nil
}

// The sentences that texts are made of: of a few words and of many.
var sentencesOf = map[string]map[string][]string{
	"en": {
		"yes": {"The answer to %s is known.", "It is set in one place.", "Most people leave it as it is.", "A change takes effect at once.", "You can undo it later.", "The default is fine here.", "It has one limit.", "Old versions do it another way.", "Nothing else depends on it.", "Ask an administrator if unsure."},
		"no": {
			"With regard to %s, the configuration that applies is the one that was evaluated last in the order of precedence which the specification lays down.",
			"The parameter is resolved at initialisation, after which its value is propagated to each of the subsystems that have registered an interest in it.",
			"Implementations that predate the current revision exhibit a divergent behaviour, which ought to be taken into account wherever interoperability is required.",
			"A modification becomes effective upon the next evaluation, provided that no overriding declaration of a higher precedence has been encountered before.",
			"Consult the relevant section of the reference for the invariants that have to hold throughout, as well as for the exceptions that are enumerated there.",
			"The permissible range is bounded by the width of the underlying representation, and values beyond it are rejected with a diagnostic at validation.",
		},
	},
	"de": {
		"yes": {"Die Antwort zu %s ist bekannt.", "Es wird an einer Stelle gesetzt.", "Die meisten lassen es so.", "Eine Änderung gilt sofort.", "Das lässt sich später rückgängig machen.", "Die Vorgabe passt hier.", "Es gibt eine Grenze.", "Alte Fassungen machen es anders.", "Sonst hängt nichts davon ab.", "Im Zweifel hilft die Verwaltung."},
		"no": {
			"Was %s betrifft, so gilt diejenige Konfiguration, die in der von der Spezifikation festgelegten Rangfolge als letzte ausgewertet worden ist.",
			"Der Parameter wird bei der Initialisierung aufgelöst und anschließend an alle Teilsysteme weitergereicht, die sich dafür angemeldet haben.",
			"Implementierungen, die älter als die gegenwärtige Fassung sind, zeigen ein abweichendes Verhalten, das bei der Interoperabilität zu berücksichtigen ist.",
			"Eine Änderung wird mit der nächsten Auswertung wirksam, sofern nicht zuvor eine übergeordnete Vereinbarung mit höherem Rang angetroffen worden ist.",
			"Der einschlägige Abschnitt der Referenz nennt die Invarianten, die durchgehend gelten müssen, sowie die dort im Einzelnen aufgezählten Ausnahmen.",
			"Der zulässige Bereich ist durch die Breite der zugrunde liegenden Darstellung begrenzt, und Werte darüber werden bei der Prüfung zurückgewiesen.",
		},
	},
}

// write is a text about a question in some manner.
func (m manners) write(question string, r *rand.Rand) string {
	language := m["language"]
	bank := sentencesOf[language][m["simple"]]
	n := map[string]int{"short": 2, "": 6, "long": 10}[m["length"]]
	if m["simple"] == "no" {
		n = map[string]int{"short": 1, "": 3, "long": 6}[m["length"]]
	}
	var list []string
	for i, at := range r.Perm(len(bank)) {
		if i < n {
			list = append(list, bank[at])
		}
	}
	if m["length"] == "long" { // long in few words a sentence takes more of them
		list = append(list, list...)
	}
	for i, s := range list {
		if strings.Contains(s, "%s") {
			list[i] = fmt.Sprintf(s, topic(question))
		}
	}
	return m.set(list)
}

// topic is a question's longest word.
func topic(question string) string {
	longest := ""
	for _, w := range words.Split(question) {
		if len(w.Text) > len(longest) {
			longest = question[w.Start:w.End]
		}
	}
	return longest
}

// set puts sentences into the form that is asked for.
func (m manners) set(list []string) string {
	say := func(en, de string) string {
		if m["language"] == "de" {
			return de
		}
		return en
	}
	var parts []string
	add := func(kind, value, en, de string) {
		if m[kind] == value {
			parts = append(parts, say(en, de))
		}
	}
	add("opening", "yes", "Sure, happy to help with that.", "Gern, das beantworte ich.")
	add("code", "first", "```\nset value\n```", "```\nset value\n```")
	add("heading", "yes", "## In short", "## In Kürze")
	if m["list"] == "yes" {
		parts = append(parts, "- "+strings.Join(list, "\n- "))
	} else {
		parts = append(parts, strings.Join(list, " "))
	}
	add("example", "yes", "For example, a value of 3 works.", "Zum Beispiel geht der Wert 3.")
	add("table", "yes", "| value | effect |\n|---|---|\n| 1 | on |\n| 0 | off |", "| Wert | Wirkung |\n|---|---|\n| 1 | an |\n| 0 | aus |")
	add("code", "last", "```\nset value\n```", "```\nset value\n```")
	if m["language"] == "de" {
		add("address", "du", "", "So kannst du deinen Wert ändern.")
		add("address", "sie", "", "So können Sie Ihren Wert ändern.")
	}
	add("emoji", "yes", "Done 🙂", "Fertig 🙂")
	add("closing", "yes", "Shall I show more of it?", "Soll mehr davon kommen?")
	return strings.Join(parts, "\n\n")
}

var marks = regexp.MustCompile(`(?m)^(?:- )?(?:  )?>\s?|^\s*[-*•]\s+|\s*\[\d+\]|^— .*$|^#+ .*$`)

// corrected is an answer as a person would have written it: its own sentences
// in the form they want. They do not translate it.
func corrected(answer string, wishes []wish) string {
	m := manners{"language": string(words.Detect(answer))}
	for _, w := range wishes {
		if w.Kind != "language" {
			m[w.Kind] = w.Value
		}
	}
	text := strings.TrimSpace(marks.ReplaceAllString(answer, ""))
	var list []string
	for _, s := range words.Sentences(text) {
		if s.Form == words.Prose || s.Form == words.Item {
			list = append(list, strings.Join(strings.Fields(text[s.Start:s.End]), " "))
		}
	}
	switch {
	case len(list) == 0:
		list = []string{text}
	case m["length"] == "short":
		list = list[:min(2, len(list))]
	case m["length"] == "long":
		for i := 0; len(strings.Fields(strings.Join(list, " "))) < longWords; i++ {
			list = append(list, list[i])
		}
	}
	return m.set(list)
}
