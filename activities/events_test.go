package activities_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/model/scripted"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

var updateEvents = flag.Bool("update", false, "write testdata/events.json")

const eventsPath = "testdata/events.json"

// shownEvent is an event as testdata keeps it.
type shownEvent struct {
	Kind    stream.Kind     `json:"kind"`
	Node    string          `json:"node,omitempty"`
	Attempt int             `json:"attempt"`
	Key     string          `json:"key,omitempty"`
	Data    json.RawMessage `json:"data"`
}

// eventScenes are runs that together say every kind of event but the ends of
// turns, of which api has a test beside what the store says of them.
func eventScenes() map[string]func(t *testing.T) *activitiestest.World {
	called := func(change func(*activities.CallInput), f func(set *activities.Set, c *tool.Call) (map[string]any, error)) func(t *testing.T) *activitiestest.World {
		return func(t *testing.T) *activitiestest.World {
			var set *activities.Set
			w := world(func(ctx context.Context, c *tool.Call) (map[string]any, error) {
				out, err := f(set, c)
				if err == nil && out == nil {
					<-ctx.Done() // it was stopped
				}
				return out, err
			})
			set = w.Set()
			set.Now = func() time.Time { return time.Unix(1_790_000_000, 0) }
			in := callOf(w)
			change(&in)
			_, _ = set.Call(t.Context(), in) // what it says is looked at
			return w
		}
	}
	asked := func(kind run.Kind, waiting bool, q activities.Question) func(t *testing.T) *activitiestest.World {
		return func(t *testing.T) *activitiestest.World {
			w := world(nil)
			in := activities.AskInput{WorkflowID: "wf", Waiting: waiting, Open: []string{"q2", "q1"}, Questions: []activities.Question{q}}
			if kind == run.KindChat {
				in.Run, in.ConversationID = w.Chat("hello", chat.TurnInput{}), w.Thread.ID
			} else {
				in.Run = w.Run(kind, map[string]any{})
			}
			set := w.Set()
			set.Now = func() time.Time { return time.Unix(1_790_000_000, 0) }
			if err := set.Ask(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			w.Claim(0, "One", false)
			if _, err := set.Deliver(t.Context(), activities.DeliverInput{Run: in.Run, IDs: []string{q.ID}}); err != nil {
				t.Fatal(err)
			}
			return w
		}
	}
	same := func(*activities.CallInput) {}
	return map[string]func(t *testing.T) *activitiestest.World{
		"a call that finds documents": called(same, func(_ *activities.Set, c *tool.Call) (map[string]any, error) {
			emitProgress(c)
			return map[string]any{
				"summary": "Two of them.", "web_query": "rules",
				"documents": []any{map[string]any{"id": "d1", "title": "One", "score": 0.5}, map[string]any{"id": "d2"}, map[string]any{"id": "d3", "title": "Three"}},
			}, nil
		}),
		"a call that finds nothing": called(func(in *activities.CallInput) { in.Description, in.Inputs = "", nil },
			func(*activities.Set, *tool.Call) (map[string]any, error) {
				return map[string]any{"documents": []any{}, "web_query": nil}, nil
			}),
		"a call that searched for nothing": called(same, func(*activities.Set, *tool.Call) (map[string]any, error) {
			return map[string]any{"web_query": ""}, nil
		}),
		"a call that fails": called(same, func(*activities.Set, *tool.Call) (map[string]any, error) {
			return nil, fault.New(fault.RateLimited, "Slow down.")
		}),
		"a call that asks": called(same, func(*activities.Set, *tool.Call) (map[string]any, error) {
			return map[string]any{"interrupt": map[string]any{"type": "text_input", "message": "Which?"}}, nil
		}),
		"a call that is stopped": called(same, func(set *activities.Set, c *tool.Call) (map[string]any, error) {
			set.Stop(c.RunID)
			return nil, nil
		}),
		"a model that speaks again": called(func(in *activities.CallInput) {
			in.Final, in.Model, in.Reset, in.Attempt, in.Stage = true, true, true, 2, "stage"
		},
			func(_ *activities.Set, c *tool.Call) (map[string]any, error) {
				emitWords(c)
				return map[string]any{"answer": "Right <b>"}, nil
			}),
		"an answer with links": called(func(in *activities.CallInput) { in.Final, in.Model, in.Quiet = true, true, true },
			func(_ *activities.Set, c *tool.Call) (map[string]any, error) {
				c.Emit(stream.TokenData("It is due."))
				c.Emit(stream.ChipData{Kind: "deadline", Action: "open", ID: "d1", Href: "/r/matters/deadline/d1", Label: "Reply", Source: "matters"})
				c.Emit(stream.ChipData{Kind: "filter", Action: "filter", ID: "status=open", Href: "/r/matters/deadline?status=open"})
				return map[string]any{"text": "It is due."}, nil
			}),
		"a question with options": asked(run.KindChat, true, activities.Question{ID: "q1", Effect: "ask#1", Node: "ask", Description: "Asking...",
			Ask: graph.Ask{Type: "doc_choice", Message: "Which?", Options: []graph.Option{{ID: "d1", Label: "One"}}}}),
		"a question for a text": asked(run.KindChat, false, activities.Question{ID: "q1", Effect: "ask#1", Node: "ask",
			Ask: graph.Ask{Type: "text_input", Message: "What?", AnswerSchema: json.RawMessage(`{"type":"string"}`), Expires: time.Unix(1_790_003_600, 0).UTC()}}),
		"a question of a graph": asked(run.KindGraph, true, activities.Question{ID: "q1", Effect: "ask#1", Node: "ask", Quiet: true,
			Ask: graph.Ask{Type: "action_choice", Message: "Go on?", Options: []graph.Option{{ID: "y", Label: "Yes"}, {ID: "n", Label: "No"}}}}),
	}
}

func emitProgress(c *tool.Call) {
	c.Emit(stream.ProgressData{Message: "Reading the file…"})
	c.Emit(stream.ProgressData{Done: new(0), Total: new(5), Unit: "pages", Message: "Reading the file…"})
}

func emitWords(c *tool.Call) {
	c.Emit(stream.TokenData("Wro"))
	c.Emit(stream.ResetData{Reason: "tools"})
	c.Emit(stream.TokenData("Right <b>"))
}

// What readers get of each kind is written down: a field that is renamed, left
// out or made null for none is a change of the wire.
//
// Requirements: STREAM-03, STREAM-18
func TestWhatEachEventSaysIsWrittenDown(t *testing.T) {
	t.Parallel()
	got := map[string][]shownEvent{}
	for name, play := range eventScenes() {
		for _, e := range play(t).Events {
			got[name] = append(got[name], shownEvent{e.Kind, e.Node, e.Attempt, e.Key, e.Data})
		}
	}
	if *updateEvents {
		writeEvents(t, got)
	}
	raw, err := os.ReadFile(filepath.FromSlash(eventsPath))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Errorf("%d scenes were played, %d are written down", len(got), len(want))
	}
	for name, events := range got {
		raw, err := json.MarshalIndent(events, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var said any
		if err := json.Unmarshal(raw, &said); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(said, want[name]) {
			t.Errorf("%s says\n%s\nwhich is not what %s has", name, raw, eventsPath)
		}
	}
}

// A model that speaks a second time, as it does in the program: what readers have
// of the first is taken back once, and before the first new word.
//
// Requirements: STREAM-12
func TestALaterAttemptTakesTheWordsBackFirst(t *testing.T) {
	t.Parallel()
	tools := builtin.Tools(builtin.Parts{Model: scripted.Say("Again.")})
	chats := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name() == "llm.generic_chat_v1" })
	w := world(func(ctx context.Context, c *tool.Call) (map[string]any, error) { return tools[chats].Run(ctx, c) })
	in := callOf(w)
	in.Final, in.Model, in.Quiet, in.Reset, in.Attempt = true, true, true, true, 2
	in.Inputs = map[string]any{"message": "Hi"}
	if _, err := w.Set().Call(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	want := []stream.Kind{stream.Reset, stream.Token, stream.Token}
	if got := w.Kinds(); !slices.Equal(got, want) {
		t.Fatalf("the stream has %v, want %v", got, want)
	}
	if data, _ := stream.Read[stream.ResetData](w.Events[0].Data); data.Reason != stream.ResetRetry {
		t.Errorf("the words are taken back because of %q", data.Reason)
	}
}

func writeEvents(t *testing.T, got map[string][]shownEvent) {
	t.Helper()
	raw, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.FromSlash(eventsPath), append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A step that goes on from words which readers have takes none of them back; one
// that is made again says them again first, with the links that belong to them.
//
// Requirements: STREAM-32
func TestAStepThatGoesOnSaysWhatWasShownAgainOnlyWhereItWasTakenBack(t *testing.T) {
	t.Parallel()
	record := map[string]any{"source": "s", "entity": "deadline", "id": "d1", "title": "One", "href": "/r/s/deadline/d1"}
	said := map[string]any{"text": "Before. ", "citations": []any{map[string]any{"record": record}, map[string]any{"n": 1.0, "text": "l", "record": record}}}
	for reset, want := range map[bool][]stream.Kind{
		false: {stream.Token},
		true:  {stream.Reset, stream.Token, stream.Chip, stream.Token},
	} {
		w := world(func(_ context.Context, c *tool.Call) (map[string]any, error) {
			c.Emit(stream.TokenData("After."))
			return map[string]any{"text": "Before. After."}, nil
		})
		w.Tools[graph.StepTool] = w.Tools["t"]
		in := callOf(w)
		in.Tool.Name = graph.StepTool
		in.Final, in.Model, in.Quiet, in.Reset, in.Attempt = true, true, true, reset, 1
		in.Inputs = map[string]any{"said": said}
		if _, err := w.Set().Call(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := w.Kinds(); !slices.Equal(got, want) {
			t.Errorf("with reset %v the stream has %v, want %v", reset, got, want)
		}
		if reset {
			if text := string(w.Events[1].Data); text != `"Before. "` {
				t.Errorf("said again: %s", text)
			}
		}
	}
}
