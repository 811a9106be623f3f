package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
)

func versionCommand() command {
	return command{
		name:     "version",
		summary:  "print the version of this program",
		about:    "Prints the version, the Go it was built with, and the platform.",
		examples: []string{"liminald version", "liminald version --json"},
		flags:    jsonFlag,
		run: func(_ context.Context, in *invocation) error {
			if *in.own.(*bool) {
				return writeJSON(in.out, map[string]string{
					"version": buildVersion(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(in.out, "liminald %s (%s, %s/%s)\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// jsonFlag is the whole flag set of several commands.
func jsonFlag(fs *flag.FlagSet) any {
	return fs.Bool("json", false, "print JSON for machines instead of text")
}

func writeJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
