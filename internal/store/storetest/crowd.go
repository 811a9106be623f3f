package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/store"
)

// crowd is how many requests of one person arrive at once.
const crowd = 200

// Crowd proves that keys, caps and quotas hold when one person asks for the
// same, or for different things, from everywhere at once.
func Crowd(t *testing.T, open Open) {
	t.Run("identical requests with one key make one run and one reply", func(t *testing.T) { identical(t, open) })
	t.Run("of different requests three run at a time and all are answered", func(t *testing.T) { distinct(t, open) })
	t.Run("turns that wait for their person count for nothing", func(t *testing.T) { paused(t, open) })
	t.Run("uploads at once never pass the room there is", func(t *testing.T) { fullRoom(t, open) })
	t.Run("expired keys are swept, whoever's they are", func(t *testing.T) { sweptKeys(t, open) })
}

func identical(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, once := person(t, s), quota.NewOnce(s, slog.New(slog.DiscardHandler))
	k := quota.Key{Route: "POST /v1/chat", Key: "the same", Fingerprint: "f"}
	var worked atomic.Int64
	work := func(ctx context.Context) (quota.Reply, error) {
		worked.Add(1)
		a, err := s.Accept(ctx, v, chat.NewTurn{Message: "hello", RequestID: "r"})
		if err == nil {
			_, err = s.CloseTurn(ctx, v, answer(a.Run.ID, "hi"))
		}
		return quota.Reply{Status: 200, Body: []byte(a.Run.ID)}, err
	}
	replies := make([]string, crowd)
	errs := race(crowd, func(i int) error {
		r, _, err := once.Do(t.Context(), v, k, work)
		replies[i] = string(r.Body)
		return err
	})
	if winners(t, errs, fault.Conflict) < 1 { // who comes while the first works is told so, and who comes later gets its reply
		t.Error("nobody got a reply")
	}
	want(t, "times worked", worked.Load(), 1)
	last, replayed, err := once.Do(t.Context(), v, k, work)
	need(t, err)
	want(t, "replayed", replayed, true)
	for i, r := range replies {
		if errs[i] == nil {
			want(t, "reply", r, string(last.Body))
		}
	}
	runs, _, err := s.ListRuns(t.Context(), v, run.Filter{Limit: 100})
	need(t, err)
	want(t, "runs", len(runs), 1)
}

func distinct(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	var running, most atomic.Int64
	freed := make(chan struct{}, crowd) // one for each turn that has ended: it wakes one that was refused
	errs := race(crowd, func(i int) error {
		for {
			a, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "x", RequestID: fmt.Sprint("r", i)})
			if err == nil {
				peak(&most, running.Add(1))
				running.Add(-1) // before the store knows that it ended: never more than are running
				_, err = s.CloseTurn(t.Context(), v, answer(a.Run.ID, "y"))
				freed <- struct{}{}
				return err
			}
			if !errors.Is(err, fault.Conflict) {
				freed <- struct{}{}
				return err
			}
			select {
			case <-freed:
			case <-t.Context().Done():
				return t.Context().Err()
			}
		}
	})
	want(t, "answered", winners(t, errs, fault.Conflict), crowd)
	if most.Load() > 3 {
		t.Errorf("%d turns ran at once", most.Load())
	}
	ended := 0
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := s.ListRuns(t.Context(), v, run.Filter{Status: run.Done, Cursor: cursor, Limit: 100})
		need(t, err)
		ended, cursor = ended+len(page), next
	}
	want(t, "runs that ended", ended, crowd)
	accept(t, s, other, chat.NewTurn{Message: "x"})
}

// peak raises most to n.
func peak(most *atomic.Int64, n int64) {
	for {
		seen := most.Load()
		if n <= seen || most.CompareAndSwap(seen, n) {
			return
		}
	}
}

func paused(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	for i := range 5 { // each waits before the next begins: more than may run
		a := accept(t, s, v, chat.NewTurn{Message: "which?"})
		ask(t, s, v, a.Run.ID, fmt.Sprint("e", i))
	}
	errs := race(crowd, func(int) error {
		_, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "x"})
		return err
	})
	want(t, "running beside those that wait", winners(t, errs, fault.Conflict), 3)
}

func fullRoom(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	put := func(v identity.Viewer, path string, size int64, b files.Bounds) error {
		return s.PutFile(t.Context(), v, files.File{Path: path, Name: "n", MIME: "text/plain", Size: size, SHA256: path}, b)
	}
	room := files.Bounds{Total: 1000}
	errs := race(crowd, func(i int) error { return put(v, fmt.Sprint("files/", i), 100, room) })
	want(t, "stored", winners(t, errs, fault.Conflict), 10)
	want(t, "usage", got(s.Usage(t.Context(), v))(t), files.Usage{Bytes: 1000, Files: 10})
	stored := firstOf(errs)
	need(t, put(v, fmt.Sprint("files/", stored), 100, room)) // itself does not count twice
	wantFault(t, put(v, fmt.Sprint("files/", stored), 101, room), fault.Conflict)
	wantFault(t, put(v, "files/more", 0, files.Bounds{Count: 10}), fault.Conflict)
	need(t, put(other, "files/more", 1000, room))
	want(t, "usage", got(s.Usage(t.Context(), v))(t), files.Usage{Bytes: 1000, Files: 10})
}

// firstOf is the place of the first call that succeeded.
func firstOf(errs []error) int {
	for i, err := range errs {
		if err == nil {
			return i
		}
	}
	return -1
}

func sweptKeys(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	for _, v := range []identity.Viewer{person(t, s), person(t, s)} {
		for _, name := range []string{"old", "kept"} {
			_, err := s.ClaimKey(t.Context(), v, key(name, "a"), time.Minute)
			need(t, err)
		}
		need(t, s.KeepReply(t.Context(), v, key("kept", "a"), quota.Reply{Status: 200}, 24*time.Hour))
	}
	c.add(time.Hour)
	// Each goes with the row that says where it was used.
	want(t, "swept", got(s.SweepKeys(t.Context()))(t), 4)
	want(t, "swept again", got(s.SweepKeys(t.Context()))(t), 0)
	c.add(24 * time.Hour)
	want(t, "swept a day later", got(s.SweepKeys(t.Context()))(t), 4)
}
