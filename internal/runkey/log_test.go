package runkey_test

import (
	"bytes"
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/runkey"
	"liminal/internal/stream"
)

// keys are those of runs.
type keys struct {
	of    map[string][]byte
	asked int
}

func (k *keys) RunKey(_ context.Context, runID string) ([]byte, error) {
	k.asked++
	key, has := k.of[runID]
	if !has {
		return nil, fault.New(fault.NotFound, "There is no such key.")
	}
	return key, nil
}

// kept is a log that keeps what it is given.
type kept struct{ events []stream.Event }

func (l *kept) Append(_ context.Context, _ string, events ...stream.Event) (int64, error) {
	l.events = append(l.events, events...)
	return int64(len(l.events)), nil
}

func (l *kept) Follow(context.Context, string, int64) iter.Seq2[stream.Event, error] {
	return func(yield func(stream.Event, error) bool) {
		for _, e := range l.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (l *kept) Finish(context.Context, string, time.Duration) error { return nil }

func said(t *testing.T, log stream.Log, run string) (texts []string) {
	t.Helper()
	for e, err := range log.Follow(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(e.Data))
	}
	return texts
}

// Requirements: GRND-47 (the server keeps no transcript)
func TestALogHoldsNoWordsOfARunOfWhichNothingIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, aLogOfARunOfWhichNothingIsKept) // a key is asked for again after seconds
}

func aLogOfARunOfWhichNothingIsKept(t *testing.T) {
	run, ctx := id.NewUnkept(), t.Context()
	store := &keys{of: map[string][]byte{run: bytes.Repeat([]byte{7}, 32)}}
	under := &kept{}
	log := runkey.NewLog(under, store)
	one, err := stream.New("n", stream.TokenData("the words"))
	if err != nil {
		t.Fatal(err)
	}
	one.Key = "k"
	for range 3 {
		if _, err := log.Append(ctx, run, one); err != nil {
			t.Fatal(err)
		}
	}
	if e := under.events[0]; bytes.Contains(e.Data, []byte("words")) || e.Kind != stream.Token || e.Key != "k" || e.Node != "n" {
		t.Errorf("it holds %s of the kind %s", e.Data, e.Kind)
	}
	if store.asked != 1 {
		t.Errorf("the key was asked for %d times in a moment", store.asked)
	}
	if got := said(t, log, run); len(got) != 3 || got[2] != `"the words"` {
		t.Errorf("its readers are told %q", got)
	}
	// Another process, once the key is gone.
	store.of = nil
	later := runkey.NewLog(under, store)
	if got := said(t, later, run); len(got) != 0 {
		t.Errorf("without its key its readers are told %q", got)
	}
	if _, err := later.Append(ctx, run, one); err != nil || bytes.Contains(under.events[3].Data, []byte("words")) {
		t.Errorf("without its key it holds %s (%v)", under.events[3].Data, err)
	}
	store.asked = 0
	if _, err := later.Append(ctx, id.New(), one); err != nil || string(under.events[4].Data) != `"the words"` || store.asked > 0 {
		t.Errorf("of another run it holds %s, after %d questions (%v)", under.events[4].Data, store.asked, err)
	}
}
