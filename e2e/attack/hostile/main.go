package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"liminal/e2e/iopressure"
)

// options are what is asked for.
type options struct {
	program, deployment, only, cpus, dir, report string
	folder                                       string // of other graphs than the corpus
	people                                       int
	pace                                         time.Duration
	quiet, lead, hostile, after, wait            time.Duration
	mostRSS                                      int64
	mostRatio                                    float64
	mostGone                                     time.Duration // after a cancel
	write                                        bool          // nothing is started
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// usual are the options of a whole measurement.
func usual() options {
	return options{
		deployment: "embedded", people: 20, pace: 2 * time.Second, quiet: 6 * time.Second, lead: time.Second,
		hostile: 12 * time.Second, after: 4 * time.Second, wait: 10 * time.Second, mostRSS: 3 << 30, mostRatio: mostRatio, mostGone: mostGone,
	}
}

// brief is the form for tests, which run while other things do: its bars of time
// are there to see starvation, and no measurement.
func (o options) brief() options {
	o.mostRatio, o.mostGone = 4*mostRatio, 2*mostGone
	o.quiet, o.lead, o.hostile, o.after, o.wait = 4*time.Second, 500*time.Millisecond, 5*time.Second, 0, 5*time.Second
	return o
}

// command runs what args ask for and returns the exit code.
func command(ctx context.Context, args []string, out, errs io.Writer) int {
	o, short, most, lasts := usual(), false, 3, time.Duration(0)
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.program, "program", "bin/liminald", "the program")
	flags.StringVar(&o.deployment, "lane", o.deployment, "embedded: one liminald dev; production: a server and a worker on what scripts/lane.sh started")
	flags.StringVar(&o.only, "only", "", "names of graphs, with commas between them")
	flags.StringVar(&o.folder, "graphs", "", "take the graphs of this folder instead of the corpus")
	flags.StringVar(&o.cpus, "cpus", "", "the cores the program may use, as 0,1")
	flags.StringVar(&o.dir, "dir", "", "keep the folders of the program below this one")
	flags.StringVar(&o.report, "report", "", "write each row to this file as it is measured")
	flags.DurationVar(&o.pace, "pace", o.pace, "how often each of the others says something")
	flags.DurationVar(&lasts, "for", 0, "how long a graph is endured; 12s, or 5s in the short form")
	flags.IntVar(&most, "gib", most, "memory at which the program is killed, in GiB")
	flags.BoolVar(&o.write, "write", false, "only write each graph, start none")
	flags.BoolVar(&short, "short", false, "as tests run it")
	if flags.Parse(args) != nil {
		return 2
	}
	if o.mostRSS = int64(most) << 30; short {
		o = o.brief()
	}
	if lasts > 0 {
		o.hostile = lasts
	}
	all, err := chosen(o.folder, o.only)
	if err == nil {
		o.program, err = filepath.Abs(o.program)
	}
	if err != nil {
		fmt.Fprintf(errs, "hostile: %v\n", err)
		return 2
	}
	rows, err := run(ctx, o, all, out)
	if err != nil {
		fmt.Fprintf(errs, "hostile: %v\n", err)
		return 2
	}
	if slices.ContainsFunc(rows, func(t *Ordeal) bool { return len(t.Broken) > 0 }) {
		return 1
	}
	return 0
}

// chosen are the graphs of these names; all without.
func chosen(folder, only string) ([]Graph, error) {
	files, err := fs.Sub(corpus, "graphs")
	if folder != "" {
		files = os.DirFS(folder)
	}
	if err != nil {
		return nil, err
	}
	all, err := graphs(files)
	if err != nil || only == "" {
		return all, err
	}
	var some []Graph
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(g Graph) bool { return g.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no graph %q", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// run takes one graph after the other, in a new house whenever the last graph
// left something behind. A graph whose times the machine's disk spoiled is taken
// again.
func run(ctx context.Context, o options, all []Graph, out io.Writer) (rows []*Ordeal, err error) {
	root, err := os.MkdirTemp(o.dir, "hostile-")
	if err != nil {
		return nil, err
	}
	if o.dir == "" {
		defer func() { _ = os.RemoveAll(root) }() // what stays is in a temporary folder
	}
	w, err := newTable(out, o.report)
	if err != nil {
		return nil, err
	}
	var h *House
	var c *Crowd
	defer func() {
		if h != nil {
			h.close()
		}
	}()
	retries := 0
	for i := 0; i < len(all); {
		if h == nil {
			if h, c, err = moveIn(ctx, o, filepath.Join(root, fmt.Sprintf("%d-%d", i, retries))); err != nil {
				return rows, err
			}
		}
		t, err := h.undergo(ctx, o, c, &all[i], len(c.people)+i)
		if err != nil {
			return rows, errors.Join(err, ctx.Err())
		}
		t.Again = t.spoiled() && retries < iopressure.Retries
		w.row(t)
		if t.dirty() || t.Again {
			h.close()
			h = nil
		}
		if t.Again {
			retries++
			continue
		}
		rows, retries, i = append(rows, t), 0, i+1
	}
	return rows, nil
}

// dirty reports whether the next graph would be measured wrongly after this.
func (t *Ordeal) dirty() bool {
	return t.refused == nil && (t.Gone < 0 || t.Idle < 0) || t.War.RSS > mostMemory*3/4
}

// moveIn starts a house with its crowd, which has said hello once.
func moveIn(ctx context.Context, o options, dir string) (*House, *Crowd, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	h, err := open(ctx, o, dir)
	if err != nil {
		return nil, nil, err
	}
	c, err := newCrowd(ctx, h.url, o.people, o.pace)
	if err != nil {
		h.close()
		return nil, nil, err
	}
	c.chat(ctx, o.pace)
	return h, c, nil
}
