package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestThePageNamesTheTestsThatProveARequirement(t *testing.T) {
	t.Parallel()
	proofs, err := collect(fstest.MapFS{
		"internal/graph/graph_test.go": file("// TestLoop says more.\n//\n" + tag + "GRAPH-07, GRAPH-16\nfunc TestLoop(t *testing.T) {\n"),
		"internal/graph/fuzz_test.go":  file(tag + "GRAPH-07\nfunc FuzzParse(f *testing.F) {\n"),
		"web/e2e/chat.spec.ts":         file("  " + tag + "UI-01\n  test('a | pipe', async () => {\n"),
		"web/src/a.test.ts":            file(tag + "UI-03\n  it.each(['x', 'y'])('ends with %s', async () => {\n"),
		"web/src/b.test.ts":            file(tag + "UI-04\nit.each([\n  ['x', f('y')],\n])('in a table', () => {\n"),
		"web/node_modules/x/a.test.ts": file(tag + "UI-02\ntest('not ours', () => {})\n"),
		"internal/graph/graph.go":      file(tag + "GRAPH-08\nfunc TestNothing() {\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	page := string(render(proofs))
	for _, want := range []string{
		"| GRAPH | The workflow.chat interpreter | 2 | 30 |",
		"| | **all** | **5** | **558** |",
		"| UI-03 | ends with %s (", "| UI-04 | in a table (",
		"| GRAPH-07 | FuzzParse ([internal/graph/fuzz_test.go](../internal/graph/fuzz_test.go))<br>TestLoop (",
		`| UI-01 | a \| pipe ([web/e2e/chat.spec.ts]`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	for _, not := range []string{"UI-02", "GRAPH-08", "## PLAT"} {
		if strings.Contains(page, not) {
			t.Errorf("%q in\n%s", not, page)
		}
	}
}

func TestAnIdThatDoesNotExistIsAFault(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"too high":   tag + "EMB-07\nfunc TestX(t *testing.T) {\n",
		"no area":    tag + "NOPE-01\nfunc TestX(t *testing.T) {\n",
		"no padding": tag + "EMB-1\nfunc TestX(t *testing.T) {\n",
		"prose":      tag + "all of them\nfunc TestX(t *testing.T) {\n",
		"no test":    tag + "EMB-01\nvar x = 1\n",
	} {
		if _, err := collect(fstest.MapFS{"a_test.go": file(text)}); err == nil || !strings.Contains(err.Error(), "a_test.go:") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestTheSpecificationHas558Requirements(t *testing.T) {
	t.Parallel()
	total := 0
	for _, a := range areas() {
		total += a.count
	}
	if total != 558 || len(areas()) != 28 {
		t.Errorf("%d requirements in %d areas", total, len(areas()))
	}
}

// tag is split so that this file's own examples are not read as claims.
const tag = "// " + "Requirements: "

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
