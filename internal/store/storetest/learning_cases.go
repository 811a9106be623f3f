package storetest

import (
	"fmt"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/learning"
)

// cases are the person's, in words.
func (p taught) cases(t testing.TB, limit int) string {
	t.Helper()
	return inWords(got(p.s.Cases(t.Context(), p.v, limit))(t))
}

func inWords(list []learning.Case) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = c.Signal + " " + c.Question
	}
	return strings.Join(words, ", ")
}

func standingCases(t *testing.T, open Open) {
	p := teach(t, open)
	p.another(t).says(t, "Theirs?", learning.Feedback{})
	one := p.says(t, "One?", learning.Feedback{Notes: "good"})
	two := p.says(t, "Two?", learning.Feedback{})
	r := learning.NewRecorder(p.s, embed.Hash{})
	again := func(e learning.Event, signal string) learning.Event {
		return got(r.Record(t.Context(), p.v, learning.Feedback{ConversationID: e.ConversationID, MessageID: e.MessageID, Signal: signal}))(t)
	}
	list := got(p.s.Cases(t.Context(), p.v, 10))(t)
	want(t, "the first", fmt.Sprint(list[0].ID == one.ID, list[0].Answer, list[0].Notes(), len(list[0].Embedding), list[0].Excluded),
		fmt.Sprint(true, "So it is.", "good", embed.Dim, false))
	want(t, "all", p.cases(t, 10), "like One?, like Two?")
	want(t, "the newest", p.cases(t, 1), "like Two?")

	changed := again(one, "dislike")
	want(t, "who changed their mind", p.cases(t, 10), "like Two?, dislike One?")
	events := got(p.s.Events(t.Context(), p.v, one.ID, one.ID+1<<40))(t)
	want(t, "an event that stands no more", fmt.Sprint(len(events), events[one.ID].Question), "1One?")
	want(t, "events of another", len(got(p.s.Events(t.Context(), person(t, p.s), one.ID))(t)), 0)
	want(t, "an example that stands no more", inWords(got(p.s.Examples(t.Context(), p.v, one.ID))(t)), "")
	copied := branchOf(t, p.s, p.v, one.ConversationID, one.MessageID)
	got(r.Record(t.Context(), p.v, learning.Feedback{ConversationID: copied.ConversationID, MessageID: copied.ID, Signal: "always"}))(t)
	want(t, "of a copy", p.cases(t, 10), "like Two?, always One?")
	need(t, p.s.DeleteConversation(t.Context(), p.v, copied.ConversationID))
	p.back(t, changed)
	want(t, "taken back", p.cases(t, 10), "like One?, like Two?")

	need(t, p.s.Exclude(t.Context(), p.v, two.ID, true))
	want(t, "excluded", p.cases(t, 10), "like One?")
	again(two, "dislike")
	need(t, p.s.Exclude(t.Context(), p.v, two.ID, false))
	want(t, "taken in again", p.cases(t, 10), "like One?, dislike Two?")
	wantFault(t, p.s.Exclude(t.Context(), p.v, one.ID+1<<40, true), fault.NotFound)

	need(t, p.s.Situate(t.Context(), p.v, map[int64]string{one.ID: "to explain a word"}))
	want(t, "situation", got(p.s.Cases(t.Context(), p.v, 10))(t)[0].Situation, "to explain a word")
	examples := got(p.s.Examples(t.Context(), p.v, one.ID+1<<40, one.ID, one.ID-1<<40))(t)
	want(t, "examples", inWords(examples), "like One?")
	want(t, "examples of another", inWords(got(p.s.Examples(t.Context(), person(t, p.s), one.ID))(t)), "")
	withheldCases(t, p)
}

// withheldCases proves that what a person must not see any more teaches nothing,
// also when it was withheld after they said what they think of it.
func withheldCases(t *testing.T, p taught) {
	before := p.cases(t, 10)
	a := accept(t, p.s, p.v, chat.NewTurn{Message: "Unsafe?"})
	end := answer(a.Run.ID, strings.Repeat("ä", 20<<10))
	end.Message.Meta = map[string]any{"safety": map[string]any{"risk": "high"}}
	closed := closeTurn(t, p.s, p.v, end)
	got(p.s.PutPreference(t.Context(), p.v, learning.Event{ConversationID: a.ConversationID, MessageID: closed.MessageID, Signal: "like", Embedding: direction(0)}))(t)
	want(t, "with one of a risky turn", p.cases(t, 10), before)

	a = accept(t, p.s, p.v, chat.NewTurn{Message: "Long?"})
	closed = closeTurn(t, p.s, p.v, answer(a.Run.ID, strings.Repeat("ä", 20<<10)))
	got(p.s.PutPreference(t.Context(), p.v, learning.Event{ConversationID: a.ConversationID, MessageID: closed.MessageID, Signal: "like", Embedding: direction(0)}))(t)
	list := got(p.s.Cases(t.Context(), p.v, 10))(t)
	want(t, "bytes of a long answer", len(list[len(list)-1].Answer), 16<<10)
}

func sharedCases(t *testing.T, open Open) {
	p := teach(t, open)
	o, third := p.another(t), p.another(t)
	for _, who := range []taught{p, o, third, p, o, third} {
		who.says(t, "Of "+map[string]string{p.v.UserID: "p", o.v.UserID: "o", third.v.UserID: "third"}[who.v.UserID]+"?", learning.Feedback{})
	}
	want(t, "before anybody allowed it", inWords(got(p.s.SharedCases(t.Context(), system, 10))(t)), "")
	for _, who := range []taught{p, o} {
		need(t, who.s.PutLearningSettings(t.Context(), who.v, learning.Settings{Shared: true}))
	}
	want(t, "all", inWords(got(p.s.SharedCases(t.Context(), system, 10))(t)), "like Of p?, like Of o?, like Of p?, like Of o?")
	want(t, "one each", inWords(got(p.s.SharedCases(t.Context(), system, 1))(t)), "like Of p?, like Of o?")
	need(t, o.s.PutLearningSettings(t.Context(), o.v, learning.DefaultSettings()))
	want(t, "after one took leave back", inWords(got(p.s.SharedCases(t.Context(), system, 1))(t)), "like Of p?")
	_, err := p.s.SharedCases(t.Context(), p.v, 10)
	wantFault(t, err, fault.Forbidden)
}

// found is a cluster as a run finds it.
func found(id string) learning.Cluster {
	return learning.Cluster{
		ID: id, Centroid: direction(2), Size: 7, Label: "Emails", Description: "You write emails.", LabelBy: learning.ByRule,
		Samples: []string{nobodysID}, Status: learning.ClusterActive, Reach: 0.375, Strength: 0.75, Encoder: "hash-v1",
	}
}

func (p taught) clusters(t testing.TB, global bool) string {
	t.Helper()
	var words []string
	for _, c := range got(p.s.ListClusters(t.Context(), p.v, global))(t) {
		words = append(words, fmt.Sprint(c.Label, " ", c.LabelBy, " ", c.Status, " ", c.Size, " ", c.Together, c.Apart))
	}
	return strings.Join(words, ", ")
}

func (p taught) put(t testing.TB, of map[int64]string, list ...learning.Cluster) {
	t.Helper()
	need(t, p.s.PutClustering(t.Context(), p.v, learning.Clustering{Clusters: list, Of: of}))
}

func storedClustering(t *testing.T, open Open) {
	p := teach(t, open)
	o := p.another(t)
	mine, other, theirs := p.says(t, "Mine?", learning.Feedback{}), p.says(t, "Other?", learning.Feedback{}), o.says(t, "Theirs?", learning.Feedback{})
	c := found(id.New())
	of := map[int64]string{mine.ID: c.ID, other.ID: "", theirs.ID: c.ID}
	p.put(t, of, c)
	at := p.clock.now()
	stored := func() learning.Cluster { return got(p.s.ListClusters(t.Context(), p.v, false))(t)[0] }
	c.UserID, c.CreatedAt, c.UpdatedAt = p.v.UserID, at, at
	want(t, "stored", fmt.Sprintf("%+v", stored()), fmt.Sprintf("%+v", c))
	in := func(who taught, cluster string) string {
		return inWords(got(who.s.ClusterCases(t.Context(), who.v, cluster, 10))(t))
	}
	want(t, "its events", in(p, c.ID), "like Mine?")
	want(t, "of another person", got(o.s.Cases(t.Context(), o.v, 1))(t)[0].ClusterID, "")

	p.clock.add(1e9)
	p.put(t, of, found(c.ID))
	want(t, "twice", fmt.Sprintf("%+v", stored()), fmt.Sprintf("%+v", c))
	c.Size, c.Status = 8, learning.ClusterRetired
	p.put(t, map[int64]string{mine.ID: ""}, c)
	want(t, "changed", fmt.Sprint(stored().Size, stored().Status, stored().UpdatedAt.Equal(p.clock.now()), stored().CreatedAt.Equal(at)), "8retiredtrue true")
	want(t, "its events", in(p, c.ID), "")

	wantFault(t, p.s.PutClustering(t.Context(), p.v, learning.Clustering{Of: map[int64]string{mine.ID: id.New()}}), fault.Invalid)
	wantFault(t, o.s.PutClustering(t.Context(), o.v, learning.Clustering{Clusters: []learning.Cluster{c}}), fault.Conflict)
	wantFault(t, o.s.PutClustering(t.Context(), o.v, learning.Clustering{Of: map[int64]string{theirs.ID: c.ID}}), fault.Invalid)
	_, err := o.s.ClusterCases(t.Context(), o.v, c.ID, 10)
	wantFault(t, err, fault.NotFound)
}

func namedCluster(t *testing.T, open Open) {
	p := teach(t, open)
	e := p.says(t, "Mine?", learning.Feedback{})
	c := found(id.New())
	p.put(t, map[int64]string{e.ID: c.ID}, c)
	p.learnt(t, e.ID)
	named := c
	named.Label, named.LabelBy = "Letters", learning.ByPerson
	need(t, p.s.PutCluster(t.Context(), p.v, named))
	want(t, "due for a name", p.due(t), false)
	named.Together, named.Apart = [][2]int64{{1, 2}}, [][2]int64{{3, 4}, {5, 6}}
	need(t, p.s.PutCluster(t.Context(), p.v, named))
	want(t, "due for a constraint", p.due(t), true)
	c.Size = 9
	p.put(t, nil, c)
	want(t, "after another run", p.clusters(t, false), "Letters person active 9 [[1 2]] [[3 4] [5 6]]")
	p.learnt(t, e.ID)
	named.Status = learning.ClusterRetired
	need(t, p.s.PutCluster(t.Context(), p.v, named))
	want(t, "retired", p.clusters(t, false), "Letters person retired 9 [[1 2]] [[3 4] [5 6]]")
	p.put(t, nil, c)
	want(t, "retired while a run was under way", p.clusters(t, false), "Letters person retired 9 [[1 2]] [[3 4] [5 6]]")
	want(t, "due for one that retired", p.due(t), true)
	named.Status = learning.ClusterActive
	need(t, p.s.PutCluster(t.Context(), p.v, named))
	c.Status = learning.ClusterRetired
	p.put(t, nil, c)
	want(t, "retired by a run", p.clusters(t, false), "Letters rule retired 9 [[1 2]] [[3 4] [5 6]]")
	wantFault(t, p.s.PutCluster(t.Context(), person(t, p.s), named), fault.NotFound)
	wantFault(t, p.s.PutCluster(t.Context(), p.v, found(id.New())), fault.NotFound)
}

func globalClusters(t *testing.T, open Open) {
	p := teach(t, open)
	e := p.says(t, "Mine?", learning.Feedback{})
	c := found(id.New())
	need(t, p.s.PutClustering(t.Context(), system, learning.Clustering{Clusters: []learning.Cluster{c}, Of: map[int64]string{e.ID: c.ID}}))
	need(t, p.s.PutClustering(t.Context(), system, learning.Clustering{Clusters: []learning.Cluster{c}}))
	want(t, "everybody's", p.clusters(t, true), "Emails rule active 7 [] []")
	want(t, "one's own", p.clusters(t, false), "")
	want(t, "an event", got(p.s.Cases(t.Context(), p.v, 1))(t)[0].ClusterID, "")
	wantFault(t, p.s.PutCluster(t.Context(), p.v, c), fault.NotFound)
	wantFault(t, p.s.PutClustering(t.Context(), p.v, learning.Clustering{Clusters: []learning.Cluster{c}}), fault.Conflict)
	c.Label, c.LabelBy = "Letters", learning.ByPerson
	need(t, p.s.PutCluster(t.Context(), administrator(t, p.s), c))
	want(t, "renamed", p.clusters(t, true), "Letters person active 7 [] []")
}
