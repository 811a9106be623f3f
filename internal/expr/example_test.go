package expr_test

import (
	"fmt"

	"liminal/internal/expr"
)

// A condition is compiled once, when a document is read, and evaluated at every
// visit. Explain shows it with the values it read, which is what a person sees
// of a branch that was not taken.
func Example() {
	p, err := expr.Compile(`intent == 'qa' and any(documents, #.year >= 2024)`, expr.Scope{})
	if err != nil {
		fmt.Println(err)
		return
	}
	env := expr.Map(map[string]any{
		"intent":    "qa",
		"documents": []any{map[string]any{"year": 2019.0}, map[string]any{"year": 2025.0}},
	})
	yes, err := p.Eval(env)
	fmt.Println(yes, err)
	fmt.Println(p.Explain(env))
	// Output:
	// true <nil>
	// intent == 'qa' and any(documents, #.year >= 2024) (intent = "qa", documents = [{"year":2019},{"year":2025}])
}

// With a Scope a name that cannot exist is refused when the condition is
// written, not when it is first read in a run.
func ExampleCompile() {
	scope := expr.Scope{Names: []string{"vars", "input"}, Fields: map[string][]string{"vars": {"intent"}}}
	_, err := expr.Compile(`vars.intend == 'qa'`, scope)
	fmt.Println(err)
	// Output:
	// at character 6: nothing in the graph sets vars.intend (did you mean intent?)
}
