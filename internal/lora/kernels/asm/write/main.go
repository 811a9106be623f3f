// Command write writes the generated files of internal/lora/kernels into the
// current folder. It imports the generator only.
package main

import (
	"fmt"
	"os"

	"liminal/internal/lora/kernels/asm"
)

func main() {
	files, err := asm.Files()
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(name, text, 0o644) //nolint:gosec // source files are read by everyone
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
