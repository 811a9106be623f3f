package api

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/safety"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

const endsPath = "testdata/ends.json"

// toldTwice is how a run ended as the log says it, and as a reader is told whose
// log has forgotten the run.
type toldTwice struct {
	Log   toldEnd `json:"log"`
	Store toldEnd `json:"store"`
}

type toldEnd struct {
	Kind stream.Kind `json:"kind"`
	Data any         `json:"data"`
}

// keptMessage is a store that keeps one message, as JSON.
type keptMessage struct {
	Messages
	raw []byte
}

func (k keptMessage) Message(context.Context, identity.Viewer, string) (m chat.Message, err error) {
	if k.raw == nil {
		return m, fault.New(fault.NotFound, "There is no such message.")
	}
	return m, json.Unmarshal(k.raw, &m)
}

// ends are runs at their end, by what they are an example of.
func ends() map[string]func(*activitiestest.World) activities.CloseInput {
	usd, at := 0.25, time.Unix(1_790_000_000, 0).UTC()
	turn := func(message string, change func(*activities.CloseInput)) func(*activitiestest.World) activities.CloseInput {
		return func(w *activitiestest.World) activities.CloseInput {
			in := activities.CloseInput{
				Run: w.Chat(message, chat.TurnInput{}), Opened: activities.Opened{Scope: tool.Scope{ConversationID: w.Thread.ID}},
				Outcome: graph.Outcome{Response: "So it is."},
			}
			change(&in)
			return in
		}
	}
	return map[string]func(*activitiestest.World) activities.CloseInput{
		"a plain answer": turn("hello", func(*activities.CloseInput) {}),
		"an answer with everything": turn("I like this approach.", func(in *activities.CloseInput) {
			in.Opened.UptoSeq, in.Opened.Input = 3, map[string]any{"message": "I like this approach.", "message_id": "m"}
			in.Opened.Routing = json.RawMessage(`{"policy":null,"adapters":["a1"],"gates":{"a1":1},"rules":[]}`)
			in.Outcome = graph.Outcome{
				Response:  "See [1].",
				Citations: []any{map[string]any{"n": 1.0, "document_id": "d1", "text": "quoted", "title": "One", "start": 3.0, "end": 9.0}},
				Data:      map[string]any{"action": "audit", "retrieval_confidence": nil},
			}
			in.Steps = []graph.Step{{Node: "ask", Type: "tool_call", Effect: "ask#1", Visit: 1, Attempt: 1, Started: at, Ended: at.Add(time.Second), Outcome: "ok"}}
			in.Tally = activities.Tally{
				Usage: model.Usage{Input: 10, Output: 4, CacheRead: 6, CostUSD: &usd}, Model: "m1", Cut: true,
				Records: []activities.Record{{Tool: "t", Node: "ask", Arguments: map[string]any{"q": "x"}, Result: map[string]any{"n": 1.0}, Status: "ok", MS: 12}},
			}
		}),
		"an answer that worries": turn("hello", func(in *activities.CloseInput) {
			in.Opened.Judged = &activities.Judged{Risk: safety.Med, Rules: []string{"r1"}}
		}),
		"an answer that is withheld": turn("hello", func(in *activities.CloseInput) {
			in.Outcome.Suppressed, in.Outcome.Cancelled = true, true
		}),
		"a graph's result": func(w *activitiestest.World) activities.CloseInput {
			return activities.CloseInput{
				Run:     w.Run(run.KindGraph, map[string]any{}),
				Outcome: graph.Outcome{Response: "Done.", Data: map[string]any{"n": 2.0}}, Tally: activities.Tally{Usage: model.Usage{Input: 1, Output: 2}},
			}
		},
		"a graph's result that is nothing": func(w *activitiestest.World) activities.CloseInput {
			return activities.CloseInput{Run: w.Run(run.KindGraph, map[string]any{})}
		},
		"a failure": turn("hello", func(in *activities.CloseInput) {
			in.Outcome = graph.Outcome{Err: &graph.Failure{Code: "node_failed", Message: "It broke.", Node: "ask"}}
		}),
		"a failure for want of money": turn("hello", func(in *activities.CloseInput) {
			in.Outcome = graph.Outcome{Err: &graph.Failure{Code: fault.Budget, Message: "Your budget is used up."}}
		}),
		"a stop with words": turn("hello", func(in *activities.CloseInput) {
			in.Outcome, in.Tally.Partial = graph.Outcome{Cancelled: true}, "Half an"
		}),
		"a stop before any word": turn("hello", func(in *activities.CloseInput) {
			in.Outcome = graph.Outcome{Cancelled: true}
		}),
		"a graph that is stopped": func(w *activitiestest.World) activities.CloseInput {
			return activities.CloseInput{Run: w.Run(run.KindGraph, map[string]any{}), Outcome: graph.Outcome{Cancelled: true}}
		},
	}
}

// playEnd closes a run and reads its end both ways.
func playEnd(t *testing.T, input func(*activitiestest.World) activities.CloseInput) toldTwice {
	t.Helper()
	w := activitiestest.New(`{}`)
	in := input(w)
	set := w.Set()
	set.Now = func() time.Time { return time.Unix(1_790_000_000, 0) }
	closed, err := set.Close(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	row, end := *w.Runs[in.Run.RunID], w.Ended[in.Run.RunID]
	row.Result, row.Error, row.Trace = end.Result, end.Error, end.Trace
	kept := keptMessage{}
	if closed.MessageID != "" {
		kept.raw, err = json.Marshal(w.Messages[closed.MessageID])
		if err != nil {
			t.Fatal(err)
		}
	}
	read, err := tail{messages: kept}.ending(t.Context(), activitiestest.Viewer, row)
	if err != nil {
		t.Fatal(err)
	}
	return toldTwice{Log: readEnd(t, w.Events[len(w.Events)-1]), Store: readEnd(t, read)}
}

func readEnd(t *testing.T, e stream.Event) toldEnd {
	t.Helper()
	out := toldEnd{Kind: e.Kind}
	if err := json.Unmarshal(e.Data, &out.Data); err != nil {
		t.Fatal(err)
	}
	return out
}

// What readers get at the end is written down: a field that is renamed, left out
// or made null for none is a change of the wire.
//
// Requirements: STREAM-04 (message_id; usage; workflow_trace), STREAM-15
func TestWhatTheEndOfARunSaysIsWrittenDown(t *testing.T) {
	t.Parallel()
	got := map[string]toldTwice{}
	for name, input := range ends() {
		got[name] = playEnd(t, input)
	}
	raw, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.FromSlash(endsPath), append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(filepath.FromSlash(endsPath))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]toldTwice
	if err := json.Unmarshal(kept, &want); err != nil {
		t.Fatal(err)
	}
	for name, told := range got {
		if !reflect.DeepEqual(told, want[name]) {
			raw, _ := json.MarshalIndent(told, "", "  ") // was JSON before
			t.Errorf("%s is told as\n%s\nwhich is not what %s has", name, raw, endsPath)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d ends were played, %d are written down", len(got), len(want))
	}
}

// A reader whose log has forgotten the run is told what the others were.
//
// Requirements: STREAM-24 (missed events are replayed), STREAM-32
func TestTheLogAndTheStoreSayTheSameOfAnAnswer(t *testing.T) {
	t.Parallel()
	for name, input := range ends() {
		told := playEnd(t, input)
		if told.Log.Kind != told.Store.Kind {
			t.Errorf("%s: the log ends with %s, the store with %s", name, told.Log.Kind, told.Store.Kind)
		}
		if told.Log.Kind != stream.CancelAck && !reflect.DeepEqual(told.Log.Data, told.Store.Data) {
			log, _ := json.Marshal(told.Log.Data) // both were JSON before
			store, _ := json.Marshal(told.Store.Data)
			t.Errorf("%s: the log says\n%s\nand the store\n%s", name, log, store)
		}
	}
}
