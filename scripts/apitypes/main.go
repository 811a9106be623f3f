// Command apitypes writes web/src/api/gen.ts: the types of the client, made of
// docs/openapi.json. A test fails when the two have drifted apart, and the
// document in its turn is held to the routes by a test of api.
//
// It imports the standard library only and nothing imports it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const (
	documentPath = "docs/openapi.json"
	typesPath    = "web/src/api/gen.ts"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "apitypes:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	types, err := generate(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(typesPath)), types, 0o644)
}

// generate is what gen.ts has to say of the document below root.
func generate(root string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(documentPath)))
	if err != nil {
		return nil, err
	}
	return render(raw)
}
