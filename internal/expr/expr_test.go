package expr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"liminal/internal/expr"
)

func env() expr.Env {
	return expr.Map(map[string]any{
		"intent": "qa", "n": 3, "f": 3.0, "big": json.Number("9007199254740993"), "yes": true,
		"list": []any{1.0, "two", nil}, "names": []string{"a", "b"}, "empty": []any{},
		"docs":  []any{map[string]any{"id": "1", "score": 0.5}, map[string]any{"id": "2", "score": 0.9}},
		"user":  map[string]any{"plan": "pro", "tags": []any{"x"}, "a.b": 1},
		"v":     []any{1.0, 0.0},
		"w":     []float64{0, 2},
		"u":     []float32{3, 0},
		"label": map[string]any{"label": "Kernel Debugging"},
		"rows":  []any{[]any{1.0, 2.0}, []any{3.0}},
		"wide":  make([]any, expr.MaxList+1),
	})
}

// TestConditions evaluates the language, one line for each rule.
//
// Requirements: ROUTE-03 (what is supported), GRAPH-06 (bare names)
func TestConditions(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]any{
		"true":                                         true,
		"intent == 'qa'":                               true,
		"intent in ['qa_with_docs','analysis']":        false,
		"intent in ['qa','analysis']":                  true,
		"intent not in ['qa']":                         false,
		"unset == 'qa'":                                false,
		"unset == nil and unset == null":               true,
		"unset.deep.deeper == nil":                     true,
		"unset in ['a']":                               false,
		"'a' in unset":                                 false,
		"unset contains 'a'":                           false,
		"len(unset) == 0":                              true,
		"any(unset, # == 1)":                           false,
		"all(unset, # == 1)":                           true,
		"n == f":                                       true,
		"n == 3.0 and f == 3":                          true,
		"n in [3.0]":                                   true,
		"n < 3.5 and f >= 3 and n != 4":                true,
		"1 < n < 5":                                    true,
		"1 < n < 2":                                    false,
		"big == 9007199254740992":                      false,
		"big == 9007199254740993":                      true,
		"big > 9007199254740992":                       true,
		"n + 1 == 4 and n * 2.5 == 7.5":                true,
		"n / 2":                                        1.5,
		"n % 2 == 1 and -n == 0 - 3":                   true,
		"'a' + 'b' == 'ab' and 'a' < 'b'":              true,
		"list == [1, 'two', nil]":                      true,
		"list[1] == 'two' and list[9] == nil":          true,
		"names[0] == 'a' and 'b' in names":             true,
		"user.plan == 'pro' and user['plan'] == 'pro'": true,
		"user['a.b'] == 1 and 'plan' in user and 'x' in user.tags":                        true,
		"user?.plan startsWith 'p' and lower('ABC') == 'abc'":                             true,
		"'kernel' contains 'ern' and not ('kernel' contains 'x')":                         true,
		"len(intent) == 2 and len(docs) == 2 and len(user) == 3":                          true,
		"any(docs, .score > 0.8) and all(docs, .score > 0.4)":                             true,
		"any(docs, {.id == '2' and #index == 1})":                                         true,
		"any(rows, any(#, # == 3))":                                                       true,
		"all(empty, false) and not any(empty, true)":                                      true,
		"yes and (n == 4 or yes) && !unset || false":                                      true,
		"cosine_similarity(v, w)":                                                         0.0,
		"cosine_similarity(v, u) > 0.99":                                                  true,
		"cosine_similarity(v, unset) == 0 and cosine_similarity([0,0], v) == 0":           true,
		"cluster_label_contains(label, 'debug')":                                          true,
		"cluster_label_contains('Debug', 'kernel') or cluster_label_contains(unset, 'x')": false,
		"docs | any(.id == '1')":                                                          true,
		"'ab' in 'cabd'":                                                                  true,
	} {
		p, err := expr.Compile(source, expr.Scope{})
		if err != nil {
			t.Errorf("%s does not compile: %v", source, err)
			continue
		}
		if got, err := p.Eval(env()); err != nil || got != want {
			t.Errorf("%s gives %v, %v; want %v", source, got, err, want)
		}
		if p.String() != source {
			t.Errorf("the source of %q is %q", source, p)
		}
	}
}

// TestWhatIsNotInTheLanguageIsRefused names each construct that is off.
//
// Requirements: ROUTE-03 (anything else is refused), GRAPH-19 (a when that does not compile)
func TestWhatIsNotInTheLanguageIsRefused(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                                    "the condition is empty",
		"now() > 3":                           "the function now is not part of conditions",
		"os.Exit(1)":                          "a value cannot be called like a function",
		"intent.upper()":                      "a value cannot be called like a function",
		"map(docs, .id)":                      "the function map is not part of conditions",
		"filter(docs, true)":                  "the function filter is not part of conditions",
		"upper(intent)":                       "the function upper is not part of conditions",
		"yes ? 1 : 2":                         "a choice with ? or if",
		"if yes {1} else {2}":                 "a choice with ? or if",
		"1..100000000":                        "the operator ..",
		"2 ** 9999":                           "the operator **",
		"2 ^ 9999":                            "the operator ^",
		"intent matches '(a+)+$'":             "the operator matches",
		"intent endsWith 'a'":                 "the operator endsWith",
		"intent ?? 'x'":                       "the operator ??",
		"list[1:2]":                           "a slice",
		"{a: 1}":                              "a map literal",
		"let x = 1; x":                        "let",
		"1; 2":                                "a sequence",
		"len(1, 2)":                           "len takes 1 argument, not 2",
		"cosine_similarity(v)":                "cosine_similarity takes 2 arguments, not 1",
		"any(docs, #acc)":                     "#acc is not part of conditions",
		"intent = 'x'":                        "unexpected \"=\"",
		"intent == ":                          "it ends too early",
		"$env":                                "",
		"any(rows, any(#, any(#, true)))":     "nested 2 deep",
		strings.Repeat("(", 4000) + "1":       "",
		strings.Repeat("not ", 1000) + "yes":  "too large",
		strings.Repeat("n+", 600) + "n":       "too large",
		strings.Repeat("x", expr.MaxSource+1): "the limit is 4096",
		"\xff\xfe":                            "",
	} {
		_, err := expr.Compile(source, expr.Scope{Names: []string{"intent", "yes", "n", "docs", "rows", "list", "v"}})
		var at *expr.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q gives %v, want %q", source, err, want)
		}
	}
}

// TestUnknownNamesAreRefusedWithAHint needs names, then members.
//
// Requirements: GRAPH-19 (a when that does not compile)
func TestUnknownNamesAreRefusedWithAHint(t *testing.T) {
	t.Parallel()
	scope := expr.Scope{Names: []string{"intent", "vars", "input"}, Fields: map[string][]string{"vars": {"intent"}}}
	for source, want := range map[string]string{
		"intent == 'x' and vars.intent == 'x' and vars['intent'] == 'x' and input.any.thing == 1": "",
		"intend == 'x'":         "at character 1: nothing in the graph sets intend (did you mean intent?)",
		"1 == 1 and vars.x > 1": "at character 17: nothing in the graph sets vars.x (known: intent)",
		"vars['y'].z == 1":      "nothing in the graph sets vars.y",
		"any(input.l, # == it)": "nothing in the graph sets it",
	} {
		_, err := expr.Compile(source, scope)
		if got := message(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s gives %q, want %q", source, got, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestOperationsWithoutAnAnswerSaySo gives one sentence for each.
//
// Requirements: ROUTE-03 (what is supported)
func TestOperationsWithoutAnAnswerSaySo(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"unset > 3":                        "> cannot order null and a number",
		"intent < 3":                       "< cannot order a string and a number",
		"intent and yes":                   "left of it is a string",
		"yes and n":                        "right of it is a number",
		"not n":                            "not needs true or false, this is a number",
		"n / 0":                            "division by zero",
		"n % 0":                            "division by zero",
		"n + 'a'":                          "+ needs two numbers, these are a number and a string",
		"'a' + n":                          "a string and a number cannot be added",
		"1e308 * 10":                       "not a finite number",
		"n in n":                           "in needs a list, this is a number",
		"len(n)":                           "a number has no length",
		"n.x":                              "a number has no members",
		"lower(n)":                         "lower needs a string",
		"any(n, true)":                     "any needs a list",
		"any(docs, .id)":                   "the condition in any gives a string",
		"any(wide, false)":                 "any over 10001 items, the limit is 10000",
		"1 in wide":                        "in over 10001 items, the limit is 10000",
		"cosine_similarity(v, [1])":        "vectors with 2 and 1 dimensions",
		"cosine_similarity(v, 'x')":        "compares lists of numbers",
		"cluster_label_contains(label, n)": "looks for a string, not a number",
		"list['a']":                        "a list is indexed by a whole number",
		"user[1]":                          "named by a string",
		"n startsWith 'x'":                 "startsWith compares strings",
		"len(docs)":                        "gives a number, not true or false",
		"#":                                "",
	} {
		p, err := expr.Compile(source, expr.Scope{})
		if err == nil {
			_, err = p.True(env())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", source, err, want)
		}
	}
}

// TestCostIsBounded evaluates what is small to write and large to compute.
//
// Requirements: ROUTE-03 (anything else is refused)
func TestCostIsBounded(t *testing.T) {
	t.Parallel()
	list := make([]any, expr.MaxList)
	costly := expr.Map(map[string]any{"l": list, "s": strings.Repeat("x", 1<<20)})
	chain := "n"
	for range 12 {
		chain = "(1 < " + chain + " < 3 < 4)"
	}
	for _, source := range []string{
		"any(l, any(l, # == 1))",
		"all(l, # in [1,2,3,4,5,6,7,8,9,10,11] or true)",
		"any([1,2,3,4,5,6,7,8,9], any([1,2,3,4,5,6,7,8,9], s + s == 'x'))",
		chain,
	} {
		p, err := expr.Compile(source, expr.Scope{})
		if err == nil {
			_, err = p.Eval(costly)
		}
		if err == nil {
			t.Errorf("%.60s has an answer", source)
		}
	}
}

// TestExplainShowsWhatWasRead keeps values short.
func TestExplainShowsWhatWasRead(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"true":                                 "true",
		"intent == 'x' or user.plan == 'free'": `intent == 'x' or user.plan == 'free' (intent = "qa", user.plan = "pro")`,
		"len(docs) > 5 and len(docs) > 6":      `len(docs) > 5 and len(docs) > 6 (docs = [{"id":"1","score":0.5},{"id":"2","score":0.9}])`,
		"unset.x == 1":                         "unset.x == 1 (unset.x = null)",
		"any(rows, # == 1) and wide == 1":      "any(rows, # == 1) and wide == 1 (rows = [[1,2],[3]], wide = [null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,n...)",
	} {
		p, err := expr.Compile(source, expr.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Explain(env()); got != want {
			t.Errorf("Explain gives\n%s\nwant\n%s", got, want)
		}
	}
}

func TestValuesAreWhatAConditionReads(t *testing.T) {
	t.Parallel()
	p, err := expr.Compile("vars.intent == 'qa' and input.n > 2 and not (vars.list contains 'x')", expr.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Values(func(name string) any {
		return map[string]any{
			"vars":  map[string]any{"intent": strings.Repeat("ü", 100), "list": []any{"a"}, "other": 1.0},
			"input": map[string]any{"n": 3.0},
		}[name]
	})
	want := map[string]any{"vars.intent": strings.Repeat("ü", 40), "vars.list": `["a"]`, "input.n": 3.0}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it reads %v, want %v", got, want)
	}
}

// FuzzExpr compiles and evaluates any source: it ends, without a panic, with
// the same answer twice.
//
// Requirements: ROUTE-03 (anything else is refused)
func FuzzExpr(f *testing.F) {
	for _, s := range []string{
		"intent in ['a', 'b']", "any(docs, any(rows, #index == 1)) and len(docs) > 2", "1 < n < 2 < 3",
		"cosine_similarity(v, w) > 0.6", "cluster_label_contains(label, 'x') or not lower(intent) startsWith 'q'",
		"user['a.b'] + -n * 2 % 3 / 4 == 0.5e3", "docs | any(.id contains \"\\u00ff\")", "a?.b?.c[0] ?? 1", "::len(x)",
		"{\"a\": (1)}", "let x = 1; x", "if a {1} else if b {2} else {3}", "b'abc' == `x`", "[1,[2,[3,]]] != nil // x", "0x1F + 0b1 + 1_000",
		"any(many, any(many, long > other))", "any(many, cluster_label_contains(many, long))", "any(many, long in user)", "any(many, user[long] == #)",
		"any(many, long startsWith other)", "any(many, lower(long) + 'x' == other)", "any(many, # in many)", "many == [many, many]", "1e308 * 1e308 > 1",
	} {
		f.Add(s)
	}
	small, long, many := env(), strings.Repeat("x", 300_000), make([]any, 300)
	other := strings.Repeat("x", 299_999) + "y"
	large := func(name string) any {
		switch name {
		case "long":
			return long
		case "other":
			return other
		case "many":
			return many
		}
		return small(name)
	}
	f.Fuzz(func(t *testing.T, source string) {
		// A hang would end a fuzzing run as if nothing had been found.
		watch := time.AfterFunc(30*time.Second, func() { panic(fmt.Sprintf("%q takes too long", source)) })
		defer watch.Stop()
		p, err := expr.Compile(source, expr.Scope{})
		if err != nil {
			var at *expr.Error
			if !errors.As(err, &at) || at.Message == "" {
				t.Fatalf("%q gives %v", source, err)
			}
			return
		}
		a, errA := p.Eval(large)
		b, errB := p.Eval(large)
		if message(errA) != message(errB) || expr.Show(a) != expr.Show(b) {
			t.Fatalf("%q gives %v %v and then %v %v", source, a, errA, b, errB)
		}
		_ = p.Explain(large)
	})
}

func BenchmarkCondition(b *testing.B) {
	p, err := expr.Compile("intent in ['qa_with_docs','analysis'] or len(docs) > 1", expr.Scope{})
	if err != nil {
		b.Fatal(err)
	}
	at := env()
	b.ReportAllocs()
	for b.Loop() {
		if yes, err := p.True(at); !yes || err != nil {
			b.Fatal(yes, err)
		}
	}
}
