package knowledge

import (
	"strings"
	"testing"

	"liminal/internal/model"
)

func passageAt(start int, text string) Passage {
	return Passage{Source: model.Source{DocumentID: "d", Start: start, End: start + len(text)}, Text: text}
}

func quoteOf(t *testing.T, p Passage, text string) Quote {
	t.Helper()
	at := strings.Index(p.Text, text)
	if at < 0 {
		t.Fatalf("%q is not in the passage", text)
	}
	return Quote{Passage: Passage{Source: p.Part(at, at+len(text)), Text: text}}
}

func TestAQuoteTakesInWhatStandsBesideIt(t *testing.T) {
	t.Parallel()
	const text = "# Power\n\nThe pump needs power. It starts by itself. It stops when the tank is empty.\n\n```\npump --start\n```\n"
	p := passageAt(40, text)
	middle := quoteOf(t, p, "It starts by itself.")
	for size, want := range map[int]string{
		10:  "It starts by itself.",
		45:  "The pump needs power. It starts by itself.",
		400: "The pump needs power. It starts by itself. It stops when the tank is empty.",
	} {
		got := Around(middle, []Passage{passageAt(900, "Another."), p}, size)
		if got.Text != want || text[got.Start-40:got.End-40] != want {
			t.Errorf("in %d bytes it is %q at %d", size, got.Text, got.Start)
		}
	}
	if got := Around(quoteOf(t, p, "pump --start"), []Passage{p}, 400); got.Text != "pump --start" {
		t.Errorf("code becomes %q", got.Text)
	}
	if got := Around(middle, nil, 400); got.Text != middle.Text {
		t.Errorf("without its passage it becomes %q", got.Text)
	}
	row := middle
	row.Row = true
	if got := Around(row, []Passage{p}, 400); got.Text != middle.Text {
		t.Errorf("a row becomes %q", got.Text)
	}
}

func TestAQuoteKnowsThatItBeginsItsPassage(t *testing.T) {
	t.Parallel()
	p := passageAt(0, "# Power\n\nThe pump of the new series is driven by power from a socket on the wall.\n\n"+
		"Where a second fan was ordered with it, the power of that fan has to be added, which is twenty watts.\n")
	for _, q := range Quotes("power", []Passage{p}, 5) {
		if want := !strings.HasPrefix(q.Text, "Where a second fan"); q.Begins != want {
			t.Errorf("%q begins its passage: %v", q.Text, q.Begins)
		}
	}
	if quotes := Quotes("power of the second fan", []Passage{p}, 1); len(quotes) != 1 || quotes[0].Begins {
		t.Errorf("of the second fan it is %v", quotes)
	}
}
