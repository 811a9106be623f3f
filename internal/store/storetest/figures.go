package storetest

import (
	"fmt"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/store"
)

// Figures proves what /metrics tells of the rows.
func Figures(t *testing.T, open Open) {
	t.Run("open runs by status, and nothing of what is not there", func(t *testing.T) { openRuns(t, open) })
	t.Run("the lag is the age of what waits longest", func(t *testing.T) { ingestLag(t, open) })
}

func openRuns(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	for range 2 {
		v := person(t, s)
		a := accept(t, s, v, chat.NewTurn{Message: "A?"})
		accept(t, s, v, chat.NewTurn{Message: "B?", ConversationID: a.ConversationID, Multitask: "enqueue"})
		ended := accept(t, s, v, chat.NewTurn{Message: "C?"})
		closeTurn(t, s, v, answer(ended.Run.ID, "So it is."))
	}
	f := got(s.Figures(t.Context()))(t)
	want(t, "open runs", fmt.Sprint(f.Open), "map[queued:2 running:2]")
	want(t, "series of what is not there", len(f.Training)+len(f.Loss)+len(f.Scores), 0)
	want(t, "lag", f.IngestLag, 0)
}

func ingestLag(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	k := newContext(t, s, v, "c")
	newDocument(t, s, v, k.ID, "files/a.md")
	c.add(90 * time.Minute)
	want(t, "lag", got(s.Figures(t.Context()))(t).IngestLag, 90*time.Minute)
}
