// Package bench measures the platform against the bare engine it stands on:
// it starts both on a scratch folder in this process and reports only what it
// measured there.
//
// It may import anything below the commands, and the SDK for the floor.
package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"liminal/internal/config"
)

// The targets. What a turn costs is bounded by multiples of an empty workflow in
// the same run; the rest is for the development machine (2 cores, everything
// embedded).
const (
	targetTurnCPU     = 1.35 // of the empty workflow's
	targetChatCPU     = 1.8
	targetResumeCPU   = 1.2
	targetTurnRatio   = 1.6 // of the empty workflow's p50
	targetChatRatio   = 2.2
	targetRateRatio   = 0.75 // of the empty workflow's, at 16
	targetGrowth      = 1.2  // bytes of turn 1,000 over turn 10
	targetResume      = 25   // ms, p50
	targetCrowdMiB    = 300  // over idle, for 10,000 paused runs
	targetCrowdResume = 80   // runs/s
	targetToken       = 5    // ms, p99
)

// Options say how to measure.
type Options struct {
	// Config is what to stand on when it names PostgreSQL and Redis: then the
	// database must hold no accounts, and is left with the benchmark's. Otherwise
	// everything is embedded, on a scratch folder.
	Config config.Config
	// Quick measures little of everything, in about a minute.
	Quick bool
	// Version of the program, for the report.
	Version string
	// Dir is where the scratch folder is made; empty means the system's place
	// for temporary files. The disk under it is part of what is measured.
	Dir string
	// Only names the measurements to make, see Names; the floor is always made.
	// Empty means all.
	Only []string
	// Profile gets a profile of the processors over the measurements after the
	// floor's, in pprof's format; nil: none is made.
	Profile io.Writer
	// Proxy prepares a capture proxy in a process of its own, with a data folder; nil:
	// its memory is not measured.
	Proxy func(data string) *exec.Cmd
	// Progress gets a line before each measurement; nil keeps it quiet.
	Progress io.Writer
}

// Run measures everything and removes what it wrote. A measurement that fails
// ends it: a table with holes would be read as a whole one.
func Run(ctx context.Context, o Options) (r Report, err error) {
	for _, name := range o.Only {
		if !slices.Contains(Names(), name) {
			return r, fmt.Errorf("there is no measurement %q; there are: %s", name, strings.Join(Names(), ", "))
		}
	}
	s := full()
	if o.Quick {
		s = quick()
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	dir, err := os.MkdirTemp(o.Dir, "liminal-bench-")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system cleans what is left
	r = Report{Version: o.Version, Machine: machine(), Stands: embedded, Quick: o.Quick}
	b := &benchmark{sizes: s, report: &r, progress: o.Progress, dir: dir, conf: o.Config, only: o.Only, profile: o.Profile, proxy: o.Proxy}
	if o.Config.Production() {
		r.Stands = "PostgreSQL, Redis, Temporal on " + o.Config.Temporal.Address
	}
	return r, b.all(ctx)
}

// benchmark is one run of all measurements.
type benchmark struct {
	sizes    sizes
	house    *house
	report   *Report
	progress io.Writer
	dir      string
	conf     config.Config
	only     []string
	profile  io.Writer
	proxy    func(data string) *exec.Cmd
	floor    pace
}

func (b *benchmark) all(ctx context.Context) (err error) {
	b.say("starting a platform on %s", b.report.Stands)
	if b.house, err = build(ctx, b.conf, b.dir, b.report.Version); err != nil {
		return err
	}
	defer func() {
		if closeErr := b.house.close(context.WithoutCancel(ctx)); err == nil {
			err = closeErr
		}
	}()
	for _, step := range steps() {
		if len(b.only) > 0 && step.name != stepFloor && !slices.Contains(b.only, step.name) {
			continue
		}
		if err := b.house.speakBy(ctx, step.model); err != nil {
			return err
		}
		b.say("%s: %s", step.name, step.what)
		if err := pause(ctx, b.sizes.settle); err != nil {
			return err
		}
		if b.profile != nil && (step.name != stepFloor || slices.Contains(b.only, stepFloor)) {
			if err := pprof.StartCPUProfile(b.profile); err != nil {
				return err
			}
			defer pprof.StopCPUProfile()
			b.profile = nil
		}
		if err := step.do(b, ctx); err != nil {
			return fmt.Errorf("measuring %s: %w", step.what, err)
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (b *benchmark) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "bench: "+format+"\n", args...)
}

// rowsOf are the figures of a pace. target adds what was aimed at to the row of
// that name.
func (b *benchmark) rowsOf(what string, p pace, target func(name string, r Row) Row) {
	of := fmt.Sprintf("%d alone", b.sizes.alone)
	during := b.sizes.during.String()
	for _, f := range []struct {
		name, unit, of string
		value, floor   float64
	}{
		{"CPU", "ms", of, milliseconds(p.cpu), milliseconds(b.floor.cpu)},
		{"CPU with 16 at once", "ms", during, milliseconds(p.cpuCrowded), milliseconds(b.floor.cpuCrowded)},
		{"p50", "ms", of, milliseconds(p.alone.p50), milliseconds(b.floor.alone.p50)},
		{"p95", "ms", of, milliseconds(p.alone.p95), milliseconds(b.floor.alone.p95)},
		{"p99", "ms", of, milliseconds(p.alone.p99), milliseconds(b.floor.alone.p99)},
		{"16 at once", "/s", during, p.at16, b.floor.at16},
		{"64 at once", "/s", during, p.at64, b.floor.at64},
	} {
		b.report.add(target(f.name, row(what+", "+f.name, f.value, f.unit, f.of).ratio(f.floor)))
	}
}

// ratios are targets for a pace as multiples of the floor's; a rate of 0 is none.
func ratios(cpu, p50, rate float64) func(name string, r Row) Row {
	return func(name string, r Row) Row {
		switch {
		case name == "CPU":
			return r.aim(fmt.Sprintf("≤ %g × floor", cpu), r.Floor <= cpu)
		case name == "p50":
			return r.aim(fmt.Sprintf("≤ %g × floor", p50), r.Floor <= p50)
		case name == "16 at once" && rate > 0:
			return r.aim(fmt.Sprintf("≥ %g × floor", rate), r.Floor >= rate)
		}
		return r
	}
}

func noTarget(_ string, r Row) Row { return r }
