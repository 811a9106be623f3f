// Command requirements writes docs/requirements.md: which requirement is
// proven by which test. It reads the comments above the tests and nothing
// else, so the page cannot claim what no test holds.
//
// In Go and in TypeScript a test names what it proves in a line directly above
// it:
//
//	// Requirements: GRAPH-07, GRAPH-16
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
	proofs, err := collect(os.DirFS(root))
	if err != nil {
		return err
	}
	want := render(proofs)
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
