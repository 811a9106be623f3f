package activities_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

func world(f activitiestest.Func) *activitiestest.World {
	return activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"t"}]}`).
		Tool("t", tool.Spec{Runs: tool.Activity}, f)
}

func callOf(w *activitiestest.World) activities.CallInput {
	return activities.CallInput{
		Run: w.Chat("hello", chat.TurnInput{}), Tool: run.Pin{Name: "t", Version: 1}, Effect: "a#1", Node: "a",
		Description: "Finding documents...", Attempt: 1, Inputs: map[string]any{"q": "x"},
	}
}

// Requirements: STREAM-18
func TestACallSaysWhatItDoesAndWhatItFound(t *testing.T) {
	t.Parallel()
	w := world(func(_ context.Context, c *tool.Call) (map[string]any, error) {
		c.Emit(stream.TokenData("not the answer"))
		c.Emit(stream.ProgressData{Done: new(1)})
		return map[string]any{"documents": []any{map[string]any{"id": "d1", "title": "One", "score": 0.5}}}, nil
	})
	r, err := w.Set().Call(t.Context(), callOf(w))
	if err != nil || r.Spoke {
		t.Fatalf("the call gives %+v, %v", r, err)
	}
	want := []stream.Kind{stream.Status, stream.ToolCall, stream.Progress, stream.ToolResult, stream.Status}
	if got := w.Kinds(); !slices.Equal(got, want) {
		t.Errorf("the stream has %v, want %v: text of a step that is not the answer is not shown", got, want)
	}
	last := w.Event(stream.Status)
	found, _ := last["docs_found"].([]any)
	if last["message"] != "Finding documents..." || last["done"] != true || len(found) != 1 {
		t.Errorf("the last status is %v", last)
	}
}

func TestAQuietCallAndAModelsOwnCallSayLess(t *testing.T) {
	t.Parallel()
	w := world(func(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{}, nil })
	in := callOf(w)
	in.Quiet, in.Model = true, true
	if _, err := w.Set().Call(t.Context(), in); err != nil || len(w.Events) != 0 {
		t.Errorf("it says %v (%v)", w.Kinds(), err)
	}
}

// A worker that cannot reach the engine has its calls cancelled as if the
// person had; half an answer must not become the answer.
//
// Requirements: STREAM-32, CHAT-28
func TestACallThatLostTouchWithTheEngineIsNoAnswer(t *testing.T) {
	t.Parallel()
	ctx, lose := context.WithCancelCause(t.Context())
	w := world(func(within context.Context, _ *tool.Call) (map[string]any, error) {
		lose(errors.New("the heartbeat was not heard"))
		<-within.Done()
		return map[string]any{"answer": "half of", "partial": true}, nil
	})
	r, err := w.Set().Call(ctx, callOf(w))
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || app.Type() != activities.TypeStopped || app.NonRetryable() {
		t.Errorf("it gives %+v, %v", r, err)
	}
	if ok && app.Message() != activities.StoppedMessage {
		t.Errorf("it says %q, want what a person can do", app.Message())
	}
	if slices.Contains(w.Kinds(), stream.ToolResult) {
		t.Errorf("it says %v: the call is not over", w.Kinds())
	}
}

func TestACallThatFailsSaysSoAndKeepsItsCode(t *testing.T) {
	t.Parallel()
	w := world(func(context.Context, *tool.Call) (map[string]any, error) {
		return nil, fault.New(fault.RateLimited, "Slow down.")
	})
	_, err := w.Set().Call(t.Context(), callOf(w))
	if !errors.Is(err, fault.RateLimited) || w.Event(stream.ToolResult)["status"] != "error" {
		t.Errorf("it gives %v and says %v", err, w.Event(stream.ToolResult))
	}
}

// A run may wait for days, and whoever began it may be no administrator then.
//
// Requirements: TOOL-05
func TestAPrivilegedCallIsOfWhoItsPersonIsNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now  identity.Viewer
		gone error
		want identity.Role
	}{
		"still":    {now: identity.Viewer{UserID: activitiestest.Viewer.UserID, Role: identity.RoleAdmin}, want: identity.RoleAdmin},
		"not now":  {now: identity.Viewer{UserID: activitiestest.Viewer.UserID, Role: identity.RoleUser}, want: identity.RoleUser},
		"inactive": {gone: fault.New(fault.NotFound, "no such account")},
	} {
		w := activitiestest.New(`{}`).Tool("t", tool.Spec{Runs: tool.Activity, Privileged: true},
			func(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{}, nil })
		set, in := w.Set(), callOf(w)
		set.Who = func(context.Context, string) (identity.Viewer, error) { return c.now, c.gone }
		in.Run.Viewer.Role = identity.RoleAdmin
		_, err := set.Call(t.Context(), in)
		switch {
		case c.gone != nil:
			if !errors.Is(err, fault.Forbidden) || len(w.Calls) != 0 {
				t.Errorf("%s: %v, %d calls", name, err, len(w.Calls))
			}
		case err != nil || len(w.Calls) != 1 || w.Calls[0].Viewer.Role != c.want:
			t.Errorf("%s: %v, called as %+v", name, err, w.Calls)
		}
	}
}

// Requirements: CHAT-28
func TestACallThatRunsTwiceSaysEverythingOnce(t *testing.T) {
	t.Parallel()
	w := world(func(context.Context, *tool.Call) (map[string]any, error) { return map[string]any{}, nil })
	in, set := callOf(w), w.Set()
	for range 2 {
		if _, err := set.Call(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.Events) != 4 {
		t.Errorf("the stream has %v", w.Kinds())
	}
}

// A worker that shuts down cuts calls off; that is no person's cancel, and the
// run must not end with half an answer.
func TestAWorkerThatStopsIsNotAPersonWhoCancels(t *testing.T) {
	t.Parallel()
	w := world(func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		c.Emit(stream.TokenData("Half"))
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("worker is now shutdown"))
	in := callOf(w)
	in.Final = true
	if r, err := w.Set().Call(ctx, in); err == nil {
		t.Errorf("the call gives %+v; it is to be made again", r)
	}
}

func TestACallRunsInAnActivityWithItsHeartbeats(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute) // of a busy machine
	w := world(func(_ context.Context, c *tool.Call) (map[string]any, error) {
		c.Heartbeat("half way")
		return map[string]any{"answer": "x"}, nil
	})
	set := w.Set()
	env.RegisterActivity(set.Call)
	v, err := env.ExecuteActivity(set.Call, callOf(w))
	var r activities.CallResult
	if err != nil || v.Get(&r) != nil || r.Output["answer"] != "x" {
		t.Errorf("it gives %+v, %v", r, err)
	}
}

// Requirements: CHAT-28, STREAM-15, CHAT-26, STREAM-24 (kept for 30 s at least)
func TestCloseRunsTwiceAndEndsTheTurnOnce(t *testing.T) {
	t.Parallel()
	w := world(nil)
	in := activities.CloseInput{
		Run: w.Chat("hello", chat.TurnInput{}), Opened: activities.Opened{Scope: tool.Scope{ConversationID: w.Thread.ID}},
		Outcome: graph.Outcome{Response: "See [1].", Citations: []any{map[string]any{"n": 1.0, "document_id": "d1", "text": "quoted", "title": "One"}}},
		Tally: activities.Tally{
			Usage: model.Usage{Input: 10, Output: 4}, Model: "m1",
			Records: []activities.Record{{Tool: "t", Node: "a", Arguments: map[string]any{"q": "x"}, Result: map[string]any{"n": 1.0}, Status: "ok", MS: 12}},
		},
	}
	set := w.Set()
	first, err := set.Close(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := set.Close(t.Context(), in)
	if err != nil || again.MessageID != first.MessageID || w.Closed[0].Message.ID != w.Closed[1].Message.ID {
		t.Errorf("the second close gives %+v, %v; the first gave %+v", again, err, first)
	}
	if got := w.Kinds(); !slices.Equal(got, []stream.Kind{stream.Trace, stream.MessageDone}) {
		t.Errorf("the stream has %v", got)
	}
	m := w.Closed[0].Message
	if m.TokensIn != 10 || m.TokensOut != 4 || m.Meta["model"] != "m1" || !strings.Contains(string(w.Closed[0].End.Result), `"output_tokens":4`) {
		t.Errorf("the message counts %d and %d tokens of %v; the row's result is %s", m.TokensIn, m.TokensOut, m.Meta["model"], w.Closed[0].End.Result)
	}
	if c := m.Struct.Citations(); len(c) != 1 || c[0].DocumentID != "d1" {
		t.Errorf("the citations are %+v", c)
	}
	if w.Kept < 30*time.Second {
		t.Errorf("the stream of a turn that ended is kept for %v", w.Kept)
	}
}

func TestAResponseThatIsAReferenceIsStoredAsItsText(t *testing.T) {
	t.Parallel()
	w := world(nil)
	w.Blobs["blob:x"] = []byte(`"the whole text"`)
	in := activities.CloseInput{Run: w.Chat("hello", chat.TurnInput{}), Outcome: graph.Outcome{Response: `{"$ref":"blob:x"}`}}
	if _, err := w.Set().Close(t.Context(), in); err != nil || w.Closed[0].Message.Content != "the whole text" {
		t.Errorf("the message is %+v (%v)", w.Closed[0].Message, err)
	}
	in.Outcome.Response = `{"$ref": is how a reference begins`
	if _, err := w.Set().Close(t.Context(), in); err != nil || w.Closed[1].Message.Content != in.Outcome.Response {
		t.Errorf("a text that only looks like one: %v", err)
	}
}

// Requirements: INT-01
func TestAQuestionsEventIsItsPayload(t *testing.T) {
	t.Parallel()
	w := world(nil)
	in := w.Chat("hello", chat.TurnInput{})
	ask := activities.AskInput{Run: in, WorkflowID: "wf", ConversationID: w.Thread.ID, Waiting: true, Open: []string{"q1"}, Questions: []activities.Question{{
		ID: "q1", Effect: "ask#1", Node: "ask",
		Ask: graph.Ask{Type: "doc_choice", Message: "Which?", Options: []graph.Option{{ID: "d1", Label: "One"}}},
	}}}
	set := w.Set()
	for range 2 {
		if err := set.Ask(t.Context(), ask); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.Kinds(); !slices.Equal(got, []stream.Kind{stream.Status, stream.Interrupt, stream.Paused}) {
		t.Errorf("asked twice, the stream has %v", got)
	}
	e := w.Event(stream.Interrupt)
	options, _ := e["options"].([]any)
	if e["interrupt_type"] != "doc_choice" || e["message"] != "Which?" || len(options) != 1 || e["interrupt_id"] != "q1" || e["run_id"] != in.RunID {
		t.Errorf("the event is %v", e)
	}
}

// Requirements: CHAT-23
func TestOpenResolvesTheContextsOfATurn(t *testing.T) {
	t.Parallel()
	mine := knowledge.Context{ID: "mine", UserID: activitiestest.Viewer.UserID, Documents: 1}
	other := knowledge.Context{ID: "shared", Documents: 1}
	for name, c := range map[string]struct {
		turn     chat.TurnInput
		active   string
		want     []string
		workflow string
		fails    bool
	}{
		"all of the viewer's own":          {chat.TurnInput{}, "", []string{"mine"}, "documents", false},
		"the conversation's before those":  {chat.TurnInput{}, "shared", []string{"shared"}, "documents", false},
		"the request's before all":         {chat.TurnInput{ContextIDs: []string{"mine", "shared"}}, "shared", []string{"mine", "shared"}, "documents", false},
		"none when the request says so":    {chat.TurnInput{NoContext: true}, "shared", nil, "default", false},
		"never one the viewer may not see": {chat.TurnInput{ContextIDs: []string{"theirs"}}, "", nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world(nil)
			w.Workflows["documents"] = w.Workflows["default"]
			w.Contexts, w.Thread.ActiveContextID = []knowledge.Context{mine, other}, c.active
			o, err := w.Set().Open(t.Context(), w.Chat("hello", c.turn))
			if c.fails {
				if !errors.Is(err, fault.NotFound) {
					t.Errorf("it gives %v, want not_found", err)
				}
				return
			}
			if err != nil || !slices.Equal(o.ContextIDs, c.want) || o.Pins[0].Name != c.workflow {
				t.Errorf("the turn is bound to %v and follows %v (%v)", o.ContextIDs, o.Pins, err)
			}
		})
	}
}

// Where the graph asks, and there alone: nobody else is told.
//
// Requirements: TOOL-13 (industry and location of the person)
func TestAGraphThatAsksIsToldWhatAPersonDoesAndWhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		document string
		reads    int
		user     map[string]any
	}{
		"it asks":     {`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"t","inputs":{"q":"${user.industry?} ${user.location?}"}}]}`, 1, map[string]any{"industry": "logistics", "location": nil}},
		"it does not": {`{"kind":"workflow.chat","entrypoint":"a","nodes":[{"id":"a","type":"tool_call","tool":"t"}]}`, 0, map[string]any{"industry": nil, "location": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := activitiestest.New(c.document).Tool("t", tool.Spec{Runs: tool.Activity}, nil)
			set, reads := w.Set(), 0
			set.Settings = func(_ context.Context, userID string) (identity.Settings, error) {
				if reads++; userID != activitiestest.Viewer.UserID {
					t.Errorf("the settings of %s were read", userID)
				}
				return identity.Settings{Flags: map[string]any{"industry": "logistics"}}, nil
			}
			o, err := set.Open(t.Context(), w.Chat("hello", chat.TurnInput{}))
			if err != nil || reads != c.reads || o.User["industry"] != c.user["industry"] || o.User["location"] != c.user["location"] {
				t.Errorf("%d reads, the graph may read %v, %v", reads, o.User, err)
			}
		})
	}
}
