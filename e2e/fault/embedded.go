package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// diskSize is the disk of the embedded store, small enough to be filled.
const diskSize = "size=384m"

// embedded is everything in one process: `liminald dev`.
type embedded struct {
	setting
	disk    string // its data
	mounted bool
	dev     *Process
	proxy   *Proxy
}

func newEmbedded(s setting) *embedded {
	return &embedded{setting: s, disk: filepath.Join(s.dir, "disk")}
}

// Start implements Lane. The data lies on a disk of its own; where that needs
// rights we lack, the disk cannot fill and says so.
func (e *embedded) Start(ctx context.Context) error {
	if err := os.MkdirAll(e.disk, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", e.disk, "tmpfs", 0, diskSize); err != nil {
		e.log.Warn("no disk of its own for the store, so it will not be filled", "error", err)
	} else {
		e.mounted = true
	}
	if err := e.dress(ctx); err != nil {
		return err
	}
	return e.dev.start(ctx)
}

// dress makes the process and what stands in front of it.
func (e *embedded) dress(ctx context.Context) error {
	var at [3]string
	for i := range at {
		var err error
		if at[i], err = freePort(); err != nil {
			return err
		}
	}
	file := filepath.Join(e.dir, "dev.ready")
	e.dev = &Process{
		name: "dev", dir: e.dir, env: e.env, log: e.log, up: announced(file),
		argv: []string{
			e.binary, "dev", "--data", filepath.Join(e.disk, "data"), "--listen", at[0],
			"--temporal", at[1], "--temporal-ui", at[2], "--ready-file", file,
		},
	}
	e.dev.fresh = file
	proxy, err := newProxy(ctx, at[0])
	e.proxy = proxy
	return err
}

// URL implements Lane.
func (e *embedded) URL() string { return e.proxy.url() }

// Forgot implements Deployment: the log is in the process.
func (e *embedded) Forgot() []time.Time { return e.dev.died() }

// Crashes implements Lane.
func (e *embedded) Crashes() map[string]int { return map[string]int{"dev": e.dev.crashed()} }

// Faults implements Lane.
func (e *embedded) Faults() []Fault {
	all := []Fault{
		killed("kill -9 dev", one(e.dev)),
		restarted("restart dev", one(e.dev)),
		e.hang(),
	}
	if e.mounted {
		all = append(all, Fault{Name: "disk full", Do: e.fill})
	}
	return all
}

// fill leaves not one byte on the disk for a while.
func (e *embedded) fill(ctx context.Context, r *rand.Rand) error {
	ballast := filepath.Join(e.disk, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, nothing{})
	closeErr := f.Close()
	if err == nil || !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk does not fill: %w", errors.Join(err, closeErr))
	}
	pause(ctx, time.Duration(2000+r.IntN(4000))*time.Millisecond)
	if err := os.Remove(ballast); err != nil {
		return err
	}
	return e.dev.ready(ctx)
}

// nothing is an endless file.
type nothing struct{}

func (nothing) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Stop implements Lane.
func (e *embedded) Stop() error {
	var errs []error
	if e.dev != nil {
		errs = append(errs, e.dev.kill())
	}
	if e.proxy != nil {
		errs = append(errs, e.proxy.close())
	}
	if e.mounted {
		errs = append(errs, syscall.Unmount(e.disk, syscall.MNT_DETACH))
	}
	return errors.Join(errs...)
}
