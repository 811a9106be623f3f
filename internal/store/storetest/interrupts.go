package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Interrupts proves run.Interrupts.
func Interrupts(t *testing.T, open Open) {
	t.Run("a question comes back as it was asked", func(t *testing.T) { questionRoundTrip(t, open) })
	t.Run("of many answers one wins", func(t *testing.T) { oneAnswer(t, open) })
	t.Run("asking again changes nothing", func(t *testing.T) { askAgain(t, open) })
	t.Run("an answer is undelivered until the workflow has it", func(t *testing.T) { delivery(t, open) })
	t.Run("what waits is listed, oldest first", func(t *testing.T) { pendingQuestions(t, open) })
	t.Run("a run that has ended asks no more", func(t *testing.T) { askEnded(t, open) })
	t.Run("a question forsaken by a crash is skipped", func(t *testing.T) { forsaken(t, open) })
	t.Run("questions nobody answered end with their run", func(t *testing.T) { settledWithRun(t, open) })
}

func questionRoundTrip(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	q := run.Interrupt{
		ID: id.New(), RunID: a.Run.ID, WorkflowID: "graph:child", EffectID: "e", Type: "doc_choice", Message: "Which?",
		Options: []run.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}, AnswerSchema: json.RawMessage(`{"type":"string"}`), ExpiresAt: c.now().Add(time.Hour),
	}
	need(t, s.Ask(t.Context(), v, true, q))
	q.UserID, q.ConversationID, q.Status, q.CreatedAt = v.UserID, a.ConversationID, run.Pending, c.now()
	want(t, "asked", fmt.Sprintf("%+v", got(s.Interrupt(t.Context(), v, q.ID))(t)), fmt.Sprintf("%+v", q))
	want(t, "run", got(s.Run(t.Context(), v, a.Run.ID))(t).Status, run.Waiting)
	c.add(time.Minute)
	q.Status, q.Answer, q.AnsweredAt = run.Answered, json.RawMessage(`"a"`), c.now()
	want(t, "returned", fmt.Sprintf("%+v", got(s.Answer(t.Context(), v, q.ID, run.Answered, q.Answer))(t)), fmt.Sprintf("%+v", q))
	want(t, "stored", fmt.Sprintf("%+v", got(s.Interrupt(t.Context(), v, q.ID))(t)), fmt.Sprintf("%+v", q))
	_, err := s.Answer(t.Context(), v, id.New(), run.Answered, nil)
	wantFault(t, err, fault.NotFound)
	_, err = s.Answer(t.Context(), v, q.ID, run.Pending, nil)
	wantFault(t, err, fault.Invalid)
}

func oneAnswer(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	q := ask(t, s, v, a.Run.ID, "e")[0]
	errs := race(writers, func(i int) error {
		status := []run.InterruptStatus{run.Answered, run.Skipped, run.Expired}[i%3]
		_, err := s.Answer(t.Context(), v, q, status, json.RawMessage(fmt.Sprint(i)))
		return err
	})
	want(t, "winners", winners(t, errs, fault.Conflict), 1)
	want(t, "answer", string(got(s.Interrupt(t.Context(), v, q))(t).Answer), fmt.Sprint(slices.Index(errs, nil)))
}

func askAgain(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	q := ask(t, s, v, a.Run.ID, "e")[0]
	got(s.Answer(t.Context(), v, q, run.Answered, json.RawMessage(`"a"`)))(t)
	need(t, s.Deliver(t.Context(), v, a.Run.ID, q))
	ask(t, s, v, a.Run.ID, "e")
	want(t, "question", got(s.Interrupt(t.Context(), v, q))(t).Status, run.Answered)
	want(t, "run", got(s.Run(t.Context(), v, a.Run.ID))(t).Status, run.Running)
	ask(t, s, v, a.Run.ID, "e", "e2")
	want(t, "run with a new question", got(s.Run(t.Context(), v, a.Run.ID))(t).Status, run.Waiting)
}

func delivery(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	ids := ask(t, s, v, a.Run.ID, "e1", "e2")
	undelivered := func(age time.Duration) (open []string) {
		for _, q := range got(s.Undelivered(t.Context(), identity.System(), age))(t) {
			open = append(open, q.ID)
		}
		return open
	}
	wantLines(t, undelivered(0), nil)
	got(s.Answer(t.Context(), v, ids[0], run.Skipped, nil))(t)
	wantLines(t, undelivered(0), ids[:1])
	wantLines(t, undelivered(time.Minute), nil)
	c.add(time.Minute)
	wantLines(t, undelivered(time.Minute), ids[:1])
	need(t, s.Deliver(t.Context(), v, a.Run.ID, ids...))
	wantLines(t, undelivered(0), nil)
	want(t, "run", got(s.Run(t.Context(), v, a.Run.ID))(t).Status, run.Running)
	want(t, "the other question", got(s.Interrupt(t.Context(), v, ids[1]))(t).Delivered, false)

	// What came as an update counts when its sender says so, and not when the run ends.
	got(s.Answer(t.Context(), v, ids[1], run.Answered, json.RawMessage(`"a"`)))(t)
	need(t, s.Deliver(t.Context(), v, a.Run.ID))
	closeTurn(t, s, v, answer(a.Run.ID, "!"))
	wantLines(t, undelivered(0), ids[1:])
	wantFault(t, s.Delivered(t.Context(), v, ids[1]), fault.Forbidden)
	wantLines(t, undelivered(0), ids[1:])
	need(t, s.Delivered(t.Context(), identity.System(), ids...))
	wantLines(t, undelivered(0), nil)
	_, err := s.Undelivered(t.Context(), v, 0)
	wantFault(t, err, fault.Forbidden)
}

func pendingQuestions(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	a, b, foreign := accept(t, s, v, chat.NewTurn{Message: "x"}), accept(t, s, v, chat.NewTurn{Message: "y"}), accept(t, s, other, chat.NewTurn{Message: "z"})
	first := ask(t, s, v, a.Run.ID, "e")
	c.add(time.Second)
	second := ask(t, s, v, b.Run.ID, "e")
	ask(t, s, other, foreign.Run.ID, "e")
	list := func(conversation string) (ids []string) {
		for _, q := range got(s.PendingInterrupts(t.Context(), v, conversation))(t) {
			ids = append(ids, q.ID)
		}
		return ids
	}
	wantLines(t, list(""), append(first, second...))
	wantLines(t, list(b.ConversationID), second)
	wantLines(t, list(foreign.ConversationID), nil)

	got(s.Answer(t.Context(), v, first[0], run.Answered, json.RawMessage(`"yes"`)))(t)
	ofRun := func(runID string) (ids []string) {
		for _, q := range got(s.RunInterrupts(t.Context(), v, runID))(t) {
			ids = append(ids, q.ID+" "+string(q.Status))
		}
		return ids
	}
	wantLines(t, ofRun(a.Run.ID), []string{first[0] + " answered"})
	wantLines(t, ofRun(foreign.Run.ID), nil)
}

func askEnded(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	closeTurn(t, s, v, answer(a.Run.ID, "!"))
	wantFault(t, s.Ask(t.Context(), v, true, run.Interrupt{ID: id.New(), RunID: a.Run.ID}), fault.Conflict)
}

func settledWithRun(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	short := run.Interrupt{ID: id.New(), RunID: a.Run.ID, EffectID: "short", ExpiresAt: c.now().Add(time.Minute)}
	long := run.Interrupt{ID: id.New(), RunID: a.Run.ID, EffectID: "long", ExpiresAt: c.now().Add(time.Hour)}
	need(t, s.Ask(t.Context(), v, true, short, long))
	c.add(time.Minute)
	closeTurn(t, s, v, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Failed}})
	want(t, "the one whose time was over", got(s.Interrupt(t.Context(), v, short.ID))(t).Status, run.Expired)
	want(t, "the other", got(s.Interrupt(t.Context(), v, long.ID))(t).Status, run.Skipped)
	_, err := s.Answer(t.Context(), v, long.ID, run.Answered, json.RawMessage(`"late"`))
	wantFault(t, err, fault.Conflict)
}

// forsaken: a message gave a waiting turn up, and the process died before it
// could skip the questions.
func forsaken(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v := person(t, s)
	a, other := accept(t, s, v, chat.NewTurn{Message: "x"}), accept(t, s, v, chat.NewTurn{Message: "y"})
	ids := ask(t, s, v, a.Run.ID, "e1", "e2")
	ask(t, s, v, other.Run.ID, "e")
	accept(t, s, v, chat.NewTurn{Message: "never mind", ConversationID: a.ConversationID})
	want(t, "undelivered at once", len(got(s.Undelivered(t.Context(), identity.System(), time.Minute))(t)), 0)
	c.add(time.Minute)
	var skipped []string
	for _, q := range got(s.Undelivered(t.Context(), identity.System(), time.Minute))(t) {
		want(t, "status", q.Status, run.Skipped)
		skipped = append(skipped, q.ID)
	}
	slices.Sort(skipped)
	slices.Sort(ids)
	wantLines(t, skipped, ids)
	want(t, "still open", len(got(s.PendingInterrupts(t.Context(), v, ""))(t)), 1)
}
