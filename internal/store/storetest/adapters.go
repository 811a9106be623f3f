package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Adapters proves what is counted of adapters: their use, and what people say
// of the answers made with them.
func Adapters(t *testing.T, open Open) {
	t.Run("a run counts once", func(t *testing.T) { countedUse(t, open) })
	t.Run("the score is the average of what people said", func(t *testing.T) { averageScore(t, open) })
	t.Run("runs are counted by the version they used", func(t *testing.T) { runsOfVersions(t, open) })
}

func adapter(t testing.TB, s *store.Store) string {
	t.Helper()
	a := artifacts.Artifact{Type: artifacts.KindAdapter, Name: id.New(), Visibility: artifacts.Global, Schema: []byte(`{"kind":"adapter.lora"}`), CreatedBy: "user"}
	return got(s.CreateArtifact(t.Context(), administrator(t, s), a, ""))(t).ID
}

func used(adapter string) learning.Used {
	return learning.Used{AdapterID: adapter, Version: 2, Weight: 0.75}
}

func countedUse(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	one, other := adapter(t, s), adapter(t, s)
	need(t, s.UsedAdapters(t.Context(), id.New(), used(one), used(other)))
	c.add(time.Minute)
	run, at := id.New(), c.now()
	for range 2 { // the end of a run may be told twice
		need(t, s.UsedAdapters(t.Context(), run, used(one), used(id.New())))
	}
	use := got(s.AdapterUse(t.Context(), one))(t)
	want(t, "runs", use.Count, 2)
	want(t, "last used", use.Last.Equal(at), true)
	want(t, "runs of the other", got(s.AdapterUse(t.Context(), other))(t).Count, 1)
	want(t, "of one that is gone", got(s.AdapterUse(t.Context(), id.New()))(t), learning.Use{})
}

func averageScore(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v, r, with := person(t, s), learning.NewRecorder(s, embed.Hash{}), adapter(t, s)
	talk, one := answeredWith(t, s, v, with)
	other, second := answeredWith(t, s, v, with)
	say := func(conversation, message, signal string) int64 {
		t.Helper()
		return got(r.Record(t.Context(), v, learning.Feedback{ConversationID: conversation, MessageID: message, Signal: signal}))(t).ID
	}
	score := func(what string, of float64) {
		t.Helper()
		if score := got(s.AdapterUse(t.Context(), with))(t).Score; math.Abs(score-of) > 1e-9 {
			t.Errorf("%s: the score is %v, want %v", what, score, of)
		}
	}
	back := func(id int64, earlier bool) {
		t.Helper()
		_, err := r.TakeBack(t.Context(), v, learning.Retraction{ID: id, Earlier: earlier})
		need(t, err)
	}
	say(talk, one, "like")
	score("one answer is liked", 1)
	disliked := say(other, second, "dislike")
	score("another is not", 0)
	changed := say(talk, one, "dislike")
	score("who changes their mind counts once", -1)
	back(changed, false)
	score("what was said before stands again", 0)
	back(disliked, true)
	score("what is taken back does not count", 1)
	back(say(talk, one, "always"), true)
	score("nothing stands", 0)

	copied := branchOf(t, s, v, talk, one)
	say(talk, one, "like")
	disliked = say(other, second, "dislike")
	score("one of each", 0)
	liked := say(copied.ConversationID, copied.ID, "like")
	score("a copy of an answer is no second answer", 0)
	changed = say(talk, one, "dislike")
	score("the latest word counts, of whichever", -1)
	back(changed, true)
	score("what was said of the copy stands", 0)
	back(liked, true)
	back(disliked, true)
	score("nothing stands of either", 0)
}

func runsOfVersions(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, r, with, other := person(t, s), learning.NewRecorder(s, embed.Hash{}), adapter(t, s), adapter(t, s)
	start := c.now()
	turn := func(version int, status run.Status, signals ...string) (talk, message string) {
		c.add(time.Second)
		a := accept(t, s, v, chat.NewTurn{Message: "What is a lemma?"})
		end := answer(a.Run.ID, "So it is.")
		end.End.Status = status
		closed := closeTurn(t, s, v, end)
		need(t, s.UsedAdapters(t.Context(), a.Run.ID, learning.Used{AdapterID: with, Version: version, Weight: 1}, learning.Used{AdapterID: other, Version: 7, Weight: 1}))
		for _, signal := range signals {
			c.add(time.Second)
			got(r.Record(t.Context(), v, learning.Feedback{ConversationID: a.ConversationID, MessageID: closed.MessageID, Signal: signal}))(t)
		}
		return a.ConversationID, closed.MessageID
	}
	turn(2, run.Done, "like")
	turn(2, run.Done, "like", "dislike") // the last word counts
	talk, about := turn(2, run.Done, "dislike")
	copied := branchOf(t, s, v, talk, about)
	c.add(time.Second)
	got(r.Record(t.Context(), v, learning.Feedback{ConversationID: copied.ConversationID, MessageID: copied.ID, Signal: "like"}))(t)
	turn(2, run.Failed)
	turn(2, run.Cancelled)
	turn(3, run.Done, "dislike")
	c.add(time.Hour)
	later := c.now()
	turn(2, run.Done, "like")
	of := func(version int, since, until time.Time) changes.AdapterRuns {
		return got(s.AdapterRuns(t.Context(), with, version, since, until))(t)
	}
	want(t, "of a version", of(2, start, later), changes.AdapterRuns{Runs: 5, Failed: 1, Cancelled: 1, Up: 2, Down: 1})
	want(t, "of the next", of(3, start, later), changes.AdapterRuns{Runs: 1, Down: 1})
	want(t, "later", of(2, later, later.Add(time.Hour)), changes.AdapterRuns{Runs: 1, Up: 1})
	want(t, "of none", of(9, start, later), changes.AdapterRuns{})
}

// branchOf is the copy of an answer in a branch of its conversation.
func branchOf(t testing.TB, s *store.Store, v identity.Viewer, conversationID, answerID string) chat.Message {
	t.Helper()
	made := got(s.Branch(t.Context(), v, conversationID, answerID, id.New()))(t)
	list, _, err := s.ListMessages(t.Context(), v, made.ID, "", 0)
	need(t, err)
	return list[len(list)-1]
}

// answeredWith is a conversation whose answer was made with an adapter.
func answeredWith(t *testing.T, s *store.Store, v identity.Viewer, adapter string) (conversationID, answerID string) {
	t.Helper()
	a := accept(t, s, v, chat.NewTurn{Message: "What is a lemma?"})
	end := answer(a.Run.ID, "So it is.")
	end.Message.Meta = map[string]any{"adapters": []string{adapter}}
	return a.ConversationID, closeTurn(t, s, v, end).MessageID
}

// FollowedRuns proves what is kept of each run that followed an adapter.
func FollowedRuns(t *testing.T, db store.DB, b Backend) {
	v, one := person(t, b.Store), adapter(t, b.Store)
	a, _ := answered(t, b.Store, v, "What?")
	for _, run := range []string{a.Run.ID, a.Run.ID, id.New()} { // the last is gone
		need(t, b.Store.UsedAdapters(t.Context(), run, used(one)))
	}
	rows := func() (list []string) {
		need(t, db.Read(t.Context(), v, func(tx store.Tx) error {
			list = nil
			return tx.Query(`SELECT run_id, adapter_id, version, weight FROM adapter_run`, nil, func(scan store.Scan) error {
				var run, adapter string
				var version int
				var weight float64
				err := scan(&run, &adapter, &version, &weight)
				list = append(list, fmt.Sprint(run, " ", adapter, " ", version, " ", weight))
				return err
			})
		}))
		return list
	}
	want(t, "rows", strings.Join(rows(), "; "), fmt.Sprint(a.Run.ID, " ", one, " 2 0.75"))
	need(t, b.Store.DeleteConversation(t.Context(), v, a.ConversationID))
	want(t, "rows of a run that is gone", len(rows()), 0)
}
