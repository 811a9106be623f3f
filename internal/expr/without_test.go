package expr_test

import (
	"slices"
	"testing"

	"liminal/internal/expr"
)

func TestAConditionIsJudgedWithoutAVar(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]expr.Outcome{
		"x > 3":                       expr.NoAnswer,
		"x.score >= 0.5":              expr.NoAnswer,
		"3 > x":                       expr.NoAnswer,
		"vars.x.score + 1 == 2":       expr.NoAnswer,
		"-x == 1":                     expr.NoAnswer,
		"not (x > 3)":                 expr.NoAnswer,
		"x != null and x.score > 3":   expr.HoldsNot,
		"x == null or x.score > 3":    expr.Holds,
		"x?.score != 1 and x.n > 3":   expr.NoAnswer,
		"kind == 'a' and x.score > 3": expr.Depends,
		"kind == 'a' or x.score > 3":  expr.Depends,
		"kind == 'a' and x.ok":        expr.HoldsNot,
		"x == 'qa'":                   expr.HoldsNot,
		"x != 'qa'":                   expr.Holds,
		"x == nil":                    expr.Holds,
		"x":                           expr.HoldsNot,
		"not x.ok":                    expr.Holds,
		"'a' in x":                    expr.HoldsNot,
		"x in ['a', 'b']":             expr.HoldsNot,
		"x in ['a', null]":            expr.Depends,
		"x contains 'a'":              expr.HoldsNot,
		"x startsWith 'a'":            expr.HoldsNot,
		"len(x) > 0":                  expr.Depends,
		"any(x, # > 1)":               expr.HoldsNot,
		"all(x, # > 1)":               expr.Holds,
		"xx > 3":                      expr.Depends,
		"true":                        expr.Holds,
	} {
		program, err := expr.Compile(source, expr.Scope{})
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if got := program.Without("x"); got != want {
			t.Errorf("%s: %v, want %v", source, got, want)
		}
		// What is said for certain is what comes of it.
		truth, err := program.True(expr.Map(map[string]any{"kind": "a"}))
		if want == expr.NoAnswer && err == nil || want == expr.Holds && !truth || want == expr.HoldsNot && (truth || err != nil) {
			t.Errorf("%s gives %v, %v", source, truth, err)
		}
	}
}

func TestAConditionNamesWhatItReads(t *testing.T) {
	t.Parallel()
	program, err := expr.Compile("vars.a.b == 1 and a.c == 2 and input.d", expr.Scope{})
	if err != nil || !slices.Equal(program.Paths(), []string{"a.b", "a.c", "input.d"}) {
		t.Errorf("got %v, %v", program.Paths(), err)
	}
}
