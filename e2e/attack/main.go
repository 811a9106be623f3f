package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"liminal/e2e/iopressure"
)

// attack is one way to take the house.
type attack struct {
	name        string
	row         string // of the findings; empty: it held then
	about       string
	after       bool     // the program may be left busy or broken: the next attack gets another one
	deployments []string // where it can be made; all without
	once        bool     // the short form makes it on one deployment: what it attacks is the same on all
	run         func(t *trial)
}

func attacks() []attack {
	return slices.Concat(schemaAttacks(), treeAttacks(), engineAttacks(), paperAttacks(), edgeAttacks(), heldAttacks(), productionAttacks())
}

type options struct {
	program, only string
	deployments   []string
	short, keep   bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command attacks as args ask for and returns the exit code.
func command(ctx context.Context, args []string, out, errs io.Writer) int {
	o, deployment := options{}, ""
	fs := flag.NewFlagSet("attack", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.StringVar(&o.program, "program", os.Getenv("LIMINALD"), "the liminald to attack; LIMINALD without")
	fs.StringVar(&o.only, "only", "", "these attacks, by name, separated by commas")
	fs.StringVar(&deployment, "lane", "embedded", "embedded: one liminald dev; production: a server and a worker on the servers of scripts/lane.sh; both")
	fs.BoolVar(&o.short, "short", false, "as CI runs it: fewer and for a shorter time")
	fs.BoolVar(&o.keep, "keep", false, "keep the folder with the logs")
	list := fs.Bool("list", false, "say which attacks there are")
	within := fs.String("inside", "", "of this program itself: attack in namespaces of its own, and report to this file")
	if fs.Parse(args) != nil {
		return 2
	}
	if *within != "" {
		return inside(ctx, *within, o.program)
	}
	if *list {
		for _, a := range attacks() {
			fmt.Fprintf(out, "%-18s %-4s %s\n", a.name, a.row, a.about)
		}
		return 0
	}
	if o.deployments = []string{deployment}; deployment == "both" {
		o.deployments = []string{onEmbedded, onProduction}
	}
	if _, err := os.Stat(o.program); err != nil {
		fmt.Fprintf(errs, "attack: --program names no liminald: %v\n", err)
		return 2
	}
	o.program, _ = filepath.Abs(o.program)
	code := 0
	fmt.Fprintf(out, "| lane | # | attack | result | took | memory before → most | figures |\n|---|---|---|---|---|---|---|\n")
	for _, deployment := range o.deployments {
		code = max(code, campaign(ctx, deployment, o, out, errs))
	}
	return code
}

// campaign is every attack on one lane. A program that an attack has hurt is
// not the next one's.
func campaign(ctx context.Context, deployment string, o options, out, errs io.Writer) (code int) {
	var h *house
	defer func() { h.close(o.keep) }()
	for _, a := range attacks() {
		if !o.wants(a, deployment) {
			continue
		}
		if ctx.Err() != nil {
			return 2
		}
		if h == nil {
			var err error
			if h, err = newHouse(ctx, deployment, o.program); err != nil {
				fmt.Fprintf(errs, "attack: the %s lane did not come up: %v\n", deployment, err)
				return 2
			}
		}
		t := &trial{ctx: ctx, house: h, short: o.short, name: a.name}
		t.carryOut(a)
		fmt.Fprintln(out, t.row(deployment, a))
		code = max(code, t.code())
		if a.after || t.code() > 0 {
			h.close(o.keep)
			h = nil
		}
	}
	return code
}

// wants reports whether an attack is asked for on a deployment.
func (o options) wants(a attack, deployment string) bool {
	switch {
	case o.only != "" && !slices.Contains(strings.Split(o.only, ","), a.name):
		return false
	case len(a.deployments) > 0 && !slices.Contains(a.deployments, deployment):
		return false
	}
	return !o.short || !a.once || deployment == o.deployments[0]
}

// trial is one attack under way.
type trial struct {
	ctx     context.Context
	house   *house
	short   bool
	name    string
	people  int
	holes   []string
	figures []string
	broken  error // it could not be carried out
	took    time.Duration
	before  int64
	most    int64
	disk    *iopressure.Recorder
	retries int // that a stalling disk cost so far
}

// stop ends a trial that cannot go on.
type stop struct{ err error }

// limit bounds every attack; each has bounds of its own below it.
const limit = 4 * time.Minute

func (t *trial) carryOut(a attack) {
	ctx, cancel := context.WithTimeout(t.ctx, limit)
	defer cancel()
	t.ctx, t.before = ctx, t.house.memory()
	t.house.forgetMost()
	t.disk = iopressure.Record()
	began := time.Now()
	defer func() {
		t.took, t.most = time.Since(began), t.house.most()
		t.disk.Stop()
		switch p := recover().(type) {
		case nil:
		case stop:
			t.broken = p.err
		default:
			panic(p)
		}
		if died := t.house.died(); died != "" {
			t.hole("%s", died)
		}
	}()
	a.run(t)
}

// hole is a way in.
func (t *trial) hole(format string, args ...any) {
	if len(t.holes) < 10 {
		t.holes = append(t.holes, fmt.Sprintf(format, args...))
	}
}

// figure is something that was measured.
func (t *trial) figure(format string, args ...any) {
	t.figures = append(t.figures, fmt.Sprintf(format, args...))
}

// measureAgain reports whether what was too slow since a moment is to be
// measured once more, because the disk stalled for most of that time. A trial
// does so a few times and no more: then it is slow. Its row says so either way.
func (t *trial) measureAgain(what string, since time.Time) bool {
	stall := t.disk.Stall(since, time.Now())
	switch {
	case !stall.Most():
		return false
	case t.retries == iopressure.Retries:
		t.figure("%s: %s, after %d retries", what, stall, t.retries)
		return false
	}
	t.retries++
	t.figure("%s was measured again: %s", what, stall)
	return true
}

// must ends the trial when it cannot go on.
func (t *trial) must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// choose is a figure of the whole form or of the short one.
func choose[T any](t *trial, short, whole T) T {
	if t.short {
		return short
	}
	return whole
}

func (t *trial) code() int {
	switch {
	case len(t.holes) > 0:
		return 1
	case t.broken != nil:
		return 2
	}
	return 0
}

func (t *trial) row(deployment string, a attack) string {
	result := []string{"PASS", "**FAIL**", "**BROKEN**"}[t.code()]
	notes := slices.Concat(t.holes, t.figures)
	if t.broken != nil {
		notes = append(notes, "it could not be carried out: "+t.broken.Error())
	}
	text := strings.NewReplacer("|", "\\|", "\n", " ").Replace(strings.Join(notes, "; "))
	return fmt.Sprintf("| %s | %s | %s | %s | %.1f s | %d → %d MiB | %s |", deployment, a.row, a.name, result, t.took.Seconds(), t.before>>20, t.most>>20, text)
}
