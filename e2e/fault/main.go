package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"liminal/e2e/iopressure"
)

// The faults that the bar of five seconds is on: a server works on runs too.
const (
	faultWorker = "kill -9 worker"
	faultServer = "kill -9 server"
)

// options are what a storm is asked for.
type options struct {
	deployment string
	lasts      time.Duration
	calm       time.Duration // between two faults, at least
	seed       uint64
	people     int
	windows    int
	report     string
	dir        string
	keep       bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command runs the storms that args ask for and returns the exit code.
func command(ctx context.Context, args []string, out, errs io.Writer) int {
	o, short := options{calm: calm}, false
	fs := flag.NewFlagSet("fault", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.StringVar(&o.deployment, "lane", "embedded", "embedded: one liminald dev; production: servers, workers, PostgreSQL, Redis, Temporal; both")
	fs.DurationVar(&o.lasts, "for", time.Minute, "how long faults happen")
	fs.Uint64Var(&o.seed, "seed", 1, "what happens, and in which order")
	fs.IntVar(&o.people, "people", 6, "how many people")
	fs.IntVar(&o.windows, "windows", 2, "conversations each of them has at once")
	fs.StringVar(&o.report, "report", "", "write the report as JSON to this file")
	fs.StringVar(&o.dir, "dir", "", "work below this folder instead of a temporary one")
	fs.BoolVar(&o.keep, "keep", false, "keep the folder even when all is well")
	fs.BoolVar(&short, "short", false, "as CI runs it: 30 s of faults")
	if fs.Parse(args) != nil {
		return 2
	}
	if short {
		o.lasts, o.calm = 30*time.Second, calmShort
	}
	deployments := []string{o.deployment}
	if o.deployment == "both" {
		deployments = []string{"embedded", "production"}
	}
	var reports []*Report
	code := 0
	for _, deployment := range deployments {
		o.deployment = deployment
		r, err := measured(ctx, o, errs, weather)
		if err != nil {
			fmt.Fprintf(errs, "fault: %s, seed %d: %v\n", deployment, o.seed, err)
			return 2
		}
		r.write(out)
		if r.broken() {
			code = 1
		}
		reports = append(reports, r)
	}
	if err := save(o.report, reports); err != nil {
		fmt.Fprintf(errs, "fault: the report was not written: %v\n", err)
		return 2
	}
	return code
}

// measured lets a storm pass over a deployment, and where all that speaks
// against it are silences in which the machine's disk stood still, another; the
// last one counts.
func measured(ctx context.Context, o options, errs io.Writer, storm func(context.Context, options, io.Writer) (*Report, error)) (*Report, error) {
	var again []string
	for {
		r, err := storm(ctx, o, errs)
		if err != nil {
			return nil, err
		}
		r.Again = again
		if !r.spoiled() {
			return r, nil
		}
		if len(again) == iopressure.Retries {
			r.condemn()
			return r, nil
		}
		again = append(again, r.Spoiled[0].String())
		fmt.Fprintf(errs, "fault: %s, seed %d: measuring again: %s\n", o.deployment, o.seed, r.Spoiled[0])
	}
}

// weather is one deployment under load in one storm, and what came of it.
func weather(ctx context.Context, o options, errs io.Writer) (*Report, error) {
	dir, err := os.MkdirTemp(o.dir, fmt.Sprintf("fault-%s-%d-", o.deployment, o.seed))
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(errs, nil))
	s, err := newSetting(dir, log)
	if err != nil {
		return nil, err
	}
	deployment, err := deploymentOf(o.deployment, s)
	if err != nil {
		return nil, err
	}
	log.Info("starting", "lane", o.deployment, "seed", o.seed, "folder", dir)
	began, clean := time.Now(), false
	defer func() {
		if err := deployment.Stop(); err != nil {
			log.Warn("stopping was not clean", "error", err)
		}
		if clean && !o.keep {
			_ = os.RemoveAll(dir) // what stays is in a temporary folder
		}
	}()
	if err := deployment.Start(ctx); err != nil {
		return nil, fmt.Errorf("%w (logs in %s)", err, dir)
	}
	r, err := endure(ctx, o, deployment, dir, log)
	if err != nil {
		return nil, fmt.Errorf("%w (logs in %s)", err, dir)
	}
	r.Deployment, r.Seed, r.Lasted, r.Folder, r.Crashes = o.deployment, o.seed, time.Since(began), dir, deployment.Crashes()
	clean = !r.broken() && !r.spoiled()
	return r, nil
}

func deploymentOf(name string, s setting) (Deployment, error) {
	switch name {
	case "embedded":
		return newEmbedded(s), nil
	case "production":
		return newProduction(s), nil
	default:
		return nil, fmt.Errorf("there is no lane %q; there are embedded, production and both", name)
	}
}

// endure loads the deployment while the storm lasts, and looks at what is left.
func endure(ctx context.Context, o options, deployment Deployment, dir string, log *slog.Logger) (*Report, error) {
	crowd := newCrowd(o, deployment.URL())
	if err := crowd.settle(ctx); err != nil {
		return nil, err
	}
	log.Info("the load begins", "people", o.people, "windows", o.windows)
	disk := iopressure.Record()
	defer disk.Stop()
	done := crowd.begin(ctx)
	struck, err := storm(ctx, deployment, o, log)
	if err != nil {
		return nil, fmt.Errorf("the storm broke off: %w", err)
	}
	log.Info("the storm is over; waiting for what was promised")
	done()
	stored, err := crowd.harvest(ctx)
	if err != nil {
		return nil, err
	}
	seen := crowd.observed()
	err = errors.Join(save(filepath.Join(dir, "told.json"), seen), save(filepath.Join(dir, "stored.json"), stored), save(filepath.Join(dir, "struck.json"), struck))
	if err != nil {
		return nil, err
	}
	r := newReport(seen, stored, struck, verify(seen, stored, deployment.Forgot()), disk)
	r.Clients = crowd.tally.n
	return r, nil
}

// crowd is everybody.
type crowd struct {
	people  []*Person
	windows int
	tally   *Tally
}

// calmDown is how long turns may still take once the last fault is made good.
const calmDown = 75 * time.Second

func newCrowd(o options, url string) *crowd {
	c := &crowd{windows: o.windows, tally: &Tally{n: map[string]int{}}}
	for i := range o.people {
		name := "p" + ordinal(i+1)
		client := &Client{base: url, name: name, email: name + "@example.org", tally: c.tally, http: &http.Client{
			Transport: &http.Transport{MaxIdleConnsPerHost: 4, ResponseHeaderTimeout: requestLimit},
		}}
		c.people = append(c.people, newPerson(client, o.seed))
	}
	return c
}

// each does something for everybody at once.
func (c *crowd) each(do func(*Person) error) error {
	errs := make([]error, len(c.people))
	var wg sync.WaitGroup
	for i, p := range c.people {
		wg.Go(func() { errs[i] = do(p) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *crowd) settle(ctx context.Context) error {
	if err := c.people[0].settle(ctx); err != nil { // the first account is the administrator
		return err
	}
	rest := &crowd{people: c.people[1:]}
	if err := rest.each(func(p *Person) error { return p.settle(ctx) }); err != nil {
		return err
	}
	return c.each(func(p *Person) error { return p.study(ctx) })
}

// begin lets everybody chat. done lets them finish what they have begun.
func (c *crowd) begin(ctx context.Context) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, p := range c.people {
		for window := range c.windows {
			wg.Go(func() { p.chat(ctx, uint64(window), stop) }) //nolint:gosec // small
		}
		wg.Go(func() { p.bring(ctx, stop) })
	}
	return func() {
		late := time.AfterFunc(calmDown, cancel)
		defer late.Stop()
		defer cancel()
		close(stop)
		wg.Wait()
		for _, p := range c.people {
			wg.Go(func() { p.later(ctx) })
		}
		wg.Wait()
	}
}

func (c *crowd) harvest(ctx context.Context) (map[string]*Holding, error) {
	var mu sync.Mutex
	stored := map[string]*Holding{}
	err := c.each(func(p *Person) error {
		h, err := p.harvest(ctx, c.people)
		mu.Lock()
		defer mu.Unlock()
		stored[p.name] = h
		return err
	})
	return stored, err
}

func (c *crowd) observed() (seen Observed) {
	for _, p := range c.people {
		seen.Turns = append(seen.Turns, p.turns...)
		seen.Uploads = append(seen.Uploads, p.uploads...)
	}
	return seen
}

func save(path string, what any) error {
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o600)
}
