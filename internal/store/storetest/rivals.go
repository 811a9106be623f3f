package storetest

import (
	"encoding/json"
	"fmt"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/run"
	"liminal/internal/store"
)

// rounds is how often two writers meet: a race that is lost once in ten times
// shows.
const rounds = 40

// Rivals proves what holds when two processes change one thing in the same
// moment in two ways.
func Rivals(t *testing.T, open Open) {
	t.Run("changes of different fields of a conversation are all kept", func(t *testing.T) { fieldsKept(t, open) })
	t.Run("who is told that their answer counts was not too late", func(t *testing.T) { answerAgainstEnd(t, open) })
	t.Run("a run that ends leaves no open question", func(t *testing.T) { askAgainstEnd(t, open) })
	t.Run("a conversation is deleted while its turns begin and end", func(t *testing.T) { deleteAgainstTurns(t, open) })
	t.Run("a start and an administrator change one artifact", func(t *testing.T) { seedAgainstChange(t, open) })
	t.Run("a set changes while its documents go", func(t *testing.T) { setAgainstDelete(t, open) })
	t.Run("a turn that began meanwhile is not ended as a queued one", func(t *testing.T) { onlyQueued(t, open) })
}

func fieldsKept(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	for range rounds {
		c := got(s.CreateConversation(t.Context(), v, chat.Conversation{}))(t)
		title, status := "renamed", "archived"
		changes := []chat.ConversationChange{{Title: &title}, {Status: &status}}
		for _, err := range race(len(changes), func(i int) error {
			_, err := s.UpdateConversation(t.Context(), v, c.ID, changes[i])
			return err
		}) {
			need(t, err)
		}
		c = got(s.Conversation(t.Context(), v, c.ID))(t)
		if c.Title != title || c.Status != status {
			t.Fatalf("after both changes it is %q, %s", c.Title, c.Status)
		}
	}
}

// asking is a turn with an open question.
func asking(t *testing.T, s *store.Store, v identity.Viewer) (runID, question string) {
	t.Helper()
	a := accept(t, s, v, chat.NewTurn{Message: "which?"})
	return a.Run.ID, ask(t, s, v, a.Run.ID, "e")[0]
}

func answerAgainstEnd(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	for range rounds {
		runID, question := asking(t, s, v)
		errs := race(2, func(i int) error {
			if i == 0 {
				_, err := s.Answer(t.Context(), v, question, run.Answered, json.RawMessage(`"yes"`))
				return err
			}
			_, err := s.CloseTurn(t.Context(), v, answer(runID, "bye"))
			return err
		})
		need(t, errs[1])
		q := got(s.Interrupt(t.Context(), v, question))(t)
		if won := q.Status == run.Answered; won != (errs[0] == nil) {
			t.Fatalf("the question is %s, and whoever answered was told %v", q.Status, errs[0])
		}
		if errs[0] != nil {
			wantFault(t, errs[0], fault.Conflict)
		}
	}
}

func askAgainstEnd(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	for i := range rounds {
		a := accept(t, s, v, chat.NewTurn{Message: "x"})
		errs := race(2, func(which int) error {
			if which == 0 {
				return s.Ask(t.Context(), v, true, run.Interrupt{ID: id.New(), RunID: a.Run.ID, EffectID: fmt.Sprint("e", i), Type: "text_input"})
			}
			_, err := s.CloseTurn(t.Context(), v, answer(a.Run.ID, "bye"))
			return err
		})
		need(t, errs[1])
		if errs[0] != nil {
			wantFault(t, errs[0], fault.Conflict)
		}
	}
	want(t, "questions of runs that have ended", len(got(s.PendingInterrupts(t.Context(), v, ""))(t)), 0)
}

func onlyQueued(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	for range rounds {
		running := accept(t, s, v, chat.NewTurn{Message: "one"})
		queued := accept(t, s, v, chat.NewTurn{Message: "two", ConversationID: running.ConversationID, Multitask: "enqueue"})
		var promoted chat.Closed
		errs := race(2, func(i int) (err error) {
			if i == 0 {
				promoted, err = s.CloseTurn(t.Context(), v, answer(running.Run.ID, "bye"))
				return err
			}
			_, err = s.CloseTurn(t.Context(), v, chat.Close{RunID: queued.Run.ID, Only: run.Queued, End: run.End{Status: run.Cancelled}})
			return err
		})
		need(t, errs[0])
		r := got(s.Run(t.Context(), v, queued.Run.ID))(t)
		if begun := promoted.Next != nil; begun != (r.Status == run.Running) || begun != (errs[1] != nil) {
			t.Fatalf("the turn was started: %v; it is %s, and its cancel was told %v", begun, r.Status, errs[1])
		}
		if errs[1] != nil {
			wantFault(t, errs[1], fault.Conflict)
		}
	}
}

func deleteAgainstTurns(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	for range rounds {
		first := accept(t, s, v, chat.NewTurn{Message: "one"})
		more := chat.NewTurn{Message: "more", ConversationID: first.ConversationID, Multitask: "enqueue"}
		for range 4 {
			accept(t, s, v, more)
		}
		errs := race(3, func(i int) (err error) {
			switch i {
			case 0:
				return s.DeleteConversation(t.Context(), v, first.ConversationID)
			case 1:
				_, err = s.CloseTurn(t.Context(), v, answer(first.Run.ID, "bye"))
			default:
				_, err = s.Accept(t.Context(), v, more)
			}
			return err
		})
		need(t, errs[0])
		need(t, errs[2]) // before it was deleted, or in a new one of this id
		if errs[1] != nil {
			wantFault(t, errs[1], fault.NotFound)
		}
	}
}

func seedAgainstChange(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	admin := administrator(t, s)
	for i := range rounds {
		name := fmt.Sprint("w", i)
		seed := func(n int) error {
			return s.Seed(t.Context(), identity.System(), []artifacts.Seed{{Type: artifacts.KindWorkflow, Name: name, Schema: doc(n)}})
		}
		need(t, seed(1))
		a := got(s.ArtifactNamed(t.Context(), admin, artifacts.KindWorkflow, name))(t)
		errs := race(2, func(which int) error {
			if which == 0 {
				return seed(2) // a newer program starts
			}
			_, err := s.AppendVersion(t.Context(), admin, a.ID, 1, doc(3), "user", "mine")
			return err
		})
		need(t, errs[0])
		if errs[1] != nil {
			wantFault(t, errs[1], fault.Conflict)
			continue
		}
		a = got(s.ArtifactNamed(t.Context(), admin, artifacts.KindWorkflow, name))(t)
		want(t, "who wrote the version that counts", a.CreatedBy, "user")
	}
}

// setAgainstDelete: whoever is first, no set is left with a document that is
// gone, and nobody is told of the database.
func setAgainstDelete(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	for range rounds / 2 {
		v, ids := bookcase(t, s, 4)
		n := newSet(t, s, v, "Laws", ids...)
		order := []string{ids[3], ids[2], ids[1], ids[0]}
		title := "Rules"
		try := []func() error{
			func() error { return second(s.UpdateSet(t.Context(), v, n.ID, knowledge.SetChange{Documents: &order})) },
			func() error { return s.DeleteDocument(t.Context(), v, ids[1]) },
			func() error { return s.DeleteDocument(t.Context(), v, ids[2]) },
			func() error { return second(s.UpdateSet(t.Context(), v, n.ID, knowledge.SetChange{Title: &title})) },
			func() error { return second(s.CreateSet(t.Context(), v, knowledge.Set{Title: "b", Documents: ids})) },
		}
		errs := race(len(try), func(i int) error { return try[i]() })
		for i, err := range errs {
			gone := fault.CodeOf(err) == fault.NotFound || fault.CodeOf(err) == fault.Conflict
			if err != nil && (!gone || i == 1 || i == 2 || i == 3) {
				t.Fatalf("%d: %v", i, err)
			}
		}
		list, _, err := s.ListSets(t.Context(), v, "", 10)
		need(t, err)
		for _, n := range list {
			want(t, "documents that are there", len(got(s.DocumentsByID(t.Context(), v, n.Documents))(t)), len(n.Documents))
		}
	}
}
