package stream_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"liminal/internal/stream"
)

// Requirements: STREAM-31
func TestEveryKindHasItsOwnPayload(t *testing.T) {
	t.Parallel()
	seen := map[stream.Kind]bool{}
	for _, p := range stream.Payloads() {
		kind := stream.KindOf(p)
		if seen[kind] || kind == "" {
			t.Errorf("%T is of the kind %q, which another one has", p, kind)
		}
		seen[kind] = true
		e, err := stream.New("n", p)
		if err != nil || e.Kind != kind || e.Node != "n" || e.Attempt != 1 || !json.Valid(e.Data) {
			t.Errorf("an event of %T is %+v, %v", p, e, err)
		}
	}
	if len(seen) != 14 {
		t.Errorf("%d kinds have a payload", len(seen))
	}
}

func TestAnEventOfWhatIsNoJSONIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := stream.New("n", stream.ToolCallData{Arguments: map[string]any{"x": math.NaN()}}); err == nil {
		t.Error("it was made")
	}
}

// A log may hold what another version of the program has written.
func TestAPayloadIsReadAsFarAsItFits(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]struct {
		node string
		ok   bool
	}{
		`{"node":"a","done":true}`:                    {"a", true},
		`{"docs_found":2,"web_query":{},"node":"a"}`:  {"a", true},
		`{"node":"a","something":"else","message":7}`: {"a", true},
		`null`:    {"", true},
		`{"node"`: {"", false},
		``:        {"", false},
	} {
		got, ok := stream.Read[stream.StatusData](json.RawMessage(raw))
		if ok != want.ok || got.Node != want.node {
			t.Errorf("%q reads as %+v, %t", raw, got, ok)
		}
	}
}

func TestAGapIsAResetAtItsPlace(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_790_000_000, 0)
	if e := stream.Gap(7, at); e.Kind != stream.Reset || e.Seq != 7 || !e.Time.Equal(at) || string(e.Data) != `{"reason":"gap"}` {
		t.Errorf("%+v", e)
	}
}
