package palace

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"liminal/internal/capture"
	"liminal/internal/fault"
	"liminal/internal/filelock"
	"liminal/internal/identity"
	"liminal/internal/vault"
)

const (
	// mostAtOnce is how many exchanges a transaction takes in.
	mostAtOnce = 64
	// lookEvery is how often the spool is looked at.
	lookEvery = 250 * time.Millisecond
	// againAfter is how long to wait when the store or the folder refused.
	againAfter = 2 * time.Second
	lockName   = "intake.lock"
	// segmentsStay is how long a segment stays that was taken in whole, and tidyEvery
	// how often such ones are looked for.
	segmentsStay = 24 * time.Hour
	tidyEvery    = 10 * time.Minute
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
	// Disk bounds the contents in the store, in bytes; 0: nothing does.
	Disk int64
	// Keys open the spool, and seal what is kept of it; nil: it is plain.
	Keys *vault.Ring
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Intake takes a spool into a store. One process at a time does so.
type Intake struct {
	IntakeOptions
	taken, failed atomic.Int64
	behind        atomic.Bool
	full          atomic.Bool
	trouble       atomic.Value // a string: why nothing is taken in; "": it is
	bytes         atomic.Int64
}

// NewIntake makes an intake that does not run yet.
func NewIntake(o IntakeOptions) *Intake { return &Intake{IntakeOptions: o} }

func (i *Intake) now() time.Time {
	if i.Now != nil {
		return i.Now()
	}
	return time.Now()
}

// Counts is how many exchanges this process has taken in, and how often the store
// refused.
func (i *Intake) Counts() (exchanges, refused int64) { return i.taken.Load(), i.failed.Load() }

// Room is how many bytes of contents are in the store, as far as they are bounded, and
// whether there is no room for more.
func (i *Intake) Room() (bytes int64, full bool) { return i.bytes.Load(), i.full.Load() }

// Health is what is wrong, in words for people.
func (i *Intake) Health() error {
	if i.full.Load() {
		return fault.New(fault.Conflict, "The store holds as many contents of agents as PALACE_DISK lets it. Exchanges are taken in without them: raise it, or erase something.")
	}
	if text, _ := i.trouble.Load().(string); text != "" {
		return fault.New(fault.Conflict, "What the capture proxy keeps is not taken in for now: %s. Nothing is lost.", text)
	}
	return nil
}

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
			i.trouble.Store(err.Error())
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
	if err := claim(i.Dir, owner); err != nil {
		return err
	}
	sealer, err := sealerOf(ctx, i.Store, owner, i.Keys)
	if err != nil {
		return err
	}
	from, err := i.Store.TakenFrom(ctx, owner)
	if err != nil {
		return err
	}
	room, err := i.room(ctx, owner)
	if err == nil {
		err = i.tidy(ctx, owner)
	}
	if err != nil {
		return err
	}
	whole, err := i.Store.SegmentsTaken(ctx, owner, i.now())
	if err != nil {
		return err
	}
	tail, err := capture.NewTail(i.Spool, from, i.Keys)
	if err != nil {
		return err
	}
	tail.Skip(whole)
	tail.Log = func(err error) { i.Log.Warn("a part of what the capture proxy kept cannot be read", "error", err) }
	ctx, cancel := context.WithCancel(ctx)
	loads := make(chan load) // while one is written, the next is read
	go func() {
		defer close(loads)
		defer tail.Close()
		i.read(ctx, tail, from, follow, loads)
	}()
	defer func() {
		cancel()
		for range loads { //nolint:revive // until the reader has ended
		}
	}()
	m := newMemory(i.Price)
	store := sealedStore{i.Store, sealer}
	epochs := &epochFiles{dir: filepath.Join(i.Dir, epochsDir), keys: i.Keys, seen: map[string]time.Time{}}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	tidy := time.NewTimer(tidyEvery)
	defer tidy.Stop()
	for {
		select {
		case l, more := <-loads:
			if !more {
				return errors.Join(ctx.Err(), i.noteEpochs(context.WithoutCancel(ctx), store, owner, epochs))
			}
			if l.err != nil {
				return l.err
			}
			if err := room.take(ctx, l.list); err != nil {
				return err
			}
			if err := i.batch(ctx, owner, store, m, l); err != nil {
				return err
			}
			i.taken.Add(int64(len(l.list)))
			i.trouble.Store("")
		case <-look.C:
			if err := i.noteEpochs(ctx, store, owner, epochs); err != nil {
				return err
			}
		case <-tidy.C:
			tidy.Reset(tidyEvery)
			if err := i.tidy(ctx, owner); err != nil {
				return err
			}
		}
	}
}

// tidy removes the segments of which everything was taken in a day ago. What was not
// taken in stays, however old it is.
func (i *Intake) tidy(ctx context.Context, owner identity.Viewer) error {
	names, err := i.Store.SegmentsTaken(ctx, owner, i.now().Add(-segmentsStay))
	if err != nil || len(names) == 0 {
		return err
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(i.Spool, filepath.Base(name))); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return i.Store.ForgetSegments(ctx, owner, names)
}

// load is what one transaction takes in.
type load struct {
	list []taking
	done string // the segment that a restart begins with
	// taken are the segments that are taken in whole with it.
	taken []string
	err   error

	reader *reader
}

// read hands over what is there, and with follow what comes after it.
func (i *Intake) read(ctx context.Context, tail *capture.Tail, done string, follow bool, loads chan<- load) {
	r, whole := newReader(), map[string]bool{}
	for {
		list, more, err := tail.Next(mostAtOnce)
		i.behind.Store(more)
		l := load{done: tail.Done(), err: err, reader: r}
		if err == nil {
			l.list, l.err = r.prepare(list)
		}
		for _, name := range tail.Whole() {
			if !whole[name] {
				whole[name] = true
				l.taken = append(l.taken, name)
			}
		}
		if l.err != nil || len(list) > 0 || l.done != done || len(l.taken) > 0 {
			select {
			case loads <- l:
			case <-ctx.Done():
				return
			}
			done = l.done
		}
		if l.err != nil || !more && !follow {
			return
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}

// batch takes some in, in one transaction.
func (i *Intake) batch(ctx context.Context, owner identity.Viewer, into Store, m *memory, l load) error {
	first, grown := true, []string{}
	ids := make([]string, len(l.list))
	for n, t := range l.list {
		ids[n] = t.e.ID
	}
	err := into.TakeIn(ctx, owner, func(tx Tx) error {
		if !first { // it is run again: what was remembered did not happen
			*m = *newMemory(i.Price)
		}
		first, grown = false, grown[:0]
		erasures, err := tx.Erasures()
		if err != nil {
			return err
		}
		if erasures != m.erasures {
			*m = *newMemory(i.Price)
			m.erasures = erasures
			l.reader.forget()
		}
		there, err := tx.Exchanges(ids)
		if err != nil {
			return err
		}
		for _, t := range l.list {
			if there[t.e.ID] {
				continue
			}
			lineage, err := t.put(tx, m)
			if err != nil {
				return errOf(t.e.ID, err)
			}
			if lineage != "" {
				grown = append(grown, lineage)
			}
		}
		if err := m.ledger.flush(tx); err != nil {
			return err
		}
		if err := tx.PutSegments(l.taken); err != nil {
			return err
		}
		return tx.PutTakenFrom(l.done)
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
