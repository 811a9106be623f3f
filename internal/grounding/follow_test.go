package grounding_test

import (
	"testing"
	"time"

	"liminal/internal/cputime"
	"liminal/internal/grounding"
)

const flats = `{"flats":[
 {"id":"WE-03","label":"Gartenstraße 12","tenant_name":"Chidi Okafor","rooms":3,"rent_cents":91200,"deposit_cents":273600,"area":"84.5 sqm","since":"2021-04-01","due":"2026-05-05","parking":true,"contract":"signed"},
 {"id":"WE-11","label":"Lindenallee 5","tenant_name":"Bruno Salvatore","rooms":4,"rent_cents":142000,"deposit_cents":426000,"area":"112.5 sqm","since":"2018-10-15","due":"2026-05-10","parking":false,"contract":"signed"},
 {"id":"WE-14","label":"Hafengasse 1","tenant_name":"Hanne Petersen","rooms":2,"rent_cents":61000,"deposit_cents":183000,"area":"47 sqm","since":"2024-07-01","due":"2026-05-20","parking":null,"contract":"draft"}],
 "costs":{"heating_eur":"14380.22","water_eur":"5210.90","total_eur":"19591.12","change_share":0.073}}`

func flatsHeld(t testing.TB) *grounding.Evidence {
	t.Helper()
	o := options()
	o.Markers = map[string]string{"wohnung": "flat", "flat": "flat"}
	e := grounding.New(today, o)
	k := kind("flats", "flat")
	k.Tell = tell("label")
	e.Result(grounding.Result{Call: "1", Tool: "list", Value: parsed(t, flats), Kinds: []grounding.Kind{k}})
	return e
}

// after is what is unsupported in the last of several sentences of an answer.
func after(e *grounding.Evidence, texts ...string) (bad []string) {
	r := e.Read()
	for _, text := range texts {
		bad = nil
		for p := range r.Judge(text, func(grounding.Record) int { return 1 }) {
			bad = append(bad, p.Unsupported...)
		}
	}
	return bad
}

func TestASentenceThatNamesNothingIsOfWhatWasSpokenOf(t *testing.T) {
	t.Parallel()
	e := flatsHeld(t)
	about := "Bruno Salvatore lives at Lindenallee 5."
	for text, caught := range map[string]bool{
		"His deposit is €4,260.": false, "His deposit is €2,736.": true,
		"It is two days late.": false, "It is seven days late.": true,
		"He pays €1,420.": false, "He pays €610.": true,
		"He is one of three tenants.": false,
	} {
		if bad := after(e, about, text); (len(bad) > 0) != caught {
			t.Errorf("%s: %q", text, bad)
		}
	}
	if bad := after(e, about, "Die Wohnung in der Hafengasse 1 ist klein.", "Sie kostet 610 €."); len(bad) > 0 {
		t.Errorf("it goes on with another: %q", bad)
	}
	if bad := after(e, "Sie kostet 611 €."); len(bad) == 0 {
		t.Error("a figure of nothing passes where nothing was spoken of")
	}
}

func TestWhatFollowsFromResultsIsSupportedAndNothingElse(t *testing.T) {
	t.Parallel()
	e := flatsHeld(t)
	for right, wrong := range map[string]string{
		"Es gibt drei Wohnungen.":                                  "Es gibt fünf Wohnungen.",
		"Zwei Verträge sind unterschrieben.":                       "Drei Verträge sind unterschrieben.",
		"Two of the three flats are overdue.":                      "Two of the five flats are overdue.",
		"Zusammen sind es 2.942 € Miete.":                          "Zusammen sind es 2.492 € Miete.",
		"WE-11 costs €810 more than WE-14.":                        "WE-11 costs €910 more than WE-14.",
		"Heating is about 73 percent of the total.":                "Heating is about 37 percent of the total.",
		"Costs rose by 7.3%.":                                      "Costs rose by 3.7%.",
		"Hanne Petersen hat 47 m².":                                "Hanne Petersen hat 74 m².",
		"Chidi Okafor ist seit einer Woche überfällig, zum 5. Mai": "Chidi Okafor ist seit einer Woche überfällig, zum 10. Mai",
		"Today, on 12 May, nothing is due.":                        "Today, on 10 May, nothing is due.",
	} {
		if bad := after(e, right); len(bad) > 0 {
			t.Errorf("%s: %q", right, bad)
		}
		if bad := after(e, wrong); len(bad) == 0 {
			t.Errorf("%s passes", wrong)
		}
	}
}

func TestNamesThatNoEvidenceHoldsAreFound(t *testing.T) {
	t.Parallel()
	e := flatsHeld(t)
	for text, caught := range map[string]bool{
		"Hanne Petersen lives at Hafengasse 1.": false, "Hanne Pedersen lives at Hafengasse 1.": true,
		"Bruno Petersen lives there.": true, "Hanne Petersen lives at Lindenallee 5.": true,
		"The caretaker is called Timothy Wellington.": true, "Der Hausmeister heißt Sabine.": true,
		"Die Wohnung liegt in Hamburg.": true, "Die Miete ist am Samstag fällig.": true,
		"Bruno Salvatore has parking.": true, "Bruno Salvatore has no parking.": false, "Chidi Okafor has parking.": false,
	} {
		if bad := after(e, text); (len(bad) > 0) != caught {
			t.Errorf("%s: %q", text, bad)
		}
	}
}

// What was shown of an answer before counts as what was spoken of.
func TestAnAnswerGoesOnWithWhatWasShownOfIt(t *testing.T) {
	t.Parallel()
	r := flatsHeld(t).Read()
	r.Shown("Bruno Salvatore wohnt in der Lindenallee 5 [1].\n\n")
	for p := range r.Judge("Seine Kaution beträgt 2.736 €.", func(grounding.Record) int { return 1 }) {
		if len(p.Unsupported) == 0 {
			t.Errorf("the deposit of another passes: %q", p.Text)
		}
	}
}

// invented is a paragraph of figures that no result holds.
const invented = "Insgesamt sind es 123.456,78 EUR, also 37 % mehr als die 98.765 EUR im Vorjahr, und 17 davon in 41 Tagen. " +
	"Together that leaves 4,711 of 8,150 euros, 19 fewer than before.\n\n"

// The worst is a sentence that nothing supports: every computation is tried. It takes
// 0.8 ms where nothing else is at work.
func TestAParagraphOfInventedFiguresIsJudgedWithinThreeMilliseconds(t *testing.T) {
	e, _ := crowd()
	best := time.Hour
	for range 50 {
		began := cputime.Process()
		for range e.Judge(invented, func(grounding.Record) int { return 1 }) {
		}
		best = min(best, cputime.Process()-began)
	}
	if best > slower*3*time.Millisecond {
		t.Errorf("a paragraph took %v", best)
	}
}

func BenchmarkInvented(b *testing.B) {
	e, _ := crowd()
	b.ReportAllocs()
	for b.Loop() {
		for range e.Judge(invented, func(grounding.Record) int { return 1 }) {
		}
	}
}
