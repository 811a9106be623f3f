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
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Conversations proves chat.Conversations.
func Conversations(t *testing.T, open Open) {
	t.Run("what is left of those of which nothing is kept is deleted", func(t *testing.T) { t.Parallel(); unkeptSwept(t, open) })
	t.Run("the title is the first message, cut", func(t *testing.T) { titles(t, open) })
	t.Run("one is made by hand and takes its first message", func(t *testing.T) { madeByHand(t, open) })
	t.Run("vars persist between turns", func(t *testing.T) { persistedVars(t, open) })
	t.Run("conversations are listed newest first, in pages", func(t *testing.T) { listConversations(t, open) })
	t.Run("those that are pinned come first, in pages", func(t *testing.T) { pinnedFirst(t, open) })
	t.Run("messages are found by the beginnings of their words", func(t *testing.T) { searched(t, open) })
	t.Run("nobody finds what is another's, hidden or gone", func(t *testing.T) { searchWalls(t, open) })
	t.Run("what is found comes in pages, newest first", func(t *testing.T) { searchPages(t, open) })
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

func pinnedFirst(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v := person(t, s)
	var made []string
	for i := range 6 {
		c.add(time.Second)
		a := accept(t, s, v, chat.NewTurn{Message: fmt.Sprint(i)})
		made = append(made, a.ConversationID)
	}
	yes, no := true, false
	for _, i := range []int{1, 3, 4} {
		changed := got(s.UpdateConversation(t.Context(), v, made[i], chat.ConversationChange{Pinned: &yes}))(t)
		want(t, "pinned", changed.Pinned, true)
	}
	got(s.UpdateConversation(t.Context(), v, made[4], chat.ConversationChange{Pinned: &no}))(t)
	title := "named"
	got(s.UpdateConversation(t.Context(), v, made[3], chat.ConversationChange{Title: &title}))(t) // leaves the pin
	for _, size := range []int{1, 2, 4, 10} {
		var listed []string
		for cursor := ""; ; {
			page, next, err := s.ListConversations(t.Context(), v, cursor, size)
			need(t, err)
			for _, one := range page {
				listed = append(listed, one.ID)
				want(t, "pin", one.Pinned, one.ID == made[1] || one.ID == made[3])
			}
			if cursor = next; next == "" {
				break
			}
		}
		wantLines(t, listed, []string{made[3], made[1], made[5], made[4], made[2], made[0]})
	}
	_, _, err := s.ListConversations(t.Context(), v, "~", 2)
	wantFault(t, err, fault.Invalid)
}

// finds checks what a search gives: the texts, newest first.
func finds(t testing.TB, s *store.Store, v identity.Viewer, text string, contents ...string) {
	t.Helper()
	list, _, err := s.SearchMessages(t.Context(), v, chat.Terms(text), "", 100)
	need(t, err)
	var found []string
	for _, m := range list {
		found = append(found, m.Content)
	}
	if !slices.Equal(found, contents) {
		t.Errorf("%q finds %q, want %q", text, found, contents)
	}
}

func searched(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v := person(t, s)
	say := func(message, reply string) chat.Accepted {
		t.Helper()
		c.add(time.Second)
		a := accept(t, s, v, chat.NewTurn{Message: message})
		c.add(time.Second)
		end := answer(a.Run.ID, reply)
		closeTurn(t, s, v, end)
		return a
	}
	a := say("Wo liegen die Schlüssel zur Übergabe?", "Im Büro, bei rag.search_v1 und C:/keys/Ort.")
	say("invoices of 2026", "It costs 3.14 euros, you'll see: naïve café")
	for text, contents := range map[string][]string{
		"schlussel":         {"Wo liegen die Schlüssel zur Übergabe?"},
		"SCHLÜSSEL ÜBER":    {"Wo liegen die Schlüssel zur Übergabe?"},
		"schlüssel büro":    nil,
		"invoice":           {"invoices of 2026"},
		"invoicing":         nil,
		"search_v1":         {"Im Büro, bei rag.search_v1 und C:/keys/Ort."},
		"keys ort":          {"Im Büro, bei rag.search_v1 und C:/keys/Ort."},
		"3.14":              {"It costs 3.14 euros, you'll see: naïve café"},
		"naive cafe":        {"It costs 3.14 euros, you'll see: naïve café"},
		"you'll":            {"It costs 3.14 euros, you'll see: naïve café"},
		`" OR * NEAR(`:      nil,
		"'":                 nil,
		"i":                 nil, // a single letter is a word, not the beginning of one
		"in":                {"invoices of 2026"},
		"c keys":            {"Im Büro, bei rag.search_v1 und C:/keys/Ort."},
		"costs -- & | ! :*": {"It costs 3.14 euros, you'll see: naïve café"},
	} {
		finds(t, s, v, text, contents...)
	}
	list, _, err := s.SearchMessages(t.Context(), v, chat.Terms("schlüssel"), "", 10)
	need(t, err)
	m := list[0]
	want(t, "found", fmt.Sprint(m.ID, m.ConversationID, m.Role, m.Title), fmt.Sprint(a.MessageID, a.ConversationID, "user", "Wo liegen die Schlüssel zur Übergabe?"))
	long := strings.Repeat("endlos ", 60_000)
	say("a long one", long)
	list, _, err = s.SearchMessages(t.Context(), v, chat.Terms("endlos"), "", 10)
	need(t, err)
	want(t, "found of a long text", len(list), 1)
}

func searchWalls(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	theirs := accept(t, s, other, chat.NewTurn{Message: "the secret of another"})
	closeTurn(t, s, other, answer(theirs.Run.ID, "another secret"))
	mine := accept(t, s, v, chat.NewTurn{Message: "my secret"})
	hidden := answer(mine.Run.ID, "a hidden secret")
	hidden.Message.Meta = map[string]any{"suppressed": true}
	hidden.Notices = []chat.Message{{ID: id.New(), Sender: "system", Role: "system", Content: "a secret notice"}}
	closeTurn(t, s, v, hidden)
	finds(t, s, v, "secret", "my secret")
	finds(t, s, administrator(t, s), "secret")
	anew := accept(t, s, v, chat.NewTurn{Message: "my secret, in other words", ConversationID: mine.ConversationID, Replaces: mine.MessageID})
	closeTurn(t, s, v, answer(anew.Run.ID, "!"))
	finds(t, s, v, "secret", "my secret, in other words")
	finds(t, s, v, "my secret", "my secret, in other words")
	need(t, s.ShowVersion(t.Context(), v, mine.ConversationID, mine.MessageID))
	finds(t, s, v, "secret", "my secret")
	need(t, s.DeleteConversation(t.Context(), v, mine.ConversationID))
	finds(t, s, v, "secret")
	list, _, err := s.SearchMessages(t.Context(), other, chat.Terms("secret"), "", 10)
	need(t, err)
	want(t, "the other still finds", len(list), 2)
	got(s.DeleteUser(t.Context(), other.UserID))(t)
	finds(t, s, other, "secret")
}

func searchPages(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v := person(t, s)
	var said []string
	for i := range 5 {
		if i%2 == 0 {
			c.add(time.Second)
		}
		said = append(said, accept(t, s, v, chat.NewTurn{Message: fmt.Sprint("word ", i)}).MessageID)
	}
	seen := map[string]bool{}
	last := time.Time{}
	for cursor := ""; ; {
		list, next, err := s.SearchMessages(t.Context(), v, chat.Terms("word"), cursor, 2)
		need(t, err)
		for _, m := range list {
			if seen[m.ID] || !last.IsZero() && m.CreatedAt.After(last) {
				t.Errorf("%s is out of order", m.Content)
			}
			seen[m.ID], last = true, m.CreatedAt
		}
		if cursor = next; next == "" {
			break
		}
	}
	want(t, "found", len(seen), len(said))
	_, _, err := s.SearchMessages(t.Context(), v, chat.Terms("word"), "%%%", 2)
	wantFault(t, err, fault.Invalid)
	list, _, err := s.SearchMessages(t.Context(), v, nil, "", 2)
	need(t, err)
	want(t, "found without a word", len(list), 0)
}

// unkeptSwept: what is left of conversations of which nothing is kept is in no list,
// so nobody but the sweep would delete it.
func unkeptSwept(t *testing.T, open Open) {
	const keep = 90 * 24 * time.Hour
	c := newClock()
	o := unlimited
	o.Now = c.now
	s := open(t, o).Store
	ada := person(t, s)
	say := func(turn chat.NewTurn) chat.Accepted {
		t.Helper()
		turn.RequestID, turn.Message = id.New(), "Hello"
		return got(s.Accept(t.Context(), ada, turn))(t)
	}
	end := func(a chat.Accepted) {
		t.Helper()
		_, err := s.CloseTurn(t.Context(), ada, chat.Close{RunID: a.Run.ID, End: run.End{Status: run.Done}})
		need(t, err)
	}
	listed, program := say(chat.NewTurn{}), say(chat.NewTurn{History: []chat.Said{}})
	over, open1 := say(chat.NewTurn{Keeps: chat.KeepsNothing}), say(chat.NewTurn{Keeps: chat.KeepsNothing})
	for _, a := range []chat.Accepted{listed, program, over} {
		end(a)
	}
	sweep := func() int { return got(s.SweepUnkept(t.Context(), keep))(t) }
	want(t, "swept at once", sweep(), 0)
	c.add(keep + time.Hour)
	want(t, "swept", sweep(), 1)
	for name, v := range map[string]struct {
		a    chat.Accepted
		here bool
	}{"listed": {listed, true}, "of a program": {program, true}, "of which nothing is kept": {over, false}, "with a run that has not ended": {open1, true}} {
		_, err := s.Conversation(t.Context(), ada, v.a.Run.ConversationID)
		if (err == nil) != v.here {
			t.Errorf("the one that is %s: %v", name, err)
		}
		_, err = s.Run(t.Context(), ada, v.a.Run.ID)
		if (err == nil) != v.here {
			t.Errorf("the run of the one that is %s: %v", name, err)
		}
	}
	want(t, "swept again", sweep(), 0)
	end(open1)
	c.add(keep + time.Hour)
	want(t, "swept at last", sweep(), 1)
}
