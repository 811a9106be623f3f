package expr_test

import (
	"strings"
	"testing"

	"liminal/internal/expr"
)

// What an operator does with a long text is counted, whichever it is: the steps
// of a condition are few, and each could cost a megabyte.
//
// Requirements: PLAT-07 (what a document asks for is bounded)
func TestLongTextsCostWhatTheyAre(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("x", 640_000)+"a", strings.Repeat("x", 640_000)+"b"
	names := make([]any, 200)
	labels := make([]any, 200)
	for i := range names {
		names[i], labels[i] = i, "a label"
	}
	env := expr.Map(map[string]any{"a": a, "b": b, "names": names, "labels": labels, "object": map[string]any{"k": 1}})
	for _, source := range []string{
		"any(names, a > b)",
		"any(names, a >= b)",
		"any(names, a startsWith b)",
		"any(names, object[a] == 1)",
		"any(names, a in object)",
		"any(names, cluster_label_contains(labels, a))",
	} {
		p, err := expr.Compile(source, expr.Scope{})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if _, err := p.True(env); err == nil || !strings.Contains(err.Error(), "costs more steps") {
			t.Errorf("%s: %v, want the limit", source, err)
		}
	}
}

func TestAValueIsShownWithoutBeingWritten(t *testing.T) {
	t.Parallel()
	wide := map[string]any{}
	for i := range 5000 {
		wide[strings.Repeat("k", i%50)+string(rune('a'+i%26))+strings.Repeat("z", i/50)] = i
	}
	var deep any = "x"
	for range 60_000 {
		deep = []any{deep}
	}
	long := make([]any, 2_000_000)
	for want, value := range map[string]any{
		`[null,null,null,`:      long,
		`an object of `:         wide,
		`[[[[[[[[[[[[[[[[[[`:    deep,
		`{"a":[1,"<b>",null,"c`: map[string]any{"a": []any{1.0, "<b>", nil, strings.Repeat("c", 200)}},
	} {
		if got := expr.Show(value); !strings.Contains(got, want) || len(got) > 80 {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
