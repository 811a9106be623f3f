package chat

import (
	"slices"
	"strings"
	"testing"
)

func TestTermsAreTheDifferentWordsOfASearch(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Über  die ÜBERGABE":   {"uber", "die", "ubergabe"},
		`"files.read_v1" OR *`: {"files", "read", "v1", "or"},
		"a a A":                {"a"},
		" -- !":                nil,
	} {
		if got := Terms(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Terms(strings.Repeat("x", 200) + " " + strings.Join(strings.Split(strings.Repeat("abcdefghijklmnopqrstuvwxyz", 2), ""), " ")); len(got) != 16 || len(got[0]) != 64 {
		t.Errorf("%d terms, the first of %d", len(got), len(got[0]))
	}
}

func told(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Hit {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestAnExcerptShowsTheFirstWordThatWasFound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("vor ", 100) + "die Übergabe\n\nder Schlüssel" + strings.Repeat(" nach", 100)
	for _, c := range []struct {
		content string
		terms   []string
		want    string
	}{
		{"The invoice is here.", []string{"inv"}, "The [invoice] is here."},
		{"one\n two", []string{"two"}, "one [two]"},
		{"nothing of it", []string{"x"}, "nothing of it"},
		{"", []string{"x"}, ""},
	} {
		if got := told(Excerpt(c.content, c.terms)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	got := told(Excerpt(long, []string{"uber", "schlus"}))
	if len([]rune(got)) > 300 || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") || !strings.Contains(got, "vor die [Übergabe] der [Schlüssel] nach") {
		t.Errorf("%d characters: %s", len([]rune(got)), got)
	}
}
