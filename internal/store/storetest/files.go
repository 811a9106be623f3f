package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Files proves files.Store.
func Files(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	var made []string
	for i := range 5 {
		c.add(time.Duration(i%2) * time.Second)
		f := files.File{Path: fmt.Sprint("files/", i, ".txt"), UserID: v.UserID, Name: "n.txt", MIME: "text/plain", Size: 1 << 40, SHA256: "ab", CreatedAt: c.now()}
		need(t, s.PutFile(t.Context(), v, f, files.Bounds{}))
		want(t, "stored", got(s.File(t.Context(), v, f.Path))(t), f)
		made = append([]string{f.Path}, made...)
	}
	need(t, s.PutFile(t.Context(), other, files.File{Path: "files/0.txt", Name: "theirs"}, files.Bounds{}))
	var listed []string
	for cursor, more := "", true; more; more = cursor != "" {
		var page []files.File
		var err error
		page, cursor, err = s.ListFiles(t.Context(), v, cursor, 2)
		need(t, err)
		for _, f := range page {
			listed = append(listed, f.Path)
		}
	}
	wantLines(t, listed, made)
	need(t, s.DeleteFile(t.Context(), v, "files/0.txt"))
	wantFault(t, s.DeleteFile(t.Context(), v, "files/0.txt"), fault.NotFound)
	want(t, "the other's file", got(s.File(t.Context(), other, "files/0.txt"))(t).Name, "theirs")
}

// Keys proves quota.Store and the store's secrets and counters.
func Keys(t *testing.T, open Open) {
	t.Run("of many claims one works", func(t *testing.T) { oneClaim(t, open) })
	t.Run("a reply is replayed until its time is over", func(t *testing.T) { replies(t, open) })
	t.Run("a key is of one endpoint", func(t *testing.T) { endpoints(t, open) })
	t.Run("a claim passes with its lease or its release", func(t *testing.T) { leases(t, open) })
	t.Run("a conflict says when to try again", func(t *testing.T) { conflicts(t, open) })
	t.Run("a process alone with its store releases what ended with the one before", func(t *testing.T) { restarts(t, open) })
	t.Run("a secret is made once", func(t *testing.T) { secrets(t, open) })
	t.Run("what began stays begun", func(t *testing.T) { beginnings(t, open) })
	t.Run("generations count up", func(t *testing.T) { generations(t, open) })
}

func key(name, holder string) quota.Key {
	return quota.Key{Route: "POST /v1/chat", Key: name, Fingerprint: "f", Holder: holder}
}

func oneClaim(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	errs := race(writers, func(i int) error {
		reply, err := s.ClaimKey(t.Context(), v, key("k", fmt.Sprint(i)), time.Minute)
		if reply != nil {
			return fmt.Errorf("a reply nobody kept: %v", reply)
		}
		return err
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
}

func replies(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	claim := func(v identity.Viewer, k quota.Key) (*quota.Reply, error) {
		return s.ClaimKey(t.Context(), v, k, time.Minute)
	}
	k := key("k", "a")
	got(claim(v, k))(t)
	need(t, s.KeepReply(t.Context(), v, key("k", "stranger"), quota.Reply{Status: 500}, 24*time.Hour))
	need(t, s.KeepReply(t.Context(), v, k, quota.Reply{Status: 201, Body: []byte(`{"x":1}`)}, 24*time.Hour))
	c.add(24*time.Hour - time.Second)
	reply := got(claim(v, key("k", "b")))(t)
	if reply == nil || reply.Status != 201 || string(reply.Body) != `{"x":1}` {
		t.Errorf("replayed %v, want the kept reply", reply)
	}
	different := key("k", "b")
	different.Fingerprint = "g"
	_, err := claim(v, different)
	wantFault(t, err, fault.Invalid)
	if reply := got(claim(other, key("k", "b")))(t); reply != nil {
		t.Errorf("another person got the reply %v", reply)
	}
	c.add(time.Second)
	if reply := got(claim(v, key("k", "b")))(t); reply != nil {
		t.Errorf("after 24 hours the key still has the reply %v", reply)
	}
}

func endpoints(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	chat, tool := key("k", "a"), key("k", "b")
	tool.Route = "POST /v1/tools/run"
	claim := func(v identity.Viewer, k quota.Key) error {
		_, err := s.ClaimKey(t.Context(), v, k, time.Minute)
		return err
	}
	need(t, claim(v, chat))
	wantFault(t, claim(v, tool), fault.Invalid) // while the first works
	need(t, claim(other, tool))
	need(t, s.ReleaseKey(t.Context(), v, chat))
	need(t, claim(v, tool)) // what failed left nothing
	wantFault(t, claim(v, chat), fault.Invalid)
	need(t, s.KeepReply(t.Context(), v, tool, quota.Reply{Status: 200, Body: []byte(`{}`)}, 24*time.Hour))
	c.add(24*time.Hour - time.Second)
	wantFault(t, claim(v, chat), fault.Invalid)
	c.add(time.Second)
	need(t, claim(v, chat))
	c.add(time.Minute) // and nobody came back to it
	need(t, claim(v, tool))
}

func leases(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	claim := func(holder string) error {
		_, err := s.ClaimKey(t.Context(), v, key("k", holder), time.Minute)
		return err
	}
	need(t, claim("a"))
	c.add(50 * time.Second)
	need(t, claim("a")) // extends
	c.add(50 * time.Second)
	wantFault(t, claim("b"), fault.Conflict)
	c.add(10 * time.Second)
	need(t, claim("b"))
	need(t, s.ReleaseKey(t.Context(), v, key("k", "a")))
	wantFault(t, claim("c"), fault.Conflict)
	need(t, s.ReleaseKey(t.Context(), v, key("k", "b")))
	need(t, claim("c"))
}

// conflicts proves that who is refused a key is told when its lease ends.
func conflicts(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	got(s.ClaimKey(t.Context(), v, key("k", "a"), 10*time.Second))(t)
	for _, at := range []struct {
		passes  time.Duration
		seconds int
	}{{0, 10}, {6500 * time.Millisecond, 4}, {3400 * time.Millisecond, 1}} {
		c.add(at.passes)
		_, err := s.ClaimKey(t.Context(), v, key("k", "b"), 10*time.Second)
		f := fault.From(err)
		details, _ := f.Details.(map[string]any)
		if f.Code != fault.Conflict || details["reason"] != "running" || details["retry_after"] != at.seconds ||
			!strings.HasSuffix(f.Message, fmt.Sprintf("Try again in %d s.", at.seconds)) {
			t.Errorf("%s, %v, want %d s", f.Message, f.Details, at.seconds)
		}
	}
	c.add(100 * time.Millisecond)
	got(s.ClaimKey(t.Context(), v, key("k", "b"), 10*time.Second))(t)
}

func restarts(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	elsewhere := key("kept", "b")
	elsewhere.Route = "POST /v1/tools/run"
	for _, v := range []identity.Viewer{v, other} {
		for _, name := range []string{"killed", "kept"} {
			got(s.ClaimKey(t.Context(), v, key(name, "a"), time.Minute))(t)
		}
		need(t, s.KeepReply(t.Context(), v, key("kept", "a"), quota.Reply{Status: 200, Body: []byte(`{}`)}, 24*time.Hour))
	}
	want(t, "released", got(s.ReleaseClaims(t.Context()))(t), 2)
	want(t, "released again", got(s.ReleaseClaims(t.Context()))(t), 0)
	for _, v := range []identity.Viewer{v, other} {
		killed := key("killed", "b")
		killed.Route = "POST /v1/tools/run" // nothing is left of it, not even where it was used
		if reply := got(s.ClaimKey(t.Context(), v, killed, time.Minute))(t); reply != nil {
			t.Errorf("a reply nobody kept: %v", reply)
		}
		if reply := got(s.ClaimKey(t.Context(), v, key("kept", "b"), time.Minute))(t); reply == nil {
			t.Error("a reply is forgotten")
		}
		_, err := s.ClaimKey(t.Context(), v, elsewhere, time.Minute)
		wantFault(t, err, fault.Invalid)
	}
}

func secrets(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	found := make([]string, writers)
	errs := race(writers, func(i int) error {
		secret, err := s.Secret(t.Context(), "tokens")
		found[i] = string(secret)
		return err
	})
	want(t, "answers", winners(t, errs, fault.Conflict), writers)
	for _, secret := range found {
		want(t, "length", len(secret), 32)
		want(t, "same secret", secret == found[0], true)
	}
	want(t, "another name has the same", string(got(s.Secret(t.Context(), "links"))(t)) == found[0], false)
}

func beginnings(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	since := func(name string) int64 { return got(s.Since(t.Context(), name, time.Hour))(t).UnixMilli() }
	began := since("a")
	want(t, "where nothing was before", began, c.now().UnixMilli())
	c.add(time.Minute)
	want(t, "asked again", since("a"), began)
	v := person(t, s)
	need(t, s.CreateRun(t.Context(), v, run.Run{ID: id.New(), WorkflowID: id.New(), Kind: run.KindGraph, UserID: v.UserID, Status: run.Running}))
	want(t, "where runs were before", since("b"), c.now().Add(time.Hour).UnixMilli())
	want(t, "what has begun", since("a"), began)
}

func generations(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	for i := range writers {
		n := got(s.NextGeneration(t.Context()))(t)
		want(t, "generation", n, int64(i+1))
	}
}
