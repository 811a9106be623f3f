package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
)

// Options are how a job is trained; the zero value works. None of them changes a
// loss.
type Options struct {
	Every  int              // steps between checkpoints; 0: 20
	After  time.Duration    // or so long after the last; 0: 30 s
	Memory int64            // bytes it may take; 0: any
	Now    func() time.Time // nil: time.Now
	Report func(Metric)     // hears of each step; nil: nobody does
	Notice func(string)     // hears what a person should know; nil: nobody does
}

func (o Options) withDefaults() Options {
	if o.Every <= 0 {
		o.Every = 20
	}
	if o.After <= 0 {
		o.After = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Report == nil {
		o.Report = func(Metric) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return o
}

// rises is after how many batches in a row, each with a higher loss than an
// epoch before, training stops (TRAIN-11). The same batch is compared: others
// are harder or easier.
const rises = 3

// clipAt is the length a gradient has at most.
const clipAt = 1

// Run trains the job in dir, from where it was left when it was begun before,
// and returns the manifest of what lies in dir/out then. Done again, it does
// nothing. When ctx ends it keeps a checkpoint and returns ctx's error.
//
// Errors: NotFound when there is no job; Invalid for one that would fail the
// same way again; Conflict when a higher fence took the job over, or another
// process has it; others, such as a full disk, may pass (TRAIN-10).
func Run(ctx context.Context, dir string, o Options) (Manifest, error) {
	j, err := ReadJob(dir)
	if err != nil {
		return Manifest{}, err
	}
	unlock, err := hold(dir, ".lock")
	if err != nil {
		return Manifest{}, err
	}
	defer unlock()
	r := &runner{dir: dir, job: j, o: o.withDefaults()}
	if m, done := r.done(); done {
		return m, nil
	}
	if err := r.open(); err != nil {
		return Manifest{}, err
	}
	defer func() { _ = r.model.Close() }() // it was only read
	if err := r.resume(); err != nil {
		return Manifest{}, err
	}
	defer r.metrics.close()
	if err := r.train(ctx); err != nil {
		return Manifest{}, err
	}
	return r.finish()
}

// runner is one job under way.
type runner struct {
	dir string
	job Job
	o   Options

	model   *llm.Model
	base    peft.Base
	adapter *llm.Adapter // as it is heard: its B times the gate it is served with
	pass    *fit.Pass
	adam    *fit.AdamW
	// teachers are whose answers are imitated, as they are heard; none: it is the
	// targets that are.
	teachers []*llm.Adapter

	batches []taughtBatch // to imitate, then those that are compared with the base
	against int           // where those begin
	without [][]float64   // what the base makes of those
	shifted []reference   // of KTO: answers to something else, beside each of those
	held    []taughtBatch
	tokens  []int // of text, of each batch
	rows    int
	mean    float64 // weight of a learnt token

	state   state
	metrics *metrics
	kept    time.Time // when the last checkpoint was written
	begun   time.Time
	spent   int // tokens trained since begun
}

// reference is a batch with what the base makes of it.
type reference struct {
	batch fit.Batch
	of    []float64
}

// open reads the base, whose files must be those the job was made for, and the
// batches.
func (r *runner) open() error {
	j := r.job
	folder := path(r.dir, j.Base.Dir)
	sum, err := llm.Fingerprint(folder)
	if err != nil {
		return unreadable(err, "The base model in %s cannot be read: %v.", folder, err)
	}
	if sum != j.Base.SHA256 {
		return fault.New(fault.Invalid, "The base model in %s is not the one the job is for: it has the fingerprint %.12s, not %.12s.", folder, sum, j.Base.SHA256)
	}
	if r.model, err = llm.Open(folder); err != nil {
		return unreadable(err, "The base model in %s cannot be read: %v.", folder, err)
	}
	r.base = peft.Base{Config: r.model.Config, Name: j.Base.Name, Fingerprint: sum}
	if err := r.read(); err != nil {
		return errors.Join(err, r.model.Close())
	}
	return nil
}

func (r *runner) read() (err error) {
	j := r.job
	if r.adapter, err = j.adapter(r.dir, r.base); err != nil {
		return fault.New(fault.Invalid, "The job %s cannot be trained: %v.", j.ID, err)
	}
	r.adapter = scaled(r.adapter, j.Served(nil).Gate)
	if err := r.readTeachers(); err != nil {
		return err
	}
	r.pass, r.adam = fit.NewPass(r.model, r.adapter), fit.NewAdamW(j.Rate)
	r.adam.Clip = clipAt
	if j.Steps == 0 {
		return nil
	}
	_, sets, err := batches.Read(filepath.Join(r.dir, batches.Dir), j.Files[batches.Dir+"/"+batches.ManifestFile])
	if err != nil {
		return unreadable(err, "The batches of the job %s cannot be read: %v.", j.ID, err)
	}
	if len(sets[batches.Train]) == 0 {
		return fault.New(fault.Invalid, "The job %s has no batches to train with.", j.ID)
	}
	need, err := r.take(sets)
	if err != nil {
		return err
	}
	for _, a := range r.teachers {
		need += int64(a.Bytes())
	}
	if need += int64(6 * r.adapter.Bytes()); r.o.Memory > 0 && need > r.o.Memory {
		return fault.New(fault.Invalid, "The job %s needs about %d MiB of memory, and may have %d. Give it more, or make its batches shorter.", j.ID, need>>20, r.o.Memory>>20)
	}
	return nil
}

// take makes of the batches what fit reads, and says how much memory the largest
// needs.
func (r *runner) take(sets batches.Sets) (need int64, err error) {
	longest := r.model.Context
	if r.job.Context > 0 {
		longest = min(longest, r.job.Context)
	}
	use := []string{batches.Train, batches.Held}
	if set := r.job.Loss.set(); set != "" {
		use = append(use, set)
	}
	var weights, learnt float64
	for _, set := range use {
		r.against = len(r.batches)
		for _, b := range sets[set] {
			if err := r.fits(b, longest); err != nil {
				return 0, err
			}
			need = max(need, Memory(r.model.Config, b.Rows, b.Length))
			f := taughtBatch{b.Fit(), b.Teacher}
			if set == batches.Unpaired {
				other := b.Shifted()
				need = max(need, Memory(r.model.Config, other.Rows, other.Length))
				r.shifted = append(r.shifted, reference{batch: other.Fit()})
			}
			if set == batches.Held {
				r.held = append(r.held, f)
				continue
			}
			if w, n := weigh(f.Batch); set == batches.Train {
				weights, learnt = weights+w, learnt+float64(n)
			}
			r.batches, r.tokens, r.rows = append(r.batches, f), append(r.tokens, b.Tokens()), r.rows+b.Rows
		}
	}
	if r.job.Loss.set() == "" {
		r.against = len(r.batches)
	}
	if weights == 0 {
		return 0, fault.New(fault.Invalid, "No row of the job %s weighs anything: there is nothing to learn.", r.job.ID)
	}
	r.mean = weights / learnt
	return need, nil
}

// fits refuses a batch that the model cannot read.
func (r *runner) fits(b batches.Batch, longest int) error {
	if b.Length > longest {
		return fault.New(fault.Invalid, "A batch of the job %s is %d tokens long; the model reads %d.", r.job.ID, b.Length, longest)
	}
	if err := r.taughtBy(b); err != nil {
		return err
	}
	for i, id := range b.Inputs {
		if max(id, b.Labels[i]) >= int64(r.model.Vocab) {
			return fault.New(fault.Invalid, "A batch of the job %s has the token %d; the model has %d.", r.job.ID, max(id, b.Labels[i]), r.model.Vocab)
		}
	}
	return nil
}

// weigh is what the targets of a batch weigh together, and how many there are.
func weigh(b fit.Batch) (sum float64, n int) {
	for i, target := range b.Targets {
		if target != fit.None {
			sum, n = sum+float64(b.Weights[i]), n+1
		}
	}
	return sum, n
}

// Memory is about how many bytes training takes with batches of so many rows of
// a length, beside the base, which is mapped, and the adapter.
func Memory(c llm.Config, rows, length int) int64 {
	n := int64(rows) * int64(length)
	wide := int64(max(c.Inner, c.QueryWidth(), c.Width))
	layer := n*int64(4*c.Width+2*c.QueryWidth()+2*c.KVWidth()+3*c.Inner) + int64(rows)*int64(c.Heads)*int64(length)*int64(length)
	return 4 * (int64(c.Layers)*layer + 9*n*wide + 64*int64(c.Vocab) + 4*int64(length)*int64(length))
}

// train does the steps that are left.
func (r *runner) train(ctx context.Context) error {
	if r.state.Step < r.job.Steps {
		r.compare()
	}
	r.begun, r.kept = r.o.Now(), r.o.Now()
	if r.state.Step == 0 && r.state.HeldBefore == nil {
		r.state.HeldBefore = r.heldOut()
		r.state.Held = r.state.HeldBefore
	}
	for r.state.Step < r.job.Steps && !r.state.Stopped {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, r.checkpoint())
		}
		m, err := r.step()
		if err != nil {
			return err
		}
		if err := r.ours(); err != nil {
			return err
		}
		if err := r.metrics.write(m); err != nil {
			return r.broken(err, MetricsFile)
		}
		r.o.Report(m)
		if r.state.Step%r.o.Every == 0 || r.o.Now().Sub(r.kept) >= r.o.After {
			if err := r.checkpoint(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unreadable is a file that cannot be read: Invalid, unless it is the disk that
// does not give it, which may pass.
func unreadable(err error, format string, args ...any) error {
	if _, disk := errors.AsType[*fs.PathError](err); disk && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(format, args...)
	}
	return fault.New(fault.Invalid, format, args...)
}

// ours reports whether the job is still this process's to write to.
func (r *runner) ours() error {
	now, err := ReadJob(r.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.Conflict, err, "The job %s was taken away while it was trained; nothing is left of it.", r.job.ID)
	case err != nil:
		return err
	case now.ID != r.job.ID || now.Fence > r.job.Fence:
		return fault.New(fault.Conflict, "The job %s was given to somebody else while it was trained (fence %d, this one had %d); this one stops.", r.job.ID, now.Fence, r.job.Fence)
	}
	return nil
}

// broken is a file that could not be written.
func (r *runner) broken(err error, name string) error {
	return fmt.Errorf("%s of the job %s could not be written in step %d: %w. Free some space, or let it be written to, and start again: it goes on from step %d", name, r.job.ID, r.state.Step, err, r.state.Kept)
}

// sweep removes what a process that was killed was writing.
func sweep(dir string) {
	for _, folder := range []string{dir, filepath.Join(dir, ResultDir)} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // there is none
		}
		for _, e := range entries {
			for _, name := range []string{CheckpointFile, MetricsFile, ManifestFile, peft.ConfigFile, peft.WeightsFile} {
				if strings.HasPrefix(e.Name(), "."+name+".") {
					_ = os.Remove(filepath.Join(folder, e.Name())) // it is hidden, and written over by none
				}
			}
		}
	}
}
