package storetest

import (
	"math"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/learning"
	"liminal/internal/store"
)

// Adapters proves what is counted of adapters: their use, and what people say
// of the answers made with them.
func Adapters(t *testing.T, open Open) {
	t.Run("a run counts once", func(t *testing.T) { countedUse(t, open) })
	t.Run("the score is the average of what people said", func(t *testing.T) { averageScore(t, open) })
}

func adapter(t testing.TB, s *store.Store) string {
	t.Helper()
	a := artifacts.Artifact{Type: artifacts.KindAdapter, Name: id.New(), Visibility: artifacts.Global, Schema: []byte(`{"kind":"adapter.lora"}`), CreatedBy: "user"}
	return got(s.CreateArtifact(t.Context(), administrator(t, s), a, ""))(t).ID
}

func countedUse(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	one, other := adapter(t, s), adapter(t, s)
	need(t, s.UsedAdapters(t.Context(), id.New(), one, other))
	c.add(time.Minute)
	run, at := id.New(), c.now()
	for range 2 { // the end of a run may be told twice
		need(t, s.UsedAdapters(t.Context(), run, one, id.New()))
	}
	use := got(s.AdapterUse(t.Context(), one))(t)
	want(t, "runs", use.Count, 2)
	want(t, "last used", use.Last.Equal(at), true)
	want(t, "runs of the other", got(s.AdapterUse(t.Context(), other))(t).Count, 1)
	want(t, "of one that is gone", got(s.AdapterUse(t.Context(), id.New()))(t), learning.Use{})
}

func averageScore(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, r, used := person(t, s), learning.NewRecorder(s, embed.Hash{}), adapter(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "What is a lemma?"})
	end := answer(a.Run.ID, "So it is.")
	end.Message.Meta = map[string]any{"adapters": []string{used}}
	about := closeTurn(t, s, v, end).MessageID
	for _, signal := range []string{"like", "dislike", "like"} {
		got(r.Record(t.Context(), v, learning.Feedback{ConversationID: a.ConversationID, MessageID: about, Signal: signal}))(t)
	}
	if score := got(s.AdapterUse(t.Context(), used))(t).Score; math.Abs(score-1.0/3) > 1e-9 {
		t.Errorf("the score is %v, want the average of 1, -1 and 1", score)
	}
}
