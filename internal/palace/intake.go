package palace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"liminal/internal/capture"
	"liminal/internal/filelock"
	"liminal/internal/identity"
)

const (
	// mostAtOnce is how many exchanges a transaction takes in.
	mostAtOnce = 64
	// lookEvery is how often the spool is looked at.
	lookEvery = 250 * time.Millisecond
	// againAfter is how long to wait when the store or the folder refused.
	againAfter = 2 * time.Second
	lockName   = "intake.lock"
)

// IntakeOptions say what is taken in.
type IntakeOptions struct {
	// Dir is the palace folder, Spool the folder of segments in it.
	Dir, Spool string
	Store      Store
	// Owner is whose it is; an error of fault.NotFound where there is nobody yet.
	Owner func(ctx context.Context) (identity.Viewer, error)
	Log   *slog.Logger
	// Grown is told of lineages that have another exchange, once that is stored; nil:
	// nobody is.
	Grown func(lineages []string)
	// Price is what exchanges cost; nil: nobody knows.
	Price PriceFunc
	// Charged is told what exchanges cost, once they are stored; nil: nobody is.
	Charged func([]Cost)
}

// Intake takes a spool into a store. One process at a time does so.
type Intake struct {
	IntakeOptions
	taken, failed atomic.Int64
	behind        atomic.Bool
}

// NewIntake makes an intake that does not run yet.
func NewIntake(o IntakeOptions) *Intake { return &Intake{IntakeOptions: o} }

// Counts is how many exchanges this process has taken in, and how often the store
// refused.
func (i *Intake) Counts() (exchanges, refused int64) { return i.taken.Load(), i.failed.Load() }

// Run takes in until ctx ends. What goes wrong is told in the log, and tried again.
func (i *Intake) Run(ctx context.Context) {
	told := ""
	for {
		err := i.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !errors.Is(err, errElsewhere) && !errors.Is(err, errNobody) {
			i.failed.Add(1)
			if err.Error() != told {
				i.Log.Warn("what the capture proxy keeps is not taken in for now; it is tried again, and nothing is lost", "folder", i.Dir, "error", err)
				told = err.Error()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(againAfter):
		}
	}
}

var (
	errElsewhere = errors.New("another process takes the spool in")
	errNobody    = errors.New("there is no account that it would belong to")
)

// All takes in what is there now.
func (i *Intake) All(ctx context.Context) error { return i.until(ctx, false) }

// once takes in until something goes wrong.
func (i *Intake) once(ctx context.Context) error { return i.until(ctx, true) }

// until takes in what is there, and with follow what comes after it.
func (i *Intake) until(ctx context.Context, follow bool) error {
	owner, err := i.Owner(ctx)
	if err != nil {
		return err
	}
	if owner.UserID == "" {
		return errNobody
	}
	free, err := i.lock()
	if err != nil {
		return err
	}
	defer free()
	from, err := i.Store.TakenFrom(ctx, owner)
	if err != nil {
		return err
	}
	tail, err := capture.NewTail(i.Spool, from)
	if err != nil {
		return err
	}
	defer tail.Close()
	tail.Log = func(err error) { i.Log.Warn("a part of what the capture proxy kept cannot be read", "error", err) }
	m, done := newMemory(i.Price), from
	epochs := &epochFiles{dir: filepath.Join(i.Dir, epochsDir), seen: map[string]time.Time{}}
	for {
		list, more, err := tail.Next(mostAtOnce)
		if err != nil {
			return err
		}
		i.behind.Store(more)
		if at := tail.Done(); len(list) > 0 || at != done {
			if err := i.batch(ctx, owner, m, list, at); err != nil {
				return err
			}
			done = at
			i.taken.Add(int64(len(list)))
		}
		if more {
			continue
		}
		if err := i.noteEpochs(ctx, owner, epochs); err != nil {
			return err
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}

// batch takes some in, in one transaction.
func (i *Intake) batch(ctx context.Context, owner identity.Viewer, m *memory, list []*capture.Exchange, done string) error {
	first, grown := true, []string{}
	err := i.Store.TakeIn(ctx, owner, func(tx Tx) error {
		if !first { // it is run again: what was remembered did not happen
			*m = *newMemory(i.Price)
		}
		first, grown = false, grown[:0]
		for _, e := range list {
			lineage, err := take(tx, m, e)
			if err != nil {
				return fmt.Errorf("the exchange %s cannot be taken in: %w", e.Request.ID, err)
			}
			if lineage != "" {
				grown = append(grown, lineage)
			}
		}
		if err := m.ledger.flush(tx); err != nil {
			return err
		}
		return tx.PutTakenFrom(done)
	})
	if err == nil && i.Grown != nil && len(grown) > 0 {
		i.Grown(grown)
	}
	if costs := m.ledger.taken(); err == nil && i.Charged != nil {
		i.Charged(costs)
	}
	return err
}

// lock makes this the process that takes in, until free is called.
func (i *Intake) lock() (free func(), err error) {
	if err := os.MkdirAll(i.Dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(i.Dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Try(f); err != nil {
		if errors.Is(err, filelock.ErrTaken) {
			err = errElsewhere
		}
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
