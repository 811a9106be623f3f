package activitiestest

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

type runs struct{ w *World }

func (r runs) Run(_ context.Context, _ identity.Viewer, id string) (run.Run, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if err := r.w.FailRunRow; err != nil {
		return run.Run{}, err
	}
	row, ok := r.w.Runs[id]
	if !ok {
		return run.Run{}, fault.New(fault.NotFound, "There is no such run.")
	}
	return *row, nil
}

func (r runs) RunByRequest(_ context.Context, _ identity.Viewer, request string) (run.Run, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, row := range r.w.Runs {
		if row.RequestID == request {
			return *row, nil
		}
	}
	return run.Run{}, fault.New(fault.NotFound, "There is no such run.")
}

func (r runs) CreateRun(_ context.Context, _ identity.Viewer, row run.Run) error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, other := range r.w.Runs {
		if other.WorkflowID == row.WorkflowID && !other.Status.Ended() {
			return fault.New(fault.Conflict, "It runs already.")
		}
	}
	r.w.Runs[row.ID] = &row
	return nil
}

func (r runs) OpenRun(_ context.Context, _ identity.Viewer, id string, pins []run.Pin) error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.wrote("open")
	if r.w.Runs[id].Pins == nil {
		r.w.Runs[id].Pins = pins
	}
	return nil
}

func (r runs) EndRun(_ context.Context, _ identity.Viewer, id string, e run.End) error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.wrote("end")
	r.w.end(id, e)
	return nil
}

func (r runs) Unfinished(context.Context, identity.Viewer, time.Duration) ([]run.Run, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	var out []run.Run
	for _, row := range r.w.Runs {
		if !row.Status.Ended() {
			out = append(out, *row)
		}
	}
	return out, nil
}

// ListRuns lists the viewer's runs of a kind in a state; without a kind, none.
func (r runs) ListRuns(_ context.Context, v identity.Viewer, f run.Filter) (list []run.Run, next string, err error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, one := range r.w.Runs {
		if f.Kind != "" && one.Kind == f.Kind && one.UserID == v.UserID && (f.Status == "" || one.Status == f.Status) {
			list = append(list, *one)
		}
	}
	return list, "", nil
}

type interrupts struct{ w *World }

func (i interrupts) Ask(_ context.Context, _ identity.Viewer, waiting bool, asked ...run.Interrupt) error {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	if err := i.w.FailAsk; err != nil {
		return err
	}
	i.w.wrote("ask")
	for _, q := range asked {
		if i.w.Questions[q.ID] != nil {
			continue
		}
		i.w.Questions[q.ID] = &q
		i.w.Order = append(i.w.Order, q.ID)
	}
	if waiting && len(asked) > 0 {
		i.w.status(asked[0].RunID, run.Waiting)
	}
	return nil
}

// end is what both kinds of end do to the row.
func (w *World) end(id string, e run.End) {
	w.Ended[id] = e
	if row := w.Runs[id]; row != nil {
		row.Status = e.Status
		if row.Pins == nil {
			row.Pins = e.Pins
		}
	}
}

func (w *World) status(id string, s run.Status) {
	if row := w.Runs[id]; row != nil {
		row.Status = s
	}
}

func (i interrupts) Answer(_ context.Context, v identity.Viewer, id string, s run.InterruptStatus, answer json.RawMessage) (run.Interrupt, error) {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	q := i.w.Questions[id]
	switch {
	case q == nil || q.UserID != v.UserID:
		return run.Interrupt{}, fault.New(fault.NotFound, "There is no such question.")
	case q.Status != run.Pending:
		return *q, fault.New(fault.Conflict, "It was answered.")
	}
	i.w.wrote("answer:" + string(s))
	q.Status, q.Answer, q.AnsweredAt = s, answer, time.Now()
	return *q, nil
}

func (i interrupts) Interrupt(_ context.Context, v identity.Viewer, id string) (run.Interrupt, error) {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	if q := i.w.Questions[id]; q != nil && (q.UserID == v.UserID || q.UserID == identity.SystemAccount && v.IsAdmin()) {
		return *q, nil
	}
	return run.Interrupt{}, fault.New(fault.NotFound, "There is no such question.")
}

func (i interrupts) PendingInterrupts(context.Context, identity.Viewer, string) ([]run.Interrupt, error) {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	var out []run.Interrupt
	for _, id := range i.w.Order {
		if q := i.w.Questions[id]; q.Status == run.Pending {
			out = append(out, *q)
		}
	}
	return out, nil
}

func (i interrupts) Deliver(_ context.Context, _ identity.Viewer, runID string, ids ...string) error {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	i.w.wrote("deliver")
	for _, id := range ids {
		if q := i.w.Questions[id]; q != nil {
			q.Delivered = true
		}
	}
	i.w.status(runID, run.Running)
	return nil
}

func (i interrupts) Delivered(_ context.Context, _ identity.Viewer, ids ...string) error {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	for _, id := range ids {
		if q := i.w.Questions[id]; q != nil {
			q.Delivered = true
		}
	}
	return nil
}

func (i interrupts) Undelivered(_ context.Context, _ identity.Viewer, age time.Duration) ([]run.Interrupt, error) {
	i.w.mu.Lock()
	defer i.w.mu.Unlock()
	var out []run.Interrupt
	for _, id := range i.w.Order {
		if q := i.w.Questions[id]; q.Status != run.Pending && !q.Delivered && time.Since(q.AnsweredAt) >= age {
			out = append(out, *q)
		}
	}
	return out, nil
}

type blobs struct{ w *World }

func (b blobs) PutBlob(_ context.Context, _ identity.Viewer, runID, key string, value []byte) (string, error) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	ref := "blob:" + runID + "/" + key
	b.w.Blobs[ref] = value
	return ref, nil
}

func (b blobs) Blob(_ context.Context, _ identity.Viewer, ref string) ([]byte, error) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	value, ok := b.w.Blobs[ref]
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no such value.")
	}
	return value, nil
}
