package api

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/stream"
)

// numbered gives a log the seqs it has in a stream.
func numbered(log ...stream.Event) []stream.Event {
	for i := range log {
		log[i].Seq = int64(i + 1)
	}
	return log
}

func groundedBytes(t *testing.T, after int64, log []stream.Event) string {
	t.Helper()
	g := &groundedEncoder{turn: "t1", model: "claude-sonnet-4-6", after: after}
	var out strings.Builder
	for _, e := range log {
		pieces, err := g.encode(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range pieces {
			out.Write(piece)
		}
	}
	return out.String()
}

func groundedLog() []stream.Event {
	return numbered(
		logLine(stream.Status, map[string]any{"node": "work"}),
		logLine(stream.Token, "Ich sehe nach."),
		logLine(stream.Reset, map[string]any{"reason": "tools"}),
		logLine(stream.ToolCall, map[string]any{"id": "e1", "name": "search_my_deadlines", "arguments": map[string]any{"status": "open"}}),
		logLine(stream.ToolCall, map[string]any{"id": "e1", "name": "search_my_deadlines", "arguments": map[string]any{"status": "open"}}), // its second attempt
		logLine(stream.ToolResult, map[string]any{"id": "e1", "name": "search_my_deadlines", "status": "ok", "summary": "3 results", "duration_ms": 4}),
		logLine(stream.Token, "Die Klage"),
		logLine(stream.Reset, map[string]any{"reason": "retry"}),
		logLine(stream.Token, "Die "),
		logLine(stream.Token, "Klageerwiderung."),
		logLine(stream.Chip, map[string]any{"kind": "deadline", "action": "open", "id": "c47bd2", "href": "/r", "label": "L", "source": "matters"}),
		logLine(stream.MessageDone, map[string]any{"content": "Die Klageerwiderung.", "usage": map[string]any{"input_tokens": 342, "output_tokens": 88}}),
	)
}

// The words of 000, to the byte.
//
// Requirements: STREAM-22, STREAM-28 (paliadin), STREAM-32
func TestTheGroundedWordsAreExact(t *testing.T) {
	t.Parallel()
	hash := chat.ArgsHash(map[string]any{"status": "open"})
	want := []string{
		"event: meta\ndata: {\"turn_id\":\"t1\",\"model\":\"claude-sonnet-4-6\"}\n\n",
		"event: content_delta\ndata: {\"text\":\"Ich sehe nach.\"}\n\n",
		"event: tool_call\ndata: {\"name\":\"search_my_deadlines\",\"args_hash\":\"" + hash + "\",\"status\":\"running\"}\n\n",
		"event: tool_result\ndata: {\"name\":\"search_my_deadlines\",\"status\":\"ok\",\"summary\":\"3 results\"}\n\n",
		"event: content_delta\ndata: {\"text\":\"\\n\\nDie Klage\"}\n\n",
		"event: content_delta\ndata: {\"text\":\"erwiderung.\"}\n\n",
		"event: chip\ndata: {\"kind\":\"deadline\",\"action\":\"open\",\"id\":\"c47bd2\"}\n\n",
		"event: end\ndata: {\"input_tokens\":342,\"output_tokens\":88,\"tool_calls\":1}\n\n",
	}
	got := groundedBytes(t, 0, groundedLog())
	var plain strings.Builder
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "id: ") {
			plain.WriteString(line)
		}
	}
	if plain.String() != strings.Join(want, "") {
		t.Errorf("told\n%s\nwant\n%s", plain.String(), strings.Join(want, ""))
	}
	if ping := string((&groundedEncoder{}).ping()); ping != "event: ping\ndata: {}\n\n" {
		t.Errorf("ping %q", ping)
	}
}

// Requirements: STREAM-24 (missed events are replayed; afterwards the turn counts as done), STREAM-32
func TestAGroundedStreamThatIsCutGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	log := groundedLog()
	whole := groundedBytes(t, 0, log)
	for cut := range whole {
		head := whole[:cut]
		at := strings.LastIndex(head, "\n\n")
		if at < 0 {
			continue
		}
		head = head[:at+2] // a reader drops the event it has half of
		var after int64
		for line := range strings.Lines(head) {
			if id, found := strings.CutPrefix(line, "id: "); found {
				if err := json.Unmarshal([]byte(id), &after); err != nil {
					t.Fatal(err)
				}
			}
		}
		if after == 0 {
			continue
		}
		if got := head + groundedBytes(t, after, log); got != whole {
			t.Fatalf("cut at %d, back after %d:\n%s", cut, after, got)
		}
	}
	stored := []stream.Event{logLine(stream.MessageDone, map[string]any{"content": "Die Klageerwiderung.", "usage": map[string]any{"input_tokens": 1, "output_tokens": 2}})}
	if got := groundedBytes(t, 7, stored); got != "event: end\ndata: {\"input_tokens\":1,\"output_tokens\":2,\"tool_calls\":0}\n\n" {
		t.Errorf("back when the log is gone:\n%s", got)
	}
	if got := groundedBytes(t, 0, stored); !strings.Contains(got, "Die Klageerwiderung.") {
		t.Errorf("first when the log is gone:\n%s", got)
	}
}

// Requirements: STREAM-32, GRND-29 (user_aborted; rate_limited; token_cap; tool_loop_cap; upstream_error)
func TestAGroundedStreamEndsOnceAndSaysHow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		log  []stream.Event
		want string
	}{
		"another answer": {
			numbered(logLine(stream.Token, "Am Montag"), logLine(stream.Reset, map[string]any{"reason": "retry"}), logLine(stream.Token, "Am Dienstag"), logLine(stream.MessageDone, map[string]any{"content": "Am Dienstag"})),
			`{"error_code":"upstream_error","message":"The answer was begun again and differs from what was sent. It is the turn t1."}`,
		},
		"at the cap":         {[]stream.Event{logLine(stream.MessageDone, map[string]any{"content": "Stuck.", "data": map[string]any{"error_code": "tool_loop_cap"}})}, `"error_code":"tool_loop_cap"}`},
		"too long":           {[]stream.Event{logLine(stream.Error, map[string]any{"code": "validation_error", "reason": "token_cap", "message": "Conversation too long, start a new one."})}, `{"error_code":"token_cap","message":"Conversation too long, start a new one."}`},
		"a budget":           {[]stream.Event{logLine(stream.Error, map[string]any{"code": "rate_limited", "message": "Used up."})}, `{"error_code":"rate_limited","message":"Used up."}`},
		"a provider's fault": {[]stream.Event{logLine(stream.Error, map[string]any{"code": "server_error", "reason": "upstream", "message": "Away."})}, `{"error_code":"upstream_error","message":"Away."}`},
		"stopped":            {[]stream.Event{logLine(stream.CancelAck, map[string]any{"content": "Am"})}, `"error_code":"user_aborted"}`},
		"a question": {
			numbered(logLine(stream.Interrupt, map[string]any{"message": "Which?", "options": []any{map[string]any{"id": "a", "label": "This"}, map[string]any{"id": "b", "label": "That"}}}), logLine(stream.Paused, map[string]any{})),
			`{"text":"Which?\n1. This\n2. That"}`,
		},
	} {
		got := groundedBytes(t, 0, c.log)
		if n := strings.Count(got, "event: end") + strings.Count(got, "event: error"); n != 1 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d ends in\n%s", what, n, got)
		}
	}
}

// What is asked back is told as in every protocol without a word for it: all that
// waits, with options numbered, and of a form how it is answered.
//
// Requirements: STREAM-22, GRND-49
func TestAGroundedStreamAsksInTheWordsOfTheTextRule(t *testing.T) {
	t.Parallel()
	g := &groundedEncoder{turn: "t1", locale: "de"}
	text := ""
	for _, e := range numbered(
		logLine(stream.Token, "Moment."),
		logLine(stream.Interrupt, map[string]any{"interrupt_id": "q1", "message": "Welche Akte?", "options": []any{map[string]any{"id": "a", "label": "Nordlicht"}, map[string]any{"id": "b", "label": "Tessera"}}}),
		logLine(stream.Interrupt, map[string]any{"interrupt_id": "q2", "message": "So eintragen?", "answer_schema": map[string]any{"type": "object", "required": []any{"decision"},
			"properties": map[string]any{"decision": map[string]any{"enum": []any{"approve", "decline"}, "default": "approve"}, "title": map[string]any{"type": "string", "title": "Titel", "default": "Frist"}}}}),
		logLine(stream.Paused, map[string]any{"interrupts": []any{"q1", "q2"}}),
	) {
		for _, one := range g.events(e) {
			if d, is := one.data.(GroundedDelta); is {
				text += d.Text
			}
		}
	}
	want := "Moment.\n\nWelche Akte?\n1. Nordlicht\n2. Tessera\n\nSo eintragen?\nTitel: Frist\n\nAntworte mit ja, mit nein, oder mit einem JSON-Objekt wie {\"decision\":\"approve\",\"title\":\"Frist\"}"
	if text != want || !g.over {
		t.Errorf("asked\n%s\nwant\n%s", text, want)
	}
}
