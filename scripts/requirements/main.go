// Command requirements writes docs/requirements.md: which requirement is held
// by which test, whole or in part. It reads the comments above the tests and
// the golden files they read, and nothing else, so the page cannot claim what
// no test holds.
//
// In Go and in TypeScript a test names what it holds in a line directly above
// it:
//
//	// Requirements: GRAPH-07, CHAT-07 (code; citation), testdata/run
//
// A requirement whose clauses stand in clauses.txt, beside this file, is named
// with the clauses that the test holds, and is whole when each is held by some
// test. Every other one is named by its id alone, and is whole when some test
// names it: that test holds the whole text, alone or with the others that name
// it. A requirement that is not held whole therefore stands in clauses.txt,
// with the clauses that nobody holds, and the page tells which these are.
//
// A test whose cases are golden files names their folder, or a file, as
// path.Match has it; each of those files says what it holds, in a field
//
//	"requirements": "GRAPH-08 (join)"
//
// where it is JSON, and else in a line "# Requirements: GRAPH-08 (join)". So a
// file that is deleted proves nothing any more. A file that says what it holds
// and is read by no test, and a test that names files which say nothing, are
// faults.
//
// It imports the standard library only and nothing imports it.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

const page = "docs/requirements.md"

func main() {
	root := flag.String("root", ".", "folder of the repository")
	check := flag.Bool("check", false, "write nothing; fail when the page is not what the tests say")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "requirements:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	said, err := collect(os.DirFS(root))
	if err != nil {
		return err
	}
	want := render(said)
	path := filepath.Join(root, filepath.FromSlash(page))
	if !check {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, want, 0o644)
	}
	have, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(have, want) {
		return fmt.Errorf("%s is not what the tests say; run: make requirements", page)
	}
	return nil
}
