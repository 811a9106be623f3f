package extract_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"liminal/internal/cell"
	"liminal/internal/knowledge/extract"
)

// readDocuments makes the test program one of the processes that read.
const readDocuments = "read-documents"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == readDocuments {
		if err := extract.Serve(os.Stdin, os.Stdout, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if dir := readersDir(); dir != "" {
		_ = os.RemoveAll(dir) // it is a folder of temporary files
	}
	os.Exit(code)
}

var readersDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "readers-")
	if err != nil {
		panic(err)
	}
	return dir
})

// confined are parsers that read in processes of their own, as the program's do.
var confined = sync.OnceValue(func() *extract.Parsers {
	self, err := cell.Self(readDocuments)
	if err != nil {
		panic(err)
	}
	return extract.NewConfined(self, readersDir())
})
