package storetest

import (
	"slices"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Payloads is the suite of the values too large for a history.
func Payloads(t *testing.T, open Open) {
	t.Run("a value is kept under its name, whoever puts it", func(t *testing.T) { t.Parallel(); payloadRace(t, open) })
	t.Run("a sweep spares what an open run may need", func(t *testing.T) { t.Parallel(); payloadSweep(t, open) })
	t.Run("a sweep spares it too when the clocks of two hosts differ", func(t *testing.T) { t.Parallel(); payloadSkew(t, open) })
}

func payloadRace(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	value := slices.Repeat([]byte{0, 255, 'a'}, 100_000)
	errs := race(writers, func(int) error { return s.PutPayload(t.Context(), "hash", value) })
	want(t, "answers", winners(t, errs, fault.Conflict), writers)
	want(t, "the value comes back", slices.Equal(got(s.Payload(t.Context(), "hash"))(t), value), true)
	_, err := s.Payload(t.Context(), "another")
	wantFault(t, err, fault.NotFound)
}

func payloadSweep(t *testing.T, open Open) {
	const keep = 24 * time.Hour
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	put := func(name string) { need(t, s.PutPayload(t.Context(), name, []byte(name))) }
	sweep := func() int { return got(s.SweepPayloads(t.Context(), keep))(t) }

	put("before the run")
	put("used again")
	c.add(time.Hour)
	r := run.Run{ID: id.New(), WorkflowID: "tool:1", Kind: run.KindTool, UserID: v.UserID, Status: run.Running}
	need(t, s.CreateRun(t.Context(), v, r))
	put("of the run")
	put("used again")
	want(t, "swept of young values", sweep(), 0)
	c.add(2 * keep)
	want(t, "swept while the run is open", sweep(), 1)
	_, err := s.Payload(t.Context(), "before the run")
	wantFault(t, err, fault.NotFound)
	got(s.Payload(t.Context(), "of the run"))(t)
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Done}))
	put("young")
	want(t, "swept when it has ended", sweep(), 2)
	got(s.Payload(t.Context(), "young"))(t)
}

// payloadSkew: the run is begun on one host, and its input stored by another
// whose clock is behind.
func payloadSkew(t *testing.T, open Open) {
	const keep = 24 * time.Hour
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	need(t, s.CreateRun(t.Context(), v, run.Run{ID: id.New(), WorkflowID: "tool:1", Kind: run.KindTool, UserID: v.UserID, Status: run.Running}))
	c.add(-2 * time.Second)
	need(t, s.PutPayload(t.Context(), "input", []byte("input")))
	c.add(2 * keep) // it waits for a person
	want(t, "swept", got(s.SweepPayloads(t.Context(), keep))(t), 0)
	got(s.Payload(t.Context(), "input"))(t)
}
