package main

import (
	"fmt"
	"os"

	"liminal/internal/knowledge/extract"
)

// readersCommand is the subcommand of the processes in which the program reads
// documents, with bounds of memory and time. It starts them itself and speaks
// with them over a pipe, so help does not list it.
const readersCommand = "read-documents"

func read(t terminal, args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(t.err, "liminald: read-documents is started by the program itself")
		return exitUsage
	}
	if err := extract.Serve(os.Stdin, t.out, args[0]); err != nil {
		fmt.Fprintln(t.err, err)
		return exitFailed
	}
	return exitOK
}
