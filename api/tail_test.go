package api

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// script is a log and a store that play what a test wrote down: each Follow
// takes the next list of events, and the last one stays open.
type script struct {
	Messages
	follows [][]stream.Event
	taken   int
	broken  error
	status  run.Status
	open    []run.Interrupt
	looks   int
	settle  int // with this look the run is what then says
	then    run.Status
}

func (s *script) Append(context.Context, string, ...stream.Event) (int64, error) { return 0, nil }

func (s *script) Finish(context.Context, string, time.Duration) error { return nil }

func (s *script) Follow(ctx context.Context, _ string, _ int64) iter.Seq2[stream.Event, error] {
	return func(yield func(stream.Event, error) bool) {
		if s.broken != nil {
			yield(stream.Event{}, s.broken)
			return
		}
		var events []stream.Event
		if s.taken < len(s.follows) {
			events = s.follows[s.taken]
		}
		s.taken++
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if s.taken > len(s.follows) || len(events) > 0 && events[len(events)-1].Seq < 0 {
			<-ctx.Done()
		}
	}
}

func (s *script) Run(context.Context, identity.Viewer, string) (run.Run, error) {
	s.looks++
	status := s.status
	if s.settle > 0 && s.looks >= s.settle {
		status = s.then
	}
	return run.Run{ID: "r", Kind: run.KindGraph, Status: status, Error: json.RawMessage(`{"code":"node_failed","message":"It broke."}`)}, nil
}

func (s *script) ListRuns(context.Context, identity.Viewer, run.Filter) ([]run.Run, string, error) {
	return nil, "", nil
}

func (s *script) Interrupt(context.Context, identity.Viewer, string) (run.Interrupt, error) {
	return run.Interrupt{}, nil
}

func (s *script) RunInterrupts(context.Context, identity.Viewer, string) ([]run.Interrupt, error) {
	return nil, nil
}

func (s *script) PendingInterrupts(context.Context, identity.Viewer, string) ([]run.Interrupt, error) {
	return append([]run.Interrupt(nil), s.open...), nil
}

// read follows the script's run to its end.
func (s *script) read(t *testing.T) (kinds string, last stream.Event, err error) {
	t.Helper()
	reader := tail{log: s, runs: s, interrupts: s, messages: s, first: firstLook, most: mostLook}
	var list []string
	for e, broke := range reader.events(t.Context(), identity.Viewer{}, run.Run{ID: "r"}, 0) {
		if broke != nil {
			return strings.Join(list, " "), last, broke
		}
		list, last = append(list, string(e.Kind)), e
	}
	return strings.Join(list, " "), last, nil
}

func asked(kind stream.Kind, seq int64, ids ...string) stream.Event {
	data, _ := json.Marshal(map[string]any{"interrupt_ids": ids})
	if kind == stream.Interrupt {
		data, _ = json.Marshal(map[string]any{"interrupt_id": ids[0]})
	}
	return stream.Event{Seq: seq, Kind: kind, Data: data}
}

// Requirements: STREAM-15
func TestAReaderSeesExactlyOneEnd(t *testing.T) {
	t.Parallel()
	token, done := stream.Event{Seq: 1, Kind: stream.Token}, stream.Event{Seq: 2, Kind: stream.MessageDone}
	q := func(id string) run.Interrupt { return run.Interrupt{ID: id, RunID: "r"} }
	for name, c := range map[string]struct {
		script script
		want   string
	}{
		"from the log":                    {script{follows: [][]stream.Event{{token, done, token}}, status: run.Running}, "token message_done"},
		"a log that ends before it says":  {script{follows: [][]stream.Event{{token}}, status: run.Done}, "token message_done"},
		"a log that knows nothing":        {script{status: run.Failed}, "error"},
		"a cancelled run":                 {script{status: run.Cancelled}, "cancel_ack"},
		"an end only the store has":       {script{follows: [][]stream.Event{{{Seq: -1, Kind: stream.Status}}}, status: run.Running, settle: 3, then: run.Done}, "status message_done"},
		"a log that comes back":           {script{follows: [][]stream.Event{{token}, {done}}, status: run.Running}, "token message_done"},
		"a question in the store":         {script{status: run.Waiting, open: []run.Interrupt{q("a"), q("b"), {ID: "c", RunID: "other"}}}, "interrupt interrupt paused"},
		"a question that was shown":       {script{follows: [][]stream.Event{{asked(stream.Interrupt, 1, "a")}}, status: run.Waiting, open: []run.Interrupt{q("a")}}, "interrupt paused"},
		"a pause that holds":              {script{follows: [][]stream.Event{{asked(stream.Paused, 1, "a"), done}}, status: run.Waiting, open: []run.Interrupt{q("a")}}, "paused"},
		"a pause that is over":            {script{follows: [][]stream.Event{{asked(stream.Paused, 1, "a"), done}}, status: run.Running}, "message_done"},
		"a pause before another":          {script{follows: [][]stream.Event{{asked(stream.Paused, 1, "a"), asked(stream.Interrupt, 2, "b"), asked(stream.Paused, 3, "b")}}, status: run.Waiting, open: []run.Interrupt{q("b")}}, "interrupt paused"},
		"an answer on its way to the run": {script{status: run.Waiting, settle: 4, then: run.Done}, "message_done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got, _, err := c.script.read(t)
				if err != nil || got != c.want {
					t.Errorf("got %q (%v), want %q", got, err, c.want)
				}
			})
		})
	}
}

func TestAReasonOutsideTheCodesIsAServerError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, last, _ := (&script{status: run.Failed}).read(t)
		if string(last.Data) != `{"code":"server_error","message":"It broke."}` {
			t.Errorf("data = %s", last.Data)
		}
	})
}

func TestABrokenLogIsNotTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wrong := errors.New("the log is away")
		if got, _, err := (&script{broken: wrong, status: run.Running}).read(t); got != "" || !errors.Is(err, wrong) {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestAQuietRunIsLookedAtRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{status: run.Running, settle: 50, then: run.Done}
		began := time.Now()
		if _, _, err := s.read(t); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 44*mostLook || took > 50*mostLook {
			t.Errorf("50 looks took %v", took)
		}
	})
}
