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
	"time"

	"liminal/internal/config"
)

// The targets, for the development machine (2 cores, everything embedded).
const (
	targetTurnRatio   = 1.8 // of the empty workflow's p50
	targetTurn        = 8.0 // ms, p50
	targetRate        = 220 // turns/s from 16 hands
	targetGrowth      = 1.2 // bytes of turn 1,000 over turn 10
	targetResume      = 25  // ms, p50
	targetCrowdMiB    = 300 // over idle, for 10,000 paused runs
	targetCrowdResume = 80  // runs/s
	targetToken       = 5   // ms, p99
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
	// Progress gets a line before each measurement; nil keeps it quiet.
	Progress io.Writer
}

// Run measures everything and removes what it wrote. A measurement that fails
// ends it: a table with holes would be read as a whole one.
func Run(ctx context.Context, o Options) (r Report, err error) {
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
	b := &benchmark{sizes: s, report: &r, progress: o.Progress, dir: dir, conf: o.Config}
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
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"the bare engine: an empty workflow", b.measureFloor},
		{"turns of five no-op nodes", b.measureFive},
		{"default chat turns", b.measureChat},
		{"first tokens and token delays", b.measureSpeech},
		{"resuming a paused turn", b.measureResume},
		{fmt.Sprintf("a conversation of %d turns", b.sizes.turns), b.measureGrowth},
		{fmt.Sprintf("%d paused runs", b.sizes.paused), b.measureCrowd},
		{"reading a document in", b.measureIngest},
		{fmt.Sprintf("search in %d chunks", b.sizes.chunks), b.measureSearch},
		{fmt.Sprintf("rehearsing a change on %d recorded runs", rehearsedRuns), b.measureRehearsal},
	} {
		b.say("%s", step.what)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("measuring %s: %w", step.what, err)
		}
	}
	return nil
}

func (b *benchmark) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "bench: "+format+"\n", args...)
}

// rowsOf are the five figures of a pace.
func (b *benchmark) rowsOf(what string, p pace, target func(name string, r Row) Row) {
	of := fmt.Sprintf("%d alone", b.sizes.alone)
	for _, q := range []struct {
		name         string
		value, floor time.Duration
	}{
		{"p50", p.alone.p50, b.floor.alone.p50}, {"p95", p.alone.p95, b.floor.alone.p95}, {"p99", p.alone.p99, b.floor.alone.p99},
	} {
		r := row(what+", "+q.name, milliseconds(q.value), "ms", of).ratio(milliseconds(q.floor))
		b.report.add(target(q.name, r))
	}
	for _, q := range []struct {
		name         string
		value, floor float64
	}{{"16 at once", p.at16, b.floor.at16}, {"64 at once", p.at64, b.floor.at64}} {
		r := row(what+", "+q.name, q.value, "/s", b.sizes.during.String()).ratio(q.floor)
		b.report.add(target(q.name, r))
	}
}

func noTarget(_ string, r Row) Row { return r }
