package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// Memories proves artifacts.MemoryStore.
func Memories(t *testing.T, open Open) {
	t.Run("a memory is an artifact of its owner's, version by version", func(t *testing.T) { memoryVersions(t, open) })
	t.Run("of many made from one version one is kept", func(t *testing.T) { memoryRace(t, open) })
	t.Run("old versions go, but not those a person wrote", func(t *testing.T) { memoryThins(t, open) })
	t.Run("the turns that close meanwhile keep it, and it keeps their vars", func(t *testing.T) { memoryBesideVars(t, open) })
	t.Run("it goes with its conversation, and none comes after it", func(t *testing.T) { memoryGoes(t, open) })
}

func memoryDoc(upto int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"kind":"memory.summary","summary":"secret %d","upto_seq":%d}`, upto, upto))
}

// putMemory makes the version after base of a conversation's memory.
func putMemory(ctx context.Context, s *store.Store, v identity.Viewer, talk string, base, upto int) error {
	return putMemoryOf(ctx, s, v, talk, base, upto, 0)
}

// putMemoryOf is putMemory for a path of the conversation.
func putMemoryOf(ctx context.Context, s *store.Store, v identity.Viewer, talk string, base, upto, path int) error {
	_, _, err := s.PutMemory(ctx, v, talk, upto, path, artifacts.Artifact{
		ID: chat.MemoryID(talk), Type: artifacts.KindSummary, Name: "conversation." + talk, Visibility: artifacts.Private,
		CreatedBy: "llm", Schema: memoryDoc(upto), Version: base,
	}, fmt.Sprint("up to ", upto))
	return err
}

func memoryVersions(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	talk := accept(t, s, v, chat.NewTurn{Message: "x"}).ConversationID
	a, known, err := s.Memory(t.Context(), v, talk)
	need(t, err)
	want(t, "none", a.ID+fmt.Sprint(known.UptoSeq), "0")
	need(t, putMemory(t.Context(), s, v, talk, 0, 4))
	need(t, putMemory(t.Context(), s, v, talk, 1, 9))
	wantFault(t, putMemory(t.Context(), s, v, talk, 1, 12), fault.Conflict)
	a, known, err = s.Memory(t.Context(), v, talk)
	need(t, err)
	want(t, "memory", fmt.Sprint(known.UptoSeq, a.Version, a.OwnerID == v.UserID, a.Visibility, a.CreatedBy, string(a.Schema)), fmt.Sprint(9, 2, true, "private", "llm", string(memoryDoc(9))))
	want(t, "the artifact", fmt.Sprint(got(s.Artifact(t.Context(), v, chat.MemoryID(talk)))(t)), fmt.Sprint(a))
	want(t, "the conversation knows", got(s.Conversation(t.Context(), v, talk))(t).Summarised(), 9)
	list := got(s.Versions(t.Context(), v, a.ID))(t)
	want(t, "versions", fmt.Sprint(len(list), list[0].ChangeNote, list[1].ChangeNote), "2up to 9up to 4")
	_, err = s.Artifact(t.Context(), other, a.ID)
	wantFault(t, err, fault.NotFound)
	page, _, err := s.ListArtifacts(t.Context(), other, artifacts.Filter{Type: artifacts.KindSummary})
	need(t, err)
	want(t, "another person lists", len(page), 0)
}

func memoryRace(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	talk := accept(t, s, v, chat.NewTurn{Message: "x"}).ConversationID
	for base := range 2 {
		errs := race(writers, func(i int) error { return putMemory(t.Context(), s, v, talk, base, i+1) })
		want(t, "winners", winners(t, errs, fault.Conflict), 1)
	}
	want(t, "versions", len(got(s.Versions(t.Context(), v, chat.MemoryID(talk)))(t)), 2)
}

func memoryThins(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	talk := accept(t, s, v, chat.NewTurn{Message: "x"}).ConversationID
	memory := chat.MemoryID(talk)
	need(t, putMemory(t.Context(), s, v, talk, 0, 1))
	got(s.AppendVersion(t.Context(), v, memory, 1, memoryDoc(1), "user", "mine"))(t)
	last := artifacts.MemoryVersions + 3
	for base := 2; base < last; base++ {
		need(t, putMemory(t.Context(), s, v, talk, base, base))
	}
	var kept []int
	for _, n := range got(s.Versions(t.Context(), v, memory))(t) {
		kept = append(kept, n.Version)
	}
	slices.Sort(kept)
	wanted := []int{2}
	for n := last - artifacts.MemoryVersions + 1; n <= last; n++ {
		wanted = append(wanted, n)
	}
	want(t, "kept", fmt.Sprint(kept), fmt.Sprint(wanted))
}

func memoryBesideVars(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	turn := func(talk, mood string) string {
		a := accept(t, s, v, chat.NewTurn{Message: "x", ConversationID: talk})
		end := answer(a.Run.ID, "!")
		end.Persist = map[string]any{"mood": mood}
		closeTurn(t, s, v, end)
		return a.ConversationID
	}
	talk := turn("", "good")
	before := got(s.Conversation(t.Context(), v, talk))(t)
	need(t, putMemory(t.Context(), s, v, talk, 0, 2))
	after := got(s.Conversation(t.Context(), v, talk))(t)
	want(t, "vars", fmt.Sprint(after.Meta["docs"]), "map[mood:good]")
	want(t, "place in the list", after.UpdatedAt, before.UpdatedAt)
	turn(talk, "better")
	c := got(s.Conversation(t.Context(), v, talk))(t)
	want(t, "meta", fmt.Sprint(c.Summarised(), c.Meta["docs"]), "2 map[mood:better]")
}

func memoryGoes(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	talk := accept(t, s, v, chat.NewTurn{Message: "x"}).ConversationID
	other := accept(t, s, v, chat.NewTurn{Message: "y"}).ConversationID
	need(t, putMemory(t.Context(), s, v, talk, 0, 1))
	need(t, putMemory(t.Context(), s, v, other, 0, 1))
	errs := race(writers, func(i int) error {
		if i == writers/2 {
			return s.DeleteConversation(t.Context(), v, talk)
		}
		err := putMemory(t.Context(), s, v, talk, 1, 2)
		if fault.CodeOf(err) == fault.NotFound { // it is deleted
			return nil
		}
		return err
	})
	winners(t, errs, fault.Conflict)
	_, err := s.Artifact(t.Context(), v, chat.MemoryID(talk))
	wantFault(t, err, fault.NotFound)
	_, err = s.Versions(t.Context(), v, chat.MemoryID(talk))
	wantFault(t, err, fault.NotFound)
	wantFault(t, putMemory(t.Context(), s, v, talk, 0, 3), fault.NotFound)
	got(s.Artifact(t.Context(), v, chat.MemoryID(other)))(t)
	gone := got(s.GoneArtifacts(t.Context(), []string{chat.MemoryID(talk), chat.MemoryID(other)}))(t)
	wantLines(t, gone, []string{chat.MemoryID(talk)})
}
