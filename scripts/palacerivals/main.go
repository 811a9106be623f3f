// Command palacerivals measures the capture proxy beside other proxies for Claude Code,
// in turns, before one invented backend on this machine, and prints a Markdown table.
//
//	scripts/palace-rivals.sh     installs the others and runs this
//
// It imports the standard library.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// startLimit is how long a proxy may take to begin: some read many files.
	startLimit = 3 * time.Minute
	askEvery   = 250 * time.Millisecond
	chunks     = 40
	every      = 5 * time.Millisecond
	bodySize   = 52 << 10
	atOnce     = 32
)

func main() {
	var o options
	flag.StringVar(&o.liminald, "liminald", "bin/liminald", "the capture proxy's program")
	flag.StringVar(&o.litellm, "litellm", "", "LiteLLM's program; empty: it is not measured")
	flag.StringVar(&o.router, "claude-code-router", "", "the script of claude-code-router; empty: it is not measured")
	flag.StringVar(&o.versions, "versions", "", "name=version of each, separated by commas, for the table")
	flag.IntVar(&o.streams, "streams", 40, "streams alone, to each in turn")
	flag.IntVar(&o.burst, "burst", 640, "streams at 32 at once, to each in turn")
	flag.Parse()
	if err := measure(o); err != nil {
		fmt.Fprintln(os.Stderr, "palacerivals:", err)
		os.Exit(1)
	}
}

type options struct {
	liminald, litellm, router, versions string
	streams, burst                      int
}

// target is where streams are asked for.
type target struct {
	name   string
	url    string // of messages
	header http.Header
	server *server // nil: there is none between
	seen   figures
}

func measure(o options) (err error) {
	ctx := context.Background()
	for _, program := range []*string{&o.liminald, &o.litellm, &o.router} { // each begins in a folder of its own
		if *program != "" {
			if *program, err = filepath.Abs(*program); err != nil {
				return err
			}
		}
	}
	scratch, err := os.MkdirTemp("", "palace-rivals-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // the system cleans what is left
	up := &backend{}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: up, ReadHeaderTimeout: time.Minute}
	go s.Serve(l)   //nolint:errcheck // it ends with the program
	defer s.Close() //nolint:errcheck // as above
	here := "http://" + l.Addr().String()
	direct := &target{name: "nothing between", url: here + "/v1/messages"}
	targets := []*target{direct}
	var servers []*server
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	for _, start := range []func(context.Context, options, string, string) (*server, []*target, error){startLiminal, startLiteLLM, startRouter} {
		server, list, err := start(ctx, o, scratch, here)
		if server != nil {
			servers = append(servers, server)
		}
		if err != nil {
			return err
		}
		targets = append(targets, list...)
	}
	if len(targets) < 3 {
		return errors.New("none of the others is there to be measured")
	}
	for _, t := range targets { // once, so that connections and code are warm
		for range 3 {
			if _, err := up.ask(ctx, t, 0); err != nil {
				return fmt.Errorf("%s: %w%s", t.name, err, t.said())
			}
		}
		t.seen = figures{}
	}
	for range o.streams {
		for _, t := range targets {
			r, err := up.ask(ctx, t, every)
			t.seen.add(r, err)
		}
	}
	for _, t := range targets {
		t.seen.burst(ctx, up, t, o.burst)
	}
	return table(o, direct, targets)
}

// said is the end of what the server of a target wrote.
func (t *target) said() string {
	if t.server == nil {
		return ""
	}
	raw, _ := os.ReadFile(t.server.log) // then nothing
	return "\n" + string(raw[max(0, len(raw)-2000):])
}

func table(o options, direct *target, targets []*target) error {
	versions := map[string]string{}
	for _, v := range strings.Split(o.versions, ",") {
		name, version, _ := strings.Cut(v, "=")
		versions[name] = version
	}
	fmt.Printf("%d streams of %d chunks to each in turn, a request of %d KB; then %d at %d at once.\n\n", o.streams, chunks, bodySize>>10, o.burst, atOnce)
	fmt.Println("| | added to a chunk, p50 / p99 | added to the first byte, p50 | CPU a request | cut | request | answer |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, t := range targets {
		f, base := &t.seen, &direct.seen
		name := t.name
		if v := versions[strings.Split(t.name, ",")[0]]; v != "" {
			name += " " + v
		}
		if t == direct {
			fmt.Printf("| %s | (%s / %s) | (%s) | | %d | | |\n", name, f.late(50), f.late(99), f.first(50), f.cut)
			continue
		}
		fmt.Printf("| %s | %s / %s | %s | %s | %d | %s | %s |\n", name, f.late(50)-base.late(50), f.late(99)-base.late(99), f.first(50)-base.first(50), f.cpu.Round(10*time.Microsecond), f.cut, changed(f.asked), changed(f.answered))
	}
	return nil
}

// changed tells in words how many were other bytes than were sent.
func changed(c compared) string {
	switch {
	case c.whole == 0:
		return "-"
	case c.other == 0:
		return "the same bytes"
	case c.other == c.whole:
		return "other bytes, always"
	}
	return fmt.Sprintf("other bytes, %d of %d", c.other, c.whole)
}

// quantile is one of sorted durations.
func quantile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)].Round(10 * time.Microsecond)
}
