package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// unlimited turns off the caps, for suites about something else.
var unlimited = store.Options{Running: -1, Queued: -1}

// Turns proves chat.Turns and chat.Messages.
func Turns(t *testing.T, open Open) {
	t.Run("a turn leaves its two messages and its run", func(t *testing.T) { oneTurn(t, open) })
	t.Run("the same request again writes nothing", func(t *testing.T) { sameRequest(t, open) })
	t.Run("an id nobody has is created, another person's is not found", func(t *testing.T) { strangeIDs(t, open) })
	t.Run("a second turn meets a running one", func(t *testing.T) { multitask(t, open) })
	t.Run("a turn that waits for a person is always given up", func(t *testing.T) { givenUp(t, open) })
	t.Run("queued turns run in order and read what was said before", func(t *testing.T) { queueOrder(t, open) })
	t.Run("a cancelled queued turn leaves the others in order", func(t *testing.T) { cancelQueued(t, open) })
	t.Run("closing again returns the same", func(t *testing.T) { closeAgain(t, open) })
	t.Run("no more turns of one person than allowed run at once", func(t *testing.T) { runningCap(t, open) })
	t.Run("no more turns than allowed queue in a conversation", func(t *testing.T) { queuedCap(t, open) })
	t.Run("seq stays dense and turns apart under concurrent writers and retries", func(t *testing.T) { concurrentTurns(t, open) })
	t.Run("suppressed messages are not shown and not remembered", func(t *testing.T) { suppressed(t, open) })
	t.Run("a turn ends whatever a model wrote", func(t *testing.T) { unwritable(t, open) })
}

// unwritable: a model may write the character NUL, which not every database
// can hold. The turn has to end all the same.
func unwritable(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "Write a NUL."})
	nul, kept := "one\x00two", `a \u0000 that is only written`
	need(t, s.Ask(t.Context(), v, true, run.Interrupt{
		ID: id.New(), RunID: a.Run.ID, EffectID: "e", Type: "text_input", Message: nul, Options: []run.Option{{ID: "a", Label: nul}},
	}))
	end := answer(a.Run.ID, nul)
	end.Message.Struct, end.Message.Meta = chat.Compose(nul, nil, nil), map[string]any{"data": map[string]any{nul: nul, "kept": kept}}
	end.Notices = []chat.Message{{Sender: "system", Role: "system", Content: nul, Meta: map[string]any{"type": nul}}}
	end.Persist = map[string]any{"docs": map[string]any{nul: nul}}
	closed := closeTurn(t, s, v, end)
	m := got(s.Message(t.Context(), v, closed.MessageID))(t)
	want(t, "answer", m.Content, "one\uFFFDtwo")
	want(t, "meta", fmt.Sprint(m.Meta), "map[data:map[kept:"+kept+" one\uFFFDtwo:one\uFFFDtwo]]")
}

func accept(t testing.TB, s *store.Store, v identity.Viewer, n chat.NewTurn) chat.Accepted {
	t.Helper()
	return got(s.Accept(t.Context(), v, n))(t)
}

func answer(runID, text string) chat.Close {
	return chat.Close{
		RunID: runID, End: run.End{Status: run.Done, Result: json.RawMessage(`{"ok":true}`), Trace: json.RawMessage(`[]`)},
		Message: &chat.Message{Role: "assistant", Content: text},
	}
}

func closeTurn(t testing.TB, s *store.Store, v identity.Viewer, c chat.Close) chat.Closed {
	t.Helper()
	return got(s.CloseTurn(t.Context(), v, c))(t)
}

// transcript is the conversation as "seq role content" lines.
func transcript(t testing.TB, s *store.Store, v identity.Viewer, conversation string) []string {
	t.Helper()
	var lines []string
	cursor := ""
	for {
		page, next, err := s.ListMessages(t.Context(), v, conversation, cursor, 7)
		need(t, err)
		for _, m := range page {
			lines = append(lines, fmt.Sprintf("%d %s %s", m.Seq, m.Role, m.Content))
		}
		if next == "" {
			return lines
		}
		cursor = next
	}
}

func wantLines(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func oneTurn(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "What is a lemma?", RequestID: "r1", ContextIDs: []string{"c1"}, WorkflowID: "documents", Locale: "de"})
	want(t, "status", a.Run.Status, run.Running)
	want(t, "workflow id", a.Run.WorkflowID, "chat:"+a.ConversationID+":r1")
	stored := got(s.Run(t.Context(), v, a.Run.ID))(t)
	var in chat.TurnInput
	need(t, json.Unmarshal(stored.Input, &in))
	want(t, "input", fmt.Sprint(in), fmt.Sprint(chat.TurnInput{MessageID: a.MessageID, UptoSeq: 1, ContextIDs: []string{"c1"}, WorkflowID: "documents", Locale: "de"}))
	want(t, "started", stored.StartedAt, c.now())
	talk := got(s.Conversation(t.Context(), v, a.ConversationID))(t)
	if talk.ActiveRun == nil || talk.ActiveRun.ID != a.Run.ID {
		t.Errorf("the active run is %v, want %s", talk.ActiveRun, a.Run.ID)
	}
	c.add(time.Second)
	end := answer(a.Run.ID, "A small sentence.")
	end.Message.Struct = &chat.Content{}
	end.Message.TokensIn, end.Message.TokensOut, end.Message.Meta = 10, 20, map[string]any{"model": "extractive"}
	end.Notices = []chat.Message{{Sender: "system", Role: "system", Content: "Which one?"}, {Sender: "user", Role: "user", Content: "The second."}}
	closed := closeTurn(t, s, v, end)
	want(t, "seq of the answer", closed.Seq, 4)
	wantLines(t, transcript(t, s, v, a.ConversationID), []string{"1 user What is a lemma?", "2 system Which one?", "3 user The second.", "4 assistant A small sentence."})
	m := got(s.Message(t.Context(), v, closed.MessageID))(t)
	want(t, "tokens", m.TokensIn*100+m.TokensOut, 1020)
	want(t, "meta", fmt.Sprint(m.Meta), "map[model:extractive]")
	want(t, "message's run", m.RunID, a.Run.ID)
	stored = got(s.Run(t.Context(), v, a.Run.ID))(t)
	want(t, "ended", stored.EndedAt, c.now())
	want(t, "result", string(stored.Result), `{"ok":true}`)
	talk = got(s.Conversation(t.Context(), v, a.ConversationID))(t)
	want(t, "updated", talk.UpdatedAt, c.now())
	if talk.ActiveRun != nil {
		t.Errorf("an idle conversation has the active run %v", talk.ActiveRun)
	}
}

func sameRequest(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	first := accept(t, s, v, chat.NewTurn{Message: "one", RequestID: "r"})
	again := accept(t, s, v, chat.NewTurn{Message: "one", RequestID: "r", ConversationID: id.New()})
	if !again.Duplicate || again.Run.ID != first.Run.ID || again.MessageID != first.MessageID || again.ConversationID != first.ConversationID {
		t.Errorf("the same request became %+v, want the run of the first", again)
	}
	if a := accept(t, s, other, chat.NewTurn{Message: "one", RequestID: "r"}); a.Duplicate {
		t.Error("another person's request is a duplicate of the first's")
	}
	runs := make([]string, writers)
	errs := race(writers, func(i int) error {
		a, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "two", RequestID: "s"})
		runs[i] = a.Run.ID
		return err
	})
	want(t, "accepted", winners(t, errs, fault.Conflict), writers)
	want(t, "different runs", len(slices.Compact(slices.Sorted(slices.Values(runs)))), 1)
	found := got(s.RunByRequest(t.Context(), v, "s"))(t)
	want(t, "run by request", found.ID, runs[0])
}

func strangeIDs(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	mine := id.New()
	want(t, "conversation", accept(t, s, v, chat.NewTurn{Message: "x", ConversationID: mine}).ConversationID, mine)
	_, err := s.Accept(t.Context(), other, chat.NewTurn{Message: "x", ConversationID: mine})
	wantFault(t, err, fault.NotFound)
	_, err = s.Accept(t.Context(), v, chat.NewTurn{Message: "x", ConversationID: "../etc"})
	wantFault(t, err, fault.Invalid)
	_, err = s.Accept(t.Context(), v, chat.NewTurn{Message: "x", Multitask: "maybe"})
	wantFault(t, err, fault.Invalid)
}

func multitask(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "one"})
	_, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "two", ConversationID: a.ConversationID})
	wantFault(t, err, fault.Conflict)
	if d, _ := fault.From(err).Details.(map[string]any); d["run_id"] != a.Run.ID || d["status"] != run.Running {
		t.Errorf("details are %v, want the run in the way", d)
	}
	for _, how := range []string{"enqueue", "interrupt"} {
		b := accept(t, s, v, chat.NewTurn{Message: how, ConversationID: a.ConversationID, Multitask: how})
		want(t, how+": status", b.Run.Status, run.Queued)
		if b.Blocking == nil || b.Blocking.ID != a.Run.ID || !b.Run.StartedAt.IsZero() {
			t.Errorf("%s: accepted as %+v, want it behind %s", how, b, a.Run.ID)
		}
	}
	wantLines(t, transcript(t, s, v, a.ConversationID), []string{"1 user one", "2 user enqueue", "3 user interrupt"})
}

func ask(t testing.TB, s *store.Store, v identity.Viewer, runID string, effects ...string) []string {
	t.Helper()
	var asked []run.Interrupt
	var ids []string
	for _, e := range effects {
		q := run.Interrupt{
			ID: id.Derive(runID, e), RunID: runID, EffectID: e, Type: "doc_choice", Message: "Which " + e + "?",
			Options: []run.Option{{ID: "a", Label: "A"}},
		}
		asked, ids = append(asked, q), append(ids, q.ID)
	}
	need(t, s.Ask(t.Context(), v, true, asked...))
	return ids
}

func givenUp(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "one"})
	ids := ask(t, s, v, a.Run.ID, "e1", "e2")
	b := accept(t, s, v, chat.NewTurn{Message: "two", ConversationID: a.ConversationID, Multitask: "reject"})
	want(t, "status", b.Run.Status, run.Queued)
	if b.Blocking == nil || b.Blocking.Status != run.Waiting || len(b.Open) != 2 || b.Open[0].ID != ids[0] {
		t.Fatalf("accepted as %+v, want it behind the waiting run and its two questions", b)
	}
	closed := closeTurn(t, s, v, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Cancelled}})
	if closed.Next == nil || closed.Next.ID != b.Run.ID || closed.Next.Status != run.Running {
		t.Errorf("next is %+v, want the second turn running", closed.Next)
	}
	want(t, "message of a turn that said nothing", closed.MessageID, "")
	for _, q := range ids {
		stored := got(s.Interrupt(t.Context(), v, q))(t)
		want(t, "question", stored.Status, run.Skipped)
		want(t, "answer", string(stored.Answer), "null")
	}
	want(t, "pending", len(got(s.PendingInterrupts(t.Context(), v, ""))(t)), 0)
	want(t, "undelivered", len(got(s.Undelivered(t.Context(), identity.System(), -time.Hour))(t)), 0)
}

func queueOrder(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "A?"})
	b := accept(t, s, v, chat.NewTurn{Message: "B?", ConversationID: a.ConversationID, Multitask: "enqueue"})
	c := accept(t, s, v, chat.NewTurn{Message: "C?", ConversationID: a.ConversationID, Multitask: "enqueue"})
	next := a.Run
	for i, turn := range []chat.Accepted{a, b, c} {
		want(t, "the running turn", next.ID, turn.Run.ID)
		var in chat.TurnInput
		need(t, json.Unmarshal(got(s.Run(t.Context(), v, next.ID))(t).Input, &in))
		want(t, "upto", in.UptoSeq, 2*i+1)
		history := got(s.History(t.Context(), v, a.ConversationID, in.UptoSeq, 50))(t)
		want(t, "messages before", len(history), 2*i)
		closed := closeTurn(t, s, v, answer(next.ID, string(rune('A'+i))+"!"))
		want(t, "seq", closed.Seq, 2*i+2)
		if closed.Next != nil {
			next = *closed.Next
		}
	}
	wantLines(t, transcript(t, s, v, a.ConversationID),
		[]string{"1 user A?", "2 assistant A!", "3 user B?", "4 assistant B!", "5 user C?", "6 assistant C!"})
}

func cancelQueued(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "A?"})
	b := accept(t, s, v, chat.NewTurn{Message: "B?", ConversationID: a.ConversationID, Multitask: "enqueue"})
	c := accept(t, s, v, chat.NewTurn{Message: "C?", ConversationID: a.ConversationID, Multitask: "enqueue"})
	if closed := closeTurn(t, s, v, chat.Close{RunID: b.Run.ID, End: run.End{Status: run.Cancelled}}); closed.Next != nil {
		t.Errorf("cancelling a queued turn started %s beside the running one", closed.Next.ID)
	}
	closed := closeTurn(t, s, v, answer(a.Run.ID, "A!"))
	if closed.Next == nil || closed.Next.ID != c.Run.ID {
		t.Fatalf("next is %+v, want the third turn", closed.Next)
	}
	closeTurn(t, s, v, answer(c.Run.ID, "C!"))
	wantLines(t, transcript(t, s, v, a.ConversationID), []string{"1 user A?", "2 assistant A!", "3 user B?", "4 user C?", "5 assistant C!"})
}

func closeAgain(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "A?"})
	b := accept(t, s, v, chat.NewTurn{Message: "B?", ConversationID: a.ConversationID, Multitask: "enqueue"})
	results := make([]string, writers)
	errs := race(writers, func(i int) error {
		closed, err := s.CloseTurn(t.Context(), v, answer(a.Run.ID, fmt.Sprint("attempt ", i)))
		if err == nil {
			results[i] = fmt.Sprint(closed.MessageID, closed.Seq, closed.Next.ID)
		}
		return err
	})
	want(t, "closed", winners(t, errs, fault.Conflict), writers)
	want(t, "different answers", len(slices.Compact(slices.Sorted(slices.Values(results)))), 1)
	want(t, "messages", len(transcript(t, s, v, a.ConversationID)), 3)
	closed := closeTurn(t, s, identity.System(), answer(a.Run.ID, "by the reconciler"))
	want(t, "next", closed.Next.ID, b.Run.ID)
	_, err := s.CloseTurn(t.Context(), v, chat.Close{RunID: b.Run.ID, End: run.End{Status: run.Running}})
	wantFault(t, err, fault.Invalid)
}

func runningCap(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	turns := make([]chat.Accepted, writers)
	errs := race(writers, func(i int) (err error) {
		turns[i], err = s.Accept(t.Context(), v, chat.NewTurn{Message: "x"})
		return err
	})
	want(t, "running", winners(t, errs, fault.Conflict), 3)
	i := slices.Index(errs, nil)
	refused := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if d, _ := fault.From(errs[refused]).Details.(map[string]any); d["reason"] != "busy" {
		t.Errorf("details are %v, want the reason busy", d)
	}
	accept(t, s, other, chat.NewTurn{Message: "x"})
	ask(t, s, v, turns[i].Run.ID, "e") // a turn that waits for its person does not count
	accept(t, s, v, chat.NewTurn{Message: "x"})
	_, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "x"})
	wantFault(t, err, fault.Conflict)
}

func queuedCap(t *testing.T, open Open) {
	s := open(t, store.Options{Queued: 2}).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	queued := chat.NewTurn{Message: "x", ConversationID: a.ConversationID, Multitask: "enqueue"}
	accept(t, s, v, queued)
	accept(t, s, v, queued)
	_, err := s.Accept(t.Context(), v, queued)
	wantFault(t, err, fault.Conflict)
}

// concurrentTurns sends messages to two conversations from many writers, and
// closes what runs from several closers that all repeat themselves.
func concurrentTurns(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	talks := []string{id.New(), id.New()}
	errs := race(writers, func(i int) error {
		turn := chat.NewTurn{Message: fmt.Sprint("q", i), RequestID: fmt.Sprint("r", i), ConversationID: talks[i%2], Multitask: "enqueue"}
		a, err := s.Accept(t.Context(), v, turn)
		if err != nil {
			return err
		}
		if _, err := s.Accept(t.Context(), v, turn); err != nil { // the client's retry
			return err
		}
		for r := &a.Run; r != nil && r.Status == run.Running; {
			closed, err := s.CloseTurn(t.Context(), v, answer(r.ID, "a:"+r.RequestID))
			if err != nil {
				return err
			}
			if _, err := s.CloseTurn(t.Context(), v, answer(r.ID, "again")); err != nil { // the activity's retry
				return err
			}
			r = closed.Next
		}
		return nil
	})
	need(t, errors.Join(errs...))
	for _, talk := range talks {
		lines := transcript(t, s, v, talk)
		want(t, "messages", len(lines), writers)
		for i := 0; i+1 < len(lines); i += 2 {
			question, reply := strings.Fields(lines[i]), strings.Fields(lines[i+1])
			want(t, "seq", question[0]+" "+reply[0], fmt.Sprint(i+1, " ", i+2))
			want(t, "answer to "+question[2], reply[2], "a:r"+question[2][1:])
		}
	}
}

func suppressed(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	end := answer(a.Run.ID, "hidden")
	end.Message.Meta = map[string]any{"suppressed": true}
	closeTurn(t, s, v, end)
	wantLines(t, transcript(t, s, v, a.ConversationID), []string{"1 user x"})
	want(t, "history", len(got(s.History(t.Context(), v, a.ConversationID, 10, 10))(t)), 1)
}
