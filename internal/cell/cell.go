// Package cell runs work on what strangers wrote in a child process, where
// memory and time are bounded and whose death is nobody else's: the same
// program, started again. What went in as bytes comes out as JSON or as a
// Failure that says which bound was reached.
//
// Such a process has no network, no other programs and no secrets of this one. It
// ends with it. Where the machine allows, it is nobody's user when root starts it,
// in a cgroup of its own, and sees no files but its own folder and those its job
// names; what cannot be had is told once in the log.
//
// It may import fault, x/sys and the standard library. It knows nothing of the work.
package cell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"liminal/internal/fault"
)

// Program is what a cell starts. It must call Serve on its standard input and
// output.
type Program struct {
	Path string // empty: there is none
	Args []string
	Env  []string // all there is of it; TMPDIR and Go's own limits are added
	// Processors it uses at most; 0: 2.
	Processors int
}

// Self is this very program with other arguments: the file that is running,
// also when another has been put in its place since.
func Self(args ...string) (Program, error) {
	path, err := self()
	if err != nil {
		return Program{}, fmt.Errorf("find the running program: %w", err)
	}
	return Program{Path: path, Args: args}, nil
}

// Limits bound one job.
type Limits struct {
	Memory int64         // bytes of its own; those of the program's file do not count
	CPU    time.Duration // of all its threads together; what a busy machine takes does not count
	Wall   time.Duration // by the clock
	Still  time.Duration // by the clock, without any computing; 0: no bound
	Output int64         // bytes of one answer
}

// Cause is which bound a job reached.
type Cause string

// The causes of a Failure.
const (
	Memory Cause = "memory"
	Time   Cause = "time" // of the processors
	Late   Cause = "late" // by the clock
	Stuck  Cause = "stuck"
	Output Cause = "output"
	Crash  Cause = "crash"
)

// Failure is a job that was ended, or ended its process.
type Failure struct {
	Cause  Cause
	Limits Limits
	Used   time.Duration // of the processors, as far as it is known; Limits.CPU where nobody can tell
	Detail string        // the last words of the process, for logs
}

func (f *Failure) Error() string {
	return fmt.Sprintf("the process ended: %s: %s", f.Cause, f.Detail)
}

// Fault tells a person what became of a job on what, as in `The document
// "a.pdf"`. It is Invalid: done again, the same would end the same way. Only of
// one that was late, with time of the processors left, it is not: the machine
// had too much else to do.
func (f *Failure) Fault(what string) *fault.Error {
	switch f.Cause {
	case Memory:
		return fault.Wrap(fault.Invalid, f, "%s needs more than %d MiB of memory to be read. Split it into several files, or save it in a simpler form, and upload that.", what, f.Limits.Memory>>20)
	case Time:
		return fault.Wrap(fault.Invalid, f, "%s takes more than %s of computing to be read. Split it into several files, or save it in a simpler form, and upload that.", what, f.Limits.CPU)
	case Late:
		if f.Used < f.Limits.CPU {
			return fault.Wrap(fault.Internal, f, "%s could not be read within %s, because the machine had too much else to do. Nothing need be wrong with it: try again when there is less.", what, f.Limits.Wall.Round(time.Second))
		}
		return fault.Wrap(fault.Invalid, f, "%s could not be read within %s. Split it into several files, or save it in a simpler form, and upload that.", what, f.Limits.Wall.Round(time.Second))
	case Output:
		return fault.Wrap(fault.Invalid, f, "%s gives more text than can be kept. Split it into several files.", what)
	case Crash, Stuck:
	}
	return fault.Wrap(fault.Invalid, f, "%s made the program that reads it fail, so it is not tried again. Open it in the program it was made with, save it again, and upload that.", what)
}

// Options are how a Cell works; the zero value works.
type Options struct {
	Dir    string        // where its processes have their temporary files; empty: the system's
	Most   int           // processes at once; 0: 4
	Serves int           // jobs one process does before another takes its place; 0: 32
	Keeps  int64         // bytes a process may have after a job and get another; 0: 128 MiB
	Idle   time.Duration // how long one without a job is kept; 0: 5 s
	// Reads and Writes are files and folders that every process may open beside its
	// own folder.
	Reads, Writes []string
	// Logger hears, once, which bounds this machine does not have; nil: nobody.
	Logger *slog.Logger
}

// Cell starts processes of one program and gives them jobs. A process that
// failed, grew or was stopped gets no other. It is safe for concurrent use.
type Cell struct {
	program Program
	o       Options
	seats   chan struct{}

	warn sync.Once

	mu     sync.Mutex
	closed bool
	spare  *process       // at most one waits for the next job
	ends   sync.WaitGroup // of those that nobody waits for; none begins once it is closed
}

// New makes a cell. It starts nothing yet.
func New(p Program, o Options) *Cell {
	if o.Most <= 0 {
		o.Most = 4
	}
	if o.Serves <= 0 {
		o.Serves = 32
	}
	if o.Keeps <= 0 {
		o.Keeps = 128 << 20
	}
	if o.Idle <= 0 {
		o.Idle = 5 * time.Second
	}
	return &Cell{program: p, o: o, seats: make(chan struct{}, o.Most)}
}

// Job is one piece of work.
type Job struct {
	Task   any // what to do, as JSON
	Body   io.Reader
	Size   int64 // bytes of Body
	Limits Limits
	Told   func(json.RawMessage) // hears what the process tells on the way; may be nil
	// Reads and Writes are what this job may open besides; its process does no other
	// job.
	Reads, Writes []string
}

// Do has a process do a job and gives its answer. Errors: *Failure when a bound
// was reached or the process died; ctx's own when the caller gave up; anything
// else when no process could be had, which says nothing of the job.
func (c *Cell) Do(ctx context.Context, j Job) (json.RawMessage, error) {
	select {
	case c.seats <- struct{}{}:
		defer func() { <-c.seats }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	reads, writes := j.Reads, j.Writes
	for {
		p, err := c.process(j)
		if err != nil {
			return nil, err
		}
		j.Reads, j.Writes = slices.Concat(c.o.Reads, reads), slices.Concat(c.o.Writes, writes)
		answer, err := p.do(ctx, j)
		if err == nil {
			c.keep(p)
			return answer, nil
		}
		p.end()
		if p.served == 0 || !errors.Is(err, errGone) {
			return nil, err
		}
		// One that waited was taken away, by the kernel or a person. It has not
		// seen the job.
	}
}

// process takes the spare one, or starts one.
func (c *Cell) process(j Job) (*process, error) {
	l, only := j.Limits, len(j.Reads)+len(j.Writes) > 0
	c.mu.Lock()
	p := c.spare
	c.spare = nil
	closed := c.closed
	c.mu.Unlock()
	switch {
	case closed:
		if p != nil {
			p.end()
		}
		return nil, errors.New("the cell is closed")
	case p != nil && p.still() && p.memory == l.Memory && !only:
		return p, nil
	case p != nil:
		p.end()
	}
	p, err := start(c.program, c.o.Dir, l.Memory, slices.Concat(c.o.Reads, j.Reads), slices.Concat(c.o.Writes, j.Writes))
	if err != nil {
		return nil, err
	}
	p.only = only
	c.warn.Do(func() { c.lacks(p.lacking) })
	return p, nil
}

// lacks tells of the bounds that are missing here (TOOL-04).
func (c *Cell) lacks(more error) {
	if c.o.Logger == nil {
		return
	}
	for _, what := range theseBounds().lacking {
		c.o.Logger.Warn("a bound of processes cannot be had on this machine", "bound", what)
	}
	if more != nil {
		c.o.Logger.Warn("a bound of processes cannot be had on this machine", "bound", more.Error())
	}
}

// keep lets a process wait for another job, unless it has done enough.
func (c *Cell) keep(p *process) {
	p.served++
	if p.killed || p.only || p.served >= c.o.Serves || p.own() > c.o.Keeps || !c.spares(p) {
		p.end()
	}
}

// spares makes a process the one that waits, if there is none and there is to be one.
func (c *Cell) spares(p *process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	if c.spare != nil {
		c.ends.Go(p.end)
		return true
	}
	c.spare = p
	p.idle = time.AfterFunc(c.o.Idle, func() { c.retire(p) })
	return true
}

// retire ends a process that waited in vain.
func (c *Cell) retire(p *process) {
	c.mu.Lock()
	mine := c.spare == p
	if mine {
		c.spare = nil
		c.ends.Add(1)
	}
	c.mu.Unlock()
	if mine {
		defer c.ends.Done()
		p.end()
	}
}

// Close ends the process that waits, and leaves none that has done its work. Jobs
// under way are their contexts' own.
func (c *Cell) Close() error {
	c.mu.Lock()
	p := c.spare
	c.spare, c.closed = nil, true
	c.mu.Unlock()
	if p != nil {
		p.end()
	}
	c.ends.Wait()
	return nil
}

// folder makes a folder for the temporary files of one process.
func folder(dir string) (string, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("the folder of a process cannot be made: %w", err)
		}
	}
	name, err := os.MkdirTemp(dir, "cell-")
	if err != nil {
		return "", fmt.Errorf("the folder of a process cannot be made: %w", err)
	}
	return name, nil
}
