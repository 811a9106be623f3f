package extract_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is found as what is expected")

// A file dropped into testdata/parse is a test: what is made of it stands in
// the .golden beside it (-update writes it). The places of all blocks are
// exact.
//
// Requirements: testdata/parse
func TestFilesAreReadAsTheirGoldensSay(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/parse/*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		seen[filepath.Ext(name)] = true
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			got := rendered(t, name)
			raw, err := os.ReadFile(name + ".golden")
			proves, want := "", string(raw)
			if line, rest, more := strings.Cut(want, "\n"); more && strings.HasPrefix(line, "# Requirements:") {
				proves, want = line+"\n", rest // for scripts/requirements
			}
			if *update {
				if err := os.WriteFile(name+".golden", []byte(proves+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v; run the test with -update and read what it wrote", err)
			}
			if got != want {
				t.Errorf("%s is read as\n%s\nand not as\n%s", name, got, want)
			}
		})
	}
	for _, ext := range []string{".docx", ".pptx", ".xlsx", ".odt", ".ods", ".epub", ".html", ".md", ".csv", ".json", ".eml"} {
		if !seen[ext] {
			t.Errorf("there is no sample of %s", ext)
		}
	}
}

// rendered is what is made of a file, for people to read.
func rendered(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	x, err := parsers().Parse(t.Context(), filepath.Base(name), "", bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\npages: %d\n", x.Title, x.Pages)
	last := 0
	for _, k := range x.Blocks {
		if k.Start < last || k.End <= k.Start || k.End > len(x.Text) {
			t.Fatalf("block %+v after %d of %d", k, last, len(x.Text))
		}
		last = k.End
		kind := k.Kind
		if kind == "" {
			kind = "prose"
		}
		fmt.Fprintf(&b, "\n== %d:%d %s, page %d, %q\n%s\n", k.Start, k.End, kind, k.Page, k.Heading, x.Text[k.Start:k.End])
	}
	return b.String()
}
