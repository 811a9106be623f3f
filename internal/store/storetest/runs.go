package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Runs proves run.Runs and run.Blobs.
func Runs(t *testing.T, open Open) {
	t.Run("a run comes back as it was stored", func(t *testing.T) { runRoundTrip(t, open) })
	t.Run("a workflow id runs once at a time", func(t *testing.T) { oneWorkflow(t, open) })
	t.Run("the first pins stay", func(t *testing.T) { firstPins(t, open) })
	t.Run("a run ends once", func(t *testing.T) { endsOnce(t, open) })
	t.Run("unfinished runs of everybody are listed for the system", func(t *testing.T) { unfinished(t, open) })
	t.Run("a person's runs are listed in pages and narrowed", func(t *testing.T) { listRuns(t, open) })
	t.Run("a person has few runs by themselves at work", func(t *testing.T) { atWork(t, open) })
	t.Run("large values are kept by key", func(t *testing.T) { blobs(t, open) })
}

func job(v identity.Viewer, workflow string) run.Run {
	return run.Run{
		ID: id.New(), WorkflowID: workflow, Kind: run.KindIngest, UserID: v.UserID, Status: run.Running,
		Input: json.RawMessage(`{"document_id":"d"}`),
	}
}

func runRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	r := job(v, "ingest:d")
	need(t, s.CreateRun(t.Context(), v, r))
	r.CreatedAt, r.StartedAt = c.now(), c.now()
	want(t, "stored", fmt.Sprintf("%+v", got(s.Run(t.Context(), v, r.ID))(t)), fmt.Sprintf("%+v", r))
	c.add(time.Minute)
	end := run.End{Status: run.Failed, Error: json.RawMessage(`{"code":"server_error"}`), Trace: json.RawMessage(`[1]`)}
	need(t, s.EndRun(t.Context(), v, r.ID, end))
	r.Status, r.Error, r.Trace, r.EndedAt = end.Status, end.Error, end.Trace, c.now()
	want(t, "ended", fmt.Sprintf("%+v", got(s.Run(t.Context(), v, r.ID))(t)), fmt.Sprintf("%+v", r))
	wantFault(t, s.CreateRun(t.Context(), person(t, s), job(v, "w")), fault.Forbidden)
}

func oneWorkflow(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	ids := make([]string, writers)
	errs := race(writers, func(i int) error {
		r := job(v, "ingest:one")
		ids[i] = r.ID
		return s.CreateRun(t.Context(), v, r)
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	need(t, s.EndRun(t.Context(), v, ids[slices.Index(errs, nil)], run.End{Status: run.Done}))
	need(t, s.CreateRun(t.Context(), v, job(v, "ingest:one")))
}

// Runs of other kinds, of other people, and those that wait for a person do not
// count.
func atWork(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	begin := func(v identity.Viewer, k run.Kind) (run.Run, error) {
		r := job(v, id.New())
		r.Kind = k
		return r, s.CreateRun(t.Context(), v, r)
	}
	need(t, s.CreateRun(t.Context(), v, job(v, "ingest:d")))
	var last run.Run
	for i := range run.MaxAtWork {
		r, err := begin(v, []run.Kind{run.KindTool, run.KindGraph}[i%2])
		need(t, err)
		last = r
	}
	_, err := begin(v, run.KindTool)
	wantFault(t, err, fault.RateLimited)
	_, err = begin(person(t, s), run.KindTool)
	need(t, err)
	need(t, s.CreateRun(t.Context(), v, job(v, "ingest:e")))
	need(t, s.EndRun(t.Context(), v, last.ID, run.End{Status: run.Done}))
	_, err = begin(v, run.KindGraph)
	need(t, err)

	hasty := person(t, s)
	errs := race(4*run.MaxAtWork, func(int) error {
		_, err := begin(hasty, run.KindGraph)
		return err
	})
	want(t, "begun at the same moment", winners(t, errs, fault.RateLimited), run.MaxAtWork)
}

func firstPins(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	r := job(v, "w")
	need(t, s.CreateRun(t.Context(), v, r))
	pins := []run.Pin{{ArtifactID: id.New(), Name: "ingest", Version: 3}}
	need(t, s.OpenRun(t.Context(), v, r.ID, pins))
	need(t, s.OpenRun(t.Context(), v, r.ID, []run.Pin{{Name: "ingest", Version: 4}}))
	want(t, "pins", fmt.Sprint(got(s.Run(t.Context(), v, r.ID))(t).Pins), fmt.Sprint(pins))
	need(t, s.OpenRun(t.Context(), identity.System(), r.ID, pins))
	late := []run.Pin{{Name: "ingest", Version: 5}}
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Done, Pins: late}))
	want(t, "pins after the end", fmt.Sprint(got(s.Run(t.Context(), v, r.ID))(t).Pins), fmt.Sprint(pins))
	short := job(v, "short")
	need(t, s.CreateRun(t.Context(), v, short))
	need(t, s.EndRun(t.Context(), v, short.ID, run.End{Status: run.Done, Pins: late}))
	want(t, "pins of a run that only ended", fmt.Sprint(got(s.Run(t.Context(), v, short.ID))(t).Pins), fmt.Sprint(late))
}

func endsOnce(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	r := job(v, "w")
	need(t, s.CreateRun(t.Context(), v, r))
	results := race(writers, func(i int) error {
		return s.EndRun(t.Context(), identity.System(), r.ID, run.End{Status: run.Done, Result: json.RawMessage(fmt.Sprint(i))})
	})
	want(t, "ended", winners(t, results, fault.Conflict), writers)
	first := got(s.Run(t.Context(), v, r.ID))(t)
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Failed}))
	want(t, "after another end", fmt.Sprintf("%+v", got(s.Run(t.Context(), v, r.ID))(t)), fmt.Sprintf("%+v", first))
	wantFault(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Waiting}), fault.Invalid)
	turn := accept(t, s, v, chat.NewTurn{Message: "x"})
	wantFault(t, s.EndRun(t.Context(), v, turn.Run.ID, run.End{Status: run.Done}), fault.Conflict)
}

func unfinished(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	queued := accept(t, s, v, chat.NewTurn{Message: "x", ConversationID: a.ConversationID, Multitask: "enqueue"})
	c.add(time.Second)
	b := accept(t, s, other, chat.NewTurn{Message: "y"})
	ask(t, s, other, b.Run.ID, "e")
	done := job(v, "w")
	need(t, s.CreateRun(t.Context(), v, done))
	need(t, s.EndRun(t.Context(), v, done.ID, run.End{Status: run.Done}))
	list := func(age time.Duration) (ids []string) {
		for _, r := range got(s.Unfinished(t.Context(), identity.System(), age))(t) {
			ids = append(ids, r.ID)
		}
		return ids
	}
	wantLines(t, list(0), []string{a.Run.ID, b.Run.ID})
	wantLines(t, list(time.Second), []string{a.Run.ID})
	c.add(time.Hour)
	closeTurn(t, s, v, answer(a.Run.ID, "!"))
	wantLines(t, list(time.Minute), []string{b.Run.ID}) // the promoted one has only begun
	wantLines(t, list(0), []string{b.Run.ID, queued.Run.ID})
	_, err := s.Unfinished(t.Context(), v, 0)
	wantFault(t, err, fault.Forbidden)
}

func listRuns(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	need(t, s.CreateRun(t.Context(), other, job(other, "x")))
	var made []string
	for i := range 5 {
		c.add(time.Duration(i%2) * time.Second)
		r := job(v, fmt.Sprint("w", i))
		need(t, s.CreateRun(t.Context(), v, r))
		made = append(made, r.ID)
	}
	need(t, s.EndRun(t.Context(), v, made[0], run.End{Status: run.Done}))
	accept(t, s, v, chat.NewTurn{Message: "x"})
	list := func(f run.Filter) (ids []string) {
		for {
			page, next, err := s.ListRuns(t.Context(), v, f)
			need(t, err)
			for _, r := range page {
				ids = append(ids, r.ID)
			}
			if f.Cursor = next; next == "" {
				return ids
			}
		}
	}
	slices.Reverse(made)
	wantLines(t, list(run.Filter{Kind: run.KindIngest, Limit: 2}), made)
	wantLines(t, list(run.Filter{Status: run.Done}), made[4:])
	want(t, "all", len(list(run.Filter{})), 6)
}

func blobs(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	r := job(v, "w")
	need(t, s.CreateRun(t.Context(), v, r))
	ref := got(s.PutBlob(t.Context(), v, r.ID, "n1", []byte("\x00\xff first")))(t)
	want(t, "reference", got(s.PutBlob(t.Context(), v, r.ID, "n1", []byte("\x00\xff second")))(t), ref)
	want(t, "value", string(got(s.Blob(t.Context(), v, ref))(t)), "\x00\xff second")
	if other := got(s.PutBlob(t.Context(), v, r.ID, "n2", nil))(t); other == ref {
		t.Error("two keys have one reference")
	}
	_, err := s.Blob(t.Context(), v, "blob:"+id.New())
	wantFault(t, err, fault.NotFound)
	_, err = s.Blob(t.Context(), v, "file:x")
	wantFault(t, err, fault.NotFound)
}
