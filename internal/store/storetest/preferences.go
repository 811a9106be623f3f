package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/store"
)

// Preferences proves learning.Store and what a Recorder makes of it.
func Preferences(t *testing.T, open Open) {
	t.Run("feedback is kept with what it was about", func(t *testing.T) { keptFeedback(t, open) })
	t.Run("another person's answers take no feedback", func(t *testing.T) { foreignFeedback(t, open) })
	t.Run("only answers take feedback", func(t *testing.T) { wrongFeedback(t, open) })
	t.Run("the latest word on an answer stands, until it is taken back", func(t *testing.T) { standingFeedback(t, open) })
	t.Run("what was heard in a message is marked there", func(t *testing.T) { heardFeedback(t, open) })
	t.Run("feedback goes with its conversation", func(t *testing.T) { goneFeedback(t, open) })
}

// answered is a conversation with one question and its answer.
func answered(t testing.TB, s *store.Store, v identity.Viewer, question string) (a chat.Accepted, answerID string) {
	t.Helper()
	a = accept(t, s, v, chat.NewTurn{Message: question})
	return a, closeTurn(t, s, v, answer(a.Run.ID, "So it is.")).MessageID
}

func keptFeedback(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v, r := person(t, s), learning.NewRecorder(s, embed.Hash{})
	a, about := answered(t, s, v, "What is a lemma?")
	made := got(r.Record(t.Context(), v, learning.Feedback{
		ConversationID: a.ConversationID, MessageID: about, Signal: "dislike", Notes: "too short", Corrected: "A small sentence.",
	}))(t)
	c.add(time.Second)
	for range 4 {
		got(r.Record(t.Context(), v, learning.Feedback{ConversationID: a.ConversationID, MessageID: about, Signal: "always"}))(t)
	}
	var list []learning.Event
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := s.ListPreferences(t.Context(), v, cursor, 2)
		need(t, err)
		list, cursor = append(list, page...), next
	}
	want(t, "events", len(list), 5)
	kept := list[4]
	want(t, "latest score", list[0].Score, 1)
	want(t, "id", kept.ID, made.ID)
	want(t, "event", fmt.Sprintf("%s %v %s %s %v %v", kept.Signal, kept.Score, kept.ContextText, kept.Corrected, kept.Meta["notes"], kept.UserID == v.UserID),
		"dislike -1 What is a lemma? A small sentence. too short true")
	want(t, "dimension", len(kept.Embedding), embed.Dim)
	want(t, "the vector is of the question", embed.Cosine(kept.Embedding, got(embed.Turn(t.Context(), embed.Hash{}, "What is a lemma?", ""))(t)) > 0.999, true)
	_, _, err := s.ListPreferences(t.Context(), v, "nonsense", 2)
	wantFault(t, err, fault.Invalid)
}

func foreignFeedback(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	a, about := answered(t, s, v, "Mine?")
	b, _ := answered(t, s, other, "Theirs?")
	for _, f := range []learning.Feedback{
		{ConversationID: a.ConversationID, MessageID: about},
		{ConversationID: b.ConversationID, MessageID: about},
		{ConversationID: b.ConversationID, MessageID: id.New()},
	} {
		f.Signal = "like"
		_, err := learning.NewRecorder(s, embed.Hash{}).Record(t.Context(), other, f)
		wantFault(t, err, fault.NotFound)
		_, err = s.PutPreference(t.Context(), other, learning.Event{ConversationID: f.ConversationID, MessageID: f.MessageID, Signal: "like", Embedding: []float32{1}})
		wantFault(t, err, fault.NotFound)
	}
	list, _, err := s.ListPreferences(t.Context(), other, "", 10)
	need(t, err)
	want(t, "the other's events", len(list), 0)
}

func wrongFeedback(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, r := person(t, s), learning.NewRecorder(s, embed.Hash{})
	a, about := answered(t, s, v, "What?")
	hidden := accept(t, s, v, chat.NewTurn{Message: "And?", ConversationID: a.ConversationID})
	end := answer(hidden.Run.ID, "withheld")
	end.Message.Meta = map[string]any{"suppressed": true}
	closed := closeTurn(t, s, v, end)
	instead := accept(t, s, v, chat.NewTurn{Message: "And?", ConversationID: a.ConversationID})
	end = answer(instead.Run.ID, "It is not shown.")
	end.Message.Struct = new(chat.Content).Add(chat.Removed("It is not shown.", "rules", "recipe", "r", 0))
	replaced := closeTurn(t, s, v, end)
	unsafe := accept(t, s, v, chat.NewTurn{Message: "And?", ConversationID: a.ConversationID})
	end = answer(unsafe.Run.ID, "I cannot help with that.")
	end.Message.Meta = map[string]any{"safety": map[string]any{"risk": "high"}}
	worried := closeTurn(t, s, v, end)
	for name, f := range map[string]learning.Feedback{
		"a question":           {MessageID: a.MessageID, Signal: "like"},
		"withheld":             {MessageID: closed.MessageID, Signal: "like"},
		"another in its place": {MessageID: replaced.MessageID, Signal: "like"},
		"unsafe":               {MessageID: worried.MessageID, Signal: "like"},
		"no signal":            {MessageID: about, Signal: "love"},
		"no message":           {MessageID: "7", Signal: "like"},
		"long notes":           {MessageID: about, Signal: "like", Notes: strings.Repeat("x", learning.MaxNotes+1)},
		"long correction":      {MessageID: about, Signal: "like", Corrected: strings.Repeat("x", learning.MaxCorrected+1)},
	} {
		f.ConversationID = a.ConversationID
		if _, err := r.Record(t.Context(), v, f); err == nil {
			t.Errorf("%s was recorded", name)
		} else {
			wantFault(t, err, fault.Invalid)
		}
	}
}

func goneFeedback(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, r := person(t, s), learning.NewRecorder(s, embed.Hash{})
	a, about := answered(t, s, v, "What?")
	got(r.Record(t.Context(), v, learning.Feedback{ConversationID: a.ConversationID, MessageID: about, Signal: "never"}))(t)
	need(t, s.DeleteConversation(t.Context(), v, a.ConversationID))
	list, _, err := s.ListPreferences(t.Context(), v, "", 10)
	need(t, err)
	want(t, "events", len(list), 0)
}

// stands is what stands of a message, in words.
func stands(t testing.TB, s *store.Store, v identity.Viewer, messageID string) string {
	t.Helper()
	e, said := got(s.LatestPreferences(t.Context(), v, messageID, id.New()))(t)[messageID]
	if !said {
		return "nothing"
	}
	return fmt.Sprint(e.Signal, " ", e.Notes(), " ", e.Corrected)
}

func standingFeedback(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other, r := person(t, s), person(t, s), learning.NewRecorder(s, embed.Hash{})
	a, about := answered(t, s, v, "What is a lemma?")
	_, untouched := answered(t, s, v, "And a corollary?")
	say := func(f learning.Feedback) learning.Event {
		f.ConversationID, f.MessageID = a.ConversationID, about
		return got(r.Record(t.Context(), v, f))(t)
	}
	want(t, "before", stands(t, s, v, about), "nothing")
	first := say(learning.Feedback{Signal: "like"})
	second := say(learning.Feedback{Signal: "dislike", Notes: "too short", Corrected: "A small sentence."})
	want(t, "after two", stands(t, s, v, about), "dislike too short A small sentence.")
	want(t, "for another", stands(t, s, other, about), "nothing")
	want(t, "of another answer", stands(t, s, v, untouched), "nothing")
	for _, wrong := range []struct {
		v    identity.Viewer
		back learning.Retraction
	}{{other, learning.Retraction{ID: second.ID}}, {v, learning.Retraction{ID: second.ID + 1<<40}}, {v, learning.Retraction{ID: second.ID, MessageID: untouched}}} {
		_, err := r.TakeBack(t.Context(), wrong.v, wrong.back)
		wantFault(t, err, fault.NotFound)
	}
	left := got(r.TakeBack(t.Context(), v, learning.Retraction{ID: second.ID, MessageID: about}))(t)
	want(t, "what stands again", left.ID, first.ID)
	_, err := r.TakeBack(t.Context(), v, learning.Retraction{ID: second.ID})
	wantFault(t, err, fault.NotFound)
	third := say(learning.Feedback{Signal: "never"})
	if left := got(r.TakeBack(t.Context(), v, learning.Retraction{ID: third.ID, Earlier: true}))(t); left != nil {
		t.Errorf("%+v still stands", left)
	}
	want(t, "in the end", stands(t, s, v, about), "nothing")
}

func heardFeedback(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, other := person(t, s), person(t, s)
	var changed []string
	r := learning.NewRecorder(s, embed.Hash{}).Changed(func(_ context.Context, conversation string) { changed = append(changed, conversation) })
	a, about := answered(t, s, v, "What is a lemma?")
	next := accept(t, s, v, chat.NewTurn{ConversationID: a.ConversationID, Message: "I like this approach."})
	f := learning.Feedback{ConversationID: a.ConversationID, MessageID: about, Signal: "like", HeardIn: next.MessageID}
	noted := func() string {
		m := got(s.Message(t.Context(), v, next.MessageID))(t)
		return fmt.Sprint(m.Content, " ", m.Meta["noted"])
	}
	want(t, "before", noted(), "I like this approach. <nil>")
	heard := got(r.Record(t.Context(), v, f))(t)
	want(t, "after", noted(), fmt.Sprintf("I like this approach. map[message_id:%s preference_id:%d signal:like undone:false]", about, heard.ID))
	_, err := r.Record(t.Context(), v, f)
	wantFault(t, err, fault.Conflict)
	list, _, err := s.ListPreferences(t.Context(), v, "", 10)
	need(t, err)
	want(t, "events", len(list), 1)
	got(r.TakeBack(t.Context(), v, learning.Retraction{ID: heard.ID}))(t)
	want(t, "undone", strings.HasSuffix(noted(), "undone:true]"), true)
	_, err = r.Record(t.Context(), v, f) // a step that runs again after all
	wantFault(t, err, fault.Conflict)
	want(t, "conversations that changed", fmt.Sprint(changed), fmt.Sprint([]string{a.ConversationID, a.ConversationID}))

	b, theirs := answered(t, s, other, "Theirs?")
	for _, wrong := range []string{next.MessageID, theirs, id.New()} { // another's, an answer, nobody's
		_, err := r.Record(t.Context(), other, learning.Feedback{ConversationID: b.ConversationID, MessageID: theirs, Signal: "like", HeardIn: wrong})
		wantFault(t, err, fault.NotFound)
	}
	want(t, "of the other", stands(t, s, other, theirs), "nothing")
}
