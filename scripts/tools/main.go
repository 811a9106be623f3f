// Command tools writes docs/tools.md: every tool of the program with what it
// takes, gives and fails with, out of the specs the program itself goes by. A
// test fails when the page and the specs have drifted apart.
//
// It may import api, internal/tool, internal/tool/builtin and
// internal/tool/reference, and nothing imports it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const pagePath = "docs/tools.md"

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	page, err := render()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(pagePath)), page, 0o644)
}
