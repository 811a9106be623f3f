// Command liminald is the whole platform in one program: `dev` runs everything
// in one process, the other subcommands are its parts and its tools.
//
// It is the top floor and may import anything; nothing imports it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"go.temporal.io/sdk/worker"
)

// version is set by the Makefile from the commit; see buildVersion.
var version = ""

func main() {
	if stays(os.Args[1:]) {
		tuneMemory(os.Environ())
		// Else the engine's workers read the whole program for its checksum.
		worker.SetBinaryChecksum(buildVersion())
	}
	ctx := context.Background()
	if !supervises(os.Args[1:]) {
		ctx = untilSignalled(os.Stderr)
	}
	os.Exit(run(ctx, terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()}, os.Args[1:]))
}

// stays reports whether a command goes on until it is stopped, or is measured as
// such a one. The others end before a heap would matter, and those that read
// strangers' files have bounds of their own.
func stays(args []string) bool {
	return len(args) > 0 && slices.Contains([]string{"dev", "server", "worker", "bench"}, args[0])
}

// terminal is what a command may touch of the world outside.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	environ  []string
}

// untilSignalled ends its context at the first SIGINT or SIGTERM and the
// process at the second: whoever asks twice does not want to wait.
func untilSignalled(say io.Writer) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(say, "liminald: stopped at once, as asked twice; what was acknowledged is kept")
		os.Exit(exitFailed)
	}()
	return ctx
}

// buildVersion is what the Makefile or, without it, the Go tool recorded.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "0.0.0+" + s.Value[:12]
		}
	}
	return "0.0.0"
}
