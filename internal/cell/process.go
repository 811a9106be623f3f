package cell

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is one child.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	words   *tail
	dir     string
	memory  int64
	served  int
	killed  bool // by its watch, perhaps in the moment of its answer
	only    bool // it does one job: it may open what others must not
	undo    func()
	lacking error
	idle    *time.Timer
	once    sync.Once
}

// How often a process is looked at, and what it may have beyond its limit
// before the kernel itself refuses.
const (
	look  = 20 * time.Millisecond
	slack = 512 << 20
	// handover is how long before its caller's time is up a job is ended: so
	// that the caller hears of the job, and not of the time.
	handover = time.Second
)

func start(p Program, dir string, memory int64, reads, writes []string) (*process, error) {
	own, err := folder(dir)
	if err != nil {
		return nil, err
	}
	c := &process{dir: own, memory: memory, words: &tail{}}
	c.cmd = exec.Command(p.Path, p.Args...) //nolint:gosec // the program is ours
	c.cmd.Dir, c.cmd.Stderr = own, c.words
	c.cmd.Env = append(append(essential(), p.Env...),
		"TMPDIR="+own, "TMP="+own, "TEMP="+own, fmt.Sprintf("GOMAXPROCS=%d", cmp.Or(p.Processors, 2)), "GOTRACEBACK=single", fmt.Sprintf("GOMEMLIMIT=%d", memory*3/4))
	apart(c.cmd)
	c.undo, c.lacking = bind(c.cmd, own, reads, writes, memory, cmp.Or(p.Processors, 2))
	if c.in, err = c.cmd.StdinPipe(); err == nil {
		c.out, err = c.cmd.StdoutPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		c.undo()
		_ = os.RemoveAll(own) // it is empty
		return nil, fmt.Errorf("start a process: %w", err)
	}
	modest(c.cmd.Process.Pid)
	return c, nil
}

// still stops the clock of a process that waited, and reports whether it did so
// in time.
func (p *process) still() bool { return p.idle == nil || p.idle.Stop() }

// end kills the process and all it started, and takes its files away.
func (p *process) end() {
	p.once.Do(func() {
		if p.idle != nil {
			p.idle.Stop()
		}
		kill(p.cmd)
		_ = p.in.Close() // nobody reads it any more
		_ = p.cmd.Wait() // it was killed: that is how it ended
		p.undo()
		_ = os.RemoveAll(p.dir) // what stays is below a folder of temporary files
	})
}

// own is how much memory of its own the process has; 0 where nobody can tell.
func (p *process) own() int64 {
	memory, _, _ := used(p.cmd.Process.Pid)
	return memory
}

// do gives the process a job. After an error it is of no use any more.
func (p *process) do(ctx context.Context, j Job) (json.RawMessage, error) {
	if till, set := ctx.Deadline(); set {
		j.Limits.Wall = min(j.Limits.Wall, time.Until(till)-handover)
	}
	w := watch(ctx, p, j.Limits)
	answer, err := p.converse(j)
	ended := w.stop()
	p.killed = ended != "" || ctx.Err() != nil
	switch {
	case err == nil && ctx.Err() == nil: // an answer in the moment of giving up is nobody's
		return answer, nil
	case ended != "":
		return nil, &Failure{Cause: ended, Limits: j.Limits, Used: w.used, Detail: p.words.String()}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errLong):
		return nil, &Failure{Cause: Output, Limits: j.Limits, Detail: err.Error()}
	case errors.Is(err, errBody), errors.Is(err, errGone):
		return nil, err
	}
	p.end() // so that its last words are complete
	last := p.words.String()
	cause := Crash
	switch {
	case strings.Contains(last, "out of memory"), strings.Contains(last, "cannot allocate memory"):
		cause = Memory
	case strings.Contains(last, outOfTime):
		cause = Time
	case strings.Contains(last, outOfClock):
		cause = Late
	}
	spent := j.Limits.CPU
	if s := p.cmd.ProcessState; s != nil {
		spent = s.UserTime() + s.SystemTime() - w.before
	}
	return nil, &Failure{Cause: cause, Limits: j.Limits, Used: spent, Detail: err.Error() + ": " + last}
}

// errGone is a process that had ended before it was given the job.
var errGone = errors.New("the process has ended")

// errBody is a body that cannot be read here, which is no fault of the process.
var errBody = errors.New("the body of a job cannot be read")

func (p *process) converse(j Job) (json.RawMessage, error) {
	task, err := json.Marshal(j.Task)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	head, err := json.Marshal(order{Task: task, Size: j.Size, Memory: j.Limits.Memory, CPU: j.Limits.CPU, Wall: j.Limits.Wall, Own: p.dir, Reads: j.Reads, Writes: j.Writes})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	if err := write(p.in, kindOrder, head); err != nil {
		return nil, fmt.Errorf("%w: %w", errGone, err)
	}
	if err := p.send(j); err != nil {
		return nil, err
	}
	for {
		kind, raw, err := read(p.out, j.Limits.Output)
		switch {
		case err != nil:
			return nil, err
		case kind == kindAnswer:
			return raw, nil
		case kind == kindTold && j.Told != nil:
			j.Told(raw)
		}
	}
}

// send writes the body, exactly as long as it was said to be.
func (p *process) send(j Job) error {
	source := &remembering{from: io.LimitReader(j.Body, j.Size)}
	n, err := io.Copy(p.in, source)
	switch {
	case source.err != nil:
		return fmt.Errorf("%w: %w", errBody, source.err)
	case err != nil:
		return err
	case n != j.Size:
		return fmt.Errorf("%w: it ends after %d of %d bytes", errBody, n, j.Size)
	}
	return nil
}

// remembering tells an error of reading from one of writing.
type remembering struct {
	from io.Reader
	err  error
}

func (r *remembering) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// watching looks at a process while it does a job, and kills it when a bound
// is reached or its caller gives up.
type watching struct {
	over chan struct{}
	done chan Cause
	used time.Duration // of the processors, until the end; read after stop
	// before is what the process had used when the job began; 0 where nobody can tell.
	before time.Duration
}

func watch(ctx context.Context, p *process, l Limits) *watching {
	w := &watching{over: make(chan struct{}), done: make(chan Cause, 1)}
	_, w.before, _ = used(p.cmd.Process.Pid)
	go func() {
		cause := w.until(ctx, p, l)
		if cause != "" || ctx.Err() != nil {
			kill(p.cmd)
		}
		w.done <- cause
	}()
	return w
}

// until waits for the end of the job or for a reason to end it.
func (w *watching) until(ctx context.Context, p *process, l Limits) Cause {
	tick := time.NewTicker(look)
	defer tick.Stop()
	wall := time.NewTimer(l.Wall)
	defer wall.Stop()
	w.used = l.CPU // until it is known
	moved := time.Now()
	for {
		select {
		case <-w.over:
			return ""
		case <-ctx.Done():
			return ""
		case <-wall.C:
			// It is known by now, also where the machine had no time for a look.
			if _, cpu, known := used(p.cmd.Process.Pid); known {
				w.used = cpu - w.before
			}
			return Late
		case <-tick.C:
			memory, cpu, known := used(p.cmd.Process.Pid)
			if known && cpu-w.before != w.used {
				w.used, moved = cpu-w.before, time.Now()
			}
			switch {
			case !known:
			case memory > l.Memory:
				return Memory
			case w.used > l.CPU:
				return Time
			case l.Still > 0 && time.Since(moved) > l.Still:
				return Stuck
			}
		}
	}
}

// stop ends the watch and gives why it ended the job, if it did.
func (w *watching) stop() Cause {
	close(w.over)
	return <-w.done
}

// tail keeps the beginning and no more of what a process says of its end: the
// first lines of a crash name it.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const maxWords = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.Write(b[:min(len(b), max(0, maxWords-t.b.Len()))])
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.b.String())
}
