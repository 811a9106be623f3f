package grounding_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/cputime"
	"liminal/internal/grounding"
)

// today is a Tuesday.
var today = time.Date(2026, 5, 12, 9, 0, 0, 0, time.UTC)

const found = `{"items":[
 {"id":"c47bd2","title":"Klageerwiderung","due_date":"2026-05-16","status":"pending","project_label":"Müller ./. Nordlicht GmbH","court":"UPC LD Munich"},
 {"id":"d91e07","title":"Replik","due_date":"2026-05-29","status":"pending","project_label":"Brandt ./. Solaris AG","court":"LG Mannheim"},
 {"id":"a0b3f4","title":"Klageerwiderung","due_date":"2026-06-03","status":"pending","project_label":"Aurora Labs ./. Keller SE","court":"LG Düsseldorf"}]}`

const matter = `{"project":{"id":"mueller-nordlicht","label":"Müller ./. Nordlicht GmbH","docket":"UPC_CFI_123/2025","value":1250000.5,"kind":"infringement"},
 "deadlines":[{"id":"c47bd2","title":"Klageerwiderung","due_date":"2026-05-16"}],
 "appointments":[{"id":"t77001","title":"Mündliche Verhandlung","start_at":"2026-09-21T09:30","end_at":"2026-09-21T13:00","location":"Saal 3"}],
 "parties":[{"name":"Nordlicht GmbH","role":"defendant"},{"name":"Dr. Anja Müller","role":"claimant"}]}`

const rule = `{"items":[{"rule_code":"RoP.023","concept_label":"Klageerwiderung","deadline_text":"3 Monate ab Zustellung","legal_source":"Regel 23 VerfO"}]}`

func parsed(t testing.TB, doc string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func tell(key string) func(map[string]any) (string, string) {
	return func(v map[string]any) (string, string) { s, _ := v[key].(string); return s, s }
}

func kind(in, entity string) grounding.Kind {
	return grounding.Kind{In: in, Entity: entity, Page: func(id string) string { return "/r/matters/" + entity + "/" + id }, List: "/r/matters/" + entity, Source: "matters", Tell: tell("title")}
}

func options() grounding.Options {
	return grounding.Options{
		Checks: grounding.Checks{IDs: true, Dates: true, Numbers: true, Refs: true}, Cite: true,
		Markers: map[string]string{"deadline": "deadline", "frist": "deadline", "projekt": "project", "termin": "appointment", "rule": "rule"},
	}
}

func evidence(t testing.TB, said string) *grounding.Evidence {
	t.Helper()
	e := grounding.New(today, options())
	e.Words(said)
	project := kind("project", "project")
	project.Tell = tell("label")
	e.Result(grounding.Result{Call: "1", Tool: "search", Value: parsed(t, found), Kinds: []grounding.Kind{kind("items", "deadline")}})
	e.Result(grounding.Result{Call: "2", Tool: "detail", Value: parsed(t, matter), Kinds: []grounding.Kind{project, kind("deadlines", "deadline"), kind("appointments", "appointment")}})
	e.Result(grounding.Result{Call: "3", Tool: "rules", Value: parsed(t, rule)})
	return e
}

// judged is what is shown of a text, and what stands in no evidence.
func judged(e *grounding.Evidence, text string) (shown string, chips []grounding.Chip, unsupported []string) {
	numbers := map[string]int{}
	cite := func(r grounding.Record) int {
		id := r.Entity + r.ID
		if numbers[id] == 0 {
			numbers[id] = len(numbers) + 1
		}
		return numbers[id]
	}
	for p := range e.Judge(text, cite) {
		shown += p.Text
		chips = append(chips, p.Chips...)
		unsupported = append(unsupported, p.Unsupported...)
	}
	return shown, chips, unsupported
}

func TestFiguresOfResultsAreSupportedHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Die Klageerwiderung in Müller ./. Nordlicht GmbH ist am 16.05.2026 fällig.",
		"Die Klageerwiderung in Sache Müller ist am 16. Mai fällig.",
		"Am Samstag, 16. Mai 2026, ist sie fällig.",
		"The reply in Brandt is due on May 29, 2026.",
		"The reply in Brandt is due on 29 May.",
		"The reply in Brandt is due on the 29th of May 2026.",
		"It is due 2026-05-29.", "It is due on 05/29/2026.", "Fällig 29.5.26.",
		"Die Frist läuft am 16.05. ab. Danach folgt die Replik am 29.05.",
		"In Müller sind es noch 4 Tage.", "Müller: noch vier Tage bis zur Klageerwiderung.",
		"Die Fristen laufen am 16. und 29. Mai ab.",
		"Du hast drei Fristen.", "You have 3 deadlines.", "Diese Woche gibt es 1 Frist.",
		"Der Streitwert ist 1.250.000,50 EUR.", "The value is EUR 1,250,000.50.", "Es geht um 1,25 Mio. Euro.",
		"Das Aktenzeichen ist UPC_CFI_123/2025.", "Die Verhandlung beginnt um 9:30 Uhr und dauert 3,5 Stunden.",
		"Die Verhandlung ist am 21. September um 9.30 Uhr in Saal 3.",
		"Nach Regel 23 VerfO sind es drei Monate (RoP.023).", "Es ist eine dreimonatige Frist.",
		"Heute ist Dienstag, der 12.05.2026.",
		"Die Beklagte ist die Nordlicht GmbH, Klägerin ist Dr. Anja Müller.",
		"Das steht unter „Mündliche Verhandlung“.",
		"1. Die Klageerwiderung\n2. Die Replik\n",
		"In der Sache Brandt ./. Solaris AG läuft die Replik, in Müller die Klageerwiderung.",
		"Müller und Brandt: 16.05. und 29.05.",
		"16.05. (Klageerwiderung, Müller), 29.05. (Replik, Brandt)",
		"Bis Ende der Woche (17.05.) ist nichts weiter fällig.",
		"Das sagt https://example.org nicht."[:12] + "nicht.",
	} {
		if _, _, bad := judged(evidence(t, ""), text); bad != nil {
			t.Errorf("%s: %q is called unsupported", text, bad)
		}
	}
}

func TestFiguresThatNoResultHoldsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Die Klageerwiderung in Müller ist am 17.05.2026 fällig.":           "17.05.2026",
		"Die Klageerwiderung in Müller ist am Freitag, 16.05.2026, fällig.": "16.05.2026",
		"The reply in Brandt is due on May 28.":                             "May 28",
		"In Müller sind es noch 5 Tage.":                                    "5",
		"Du hast vier Fristen.":                                             "vier",
		"You have 4 deadlines.":                                             "4",
		"Der Streitwert ist 1.250.000,00 EUR.":                              "1.250.000,00",
		"Es geht um 1,35 Mio. Euro.":                                        "1,35 Mio",
		"Das Aktenzeichen ist UPC_CFI_124/2025.":                            "UPC_CFI_124/2025",
		"Das Aktenzeichen ist 4a O 23/22.":                                  "4a O 23/22",
		"Es geht um EP 3 456 789 B1.":                                       "EP 3 456 789 B1",
		"Die Verhandlung beginnt um 10:30 Uhr.":                             "10:30 Uhr",
		"Nach Regel 24 VerfO sind es drei Monate.":                          "24",
		"Es ist eine zweimonatige Frist.":                                   "zweimonatige",
		"Die Frist hat die Nummer c47bd3.":                                  "c47bd3",
		"Die Klageerwiderung ist fällig [#deadline-c47bd9].":                "c47bd9",
		"Die Beklagte ist die Nordwind GmbH.":                               "Nordwind GmbH",
		"Klägerin ist Dr. Anja Möller.":                                     "Anja Möller",
		"Das steht unter „Mündliche Anhörung“.":                             "Mündliche Anhörung",
		"Siehe https://example.org/x.":                                      "https://example.org/x",
		"Die Sache Möller ./. Nordlicht GmbH läuft.":                        "Möller",
		"Es sind drei Wochen.":                                              "drei",
		"Die Frist ist ١٦ Tage lang.":                                       "١٦",
	} {
		if _, _, bad := judged(evidence(t, ""), text); len(bad) == 0 || bad[0] != want {
			t.Errorf("%s: found %q, want %q", text, bad, want)
		}
	}
}

func TestTheFigureOfAnotherMatterSupportsNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Die Klageerwiderung in Müller ./. Nordlicht GmbH ist am 03.06.2026 fällig.": "03.06.2026",
		"Die Replik ist am 16.05. fällig.":                                           "16.05",
		"Fällig am 29.05.2026 [#deadline-c47bd2].":                                   "29.05.2026",
		"In Brandt ist am 16.05. etwas fällig, in Müller am 29.05.":                  "16.05",
		"Am LG Mannheim ist die Frist am 16. Mai.":                                   "16. Mai",
		"Die Replik in Brandt ist fällig [#deadline-c47bd2].":                        "Replik",
	} {
		if _, _, bad := judged(evidence(t, ""), text); len(bad) == 0 || bad[0] != want {
			t.Errorf("%s: found %q, want %q", text, bad, want)
		}
	}
}

func TestWhatThePersonSaidMayBeSaid(t *testing.T) {
	t.Parallel()
	text := "Zur „Sache Falk“ mit dem Zeichen 7 O 12/24 und zum 01.07.2026 habe ich nichts gefunden."
	if _, _, bad := judged(evidence(t, "Was ist mit der Sache Falk, 7 O 12/24, am 1. Juli 2026?"), text); bad != nil {
		t.Errorf("%q is called unsupported", bad)
	}
	if _, _, bad := judged(evidence(t, ""), text); len(bad) < 3 {
		t.Errorf("found %q only", bad)
	}
}

func TestMarkersBecomeCitationsAndChips(t *testing.T) {
	t.Parallel()
	shown, chips, bad := judged(evidence(t, ""), "Die Klageerwiderung ist am 16.05. fällig [#frist-c47bd2]. [#deadline-OPEN:c47bd2] [#deadline-OPEN:ffffff] [chip:nav:/r/matters/deadline] [chip:nav:/admin/users] [chip:filter:status=pending]\n")
	if shown != "Die Klageerwiderung ist am 16.05. fällig [1].\n" || bad != nil {
		t.Errorf("shown %q, unsupported %q", shown, bad)
	}
	var got []string
	for _, c := range chips {
		got = append(got, c.Kind+" "+c.Action+" "+c.ID+" "+c.Href)
	}
	want := "deadline open c47bd2 /r/matters/deadline/c47bd2; nav go /r/matters/deadline /r/matters/deadline; filter filter status=pending /r/matters/appointment?status=pending"
	if strings.Join(got, "; ") != want {
		t.Errorf("chips %s\nwant  %s", strings.Join(got, "; "), want)
	}
}

func TestASupportedSentenceWithoutAMarkerIsCited(t *testing.T) {
	t.Parallel()
	shown, _, bad := judged(evidence(t, ""), "Die Replik in Brandt ist am 29.05. fällig. Die Klageerwiderung in Müller am 16.05.!\nDas ist alles.")
	if want := "Die Replik in Brandt ist am 29.05. fällig [1]. Die Klageerwiderung in Müller am 16.05. [2]!\nDas ist alles."; shown != want || bad != nil {
		t.Errorf("shown %q, unsupported %q", shown, bad)
	}
}

func TestRecordsOfEarlierAnswersMayBeCitedButNotLinked(t *testing.T) {
	t.Parallel()
	e := grounding.New(today, options())
	e.Earlier(grounding.Record{Entity: "deadline", ID: "e11", Line: "Duplik, 01.08.2026", Href: "/r/matters/deadline/e11"})
	shown, chips, bad := judged(e, "Die Duplik ist am 1. August fällig [#deadline-e11]. [#deadline-OPEN:e11]")
	if shown != "Die Duplik ist am 1. August fällig [1]." || len(chips) != 0 || bad != nil {
		t.Errorf("shown %q, chips %v, unsupported %q", shown, chips, bad)
	}
}

func TestASentenceEndsWhereItEnds(t *testing.T) {
	t.Parallel()
	e := evidence(t, "")
	for text, want := range map[string]int{
		"In Brandt ./. Solaris läuft es. Gut.":             2,
		"Am 16. Mai ist es so weit.":                       1,
		"Bis zum 16.05. Klage einreichen.":                 1,
		"Das ist am 16.05. Die Replik folgt.":              2,
		"Nach Art. 83 EPÜ, z. B. so.":                      1,
		"Fällig [#deadline-c47bd2]. Dann (s. o.). Nichts.": 3,
		"Er sagt „Replik“. Gut!":                           2,
		"Prof. Dr. Anja Müller v. Nordlicht.":              1,
		"A.\n- B.\n- C.":                                   3,
	} {
		n := 0
		for range e.Judge(text, func(grounding.Record) int { return 1 }) {
			n++
		}
		if n != want {
			t.Errorf("%q has %d sentences, want %d", text, n, want)
		}
	}
}

func TestBlocksAreParagraphsAndLinesOfLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"abc": 0, "abc\n": 0, "abc\ndef": 0, "abc\n\ndef": 5, "- a\n- b": 4, "# H\nabc": 4, "Liste:\n- a\n": 7, "abc\n- ": 0, "| a |\n": 6,
	} {
		if got := grounding.Block(text); got != want {
			t.Errorf("Block(%q) = %d, want %d", text, got, want)
		}
	}
}

// crowd is what five calls returned, 25 rows each, and a paragraph.
func crowd() (*grounding.Evidence, string) {
	e := grounding.New(today, options())
	e.Words("Was steht heute an?")
	for call := range 5 {
		rows := []any{}
		for i := range 25 {
			n := call*25 + i
			rows = append(rows, map[string]any{
				"id": fmt.Sprintf("c%05x", n*7919), "title": []string{"Klageerwiderung", "Replik", "Duplik", "Berufungsbegründung"}[n%4],
				"due_date": today.AddDate(0, 0, n).Format(time.DateOnly), "status": "pending", "value": float64(n * 1250),
				"project_label": fmt.Sprintf("Mandant%c ./. Gegner%c GmbH", 'A'+n%26, 'a'+n%26), "court": "UPC LD Munich",
			})
		}
		e.Result(grounding.Result{Call: fmt.Sprint(call), Tool: "search", Value: map[string]any{"items": rows}, Kinds: []grounding.Kind{kind("items", "deadline")}})
	}
	text := "Die Klageerwiderung in MandantA ./. Gegnera GmbH ist am 12.05.2026 fällig [#deadline-c00000]. In MandantB läuft die Replik am 13. Mai ab, also in einem Tag. " +
		"Der Streitwert beträgt 1.250 EUR, und die Verhandlung am UPC LD Munich ist am 14.05.2026. Danach folgt am 15.05. die Berufungsbegründung in MandantD. " +
		"Insgesamt hast du 25 Fristen bis zum 30. Mai, davon zwei in dieser Woche. Bitte prüfe „Mandant A“ und das Zeichen UPC_CFI_1/2026.\n\n"
	return e, text
}

func BenchmarkParagraph(b *testing.B) {
	e, text := crowd()
	cite := func(grounding.Record) int { return 1 }
	b.ReportAllocs()
	for b.Loop() {
		for range e.Judge(text, cite) {
		}
	}
}

// The best of several is what the machine can do. It is counted in time of the
// processors: others are at work on them.
func TestAParagraphIsJudgedWithinAMillisecond(t *testing.T) {
	e, text := crowd()
	best := time.Hour
	for range 50 {
		began := cputime.Process()
		for range e.Judge(text, func(grounding.Record) int { return 1 }) {
		}
		best = min(best, cputime.Process()-began)
	}
	if best > slower*time.Millisecond {
		t.Errorf("a paragraph took %v", best)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("Die Klageerwiderung in Müller ist am 16.05. fällig [#deadline-c47bd2]. 1.234,50 [chip:nav:/x] „A“", "Was ist am 3.4.?")
	f.Add("[a](b) [#-] 4a O 2/22 EP 1 234 567 A1 May 1–3, 2026 16.–18.05. 2 pm zweimonatig |x|y|", "1/2")
	f.Fuzz(func(t *testing.T, text, said string) {
		if len(text) > 4000 || len(said) > 1000 {
			return
		}
		e := evidence(t, said)
		raw := 0
		for p := range e.Judge(text, func(grounding.Record) int { return 1 }) {
			raw += p.Raw
			if p.Unsupported != nil && p.Text != "" {
				t.Errorf("what stands in no evidence is shown: %q", p.Text)
			}
		}
		if raw != len(text) {
			t.Errorf("pieces stand for %d bytes of %d", raw, len(text))
		}
		if n := grounding.Block(text); n > len(text) {
			t.Errorf("a block of %d bytes in %d", n, len(text))
		}
	})
}
