package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestThePageNamesTheTestsThatProveARequirement(t *testing.T) {
	t.Parallel()
	page := pageOf(t, fstest.MapFS{
		"internal/graph/graph_test.go": file("// TestLoop says more.\n//\n" + tag + "GRAPH-07, GRAPH-16\nfunc TestLoop(t *testing.T) {\n"),
		"internal/graph/fuzz_test.go":  file(tag + "GRAPH-07.\nfunc FuzzParse(f *testing.F) {\n"),
		"web/e2e/chat.spec.ts":         file("  " + tag + "UI-01\n  test('a | pipe', async () => {\n"),
		"web/src/a.test.ts":            file(tag + "UI-03\n  it.each(['x', 'y'])('ends with %s', async () => {\n"),
		"web/src/b.test.ts":            file(tag + "UI-04\nit.each([\n  ['x', f('y')],\n])('in a table', () => {\n"),
		"web/node_modules/x/a.test.ts": file(tag + "UI-02\ntest('not ours', () => {})\n"),
		"internal/graph/graph.go":      file(tag + "GRAPH-08\nfunc TestNothing() {\n"),
	})
	contains(t, page,
		"| GRAPH | The workflow.chat interpreter | 2 | 0 | 30 |",
		"| | **all** | **5** | **0** | **558** |",
		"| UI-03 | whole | ends with %s (", "| UI-04 | whole | in a table (",
		"| GRAPH-07 | whole | FuzzParse ([internal/graph/fuzz_test.go](../internal/graph/fuzz_test.go))<br>TestLoop (",
		`| UI-01 | whole | a \| pipe ([web/e2e/chat.spec.ts]`,
	)
	for _, not := range []string{"UI-02", "GRAPH-08", "## PLAT"} {
		if strings.Contains(page, not) {
			t.Errorf("%q in\n%s", not, page)
		}
	}
}

const clauses = "# what is held clause by clause\n\nCHAT-07: text; code, as it is; citation\nEMB-01: normalised; padded\n"

func TestARequirementIsWholeWhenEachOfItsClausesIsHeld(t *testing.T) {
	t.Parallel()
	page := pageOf(t, fstest.MapFS{
		clausesFile: file(clauses),
		"a_test.go": file(tag + "CHAT-07 (code, as it is), EMB-01 (padded), RAG-02\nfunc TestA(t *testing.T) {\n"),
		"b_test.go": file(tag + "CHAT-07 (text; code, as it is), EMB-01 (normalised)\n" +
			tag + "CHAT-07 (text)\nfunc TestB(t *testing.T) {\n"),
	})
	contains(t, page,
		"| CHAT | Conversations, messages, turns | 0 | 1 | 28 |",
		"| EMB | Embeddings | 1 | 0 | 6 |",
		"| | **all** | **2** | **1** | **558** |",
		"| CHAT-07 | part; missing: citation | TestA ([a_test.go](../a_test.go)): code, as it is<br>"+
			"TestB ([b_test.go](../b_test.go)): text; code, as it is |",
		"| EMB-01 | whole | TestA ([a_test.go](../a_test.go)): padded<br>TestB ([b_test.go](../b_test.go)): normalised |",
		"| RAG-02 | whole | TestA ([a_test.go](../a_test.go)) |",
	)
}

// Golden files that say what they hold, and the test that reads them.
func goldens() fstest.MapFS {
	return fstest.MapFS{
		clausesFile:                 file("GRAPH-08: join; a branch fails\n"),
		"g/golden_test.go":          file(tag + "GRAPH-30, testdata/run, testdata/*/bad, testdata/a.ways\nfunc TestGolden(t *testing.T) {\n"),
		"g/testdata/run/a.json":     file("{\n  \"requirements\": \"GRAPH-08 (join), GRAPH-07\",\n  \"about\": \"a\"\n}\n"),
		"g/testdata/run/b.json":     file("{\n  \"requirements\": \"GRAPH-08 (a branch fails)\"\n}\n"),
		"g/testdata/run/c.json":     file("{}\n"),
		"g/testdata/x/bad/d.faults": file("# " + tag[3:] + "GRAPH-19\nall is wrong\n"),
		"g/testdata/a.ways":         file("# " + tag[3:] + "GRAPH-22\n"),
	}
}

func TestAGoldenFileCarriesWhatItHolds(t *testing.T) {
	t.Parallel()
	page := pageOf(t, goldens())
	contains(t, page,
		"| GRAPH-07 | whole | TestGolden: run/a ([g/testdata/run/a.json](../g/testdata/run/a.json)) |",
		"| GRAPH-08 | whole | TestGolden: run/a ([g/testdata/run/a.json](../g/testdata/run/a.json)): join<br>"+
			"TestGolden: run/b ([g/testdata/run/b.json](../g/testdata/run/b.json)): a branch fails |",
		"| GRAPH-19 | whole | TestGolden: x/bad/d (", "| GRAPH-22 | whole | TestGolden: a (",
		"| GRAPH-30 | whole | TestGolden ([g/golden_test.go]",
	)
}

func TestAGoldenFileThatIsDeletedProvesNothing(t *testing.T) {
	t.Parallel()
	fewer := goldens()
	delete(fewer, "g/testdata/run/a.json")
	page := pageOf(t, fewer)
	contains(t, page, "| GRAPH-08 | part; missing: join | TestGolden: run/b (")
	if strings.Contains(page, "| GRAPH-07 |") {
		t.Errorf("GRAPH-07 is still proven:\n%s", page)
	}
	delete(fewer, "g/testdata/run/b.json")
	if _, err := collect(fewer); err == nil || !strings.Contains(err.Error(), "g/golden_test.go:1: no file of g/testdata/run says what it holds") {
		t.Errorf("a folder of no claims: %v", err)
	}
	delete(fewer, "g/golden_test.go")
	if _, err := collect(fewer); err == nil || !strings.Contains(err.Error(), "g/testdata/a.ways:1: no test says that it reads this file") {
		t.Errorf("a golden file without its test: %v", err)
	}
}

func TestAClaimThatCannotBeReadIsAFault(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"too high":            tag + "EMB-07\nfunc TestX(t *testing.T) {\n",
		"no area":             tag + "NOPE-01\nfunc TestX(t *testing.T) {\n",
		"no padding":          tag + "EMB-1\nfunc TestX(t *testing.T) {\n",
		"prose":               tag + "all of them\nfunc TestX(t *testing.T) {\n",
		"no test":             tag + "EMB-02\nvar x = 1\n",
		"no id":               tag + "EMB-02,\nfunc TestX(t *testing.T) {\n",
		"no clause":           tag + "EMB-01 ()\nfunc TestX(t *testing.T) {\n",
		"an empty clause":     tag + "EMB-01 (padded;)\nfunc TestX(t *testing.T) {\n",
		"open":                tag + "EMB-01 (padded\nfunc TestX(t *testing.T) {\n",
		"closed twice":        tag + "EMB-01 (padded))\nfunc TestX(t *testing.T) {\n",
		"in each other":       tag + "EMB-01 (padded (always))\nfunc TestX(t *testing.T) {\n",
		"text behind":         tag + "EMB-01 (padded) always\nfunc TestX(t *testing.T) {\n",
		"unknown clause":      tag + "EMB-01 (shuffled)\nfunc TestX(t *testing.T) {\n",
		"which clause":        tag + "EMB-01\nfunc TestX(t *testing.T) {\n",
		"no clauses known":    tag + "EMB-02 (always)\nfunc TestX(t *testing.T) {\n",
		"files that are none": tag + "testdata/run\nfunc TestX(t *testing.T) {\n",
		"files of others":     tag + "testdata/../run\nfunc TestX(t *testing.T) {\n",
	} {
		repo := fstest.MapFS{"a_test.go": file(text), clausesFile: file("EMB-01: normalised; padded\n")}
		if _, err := collect(repo); err == nil || !strings.Contains(err.Error(), "a_test.go:") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"too high":     "{\n\"requirements\": \"EMB-07\"\n}",
		"empty":        "{\n\"requirements\": \"\"\n}",
		"which clause": "{\n\"requirements\": \"EMB-01\"\n}",
		"other files":  "{\n\"requirements\": \"testdata/run\"\n}",
	} {
		repo := fstest.MapFS{
			clausesFile: file("EMB-01: normalised; padded\n"), "testdata/a.json": file(text),
			"a_test.go": file(tag + "EMB-01 (padded), testdata\nfunc TestX(t *testing.T) {\n"),
		}
		if _, err := collect(repo); err == nil || !strings.Contains(err.Error(), "testdata/a.json:2:") {
			t.Errorf("a golden file, %s: got %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"unknown": "\nEMB-07: a\n", "twice": "EMB-01: a\nEMB-01: b\n", "no clauses": "\nEMB-01:\n",
		"parentheses": "\nEMB-01: a (b)\n", "the same clause": "\nEMB-01: a; a\n",
	} {
		repo := fstest.MapFS{clausesFile: file(text)}
		if _, err := collect(repo); err == nil || !strings.Contains(err.Error(), clausesFile+":2:") {
			t.Errorf("the clauses, %s: got %v", name, err)
		}
	}
	if _, err := collect(fstest.MapFS{clausesFile: file("EMB-01: a; b\n")}); err == nil || !strings.Contains(err.Error(), "no test names EMB-01") {
		t.Errorf("clauses nobody holds: got %v", err)
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

func pageOf(t *testing.T, repo fstest.MapFS) string {
	t.Helper()
	said, err := collect(repo)
	if err != nil {
		t.Fatal(err)
	}
	return string(render(said))
}

func contains(t *testing.T, page string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
