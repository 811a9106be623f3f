package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"

	"liminal/internal/cell"
	"liminal/internal/fault"
)

// In a process of its own a job has bounds of memory and time, no network and no
// secrets, and ends with the program that started it. When it is killed, it goes
// on from its checkpoint the next time.

// task is what such a process is asked to do.
type task struct {
	Dir    string `json:"dir"`
	Memory int64  `json:"memory"`
}

// answer is what it says when it is done.
type answer struct {
	Manifest *Manifest   `json:"manifest,omitempty"`
	Message  string      `json:"message,omitempty"`
	Code     *fault.Code `json:"code,omitempty"` // nil: what failed may pass
	Reason   string      `json:"reason,omitempty"`
}

// said is what it tells on the way.
type said struct {
	Metric *Metric `json:"metric,omitempty"`
	Notice string  `json:"notice,omitempty"`
}

// Serve trains jobs inside a process that In started.
func Serve(in io.Reader, out io.Writer) error {
	return cell.Serve(in, out, func(w cell.Work) (any, error) {
		var t task
		if err := json.Unmarshal(w.Task, &t); err != nil {
			return nil, err
		}
		m, err := Run(context.Background(), t.Dir, Options{
			Memory: t.Memory,
			Report: func(m Metric) { w.Tell(said{Metric: &m}) },
			Notice: func(text string) { w.Tell(said{Notice: text}) },
		})
		if err == nil {
			return answer{Manifest: &m}, nil
		}
		a := answer{Message: err.Error(), Reason: Why(err)}
		if e, ok := errors.AsType[*fault.Error](err); ok {
			a.Message, a.Code = e.Message, &e.Code
		}
		return a, nil
	})
}

// In trains the job in dir, an absolute path, in a process of the cell c, which
// runs Serve. The errors are those of Run; of a process that reached a limit or
// died, which may be tried again, as it goes on from its checkpoint; and ctx's
// own when that ended.
func In(ctx context.Context, c *cell.Cell, dir string, l cell.Limits, o Options) (Manifest, error) {
	o = o.withDefaults()
	var reads []string
	if j, err := ReadJob(dir); err == nil { // else the process says what is wrong with it
		reads = append(reads, path(dir, j.Base.Dir))
		if j.Init != "" {
			reads = append(reads, path(dir, j.Init))
		}
	}
	raw, err := c.Do(ctx, cell.Job{
		Task: task{dir, l.Memory}, Body: eof{}, Limits: l, Reads: reads, Writes: []string{dir},
		Told: func(raw json.RawMessage) {
			var s said
			switch {
			case json.Unmarshal(raw, &s) != nil:
			case s.Metric != nil:
				o.Report(*s.Metric)
			case s.Notice != "":
				o.Notice(s.Notice)
			}
		},
	})
	if f, ok := errors.AsType[*cell.Failure](err); ok && f.Cause != cell.Crash {
		return Manifest{}, fmt.Errorf("the job in %s was ended, as it reached its limit of %s (%d MiB of memory, %s of computing, %s in all): give it more, or make it smaller; it goes on from its checkpoint: %w",
			dir, f.Cause, l.Memory>>20, l.CPU, l.Wall, err)
	}
	if err != nil {
		return Manifest{}, err
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Manifest{}, err
	}
	switch {
	case a.Manifest != nil:
		return *a.Manifest, nil
	case a.Code != nil:
		return Manifest{}, fault.New(*a.Code, "%s", a.Message)
	}
	return Manifest{}, told{a.Message, a.Reason}
}

// told is a failure that may pass as another process told of it.
type told struct{ message, reason string }

func (t told) Error() string { return t.message }

// The reasons of failures that people can do something about.
const (
	DiskFull   = "disk_full"
	TooBig     = "memory"      // it took more than it may have
	TooLong    = "time"        // the same, of time
	WorkerGone = "interrupted" // its process ended, or was ended
)

// Why is what a failure comes of, as one of the reasons above or a fault's own; ""
// where that is not known.
func Why(err error) string {
	if t, ok := errors.AsType[told](err); ok {
		return t.reason
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return DiskFull
	}
	if f, ok := errors.AsType[*cell.Failure](err); ok {
		return map[cell.Cause]string{cell.Memory: TooBig, cell.Time: TooLong, cell.Late: TooLong, cell.Stuck: TooLong, cell.Crash: WorkerGone}[f.Cause]
	}
	return fault.Reason(err)
}

// Passes reports whether what failed may pass, so that the same job is worth
// another try (TRAIN-10).
func Passes(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return err != nil && (!ok || e.Code == fault.Internal)
}

// Cell is where this program trains: name is the subcommand that calls Serve. A
// job's process opens its folder, its base and what it goes on from. log, if
// given, hears which bounds this machine does not have.
func Cell(name, dir string, processors int, log ...*slog.Logger) (*cell.Cell, error) {
	p, err := cell.Self(name)
	if err != nil {
		return nil, err
	}
	p.Processors = processors
	o := cell.Options{Dir: dir, Most: 1, Serves: 1}
	if len(log) > 0 {
		o.Logger = log[0]
	}
	return cell.New(p, o), nil
}

// eof is a body with nothing in it.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
