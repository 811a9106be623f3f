package fault_test

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"liminal/internal/fault"
)

func TestASentenceIsTakenApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    *fault.Error
		text   string
		values []string
	}{
		{fault.New(fault.Invalid, "The tool %s took %q, %d of %5.2f %%.", "a", "b c", 3, 2.5), "The tool {1} took {2}, {3} of {4} %.", []string{"a", "b c", "3", " 2.50"}},
		{fault.Wrap(fault.Internal, os.ErrNotExist, "It failed.").With("details"), "It failed.", []string{}},
	} {
		if s := c.err.Said(); s == nil || s.Text != c.text || !slices.Equal(s.Values, c.values) {
			t.Errorf("%q is %+v", c.err.Message, s)
		}
	}
	if s := fault.New(fault.Invalid, "%s", "of another").Said(); s != nil {
		t.Errorf("a sentence of another's is %+v", s)
	}
	known := fault.Say("It failed.")
	if s := fault.New(fault.Invalid, "%s", "It failed.").Saying(known).Said(); s != known {
		t.Errorf("what was taken apart elsewhere is %+v", s)
	}
}

// said are the functions that take a sentence, and which of their arguments it is.
var said = map[string]int{"fault.New": 1, "fault.Wrap": 2, "failuref": 1, "upstream": 1, "p.upstream": 1, "p.busy": 2, "fault.Say": 0, "e.abandon": 2}

// Where a run's failures come from, why a document was not read, and what is
// refused of an artifact or a patch.
var speaking = []string{
	"activities", "workflows", "worker", "internal/graph", "internal/tool", "internal/model", "internal/webaccess", "internal/data", "internal/mcp", "internal/speech", "internal/connect",
	"internal/knowledge", "internal/cell", "internal/files", "internal/embed/remote", "internal/store/shares.go", "internal/changes", "artifacts",
}

// untold are of people who do not read them on the page: who starts the program,
// or writes the script of a test.
var untold = []string{"internal/model/scripted/", "activities/activitiestest/", "internal/tool/reference/", "internal/knowledge/knowledgetest/", "artifacts/artifactstest/"}

// Whoever adds a sentence of a failed run says it in German.
//
// Requirements: GRND-37 (errors)
func TestWhyARunFailedIsSaidInGerman(t *testing.T) {
	t.Parallel()
	german := told(t)
	found := 0
	for _, dir := range speaking {
		for path, sentence := range sentences(t, dir) {
			if found++; german[sentence] == "" {
				t.Errorf("web/src/i18n/sentences.de.json does not say %q (%s)", sentence, path)
			}
		}
	}
	if found < 200 {
		t.Errorf("found are only %d sentences", found)
	}
	for english, text := range german {
		for n := 1; strings.Contains(english, "{"+strconv.Itoa(n)+"}"); n++ {
			if !strings.Contains(text, "{"+strconv.Itoa(n)+"}") {
				t.Errorf("%q leaves out value %d of %q", text, n, english)
			}
		}
	}
}

// told is what the page says in German, by the English.
func told(t *testing.T) (german map[string]string) {
	t.Helper()
	raw, err := os.ReadFile("../../web/src/i18n/sentences.de.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &german); err != nil {
		t.Fatal(err)
	}
	return german
}

// sentences are those written out in the packages below a folder, by where.
func sentences(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	each(t, dir, func(files *token.FileSet, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		at, ok := said[called(call.Fun)]
		if !ok || len(call.Args) <= at {
			return
		}
		text, ok := call.Args[at].(*ast.BasicLit)
		if !ok {
			return // a constant, or another's
		}
		format, err := strconv.Unquote(text.Value)
		if err != nil {
			return
		}
		if s := fault.Say(format); s != nil {
			found[files.Position(text.Pos()).String()] = s.Text
		}
	})
	return found
}

// called is the name of a function as it is written.
func called(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if of, ok := f.X.(*ast.Ident); ok {
			return of.Name + "." + f.Sel.Name
		}
	}
	return ""
}
