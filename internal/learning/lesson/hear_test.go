package lesson

import (
	"fmt"
	"strings"
	"testing"
)

// What people note under answers, by what it asks for; "-" nothing. Those of
// the second list were said of answers they liked.
func TestNotesAreReadForWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	for liked, list := range map[bool]map[string][]string{
		false: {
			"length=short": {
				"too long", "Too long!", "This answer is way too long.", "that's far too long, please be brief", "Zu lang", "viel zu lang", "Die Antwort ist zu lang.", "zu ausführlich",
				"shorter please", "Please keep it short.", "kürzer bitte", "Bitte kürzer", "Bitte kurz", "fass dich kurz", "Antworte bitte kurz und knapp", "weniger Text", "zu viel Text",
				"be more concise", "I want short answers", "too verbose", "don't be so long", "Not so long please", "nicht so lang", "in two sentences please", "In zwei Sätzen bitte",
				"too much text, get to the point", "Komm zum Punkt", "too wordy.", "way too detailed", "I prefer short answers", "Halte dich kurz", "should not be too long", "TL;DR",
			},
			"length=long": {
				"too short", "Too brief.", "zu kurz", "zu knapp", "more detail please", "I need more details", "bitte ausführlicher", "mehr Details bitte", "not detailed enough", "nicht ausführlich genug",
				"please elaborate", "longer please", "Bitte länger", "a bit longer", "should not be too short",
			},
			"list=no": {
				"no bullet points", "Please don't use bullet points", "stop using lists", "I hate bullet lists", "too many bullet points", "keine Aufzählungen", "Bitte ohne Stichpunkte", "nicht schon wieder Listen",
				"all these bullet points are annoying", "Stichpunkte nerven", "avoid lists", "Stichpunkte weglassen bitte", "running text instead of bullet points", "Fließtext statt Aufzählung",
			},
			"list=yes": {
				"use bullet points", "please as a list", "Bitte als Liste", "in Stichpunkten bitte", "I prefer bullet points", "mit Aufzählung wäre es besser", "a numbered list please", "lieber Stichpunkte",
				"bullet points instead of running text", "make it a list",
			},
			"language=de":              {"in German please", "auf Deutsch bitte", "Bitte auf Deutsch", "not in English", "why in English?", "Warum auf Englisch?", "Nicht auf Englisch", "please answer in German"},
			"language=en":              {"in English please", "auf Englisch bitte", "don't answer in German", "English, please"},
			"code=first":               {"code first", "please show the code first", "Code zuerst", "erst den Code bitte", "start with the code", "put the code before the explanation"},
			"table=yes":                {"please use a table", "als Tabelle bitte", "a table would be better", "eine Tabelle wäre besser", "put it into a table", "table missing", "Tabelle fehlt"},
			"table=no":                 {"no tables", "keine Tabellen", "ohne Tabelle bitte", "tables are annoying"},
			"heading=no":               {"no headings please", "keine Überschriften", "without headings", "too many headings"},
			"heading=yes":              {"use headings", "bitte mit Überschriften", "Überschriften fehlen"},
			"address=du":               {"bitte duzen", "du bitte, nicht siezen", "Bitte nicht siezen", "Sprich mich mit du an"},
			"address=sie":              {"bitte siezen", "Bitte nicht duzen"},
			"closing=no":               {"no closing question", "stop ending with a question", "Keine Rückfragen am Ende", "don't end with a question", "bitte ohne Rückfrage", "no follow-up questions please"},
			"emoji=no":                 {"no emojis", "keine Emojis bitte", "lass die Emojis weg", "emojis are annoying"},
			"opening=no":               {"no introduction", "skip the preamble", "ohne Einleitung", "start with the answer", "answer first", "spar dir die Floskeln", "Gleich zur Sache"},
			"example=yes":              {"give an example", "more examples please", "ein Beispiel bitte", "mit Beispiel wäre gut", "examples are missing", "Beispiele fehlen", "zu wenige Beispiele", "not enough examples"},
			"example=no":               {"no examples", "ohne Beispiele bitte"},
			"simple=yes":               {"too complicated", "zu kompliziert", "too technical", "simpler please", "einfacher bitte", "bitte in einfacher Sprache", "too much jargon", "ohne Fachbegriffe", "hard to understand"},
			"simple=no":                {"too basic", "zu simpel", "more technical please"},
			"length=short list=no":     {"too long, and no bullet points please", "Zu lang. Keine Aufzählungen."},
			"length=short language=de": {"kürzer und auf Deutsch"},
			"list=no table=yes":        {"use tables instead of lists", "Tabelle statt Liste"},
			"-": {
				"", "wrong", "That is not true.", "the deadline is wrong", "This took too long", "It takes too long to load", "das hat zu lange gedauert", "Falsch: die Frist ist drei Monate", "bad", "not helpful",
				"short", "The list of members is incomplete", "the example is wrong", "Der Code funktioniert nicht", "in German law this is different", "you forgot the second table row", "shorter or longer, I do not care: too long, too short",
				"Das Beispiel ist falsch", "the table has an error", "the third heading is misspelt",
			},
		},
		true: {
			"length=short": {"short and clear", "nice and short", "kurz und knapp", "I like that it is short", "Schön kurz!", "to the point", "concise"},
			"length=long":  {"detailed", "so detailed, great", "schön ausführlich"},
			"list=yes":     {"love the bullet points", "Die Aufzählung ist super", "good list form", "bullet points!"},
			"list=no":      {"I like that there are no bullet points", "gut: keine Aufzählung"},
			"table=yes":    {"great table", "Die Tabelle hilft"},
			"language=de":  {"gut, dass es auf Deutsch ist", "good that it is in German"},
			"example=yes":  {"I like the example", "gutes Beispiel"},
			"simple=yes":   {"easy to understand", "gut verständlich"},
			"-":            {"thanks", "great", "genau richtig", "not long", "correct!"},
		},
	} {
		for want, notes := range list {
			for _, note := range notes {
				var got []string
				for _, w := range heard(note, liked) {
					got = append(got, fmt.Sprintf("%s=%s", w.kind, w.value))
				}
				if all := strings.Join(got, " "); all != want && (want != "-" || all != "") {
					t.Errorf("%q (liked: %v) asks for %q, want %q", note, liked, all, want)
				}
			}
		}
	}
	if got := heard(strings.Repeat("This is material that somebody pasted. It is too long. ", 40), false); got != nil {
		t.Errorf("a page of text is read as a note: %v", got)
	}
}
