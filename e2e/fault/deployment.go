package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Deployment is a set-up of the platform that can be loaded and broken.
type Deployment interface {
	// Start brings everything up; Stop ends it.
	Start(ctx context.Context) error
	Stop() error
	// URL is where clients connect.
	URL() string
	// Faults are what can happen to it.
	Faults() []Fault
	// Forgot is when the log of events was lost.
	Forgot() []time.Time
	// Crashes counts what ended by itself, by process.
	Crashes() map[string]int
}

// Fault is one thing that can go wrong. Do returns when it has been made good
// again, as a supervisor or an operator would.
type Fault struct {
	Name string
	Do   func(ctx context.Context, r *rand.Rand) error
}

// setting is what every deployment is made from.
type setting struct {
	dir    string // of everything
	binary string // liminald
	gate   gate
	env    []string
	log    *slog.Logger
}

// newSetting prepares a folder: the program, the script of its model.
func newSetting(dir string, log *slog.Logger) (setting, error) {
	s := setting{dir: dir, log: log, binary: os.Getenv("LIMINALD")}
	if s.binary == "" {
		s.binary = filepath.Join(dir, "liminald")
		log.Info("building liminald; LIMINALD names one that is built")
		build := exec.Command("go", "build", "-o", s.binary, "liminal/cmd/liminald") //nolint:gosec,noctx // ours
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return s, err
		}
	}
	script, g, err := writeScript(dir)
	s.gate = g
	s.env = []string{
		"MODEL_BACKEND=scripted", "LIMINAL_MODEL_SCRIPT=" + script, "LIMINAL_LOG_LEVEL=info", "LIMINAL_ACCESS_TTL=60m",
	}
	return s, err
}

// hang lets the model of every process say nothing for a while.
func (s setting) hang() Fault {
	return Fault{Name: "model hangs", Do: func(ctx context.Context, r *rand.Rand) error {
		if err := s.gate.close(); err != nil {
			return err
		}
		pause(ctx, time.Duration(1500+r.IntN(3000))*time.Millisecond)
		return s.gate.open()
	}}
}

// killed is the death of a process and its return after a moment.
func killed(name string, pick func(*rand.Rand) *Process) Fault {
	return Fault{Name: name, Do: func(ctx context.Context, r *rand.Rand) error {
		p := pick(r)
		if err := p.kill(); err != nil {
			return err
		}
		pause(ctx, time.Duration(r.IntN(1500))*time.Millisecond)
		return p.start(ctx)
	}}
}

// restarted is an operator's restart: it is asked to end, and comes back.
func restarted(name string, pick func(*rand.Rand) *Process) Fault {
	return Fault{Name: name, Do: func(ctx context.Context, r *rand.Rand) error {
		p := pick(r)
		if err := p.drain(); err != nil {
			return err
		}
		return p.start(ctx)
	}}
}

// one always picks the same process.
func one(p *Process) func(*rand.Rand) *Process {
	return func(*rand.Rand) *Process { return p }
}

// any picks one of several.
func anyOf(all []*Process) func(*rand.Rand) *Process {
	return func(r *rand.Rand) *Process { return all[r.IntN(len(all))] }
}
