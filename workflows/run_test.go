package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/workflows"
)

// speaking is a model tool that says its words and then waits to be stopped.
func speaking(began chan<- struct{}, words ...string) activitiestest.Func {
	return func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		for _, w := range words {
			c.Emit(stream.TokenData(w))
		}
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

// The test environment does not wait for a cancelled activity, so what a signal
// does to a call is proved by the recorded histories.
//
// Requirements: STREAM-32
func TestCancelKeepsWhatHadBeenWritten(t *testing.T) {
	t.Parallel()
	for where, spec := range map[string]tool.Spec{"on a queue": models, "where the run is opened": inline} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			began := make(chan struct{})
			w := activitiestest.New(oneNode).Tool("say", spec, speaking(began, "Half an ", "answer"))
			b := setup(t, w)
			in := w.Chat("hello", chat.TurnInput{})
			go func() {
				<-began
				b.set.Stop(in.RunID)
			}()
			b.turn(in)
			c := b.closed()
			if c.End.Status != run.Cancelled || c.Message == nil || c.Message.Content != "Half an answer" {
				t.Fatalf("the turn ended %s with %+v", c.End.Status, c.Message)
			}
			ack := w.Event(stream.CancelAck)
			if ack["content"] != "Half an answer" || ack["message_id"] != c.Message.ID {
				t.Errorf("cancel_ack is %v", ack)
			}
		})
	}
}

// Requirements: STREAM-32
func TestARetriedAnswerDropsTheTextOfTheFailedAttemptFirst(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	w := activitiestest.New(oneNode).Tool("say", models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		if attempts.Add(1) == 1 {
			c.Emit(stream.TokenData("Wro"))
			return nil, errDown
		}
		c.Emit(stream.TokenData("Right"))
		return map[string]any{"answer": "Right"}, nil
	})
	b := setup(t, w)
	b.chat("hello")
	b.answered("Right")
	text := ""
	for _, e := range w.Events {
		switch e.Kind {
		case stream.Token:
			var piece string
			if err := json.Unmarshal(e.Data, &piece); err != nil {
				t.Fatal(err)
			}
			text += piece
			if want := map[string]int{"Wro": 1, "Right": 2}[piece]; e.Attempt != want {
				t.Errorf("the token %q carries attempt %d, want %d", piece, e.Attempt, want)
			}
		case stream.Reset:
			text = ""
		default:
		}
	}
	if text != "Right" || w.Event(stream.MessageDone)["content"] != text {
		t.Errorf("a reader sees %q", text)
	}
}

// Requirements: GRAPH-04 (outputs are merged by key)
func TestParallelBranchesAndMapsRunTogetherAndJoinInOrder(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"left"},{"next":"right"}],"next":"each"},
		{"id":"left","type":"tool_call","tool":"echo","inputs":{"v":"l"},"next":"each"},
		{"id":"right","type":"tool_call","tool":"slow","inputs":{"v":"r"},"next":"each"},
		{"id":"each","type":"map","over":[1,2,3,4,5],"as":"n","body":"one","concurrency":2,"next":"end"},
		{"id":"one","type":"tool_call","tool":"echo","inputs":{"v":"${n}"},"next":"end"},
		{"id":"end","type":"end","response":"${vars.left.v}${vars.right.v} ${vars.each}"}]}`)
	echo := func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"v": c.Inputs["v"]}, nil
	}
	w.Tool("echo", inline, echo).Tool("slow", apart, echo)
	b := setup(t, w)
	b.chat("hello")
	b.answered(`lr [{"one":{"v":1}},{"one":{"v":2}},{"one":{"v":3}},{"one":{"v":4}},{"one":{"v":5}}]`)
}

// A branch whose sibling failed is told to stop: nobody waits for it.
func TestABranchWhoseSiblingFailedIsStopped(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	stopped := make(chan struct{})
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"slow"},{"next":"breaks"}],"next":"end","on_error":"sorry"},
		{"id":"slow","type":"tool_call","tool":"slow","next":"end"},
		{"id":"breaks","type":"tool_call","tool":"breaks","max_retries":0,"next":"end"},
		{"id":"sorry","type":"end","response":"sorry"},
		{"id":"end","type":"end","response":"fine"}]}`).
		Tool("slow", apart, func(ctx context.Context, _ *tool.Call) (map[string]any, error) {
			close(began)
			<-ctx.Done()
			close(stopped)
			return nil, ctx.Err()
		}).
		Tool("breaks", apart, func(context.Context, *tool.Call) (map[string]any, error) {
			<-began
			return nil, errDown
		})
	b := setup(t, w)
	b.chat("hello")
	<-stopped
	b.answered("sorry")
}

const parent = `{"kind":"workflow.chat","entrypoint":"sub","timeout_ms":600000,"nodes":[
	{"id":"sub","type":"workflow","workflow":"child","inputs":{"topic":"${input.message}"},"next":"end"},
	{"id":"end","type":"end","response":"child says ${vars.sub.answer}"}]}`

// Requirements: GRAPH-03, INT-34
func TestAWorkflowNodeRunsAChildThatMayAskAPerson(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(parent).Tool("say", inline, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": fmt.Sprint(c.Inputs["topic"], "/", c.Inputs["who"]), "usage": map[string]any{"output_tokens": 7.0}}, nil
	})
	w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Who?","next":"say"},
		{"id":"say","type":"tool_call","tool":"say","inputs":{"topic":"${input.topic}","who":"${vars.ask}"}}]}`
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		q, _ := w.Question(0)
		if !strings.HasSuffix(q.WorkflowID, "/sub#1") || q.EffectID != "sub#1/ask#1" {
			t.Errorf("the child's question is %+v", q)
		}
		if got := w.Kinds(); got[len(got)-1] != stream.Paused {
			t.Errorf("the stream ends with %v, want paused", got)
		}
		if err := b.env.SignalWorkflowByID(q.WorkflowID, workflows.SignalAnswer, w.Claim(0, "Ada", false)); err != nil {
			t.Error(err)
		}
	}, 24*time.Hour) // far beyond the parent's own ten minutes: waiting for people is free
	b.chat("engines")
	b.answered("child says engines/Ada")
	c := b.closed()
	if c.Message.TokensOut != 7 || len(c.Notices) != 2 {
		t.Errorf("the parent's end knows %d tokens and %d notices of its child", c.Message.TokensOut, len(c.Notices))
	}
}

func TestAChildThatFailsFailsItsNode(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(strings.Replace(parent, `"next":"end"`, `"max_retries":0,"on_error":"end"`, 1))
	w.Workflows["default"] = strings.Replace(w.Workflows["default"], "${vars.sub.answer}", "${vars.error.code}: ${vars.error.message}", 1)
	w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"s","nodes":[{"id":"s","type":"switch","branches":[{"when":"false","next":"e"}]},{"id":"e","type":"end"}]}`
	b := setup(t, w)
	b.chat("x")
	if got := b.closed().Message; got == nil || !strings.HasPrefix(got.Content, "child says no_branch: ") {
		t.Errorf("the parent ended with %+v and %s", got, b.closed().End.Error)
	}
}

func TestCancelReachesAChildAndKeepsItsText(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	w := activitiestest.New(strings.Replace(parent, `,"next":"end"`, ``, 1)).Tool("say", models, speaking(began, "Half"))
	w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"say","nodes":[{"id":"say","type":"tool_call","tool":"say"}]}`
	b := setup(t, w)
	in := w.Chat("x", chat.TurnInput{})
	go func() { <-began; b.set.Stop(in.RunID) }()
	b.turn(in)
	if c := b.closed(); c.End.Status != run.Cancelled || c.Message == nil || c.Message.Content != "Half" {
		t.Errorf("the turn ended %s with %+v", c.End.Status, c.Message)
	}
}

// Requirements: GRAPH-29 (in the trace), TOOL-14
func TestAnAgentsStepsAreStepsOfTheirOwnAndItsCallsAreKept(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"agent","nodes":[
		{"id":"agent","type":"agent","tools":["read"],"system":"Be brief."}]}`)
	w.Tool("read", apart, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"text": fmt.Sprint("contents of ", c.Inputs["path"])}, nil
	}).Tool(graph.StepTool, models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		if len(c.Inputs["transcript"].([]any)) == 0 {
			c.Emit(stream.TokenData("Let me look."))
			return map[string]any{"text": "Let me look.", "content": []any{}, "tool_calls": []any{
				map[string]any{"id": "1", "name": "read", "arguments": map[string]any{"path": "a.txt"}},
			}}, nil
		}
		c.Emit(stream.TokenData("It says hello."))
		return map[string]any{"text": "It says hello.", "tool_calls": []any{}, "stop": "end_turn", "model": "m1"}, nil
	})
	b := setup(t, w)
	b.chat("read it")
	b.answered("It says hello.")
	var called []string
	for _, s := range b.closed().Message.Struct.Segments {
		if s.Type == chat.SegmentToolCall {
			called = append(called, s.Name)
			if s.Name == "read" && (!strings.Contains(string(s.Arguments), "a.txt") || !strings.Contains(string(s.Result), "contents of a.txt") || s.Status != "ok") {
				t.Errorf("the call is kept as %+v", s)
			}
		}
	}
	if !slices.Equal(called, []string{graph.StepTool, "read", graph.StepTool}) {
		t.Errorf("the message keeps the calls %v", called)
	}
	var trace run.Trace
	if err := json.Unmarshal(b.closed().End.Trace, &trace); err != nil || len(trace.Steps) != 3 || len(trace.Calls) != 3 {
		t.Errorf("the trace is %s", b.closed().End.Trace)
	}
	if got := w.Kinds(); !slices.Contains(got, stream.ToolCall) || !slices.Contains(got, stream.Reset) {
		t.Errorf("the stream has %v, want the tool call, and a reset before the second text", got)
	}
}

// Requirements: GRAPH-26
func TestARunCanBeLookedIntoWhileItWaits(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(oneQuestion).Tool("say", inline, say("seen")))
	b.env.RegisterDelayedCallback(func() {
		v, err := b.env.QueryWorkflow(workflows.QueryState)
		if err != nil {
			t.Fatal(err)
		}
		var s workflows.State
		if err := v.Get(&s); err != nil {
			t.Fatal(err)
		}
		if !s.Paused || !slices.Equal(s.Nodes, []string{"ask"}) || !slices.Equal(s.Vars, []string{"before"}) ||
			len(s.Pending) != 1 || s.Pending[0].Says != "Which first?" || len(s.Trace) != 2 || len(s.Pins) == 0 || s.Pending[0].Since.Sub(s.Trace[1].Started).Abs() > time.Second { // the environment's clock stands still while a step is made
			t.Errorf("the state is %+v", s)
		}
		if len(s.Calls) != 1 || s.Calls[0].Tool != "say" || !strings.Contains(string(s.Calls[0].Result), "seen") {
			t.Errorf("the calls so far are %+v", s.Calls)
		}
		b.answer(0, "compare")
	}, time.Hour)
	b.chat("hello")
	b.answered("chosen: compare")
}

// Requirements: PLAT-08
func TestARunFollowsWhatItPinned(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion)
	w.Tool("say", inline, say("seen"))
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		w.Workflows["default"], w.Version = oneNode, 2 // edited while the run waits
		b.answer(0, "compare")
	}, time.Hour)
	b.chat("hello")
	b.answered("chosen: compare")
	for _, r := range w.Runs {
		if len(r.Pins) != 2 || r.Pins[0].Name != "default" || r.Pins[0].Version != 1 || r.Pins[1].Name != "say" || r.Pins[1].Version != 1 {
			t.Errorf("the run pinned %+v", r.Pins)
		}
	}
}

// Requirements: PLAT-14
func TestLargeValuesTravelByReference(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 40_000)
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"make","nodes":[
		{"id":"make","type":"tool_call","tool":"make","inputs":{"message":"${input.message}"},"next":"use"},
		{"id":"use","type":"tool_call","tool":"use","inputs":{"pages":"${vars.make.pages}"}}]}`)
	w.Tool("make", apart, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"pages": []any{c.Inputs["message"]}}, nil
	}).Tool("use", apart, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		page, _ := c.Inputs["pages"].([]any)[0].(string)
		return map[string]any{"answer": fmt.Sprint("got ", len(page))}, nil
	})
	b := setup(t, w)
	b.chat(long)
	b.answered(fmt.Sprint("got ", len(long)))
	if len(w.Blobs) != 2 {
		t.Errorf("%d values were stored, want the message and the pages", len(w.Blobs))
	}
	if n := len(b.closed().End.Trace); n > 16<<10 {
		t.Errorf("the trace has %d bytes", n)
	}
}

// A model may write whom it likes into the arguments of a call: the tool is
// called for the person of the run.
//
// Requirements: ISO-10 (a tool call)
func TestAToolIsCalledForThePersonOfTheRunWhateverAModelSays(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"agent","nodes":[{"id":"agent","type":"agent","tools":["mine"]}]}`)
	var callers []string
	w.Tool("mine", apart, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		callers = append(callers, c.Viewer.UserID)
		return map[string]any{"text": "done"}, nil
	}).Tool(graph.StepTool, models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		if len(c.Inputs["transcript"].([]any)) > 0 {
			return map[string]any{"text": "It is done.", "tool_calls": []any{}, "stop": "end_turn"}, nil
		}
		calls := []any{}
		for i, arguments := range []map[string]any{
			{"user_id": "eve"}, {"viewer": map[string]any{"user_id": "eve", "role": "admin"}}, {"user": "eve", "UserID": "eve"},
		} {
			calls = append(calls, map[string]any{"id": fmt.Sprint(i), "name": "mine", "arguments": arguments})
		}
		return map[string]any{"text": "", "content": []any{}, "tool_calls": calls}, nil
	})
	b := setup(t, w)
	b.chat("whose?")
	b.answered("It is done.")
	if me := activitiestest.Viewer.UserID; !slices.Equal(callers, []string{me, me, me}) {
		t.Errorf("the tool was called for %v", callers)
	}
}

// Requirements: GRAPH-25 (schema checks)
func TestACallOfAGraphMustFitTheSchemasOfItsTool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		out    map[string]any
		called int
		fails  string
	}{
		"both fit":            {`"hello"`, map[string]any{"answer": "done"}, 1, ""},
		"the inputs do not":   {`7`, map[string]any{"answer": "done"}, 0, "/text"},
		"the result does not": {`"hello"`, map[string]any{"answer": 7}, 1, "strict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strict := inline
			strict.InputSchema = json.RawMessage(`{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string"}}}`)
			strict.OutputSchema = json.RawMessage(`{"type":"object","required":["answer"],"additionalProperties":false,"properties":{"answer":{"type":"string"}}}`)
			called := 0
			b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
				{"id":"a","type":"tool_call","tool":"strict","max_retries":0,"inputs":{"text":`+c.text+`}}]}`).Tool("strict", strict, nil))
			registry, err := tool.NewBox([]tool.Tool{counted{&called, c.out}}, tool.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b.set.Box = registry
			b.chat("hello")
			if called != c.called {
				t.Errorf("the tool was called %d times, want %d", called, c.called)
			}
			end := b.closed().End
			if ended := end.Status == run.Done; ended != (c.fails == "") || !strings.Contains(string(end.Error), c.fails) {
				t.Errorf("the run is %s with %s", end.Status, end.Error)
			}
		})
	}
}

// counted is the tool "strict": it counts its calls and gives the same always.
type counted struct {
	calls *int
	out   map[string]any
}

func (counted) Name() string { return "strict" }

func (c counted) Run(context.Context, *tool.Call) (map[string]any, error) {
	*c.calls++
	return c.out, nil
}

// Requirements: PLAT-12 (auth, conversation, embedding, contexts, router, workflow), PLAT-13, GRAPH-18 (order), GRAPH-22, EMB-05
func TestTheTraceShowsTheReadPathInItsOrder(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, say("plain"))
	w.Workflows["documents"] = oneNode
	w.Contexts = []knowledge.Context{
		{ID: "full", UserID: activitiestest.Viewer.UserID, Documents: 2},
		{ID: "empty", UserID: activitiestest.Viewer.UserID},
		{ID: "global", Documents: 9},
	}
	b := setup(t, w)
	b.set.Embedder, b.set.Router = embedder{}, router{}
	b.chat("hello")
	var trace run.Trace
	if err := json.Unmarshal(b.closed().End.Trace, &trace); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range trace.Path {
		names = append(names, s.Name)
	}
	if want := []string{"auth", "conversation", "embed", "contexts", "route", "workflow"}; !slices.Equal(names, want) {
		t.Errorf("the path is %v, want %v", names, want)
	}
	memories := map[string]string{}
	for _, s := range trace.Path {
		if s.Memory != "" {
			memories[s.Memory] = s.Note
		}
	}
	if want := map[string]string{"working": "up to message 1", "factual": "full", "behavioural": "manner", "config": "documents"}; !maps.Equal(memories, want) {
		t.Errorf("the memories that were read are %v, want %v", memories, want)
	}
	if trace.Path[3].Note != "full" || trace.Path[5].Note != "documents" {
		t.Errorf("the path is %+v; want the one context that holds documents, and the workflow for documents", trace.Path)
	}
	if string(trace.Routing) != `{"said":"hello, after what was said before","adapters":[]}` {
		t.Errorf("the routing is %s", trace.Routing)
	}
}

// Requirements: EMB-05, EMB-06
func TestATurnGoesOnWithoutAnEncoderThatIsAway(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, say("plain"))
	b := setup(t, w)
	b.set.Embedder, b.set.Router = away{}, router{}
	b.chat("hello")
	b.answered("plain")
	var trace run.Trace
	if err := json.Unmarshal(b.closed().End.Trace, &trace); err != nil {
		t.Fatal(err)
	}
	if at := slices.IndexFunc(trace.Path, func(s run.TraceStage) bool { return s.Name == "embed" }); at < 0 || trace.Path[at].Note != "no vector" {
		t.Errorf("the path is %+v, and does not say that there is no vector", trace.Path)
	}
}

// away is an encoder whose server does not answer.
type away struct{ embedder }

func (away) Embed(context.Context, []string) ([][]float32, error) {
	return nil, fault.New(fault.Internal, "The encoder is away.")
}

// Requirements: CHAT-06
func TestASummaryOfWhatAModelDidNotSeeIsASystemMessage(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, func(context.Context, *tool.Call) (map[string]any, error) {
		return map[string]any{"answer": "yes", "earlier": "Earlier we discussed roses."}, nil
	})
	b := setup(t, w)
	b.chat("hello")
	kept := b.closed().Notices
	if len(kept) != 1 || kept[0].Sender != "system" || kept[0].Role != "system" || kept[0].Meta["summary"] != true || kept[0].Content != "Earlier we discussed roses." {
		t.Errorf("the turn left %+v", kept)
	}
}

type embedder struct{}

func (embedder) Version() string { return "test" }
func (embedder) Dim() int        { return 2 }
func (embedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, text := range texts {
		out = append(out, []float32{float32(len(text)), 1})
	}
	return out, nil
}

// The read path of a turn from its beginning to its end: which contexts it may
// be answered from is known to the router; the passages are looked up by its
// graph, before its first word is written (ADR 0012); and its words are
// streamed before it is told to be over.
//
// Requirements: PLAT-12 (retrieval, generation, stream)
func TestPassagesComeBeforeWordsAndWordsBeforeTheEnd(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).
		Tool("look", apart, func(context.Context, *tool.Call) (map[string]any, error) {
			return map[string]any{"documents": []any{map[string]any{"id": "d1", "title": "One"}}}, nil
		}).
		Tool("tell", models, func(_ context.Context, c *tool.Call) (map[string]any, error) {
			c.Emit(stream.TokenData("So it "))
			c.Emit(stream.TokenData("is."))
			return map[string]any{"answer": "So it is."}, nil
		})
	w.Workflows["documents"] = `{"kind":"workflow.chat","entrypoint":"search","nodes":[
		{"id":"search","type":"tool_call","tool":"look","next":"answer"},{"id":"answer","type":"tool_call","tool":"tell"}]}`
	w.Contexts = []knowledge.Context{{ID: "full", UserID: activitiestest.Viewer.UserID, Documents: 2}}
	b := setup(t, w)
	b.set.Embedder, b.set.Router = embedder{}, router{}
	b.chat("hello")
	b.answered("So it is.")
	var trace run.Trace
	if err := json.Unmarshal(b.closed().End.Trace, &trace); err != nil {
		t.Fatal(err)
	}
	var way []string
	for _, s := range trace.Path {
		way = append(way, s.Name)
	}
	for _, s := range trace.Steps {
		way = append(way, s.Node)
	}
	if want := []string{"auth", "conversation", "embed", "contexts", "route", "workflow", "search", "answer"}; !slices.Equal(way, want) {
		t.Errorf("the way is %v, want %v", way, want)
	}
	kinds := w.Kinds()
	first, found := slices.Index(kinds, stream.Token), slices.Index(kinds, stream.ToolResult)
	if found < 0 || first < found || slices.Index(kinds, stream.MessageDone) != len(kinds)-1 {
		t.Errorf("the stream has %v", kinds)
	}
}

type router struct{}

func (router) Route(ctx context.Context, _ identity.Viewer, in activities.RouteInput) (activities.Routed, error) {
	said := "something else"
	if turn, err := embed.Turn(ctx, embedder{}, "hello", "what was said before"); err == nil && slices.Equal(turn, in.Vector) {
		said = "hello, after what was said before"
	}
	return activities.Routed{
		Trace:    json.RawMessage(`{"said":` + strconv.Quote(said) + `,"adapters":[]}`),
		Adapters: []activities.AdapterPin{{Pin: run.Pin{ArtifactID: "m", Name: "manner", Version: 1}, Weight: 0.5}},
	}, nil
}

// Requirements: GRAPH-03
func TestAWorkflowRunsByItselfWithVarsAndItsResultIsItsRow(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"e","nodes":[
		{"id":"e","type":"end","response":"${input.a} ${vars.b}","data":{"sum":"${vars.b}"}}],"persist":["b"]}`)
	b := setup(t, w)
	in := w.Run(run.KindGraph, activities.GraphInput{Artifact: "default", Input: map[string]any{"a": "one"}, Vars: map[string]any{"b": "two"}})
	b.env.ExecuteWorkflow(workflows.RunWorkflowType, in)
	if end := w.Ended[in.RunID]; end.Status != run.Done || !strings.Contains(string(end.Result), `"response":"one two"`) || !strings.Contains(string(end.Result), `"sum":"two"`) {
		t.Errorf("the run ended %s with %s %s", end.Status, end.Result, end.Error)
	}
}

func TestAToolRunsByItselfAndReadsNoTemplateInItsInput(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("echo", inline, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"got": c.Inputs["text"]}, nil
	})
	b := setup(t, w)
	in := w.Run(run.KindTool, activities.ToolInput{Tool: "echo", Input: map[string]any{"text": "costs ${input.price} and $${x}"}})
	b.env.ExecuteWorkflow(workflows.ToolRunType, in)
	if end := w.Ended[in.RunID]; end.Status != run.Done || !strings.Contains(string(end.Result), `"got":"costs ${input.price} and $${x}"`) {
		t.Errorf("the run ended %s with %s %s", end.Status, end.Result, end.Error)
	}
}

// A tool by itself is tried as often as a node of a graph is, with the same
// pauses.
//
// Requirements: API-12 (the same retries)
func TestAToolByItselfIsTriedAsOftenAsANode(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("breaks", inline, failing(99, errDown))
	b := setup(t, w)
	began := b.env.Now()
	in := w.Run(run.KindTool, activities.ToolInput{Tool: "breaks", Input: map[string]any{}})
	b.env.ExecuteWorkflow(workflows.ToolRunType, in)
	if end := w.Ended[in.RunID]; end.Status != run.Failed || len(w.Calls) != 3 || b.env.Now().Sub(began) < 5*time.Second {
		t.Errorf("the run ended %s after %d calls and %v", end.Status, len(w.Calls), b.env.Now().Sub(began))
	}
	var trace run.Trace
	if err := json.Unmarshal(w.Ended[in.RunID].Trace, &trace); err != nil || len(trace.Steps) != 3 {
		t.Errorf("the trace is %s", w.Ended[in.RunID].Trace)
	}
}

// Requirements: PLAT-02 (ingestion), GRAPH-24 (ingestion), PLAT-03 (ingestion)
func TestADocumentIsIngestedByTheIngestArtifact(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode)
	w.Workflows["ingest"] = `{"kind":"workflow.chat","entrypoint":"parse","nodes":[
		{"id":"parse","type":"tool_call","tool":"parse","inputs":{"document_id":"${input.document_id}"},"next":"index"},
		{"id":"index","type":"tool_call","tool":"index","inputs":{"document_id":"${input.document_id}"}}]}`
	seen := func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"document_id": c.Inputs["document_id"]}, nil
	}
	w.Tool("parse", apart, seen).Tool("index", apart, seen)
	b := setup(t, w)
	in := w.Run(run.KindIngest, activities.IngestInput{DocumentID: "d1"})
	b.env.ExecuteWorkflow(workflows.IngestType, in)
	if end := w.Ended[in.RunID]; end.Status != run.Done || w.Count("parse") != 1 || w.Count("index") != 1 || w.Calls[1].Inputs["document_id"] != "d1" {
		t.Errorf("the run ended %s %s after %d calls", end.Status, end.Error, len(w.Calls))
	}
}

// Requirements: CHAT-18, INT-12
func TestTheNextTurnStartsAfterTheEndIsCommittedAndTold(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", inline, say("done"))
	w.Next = &run.Run{ID: "next"}
	b := setup(t, w)
	b.chat("hello")
	if n := len(w.Log); n < 4 || !slices.Equal(w.Log[n-4:], []string{"close", "event:trace", "event:message_done", "next"}) {
		t.Errorf("the end was written in the order %v", w.Log)
	}
}

// Requirements: GRAPH-28 (what persists is kept), INT-11
func TestWhatAGraphPersistsOutlivesTheTurnAlsoWhenItsQuestionIsSkipped(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"find","persist":["docs"],"nodes":[
		{"id":"find","type":"tool_call","tool":"find","inputs":{"before":"${vars.docs}"},"outputs":["docs","seen"],"next":"ask"},
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","next":"end"},
		{"id":"end","type":"end","response":"${vars.docs}"}]}`)
	w.Thread.Meta = map[string]any{"docs": map[string]any{"docs": []any{"d1"}}}
	w.Tool("find", inline, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		return map[string]any{"docs": append(c.Inputs["before"].([]any), "d2"), "seen": true}, nil
	})
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() { b.env.SignalWorkflow(workflows.SignalCancel, nil) }, time.Hour)
	b.chat("hello")
	kept := b.closed().Persist
	if got := fmt.Sprint(kept); got != "map[docs:[d1 d2]]" {
		t.Errorf("the turn leaves %s for the next", got)
	}
}

// Requirements: TRAIN-13 (tools of artifacts)
func TestAnAnswerNotesThatAStrangerWroteOfWhatItWasMadeWith(t *testing.T) {
	t.Parallel()
	for kind, spec := range map[string]tool.Spec{
		"a page of the web": {Runs: tool.Inline, ContentType: tool.ContentStranger},
		"a server":          {Runs: tool.Inline, Plain: true, Via: &tool.Via{HTTP: &tool.HTTP{Method: "GET", URL: "https://example.org"}}},
		"a source":          {Runs: tool.Inline, Via: &tool.Via{Query: &tool.Query{Source: "firm"}}},
		"the house":         inline,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := activitiestest.New(parent).Tool("say", spec, func(context.Context, *tool.Call) (map[string]any, error) {
				return map[string]any{"answer": "so it is"}, nil
			})
			w.Workflows["child"] = `{"kind":"workflow.chat","entrypoint":"say","nodes":[{"id":"say","type":"tool_call","tool":"say"}]}`
			b := setup(t, w)
			b.chat("engines")
			b.answered("child says so it is")
			if got := b.closed().Message.Strange(); got != (kind != "the house") {
				t.Errorf("of %s the answer notes a stranger: %v", kind, got)
			}
		})
	}
}
