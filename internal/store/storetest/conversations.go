package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/store"
)

// Conversations proves chat.Conversations.
func Conversations(t *testing.T, open Open) {
	t.Run("the title is the first message, cut", func(t *testing.T) { titles(t, open) })
	t.Run("one is made by hand and takes its first message", func(t *testing.T) { madeByHand(t, open) })
	t.Run("vars persist between turns", func(t *testing.T) { persistedVars(t, open) })
	t.Run("conversations are listed newest first, in pages", func(t *testing.T) { listConversations(t, open) })
	t.Run("deleting a conversation removes what belongs to it", func(t *testing.T) { deleteConversation(t, open) })
}

func titles(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	for message, title := range map[string]string{
		"short":                 "short",
		"two\nlines":            "two lines",
		strings.Repeat("ä", 80): strings.Repeat("ä", 50),
	} {
		a := accept(t, s, v, chat.NewTurn{Message: message})
		closeTurn(t, s, v, answer(a.Run.ID, "!"))
		accept(t, s, v, chat.NewTurn{Message: "another", ConversationID: a.ConversationID})
		c := got(s.Conversation(t.Context(), v, a.ConversationID))(t)
		want(t, "title", c.Title, title)
		if !utf8.ValidString(c.Title) {
			t.Errorf("the title %q was cut inside a character", c.Title)
		}
	}
}

func madeByHand(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	k := newContext(t, s, v, "notes")
	made := got(s.CreateConversation(t.Context(), v, chat.Conversation{ActiveContextID: k.ID, UserID: other.UserID, Status: "archived"}))(t)
	kept := got(s.Conversation(t.Context(), v, made.ID))(t)
	want(t, "made", fmt.Sprint(kept), fmt.Sprint(made))
	want(t, "status and context", kept.Status+kept.ActiveContextID, "open"+k.ID)
	_, err := s.Conversation(t.Context(), other, made.ID)
	wantFault(t, err, fault.NotFound)
	a := accept(t, s, v, chat.NewTurn{Message: "hello", ConversationID: made.ID})
	want(t, "conversation", a.ConversationID, made.ID)
	want(t, "title", got(s.Conversation(t.Context(), v, made.ID))(t).Title, "hello")
}

func persistedVars(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	end := answer(a.Run.ID, "!")
	end.Persist = map[string]any{"docs": []any{"d1"}, "mood": "good"}
	closeTurn(t, s, v, end)
	b := accept(t, s, v, chat.NewTurn{Message: "y", ConversationID: a.ConversationID})
	end = answer(b.Run.ID, "!")
	end.Persist = map[string]any{"docs": []any{"d1", "d2"}, "mood": nil}
	closeTurn(t, s, v, end)
	c := got(s.Conversation(t.Context(), v, a.ConversationID))(t)
	want(t, "meta", fmt.Sprint(c.Meta), "map[docs:map[docs:[d1 d2]]]")
}

func listConversations(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, other := person(t, s), person(t, s)
	accept(t, s, other, chat.NewTurn{Message: "not mine"})
	var made []string
	for i := range 5 {
		if i%2 == 0 {
			c.add(time.Second) // two share a moment
		}
		a := accept(t, s, v, chat.NewTurn{Message: fmt.Sprint(i)})
		made = append(made, a.ConversationID)
		if i < 4 {
			closeTurn(t, s, v, answer(a.Run.ID, "!"))
		}
	}
	slices.Reverse(made)
	var listed []string
	cursor := ""
	for {
		page, next, err := s.ListConversations(t.Context(), v, cursor, 2)
		need(t, err)
		for _, talk := range page {
			listed = append(listed, talk.ID)
			want(t, "activity of "+talk.Title, talk.ActiveRun != nil, talk.Title == "4")
		}
		if cursor = next; next == "" {
			break
		}
	}
	wantLines(t, listed, made)
	_, _, err := s.ListConversations(t.Context(), v, "%%%", 2)
	wantFault(t, err, fault.Invalid)
	title, status, context := "Renamed", "archived", id.New()
	changed := got(s.UpdateConversation(t.Context(), v, made[0], chat.ConversationChange{Title: &title, Status: &status, ActiveContextID: &context}))(t)
	want(t, "changed", changed.Title+changed.Status+changed.ActiveContextID, title+status+context)
	want(t, "kept", got(s.Conversation(t.Context(), v, made[0]))(t).Title, title)
	wrong := "gone"
	_, err = s.UpdateConversation(t.Context(), v, made[0], chat.ConversationChange{Status: &wrong})
	wantFault(t, err, fault.Invalid)
}

func deleteConversation(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	q := ask(t, s, v, a.Run.ID, "e")[0]
	ref := got(s.PutBlob(t.Context(), v, a.Run.ID, "k", []byte("large")))(t)
	need(t, s.DeleteConversation(t.Context(), v, a.ConversationID))
	_, err := s.Conversation(t.Context(), v, a.ConversationID)
	wantFault(t, err, fault.NotFound)
	_, err = s.Message(t.Context(), v, a.MessageID)
	wantFault(t, err, fault.NotFound)
	_, err = s.Run(t.Context(), v, a.Run.ID)
	wantFault(t, err, fault.NotFound)
	_, err = s.Interrupt(t.Context(), v, q)
	wantFault(t, err, fault.NotFound)
	_, err = s.Blob(t.Context(), v, ref)
	wantFault(t, err, fault.NotFound)
	_, err = s.CloseTurn(t.Context(), v, answer(a.Run.ID, "!"))
	wantFault(t, err, fault.NotFound)
	wantFault(t, s.DeleteConversation(t.Context(), v, a.ConversationID), fault.NotFound)
}
