package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/workflows"
)

// answer claims the i-th question and signals its answer.
func (b *bundle) answer(i int, value any) { b.signal(b.world.Claim(i, value, false)) }

func (b *bundle) signal(a activities.Answer) {
	b.Helper()
	if a.InterruptID == "" {
		b.Error("there is no question to answer")
		return
	}
	b.env.SignalWorkflow(workflows.SignalAnswer, a)
}

const oneQuestion = `{"kind":"workflow.chat","entrypoint":"before","nodes":[
	{"id":"before","type":"tool_call","tool":"say","next":"ask","description":"Looking..."},
	{"id":"ask","type":"interrupt","interrupt_type":"action_choice","message":"Which first?","description":"Clarifying...",
	 "options":[{"id":"summarize","label":"Summarize"},{"id":"compare","label":"Compare"}],"save_as":"action","next":"end"},
	{"id":"end","type":"end","response":"chosen: ${vars.action?}"}]}`

// Requirements: INT-01, INT-03, INT-05, INT-27, INT-29, INT-34, STREAM-21, TOOL-12 (interrupt)
func TestARunPausesAtItsQuestionAndGoesOnWithTheAnswer(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion).Tool("say", models, say("seen"))
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		q, _ := w.Question(0)
		if q.Status != run.Pending || q.Type != "action_choice" || len(q.Options) != 2 || q.WorkflowID == "" {
			t.Errorf("the stored question is %+v", q)
		}
		if got := w.Kinds(); got[len(got)-1] != stream.Paused || got[len(got)-2] != stream.Interrupt || got[len(got)-3] != stream.Status {
			t.Errorf("the stream ends with %v, want status, interrupt, paused", got)
		}
		if e := w.Event(stream.Interrupt); e["interrupt_type"] != "action_choice" || e["message"] != "Which first?" || e["interrupt_id"] != q.ID {
			t.Errorf("the interrupt event is %v", e)
		}
		for _, r := range w.Runs {
			if r.Status != run.Waiting {
				t.Errorf("the run's row is %s, want waiting", r.Status)
			}
		}
		b.answer(0, "summarize")
	}, 48*time.Hour)
	b.chat("do both")
	b.answered("chosen: summarize")
	if n := w.Count("before"); n != 1 {
		t.Errorf("the step before the question ran %d times, want once", n)
	}
	notices := b.closed().Notices
	if len(notices) != 2 || notices[0].Role != "system" || notices[0].Meta["type"] != "pal_assist_prompt" ||
		notices[0].Content != "Which first?" || notices[1].Role != "user" || notices[1].Content != "Summarize" {
		t.Errorf("the notices are %+v", notices)
	}
	if !slices.Contains(w.Kinds(), stream.Resumed) || !w.Questions[w.Order[0]].Delivered {
		t.Error("the answer was not marked as delivered")
	}
}

// A form is asked in the language of its person, and kept as words.
//
// Requirements: INT-27, INT-29
func TestAFormIsAskedInThePersonsLanguageAndKeptAsWords(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":{"en":"Where to?","de":"Wohin?"},"save_as":"trip","next":"end",
		 "answer_schema":{"type":"object","required":["to"],"properties":{"nights":{"type":"integer","title":{"en":"Nights","de":"Nächte"}},"to":{"title":{"en":"To"}}}}},
		{"id":"end","type":"end","response":"${vars.trip.to} for ${vars.trip.nights}"}]}`)
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		if q, _ := w.Question(0); q.Message != "Where to?" || !strings.Contains(string(q.AnswerSchema), `"title":"Nights"`) {
			t.Errorf("the stored question is %+v", q)
		}
		b.answer(0, map[string]any{"nights": 2, "to": "Graz"})
	}, time.Hour)
	b.chat("a trip")
	b.answered("Graz for 2")
	if notices := b.closed().Notices; len(notices) != 2 || notices[0].Content != "Where to?" || notices[1].Content != "To: Graz; Nights: 2" {
		t.Errorf("the notices are %+v", notices)
	}
}

// Requirements: INT-09 (resumes with null; defaults; the run reaches its end), INT-10, INT-28
func TestACancelledQuestionIsAnsweredNullAndItsResponseIsKeptButNotShown(t *testing.T) {
	t.Parallel()
	ways := map[string]func(*bundle){
		"an answer that skips": func(b *bundle) { b.signal(b.world.Claim(0, nil, true)) },
		"a cancel":             func(b *bundle) { b.env.SignalWorkflow(workflows.SignalCancel, nil) },
		"Temporal's own":       func(b *bundle) { b.env.CancelWorkflow() },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, activitiestest.New(oneQuestion).Tool("say", inline, say("seen")))
			b.env.RegisterDelayedCallback(func() { way(b) }, time.Hour)
			b.chat("do both")
			b.answered("chosen: ")
			if b.closed().Message.Meta["suppressed"] != true || b.world.Event(stream.MessageDone)["suppressed"] != true {
				t.Error("the response of a cancelled question is shown")
			}
			if q, _ := b.world.Question(0); q.Status != run.Skipped {
				t.Errorf("the question's row is %s, want cancelled", q.Status)
			}
		})
	}
}

// Requirements: INT-04
func TestAQuestionWithATimeLimitExpires(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","timeout_ms":60000,"next":"end"},
		{"id":"end","type":"end","response":"said: ${vars.ask?}"}]}`))
	began := b.env.Now()
	b.chat("hello")
	b.answered("said: ")
	if q, _ := b.world.Question(0); q.Status != run.Expired {
		t.Errorf("the question's row is %s, want expired", q.Status)
	}
	if took := b.env.Now().Sub(began); took.Round(time.Second) != time.Minute {
		t.Errorf("it expired after %s, want one minute", took)
	}
	if b.closed().Message.Meta["suppressed"] == true {
		t.Error("nobody cancelled, but the response is suppressed")
	}
}

// The person's answer and the expiry may meet: the row decides.
func TestAnAnswerThatCameBeforeTheExpiryWins(t *testing.T) {
	t.Parallel()
	b := setup(t, activitiestest.New(`{"kind":"workflow.chat","entrypoint":"ask","nodes":[
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","timeout_ms":60000,"next":"end"},
		{"id":"end","type":"end","response":"said: ${vars.ask?}"}]}`))
	var a activities.Answer
	b.env.RegisterDelayedCallback(func() { a = b.world.Claim(0, "in time", false) }, 59*time.Second)
	b.env.RegisterDelayedCallback(func() { b.signal(a) }, 61*time.Second)
	b.chat("hello")
	b.answered("said: in time")
}

// A worker that dies after storing a question asks it again on replay; by then
// the answer may be in the history already.
func TestAnAnswerThatComesBeforeItsQuestionIsKept(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneQuestion)
	b := setup(t, w)
	in := w.Chat("do both", chatInput())
	w.Tool("say", apart, func(context.Context, *tool.Call) (map[string]any, error) {
		b.env.SignalWorkflow(workflows.SignalAnswer, w.Early(in.RunID, "ask#1", "compare"))
		return map[string]any{"answer": "seen"}, nil
	})
	b.turn(in)
	b.answered("chosen: compare")
}

// Requirements: INT-05, INT-13, INT-14
func TestFiveQuestionsRunWhatCameBeforeThemOnce(t *testing.T) {
	t.Parallel()
	var nodes []string
	for i := range 5 {
		nodes = append(nodes,
			fmt.Sprintf(`{"id":"work%d","type":"tool_call","tool":"say","next":"ask%d"}`, i, i),
			fmt.Sprintf(`{"id":"ask%d","type":"interrupt","interrupt_type":"text_input","message":"Question %d","next":"work%d"}`, i, i, i+1))
	}
	nodes = append(nodes, `{"id":"work5","type":"tool_call","tool":"say","next":"end"}`,
		`{"id":"end","type":"end","response":"${vars.ask0} ${vars.ask1} ${vars.ask2} ${vars.ask3} ${vars.ask4}"}`)
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"work0","nodes":[`+strings.Join(nodes, ",")+`]}`).Tool("say", models, say("x"))
	b := setup(t, w)
	for i := range 5 {
		b.env.RegisterDelayedCallback(func() { b.answer(i, fmt.Sprint("a", i)) }, time.Duration(i+1)*time.Hour)
	}
	b.chat("hello")
	b.answered("a0 a1 a2 a3 a4")
	for i := range 6 {
		if n := w.Count(fmt.Sprint("work", i)); n != 1 {
			t.Errorf("work%d ran %d times, want once", i, n)
		}
	}
	if n := len(b.closed().Notices); n != 10 {
		t.Errorf("the turn leaves %d notices, want 5 questions and 5 answers", n)
	}
}

// Requirements: GRAPH-27
func TestAToolMayAskAndGetsTheAnswerBack(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(oneNode).Tool("say", apart, func(_ context.Context, c *tool.Call) (map[string]any, error) {
		resume, ok := c.Resume.(map[string]any)
		if !ok {
			return map[string]any{"interrupt": map[string]any{
				"interrupt_type": "text_input", "message": "Which document?", "state": map[string]any{"found": 3.0},
			}}, nil
		}
		return map[string]any{"answer": fmt.Sprint(resume["answer"], " of ", resume["state"].(map[string]any)["found"])}, nil
	})
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() { b.answer(0, "the second") }, time.Hour)
	b.chat("hello")
	b.answered("the second of 3")
	if n := w.Count("answer"); n != 2 {
		t.Errorf("the tool was called %d times, want twice", n)
	}
}

// Requirements: INT-03
func TestAQuestionBesideABranchAtWorkPausesTheRunOnlyWhenTheBranchIsDone(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"ask"},{"next":"work"}],"next":"end"},
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","next":"end"},
		{"id":"work","type":"tool_call","tool":"flaky","next":"end"},
		{"id":"end","type":"end","response":"${vars.ask} and ${vars.work.answer}"}]}`).
		Tool("flaky", apart, failing(1, errDown))
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		if slices.Contains(w.Kinds(), stream.Paused) {
			t.Error("the run says it is paused while a branch waits to be tried again")
		}
	}, 500*time.Millisecond)
	b.env.RegisterDelayedCallback(func() {
		if got := w.Kinds(); got[len(got)-1] != stream.Paused {
			t.Errorf("the stream ends with %v, want paused", got)
		}
		b.answer(0, "yes")
	}, time.Hour)
	b.chat("hello")
	b.answered("yes and at last")
}

// Requirements: INT-31
func TestASecondAnswerToAQuestionChangesNothing(t *testing.T) {
	t.Parallel()
	w := activitiestest.New(`{"kind":"workflow.chat","entrypoint":"a","nodes":[
		{"id":"a","type":"interrupt","interrupt_type":"text_input","message":"One?","next":"b"},
		{"id":"b","type":"interrupt","interrupt_type":"text_input","message":"Two?","next":"end"},
		{"id":"end","type":"end","response":"${vars.a} ${vars.b}"}]}`)
	b := setup(t, w)
	b.env.RegisterDelayedCallback(func() {
		a := w.Claim(0, "first", false)
		b.signal(a)
		b.signal(a)
	}, time.Hour)
	b.env.RegisterDelayedCallback(func() { b.answer(1, "second") }, 2*time.Hour)
	b.chat("hello")
	b.answered("first second")
}
