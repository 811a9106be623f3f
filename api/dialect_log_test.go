package api

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// recordedLog is a log of a run as the engine writes them: words before tools, attempts
// that begin again alike and otherwise, words nobody may see, and an end.
func recordedLog(r *rand.Rand) (log []stream.Event, stored string) {
	add := func(kind stream.Kind, data any) { log = append(log, logLine(kind, data)) }
	add(stream.Status, map[string]any{"node": "work", "message": "Working"})
	for n := range r.IntN(3) {
		if r.IntN(2) == 0 {
			add(stream.Token, "I look. ")
		}
		add(stream.Reset, map[string]any{"reason": stream.ResetTools})
		call := fmt.Sprint("c", n)
		add(stream.ToolCall, map[string]any{"id": call, "name": "find", "arguments": map[string]any{"n": n}})
		add(stream.ToolCall, map[string]any{"id": call, "name": "find"})
		add(stream.ToolResult, map[string]any{"id": call, "name": "find", "status": "ok", "summary": "2 results"})
	}
	words := strings.SplitAfter("The answer is that it takes three months, as a rule.", " ")
	for range r.IntN(3) {
		for _, w := range words[:r.IntN(len(words))] {
			if r.IntN(9) == 0 {
				w = "Otherwise "
			}
			add(stream.Token, w)
		}
		add(stream.Reset, map[string]any{"reason": []string{stream.ResetRetry, stream.ResetRetry, stream.ResetSafety}[r.IntN(3)]})
	}
	for _, w := range words {
		add(stream.Token, w)
		stored += w
	}
	add(stream.Chip, map[string]any{"kind": "deadline", "action": "open", "id": "d1", "href": "/r"})
	add(stream.Status, map[string]any{"node": "work", "done": true})
	add(stream.MessageDone, map[string]any{"content": stored, "message_id": "m"})
	return numbered(log...), stored
}

// encoded is what an encoder makes of a log.
func encodedLog(t *testing.T, words encoder, log []stream.Event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range log {
		pieces, err := words.encode(e)
		if err != nil && err != errOver {
			t.Fatal(err)
		}
		for _, p := range pieces {
			b.Write(p)
		}
	}
	return b.String()
}

func langgraphWords(since place, modes ...string) *langgraphEncoder {
	e := &langgraphEncoder{
		run: run.Run{ID: "r", ConversationID: "c"}, modes: map[string]bool{}, since: since, messageID: "m",
		state: func() ([]LangGraphMessage, error) { return nil, nil }, asked: func() ([]run.Interrupt, error) { return nil, nil },
	}
	for _, m := range modes {
		e.modes[m] = true
	}
	return e
}

// A stream that is cut after any event, and joined, says what it would have said,
// and its text is the stored one.
//
// Requirements: STREAM-32
func TestWhatALogSaysIsSaidHoweverItIsCut(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 / logsLess {
		log, stored := recordedLog(r)
		if got := aguiText(aguiEvents(t, string((&aguiEncoder{thread: "t", id: "r"}).head(false))+encodedLog(t, &aguiEncoder{thread: "t", id: "r"}, log))); got != stored {
			t.Fatalf("log %d: AG-UI says %q", n, got)
		}
		whole := encodedLog(t, langgraphWords(place{}, spokenModes...), log)
		events := lgEvents(whole)
		if got := lgText(events); got != stored {
			t.Fatalf("log %d: the Agent Protocol says %q: %s", n, got, whole)
		}
		for at, e := range events {
			since, err := placeOf(e.ID)
			if err != nil || e.ID == "" {
				t.Fatalf("%+v: %v", e, err)
			}
			rest := lgEvents(encodedLog(t, langgraphWords(since, spokenModes...), log))
			want := events[at+1:]
			if len(rest) >= len(want) {
				rest = rest[len(rest)-len(want):] // how it ended is told again to who has seen it
			}
			if fmt.Sprint(rest) != fmt.Sprint(want) {
				t.Fatalf("log %d, joined after %s: %v, want %v", n, e.ID, rest, want)
			}
		}
		// When the log is gone the store has its end.
		end := log[len(log)-1]
		end.Seq = 0
		for _, since := range []place{{}, {3, 0}, {int64(len(log)), 0}} {
			if got := lgText(lgEvents(encodedLog(t, langgraphWords(since, "messages-tuple"), []stream.Event{end}))); got != stored {
				t.Fatalf("after %v, without its log: %q", since, got)
			}
		}
	}
}

// What nobody may see is taken back at once.
func TestWordsThatNobodyMaySeeAreTakenBack(t *testing.T) {
	t.Parallel()
	log := numbered(
		logLine(stream.Token, "secret"), logLine(stream.Reset, map[string]any{"reason": stream.ResetSafety}),
		logLine(stream.MessageDone, map[string]any{"content": "secret", "suppressed": true}),
	)
	for what, got := range map[string]string{
		"the Agent Protocol": lgText(lgEvents(encodedLog(t, langgraphWords(place{}, "messages-tuple"), log))),
		"AG-UI":              aguiText(aguiEvents(t, string((&aguiEncoder{}).head(false))+encodedLog(t, &aguiEncoder{}, log))),
	} {
		if got != "" {
			t.Errorf("%s leaves %q", what, got)
		}
	}
}

// Citations and chips go with the message.
func TestWhatARunCitesGoesWithItsMessage(t *testing.T) {
	t.Parallel()
	cited := []chat.Citation{{N: 1, Text: "x"}}
	log := numbered(logLine(stream.Chip, map[string]any{"kind": "deadline", "id": "d1"}), logLine(stream.Token, "It is so [1]"), logLine(stream.MessageDone, map[string]any{"content": "It is so [1]", "citations": cited}))
	got := encodedLog(t, langgraphWords(place{}, "messages-tuple"), log)
	if !strings.Contains(got, `"citations":[{`) || !strings.Contains(got, `"chips":[{"kind":"deadline"`) {
		t.Error(got)
	}
	if got := encodedLog(t, &aguiEncoder{}, log); !strings.Contains(got, `"name":"citations"`) || !strings.Contains(got, `"name":"chip"`) {
		t.Error(got)
	}
}
