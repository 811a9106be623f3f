package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"liminal/internal/backends"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/store"
)

// Backends proves that model backends are kept, each change with its entry, and
// that the version grows with every change and with nothing else.
func Backends(t *testing.T, open Open) {
	b := open(t, store.Options{})
	s, ctx := b.Store, t.Context()
	admin := administrator(t, s)
	at := newClock().now()
	entry := func(name, action string) backends.Entry {
		return backends.Entry{ID: id.New(), Backend: name, ActorID: admin.UserID, Action: action, Fields: []string{"url"}, At: at}
	}
	first, version, err := s.Backends(ctx)
	need(t, err)
	if len(first) != 1 || first[0].Name != backends.Environment || !first[0].Default || first[0].Sealed != nil {
		t.Errorf("a new store has %+v", first)
	}
	made := backends.Backend{
		Name: "office", Title: "Office", Protocol: "vllm", URL: "http://office:8000/v1", Model: "m", Models: map[string]string{"small": "s"},
		Sealed: []byte{1, 0, 2}, KeyEnd: "abcd", MaxTokens: 7, Price: &backends.Price{Input: 0.5, Output: 2}, Choosable: true, CreatedAt: at, UpdatedAt: at,
	}
	need(t, s.AddBackend(ctx, made, entry("office", "added")))
	wantFault(t, s.AddBackend(ctx, made, entry("office", "added")), fault.Conflict)
	list, next, err := s.Backends(ctx)
	need(t, err)
	if len(list) != 2 || next != version+1 {
		t.Fatalf("%d backends at version %d, after %d", len(list), next, version)
	}
	got1 := list[1]
	if got1.Title != made.Title || got1.URL != made.URL || !maps.Equal(got1.Models, made.Models) || !slices.Equal(got1.Sealed, made.Sealed) ||
		got1.KeyEnd != "abcd" || got1.MaxTokens != 7 || *got1.Price != *made.Price || !got1.Choosable || got1.Default || !got1.UpdatedAt.Equal(at) {
		t.Errorf("kept is %+v", got1)
	}
	need(t, s.ChangeBackend(ctx, "office", entry("office", "changed"), func(b *backends.Backend) ([]string, error) { return nil, nil }))
	want(t, "the version after a change of nothing", got(s.BackendVersion(ctx))(t), next)
	need(t, s.ChangeBackend(ctx, "office", entry("office", "changed"), func(b *backends.Backend) ([]string, error) {
		b.Sealed, b.KeyEnd, b.Price, b.Models = nil, "", nil, nil
		return []string{"api_key", "price"}, nil
	}))
	wantFault(t, s.ChangeBackend(ctx, "lab", entry("lab", "changed"), func(*backends.Backend) ([]string, error) { return []string{"x"}, nil }), fault.NotFound)
	need(t, s.DefaultBackend(ctx, "office", entry("office", "default")))
	wantFault(t, s.DefaultBackend(ctx, "lab", entry("lab", "default")), fault.NotFound)
	wantFault(t, s.RemoveBackend(ctx, "office", entry("office", "removed")), fault.Conflict)
	list, _, err = s.Backends(ctx)
	need(t, err)
	if list[0].Default || !list[1].Default || list[1].Sealed != nil || list[1].Price != nil || list[1].Models != nil {
		t.Errorf("after the changes there are %+v", list)
	}
	need(t, s.DefaultBackend(ctx, backends.Environment, entry(backends.Environment, "default")))
	need(t, s.RemoveBackend(ctx, "office", entry("office", "removed")))
	wantFault(t, s.RemoveBackend(ctx, "office", entry("office", "removed")), fault.NotFound)
	want(t, "the version after five changes", got(s.BackendVersion(ctx))(t), version+5)
	entries := got(s.BackendEntries(ctx, 100))(t)
	var done []string
	for _, e := range entries {
		done = append(done, e.Action)
		if e.ActorID != admin.UserID || e.Actor == "" || !e.At.Equal(at) {
			t.Errorf("an entry is %+v", e)
		}
	}
	slices.Sort(done)
	if !slices.Equal(done, []string{"added", "changed", "default", "default", "removed"}) {
		t.Errorf("the entries are %v", done)
	}
	many(t, s, at)
}

// many adds backends until there are as many as there may be.
func many(t *testing.T, s *store.Store, at time.Time) {
	t.Helper()
	add := func(i int) error {
		name := fmt.Sprintf("b%d", i)
		return s.AddBackend(t.Context(), backends.Backend{Name: name, Protocol: "vllm", CreatedAt: at, UpdatedAt: at},
			backends.Entry{ID: id.New(), Backend: name, Action: "added", Fields: []string{"url"}, At: at})
	}
	for i := range backends.MaxBackends {
		need(t, add(i))
	}
	wantFault(t, add(backends.MaxBackends), fault.Conflict)
}

// ChosenBackends proves that a conversation keeps the backend its person chose,
// until they choose another, and that a branch has it too.
func ChosenBackends(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	name, none := "office", ""
	turn := accept(t, s, v, chat.NewTurn{Message: "hi", Backend: &name})
	chosen := func(id string) string { return got(s.Conversation(t.Context(), v, id))(t).Backend }
	want(t, "chosen with the first message", chosen(turn.ConversationID), "office")
	closeTurn(t, s, v, answer(turn.Run.ID, "!"))
	again := accept(t, s, v, chat.NewTurn{Message: "more", ConversationID: turn.ConversationID})
	want(t, "after another message", chosen(again.ConversationID), "office")
	lab := "lab"
	got(s.UpdateConversation(t.Context(), v, turn.ConversationID, chat.ConversationChange{Backend: &lab}))(t)
	want(t, "chosen by itself", chosen(turn.ConversationID), "lab")
	closed := closeTurn(t, s, v, answer(again.Run.ID, "!"))
	branch := got(s.Branch(t.Context(), v, turn.ConversationID, closed.MessageID, id.New()))(t)
	want(t, "of a branch", branch.Backend, "lab")
	accept(t, s, v, chat.NewTurn{Message: "the default", ConversationID: turn.ConversationID, Backend: &none})
	want(t, "given up", chosen(turn.ConversationID), "")
}

// ChosenWorkflows proves that a conversation keeps the workflow its person
// chose: turns that name none follow it, one that names another, or says that
// none is meant, follows that alone, and a branch has it too.
func ChosenWorkflows(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	follows := func(n chat.NewTurn) (string, chat.Accepted) {
		t.Helper()
		a := accept(t, s, v, n)
		var in chat.TurnInput
		need(t, json.Unmarshal(a.Run.Input, &in))
		return in.WorkflowID, a
	}
	began, turn := follows(chat.NewTurn{Message: "hi", WorkflowID: "documents"})
	want(t, "the first turn", began, "documents")
	thread := turn.ConversationID
	closeTurn(t, s, v, answer(turn.Run.ID, "!"))
	want(t, "named by a turn alone", got(s.Conversation(t.Context(), v, thread))(t).WorkflowID, "")

	name := "letters"
	choose := func(workflow string) {
		t.Helper()
		changed := got(s.UpdateConversation(t.Context(), v, thread, chat.ConversationChange{WorkflowID: &workflow}))(t)
		want(t, "chosen", changed.WorkflowID, workflow)
	}
	choose(name)
	var closed chat.Closed
	for _, one := range []struct {
		what, follows string
		turn          chat.NewTurn
	}{
		{"a turn that names none", name, chat.NewTurn{}},
		{"a turn that names another", "documents", chat.NewTurn{WorkflowID: "documents"}},
		{"a turn that wants none", "", chat.NewTurn{NoWorkflow: true}},
	} {
		one.turn.Message, one.turn.ConversationID = "more", thread
		followed, a := follows(one.turn)
		want(t, one.what, followed, one.follows)
		closed = closeTurn(t, s, v, answer(a.Run.ID, "!"))
	}
	branch := got(s.Branch(t.Context(), v, thread, closed.MessageID, id.New()))(t)
	want(t, "of a branch", branch.WorkflowID, name)

	choose(id.New())
	followed, a := follows(chat.NewTurn{Message: "more", ConversationID: thread})
	want(t, "with a workflow that is not there", followed, "")
	closeTurn(t, s, v, answer(a.Run.ID, "!"))
	choose("")
	followed, _ = follows(chat.NewTurn{Message: "more", ConversationID: thread})
	want(t, "given up", followed, "")
}
