package lesson_test

import (
	"slices"
	"strings"
	"testing"

	"liminal/internal/learning/lesson"
)

// What corrections have in common, and the model's own answers have not, can be
// looked for in any answer.
func TestWhatCorrectionsHaveInCommonIsLookedForInAnswers(t *testing.T) {
	t.Parallel()
	usual := []string{
		"A kettle is a pot for boiling water. It is made of metal. You find it in the kitchen of most houses.",
		"A spoon is a tool for eating soup. It is made of steel. You find it in the drawer below the table.",
		"A candle is a stick that gives light. It is made of wax. You find it on the table in the evening.",
	}
	each := func(f func(string) string) (out []string) {
		for _, text := range usual {
			out = append(out, f(text))
		}
		return out
	}
	first := func(text string) string { text, _, _ = strings.Cut(text, "."); return text + "." }
	for name, c := range map[string]struct {
		wanted []string
		kinds  []string
	}{
		"greeted":        {each(func(s string) string { return "Hello! " + s }), []string{"begins"}},
		"short":          {each(first), []string{"length"}},
		"asking":         {each(func(s string) string { return s + " Do you want to know more?" }), []string{"closing"}},
		"bold":           {each(func(s string) string { return strings.Replace(s, "is", "**is**", 1) }), []string{"bold"}},
		"loud":           {each(strings.ToUpper), []string{"capitals"}},
		"signed":         {each(func(s string) string { return s + "\nYours, Liminal" }), []string{"ends"}},
		"headed":         {each(func(s string) string { return "# Thing\n" + s }), []string{"heading"}},
		"listed":         {each(func(s string) string { return "- " + strings.ReplaceAll(s, ". ", ".\n- ") }), []string{"list"}},
		"quoted":         {each(func(s string) string { return "> " + s }), []string{"quoted"}},
		"as it is":       {usual, []string{}},
		"half of them":   {append(each(func(s string) string { return "Hello! " + s }), usual...), []string{}},
		"nothing wanted": {nil, []string{}},
	} {
		m := lesson.MannerOf(c.wanted, usual)
		if got := m.Kinds(); !slices.Equal(got, c.kinds) {
			t.Errorf("%s: it asks for %v, not %v", name, got, c.kinds)
			continue
		}
		for i, text := range usual {
			if got := m.Kept(text); got != 0 {
				t.Errorf("%s: the usual answer keeps %d", name, got)
			}
			if len(c.kinds) > 0 && m.Kept(c.wanted[i]) != len(c.kinds) {
				t.Errorf("%s: %q keeps %d", name, c.wanted[i], m.Kept(c.wanted[i]))
			}
		}
	}
	if kinds := lesson.MannerOf(usual, nil).Kinds(); len(kinds) != 0 {
		t.Errorf("beside nothing that is usual it asks for %v", kinds)
	}
}
