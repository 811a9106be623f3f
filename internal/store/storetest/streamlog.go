package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/stream"
)

// OpenLog makes a fresh log whose numbers lie above base.
type OpenLog func(t testing.TB, base int64) stream.Log

// StreamLog proves stream.Log.
func StreamLog(t *testing.T, open OpenLog) {
	t.Run("followers see every event in order and end with the run", func(t *testing.T) { followInOrder(t, open) })
	t.Run("a reader that comes back gets exactly the rest", func(t *testing.T) { resume(t, open) })
	t.Run("a key is kept once", func(t *testing.T) { keyedOnce(t, open) })
	t.Run("an attempt that was given up is not heard", func(t *testing.T) { givenUpAttempt(t, open) })
	t.Run("an attempt that is made again is told from the first time", func(t *testing.T) { madeAgain(t, open) })
	t.Run("numbers of before a start are a gap", func(t *testing.T) { gapAfterStart(t, open) })
	t.Run("a follower leaves when its context ends or it stops", func(t *testing.T) { followerLeaves(t, open) })
	t.Run("many writers and readers agree", func(t *testing.T) { manyReaders(t, open) })
	t.Run("a late reader of a long answer gets the whole text", func(t *testing.T) { longAnswer(t, open) })
}

// Token is a piece of an answer as an event.
func Token(piece string, attempt int) stream.Event {
	data, _ := json.Marshal(piece)
	return stream.Event{Kind: stream.Token, Attempt: attempt, Node: "answer", Data: data}
}

func appendAll(t testing.TB, l stream.Log, runID string, events ...stream.Event) int64 {
	t.Helper()
	return got(l.Append(t.Context(), runID, events...))(t)
}

// follow reads until the log ends the stream.
func follow(ctx context.Context, l stream.Log, runID string, after int64) (events []stream.Event, err error) {
	for e, err := range l.Follow(ctx, runID, after) {
		if err != nil {
			return events, err
		}
		if e.Seq <= after && e.Kind != stream.Reset {
			return events, fmt.Errorf("event %d after %d", e.Seq, after)
		}
		after = e.Seq
		events = append(events, e)
	}
	return events, nil
}

// told is what a client makes of events: text, dropped at a reset, and kinds.
func told(events []stream.Event) (text, kinds string) {
	var b strings.Builder
	var k []string
	for _, e := range events {
		switch e.Kind {
		case stream.Token:
			var piece string
			_ = json.Unmarshal(e.Data, &piece)
			b.WriteString(piece)
		case stream.Reset:
			b.Reset()
			k = append(k, "reset")
		default:
			k = append(k, string(e.Kind))
		}
	}
	return b.String(), strings.Join(k, " ")
}

func followInOrder(t *testing.T, open OpenLog) {
	l := open(t, 0)
	var early []stream.Event
	var err error
	var reader sync.WaitGroup
	reader.Go(func() { early, err = follow(t.Context(), l, "r", 0) })
	appendAll(t, l, "r", stream.Event{Kind: stream.Status, Attempt: 1, Data: json.RawMessage(`{"node":"n"}`)})
	for _, piece := range []string{"Hel", "lo ", "wörld \"<&>\""} {
		appendAll(t, l, "r", Token(piece, 1))
	}
	appendAll(t, l, "r", stream.Event{Kind: stream.Reset, Attempt: 2, Data: json.RawMessage(`{"reason":"retry"}`)}, Token("Good", 2), Token("bye", 2))
	last := appendAll(t, l, "r", stream.Event{Kind: stream.MessageDone, Key: "end"})
	need(t, l.Finish(t.Context(), "r", time.Minute))
	reader.Wait()
	need(t, err)
	late := got(follow(t.Context(), l, "r", 0))(t)
	for name, events := range map[string][]stream.Event{"early": early, "late": late} {
		text, kinds := told(events)
		want(t, name+" text", text, "Goodbye")
		want(t, name+" kinds", kinds, "status reset message_done")
		want(t, name+" last", events[len(events)-1].Seq, last)
		want(t, name+" data", string(events[0].Data), `{"node":"n"}`)
		want(t, name+" time is set", events[0].Time.IsZero(), false)
	}
}

// resume leaves and comes back at many places of a long answer, which two
// steps wrote in turns.
func resume(t *testing.T, open OpenLog) {
	l := open(t, 1000)
	const tokens = 900
	var seqs []int64
	var pieces []string
	for i := range tokens {
		e := Token(fmt.Sprint(i, " "), 1)
		e.Node = []string{"a", "b"}[i/400%2]
		pieces = append(pieces, fmt.Sprint(i, " "))
		seqs = append(seqs, appendAll(t, l, "r", e))
	}
	need(t, l.Finish(t.Context(), "r", time.Minute))
	whole := strings.Join(pieces, "")
	for i := 0; i < tokens; i += 41 {
		rest, kinds := told(got(follow(t.Context(), l, "r", seqs[i]))(t))
		want(t, fmt.Sprint("the text with the rest after ", seqs[i], " is whole"), strings.Join(pieces[:i+1], "")+rest == whole, true)
		want(t, "resets, although nothing was lost", kinds, "")
	}
	want(t, "events after the last", len(got(follow(t.Context(), l, "r", seqs[tokens-1]))(t)), 0)
}

func keyedOnce(t *testing.T, open OpenLog) {
	l := open(t, 0)
	errs := make([]error, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			_, errs[i] = l.Append(t.Context(), "r", stream.Event{Kind: stream.Interrupt, Key: "q1"}, stream.Event{Kind: stream.Token, Data: json.RawMessage(`"x"`), Key: "k"})
		})
	}
	all.Wait()
	need(t, errors.Join(errs...))
	appendAll(t, l, "other", stream.Event{Kind: stream.Interrupt, Key: "q1"})
	need(t, l.Finish(t.Context(), "r", time.Minute))
	appendAll(t, l, "r", stream.Event{Kind: stream.Interrupt, Key: "q1"})
	want(t, "events", len(got(follow(t.Context(), l, "r", 0))(t)), 2)
}

// givenUpAttempt: a worker that was thought dead goes on writing while another
// makes the call again.
func givenUpAttempt(t *testing.T, open OpenLog) {
	l := open(t, 0)
	piece := func(call, text string, attempt int) stream.Event {
		e := Token(text, attempt)
		e.Call = call
		return e
	}
	reset := stream.Event{Kind: stream.Reset, Attempt: 2, Call: "e1", Key: "reset:e1:2"}
	appendAll(t, l, "r", piece("e1", "Hal", 1))
	appendAll(t, l, "r", reset, piece("e1", "Good ", 2))
	before := appendAll(t, l, "r", piece("e1", "day", 2))
	want(t, "last after an event nobody hears", appendAll(t, l, "r", piece("e1", "lo", 1)), before)
	appendAll(t, l, "r", piece("e1", "XX", 1), piece("e2", ", all", 1), piece("e1", "!", 2))
	appendAll(t, l, "other", piece("e1", "heard", 1))
	need(t, l.Finish(t.Context(), "r", time.Minute))
	need(t, l.Finish(t.Context(), "other", time.Minute))
	text, _ := told(got(follow(t.Context(), l, "r", 0))(t))
	want(t, "text", text, "Good day, all!")
	text, _ = told(got(follow(t.Context(), l, "other", 0))(t))
	want(t, "text of another run", text, "heard")
}

// madeAgain: what an attempt says each time it begins is heard only where it had
// begun before.
func madeAgain(t *testing.T, open OpenLog) {
	l := open(t, 0)
	begin := func(attempt int, text string) {
		reset := stream.Event{Kind: stream.Reset, Attempt: attempt, Call: "e1", Again: true, Data: json.RawMessage(`{"reason":"retry"}`)}
		piece := Token(text, attempt)
		piece.Call = "e1"
		appendAll(t, l, "r", reset, piece)
	}
	appendAll(t, l, "r", Token("Before. ", 1))
	begin(1, "Hal")
	text, kinds := told(soFar(t, l, "r", "Hal"))
	want(t, "text of the first time", text, "Before. Hal")
	want(t, "kinds of the first time", kinds, "")
	begin(1, "Good ")
	begin(2, "day")
	need(t, l.Finish(t.Context(), "r", time.Minute))
	text, kinds = told(got(follow(t.Context(), l, "r", 0))(t))
	want(t, "text", text, "Good day")
	want(t, "kinds", kinds, "reset")
}

// soFar is what a log whose run goes on holds up to a text.
func soFar(t testing.TB, l stream.Log, runID, last string) (events []stream.Event) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range l.Follow(ctx, runID, 0) {
		need(t, err)
		events = append(events, e)
		if text, _ := told(events); strings.HasSuffix(text, last) {
			break
		}
	}
	return events
}

func gapAfterStart(t *testing.T, open OpenLog) {
	l := open(t, 5000)
	first := appendAll(t, l, "r", Token("again", 1))
	if first <= 5000 {
		t.Errorf("the first number is %d, want it above 5000", first)
	}
	need(t, l.Finish(t.Context(), "r", time.Minute))
	for _, after := range []int64{1, 4999, first + 100} {
		events := got(follow(t.Context(), l, "r", after))(t)
		text, kinds := told(events)
		want(t, fmt.Sprint("kinds after ", after), kinds, "reset")
		want(t, fmt.Sprint("text after ", after), text, "again")
		want(t, "reason", string(events[0].Data), `{"reason":"gap"}`)
	}
	_, kinds := told(got(follow(t.Context(), l, "r", 0))(t))
	want(t, "kinds from the beginning", kinds, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range l.Follow(ctx, "unknown", 77) {
		need(t, err)
		want(t, "a run that is not known any more", e.Kind, stream.Reset)
		break
	}
}

func followerLeaves(t *testing.T, open OpenLog) {
	l := open(t, 0)
	appendAll(t, l, "r", Token("a", 1), Token("b", 1))
	n := 0
	for _, err := range l.Follow(t.Context(), "r", 0) {
		need(t, err)
		n++
		break
	}
	want(t, "events of a reader that stopped", n, 1)
	ctx, cancel := context.WithCancel(t.Context())
	for _, err := range l.Follow(ctx, "r", 0) {
		need(t, err)
		if n++; n == 3 {
			cancel() // the log has no more: only the context can end it
		}
	}
	want(t, "events", n, 3)
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	for _, err := range l.Follow(ctx, "r", 0) {
		t.Errorf("a reader whose context has ended got an event, %v", err)
	}
}

func manyReaders(t *testing.T, open OpenLog) {
	l := open(t, 0)
	const pieces = 500
	texts := make([]string, 20)
	errs := make([]error, len(texts))
	var readers, authors sync.WaitGroup
	for i := range texts {
		readers.Go(func() {
			var events []stream.Event
			events, errs[i] = follow(t.Context(), l, "r", 0)
			texts[i], _ = told(events)
		})
	}
	failed := make([]error, 4)
	for a := range failed {
		authors.Go(func() {
			for i := range pieces {
				if _, err := l.Append(t.Context(), "r", Token(fmt.Sprint(a, ".", i, " "), 1)); err != nil {
					failed[a] = err
				}
			}
		})
	}
	authors.Wait()
	need(t, l.Finish(t.Context(), "r", time.Minute))
	readers.Wait()
	need(t, errors.Join(append(errs, failed...)...))
	want(t, "pieces", len(strings.Fields(texts[0])), 4*pieces)
	for _, text := range texts {
		want(t, "every reader's text is the same", text == texts[0], true)
	}
}

func longAnswer(t *testing.T, open OpenLog) {
	l := open(t, 0)
	var whole strings.Builder
	var pieces []stream.Event
	for i := range 20_000 {
		piece := fmt.Sprint("word", i, " ")
		whole.WriteString(piece)
		pieces = append(pieces, Token(piece, 1))
		if i < 1000 || len(pieces) == 100 { // one by one, and as they come from a fast model
			appendAll(t, l, "r", pieces...)
			pieces = nil
		}
	}
	need(t, l.Finish(t.Context(), "r", time.Minute))
	text, _ := told(got(follow(t.Context(), l, "r", 0))(t))
	want(t, "the whole text arrived", text == whole.String(), true)
}
