package storetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Recordings proves run.Recordings, and what is counted by them.
func Recordings(t *testing.T, open Open) {
	t.Run("a recording comes with the end of its run", func(t *testing.T) { recordedEnd(t, open) })
	t.Run("a turn is recorded with its message", func(t *testing.T) { recordedTurn(t, open) })
	t.Run("a recording goes with its run", func(t *testing.T) { recordingGoes(t, open) })
	t.Run("a run ends whatever its recording says", func(t *testing.T) { oddRecording(t, open) })
	t.Run("recordings are narrowed", func(t *testing.T) { narrowRecordings(t, open) })
	t.Run("recordings are the system's to read, and one's own", func(t *testing.T) { whoseRecordings(t, open) })
	t.Run("recordings are forgotten, the oldest first", func(t *testing.T) { forgetRecordings(t, open) })
	t.Run("recordings beyond a bound by count are forgotten, the oldest first", func(t *testing.T) { forgetExcess(t, open) })
	t.Run("recordings a change under way is judged by are spared", func(t *testing.T) { sparedRecordings(t, open) })
	t.Run("a thousand recordings of a watched version are spared and no more", func(t *testing.T) { sparedThousand(t, open) })
	t.Run("what people said is counted by version and by run", func(t *testing.T) { ratings(t, open) })
}

func recorded(graph run.Pin) *run.Recording {
	return &run.Recording{
		Graph: graph, Policy: run.Pin{ArtifactID: id.Derive("policy"), Name: "p", Version: 4}, Branch: "b1", Node: "n", Code: "timeout",
		Asked: 2, Skipped: 1, ModelCalls: 3, ToolCalls: 4, CostUSD: 0.25, MS: 1234, Body: []byte("\x00\xffbody"),
	}
}

func pin(name string, version int) run.Pin {
	return run.Pin{ArtifactID: id.Derive("graph", name), Name: name, Version: version}
}

// leave is a run of a person that ends and leaves a recording.
func leave(t testing.TB, s *store.Store, v identity.Viewer, rec *run.Recording) string {
	t.Helper()
	r := job(v, id.New())
	r.Kind = run.KindGraph
	need(t, s.CreateRun(t.Context(), v, r))
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Done, Recording: rec}))
	return r.ID
}

func recordedEnd(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	r := job(v, "w")
	need(t, s.CreateRun(t.Context(), v, r))
	c.add(time.Minute)
	rec := recorded(pin("g", 3))
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Failed, Recording: rec}))
	whole := *rec
	whole.RunID, whole.UserID, whole.Kind, whole.Status, whole.At = r.ID, v.UserID, r.Kind, run.Failed, c.now()
	want(t, "stored", plain(got(s.Recording(t.Context(), v, r.ID))(t)), plain(whole))
	need(t, s.EndRun(t.Context(), v, r.ID, run.End{Status: run.Done, Recording: recorded(pin("other", 1))}))
	want(t, "after another end", plain(got(s.Recording(t.Context(), system, r.ID))(t)), plain(whole))
	head := whole
	head.Body = nil
	want(t, "head", plain(got(s.Recordings(t.Context(), system, run.RecordingFilter{}))(t)), plain([]run.Recording{head}))
	bodies := got(s.RecordingBodies(t.Context(), system, r.ID, id.New()))(t)
	want(t, "bodies", fmt.Sprint(len(bodies), string(bodies[r.ID])), fmt.Sprint(1, string(rec.Body)))
	unrecorded := leave(t, s, v, nil)
	_, err := s.Recording(t.Context(), v, unrecorded)
	wantFault(t, err, fault.NotFound)
}

func recordedTurn(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	end := answer(a.Run.ID, "y")
	end.End.Recording = recorded(pin("g", 1))
	closeTurn(t, s, v, end)
	closeTurn(t, s, v, end)
	want(t, "kind", got(s.Recording(t.Context(), v, a.Run.ID))(t).Kind, run.KindChat)
}

func recordingGoes(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "x"})
	end := answer(a.Run.ID, "y")
	end.End.Recording = recorded(pin("g", 1))
	closeTurn(t, s, v, end)
	leave(t, s, other, recorded(pin("g", 1)))
	need(t, s.DeleteConversation(t.Context(), v, a.ConversationID))
	want(t, "after its conversation", len(got(s.Recordings(t.Context(), system, run.RecordingFilter{}))(t)), 1)
	got(s.DeleteUser(t.Context(), other.UserID))(t)
	want(t, "after its person", len(got(s.Recordings(t.Context(), system, run.RecordingFilter{}))(t)), 0)
}

func oddRecording(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v := person(t, s)
	for _, odd := range []run.Recording{
		{},
		{Graph: run.Pin{ArtifactID: "no id", Name: "\x00"}, Branch: "\xff", Node: "\x00", Code: "\x00", CostUSD: math.NaN()},
		{RunID: "no id", UserID: "nobody", Kind: "odd", Status: "odd", CostUSD: math.Inf(1)},
	} {
		runID := leave(t, s, v, &odd)
		want(t, "whose", got(s.Recording(t.Context(), v, runID))(t).UserID, v.UserID)
		want(t, "how it ended", got(s.Recording(t.Context(), v, runID))(t).Status, run.Done)
	}
}

func narrowRecordings(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	policy := run.Pin{ArtifactID: id.Derive("policy", "q"), Name: "q", Version: 1}
	made := make([]string, 0, 4)
	for i, rec := range []*run.Recording{recorded(pin("g", 1)), recorded(pin("g", 2)), recorded(pin("h", 2)), recorded(pin("g", 2))} {
		if i == 3 {
			rec.Policy = policy
		}
		made = append(made, leave(t, s, v, rec))
		c.add(time.Hour)
	}
	start := newClock().now()
	for name, test := range map[string]struct {
		f    run.RecordingFilter
		want []string
	}{
		"all, the newest first": {run.RecordingFilter{}, []string{made[3], made[2], made[1], made[0]}},
		"graph":                 {run.RecordingFilter{GraphID: pin("g", 0).ArtifactID}, []string{made[3], made[1], made[0]}},
		"version":               {run.RecordingFilter{GraphID: pin("g", 0).ArtifactID, Version: 2}, []string{made[3], made[1]}},
		"policy":                {run.RecordingFilter{PolicyID: policy.ArtifactID}, []string{made[3]}},
		"version of the policy": {run.RecordingFilter{PolicyID: id.Derive("policy"), Version: 4, Limit: 2}, []string{made[2], made[1]}},
		"since":                 {run.RecordingFilter{Since: start.Add(2 * time.Hour)}, []string{made[3], made[2]}},
		"until":                 {run.RecordingFilter{Until: start.Add(time.Hour)}, []string{made[0]}},
		"kind":                  {run.RecordingFilter{Kind: run.KindChat}, nil},
		"person":                {run.RecordingFilter{UserID: v.UserID, Limit: 1}, []string{made[3]}},
		"somebody else":         {run.RecordingFilter{UserID: id.New()}, nil},
	} {
		var ids []string
		for _, r := range got(s.Recordings(t.Context(), system, test.f))(t) {
			ids = append(ids, r.RunID)
		}
		t.Log(name)
		wantLines(t, ids, test.want)
	}
}

func whoseRecordings(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, stranger, admin := person(t, s), person(t, s), administrator(t, s)
	runID := leave(t, s, v, recorded(pin("g", 1)))
	for _, other := range []identity.Viewer{stranger, admin} {
		_, err := s.Recording(t.Context(), other, runID)
		wantFault(t, err, fault.NotFound)
	}
	for _, anybody := range []identity.Viewer{v, stranger, admin} {
		_, err := s.Recordings(t.Context(), anybody, run.RecordingFilter{})
		wantFault(t, err, fault.Forbidden)
		_, err = s.RecordingBodies(t.Context(), anybody, runID)
		wantFault(t, err, fault.Forbidden)
		_, err = s.ForgetRecordings(t.Context(), anybody, time.Now())
		wantFault(t, err, fault.Forbidden)
		_, err = s.ExcessRecordings(t.Context(), anybody, time.Time{}, 1)
		wantFault(t, err, fault.Forbidden)
		_, err = s.ForgetExcess(t.Context(), anybody, store.Excess{})
		wantFault(t, err, fault.Forbidden)
	}
	_, err := s.RecordingBodies(t.Context(), system, make([]string, 5001)...)
	wantFault(t, err, fault.Invalid)
}

func forgetRecordings(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	old := leave(t, s, v, recorded(pin("g", 1)))
	c.add(time.Hour)
	fresh := leave(t, s, v, recorded(pin("g", 1)))
	want(t, "forgotten", got(s.ForgetRecordings(t.Context(), system, c.now()))(t), 1)
	want(t, "left", got(s.Recordings(t.Context(), system, run.RecordingFilter{}))(t)[0].RunID, fresh)
	want(t, "run", got(s.Run(t.Context(), v, old))(t).Status, run.Done)
	want(t, "again", got(s.ForgetRecordings(t.Context(), system, c.now()))(t), 0)
}

// excess forgets one round of what is beyond a bound.
func excess(t *testing.T, s *store.Store, most int) int {
	t.Helper()
	return got(s.ForgetExcess(t.Context(), system, got(s.ExcessRecordings(t.Context(), system, newClock().now(), most))(t)))(t)
}

func left(t *testing.T, s *store.Store) (ids []string) {
	t.Helper()
	for _, r := range got(s.Recordings(t.Context(), system, run.RecordingFilter{}))(t) {
		ids = append(ids, r.RunID)
	}
	return ids
}

func forgetExcess(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Now: c.now}).Store
	v := person(t, s)
	var made []string // the newest first
	for range 5 {
		c.add(time.Hour)
		made = append([]string{leave(t, s, v, recorded(pin("g", 1)))}, made...)
	}
	for _, most := range []int{0, 6, 5} {
		want(t, fmt.Sprint("forgotten with a bound of ", most), excess(t, s, most), 0)
	}
	want(t, "forgotten", excess(t, s, 3), 2)
	wantLines(t, left(t, s), made[:3])
	want(t, "run", got(s.Run(t.Context(), v, made[4]))(t).Status, run.Done)
	want(t, "again", excess(t, s, 3), 0)
	late := got(s.ExcessRecordings(t.Context(), system, c.now(), 2))(t)
	want(t, "where older ones go by their age", got(s.ForgetExcess(t.Context(), system, late))(t), 0)
	leave(t, s, v, recorded(pin("g", 1))) // at the time of the newest
	want(t, "forgotten beside one of the same time", excess(t, s, 1), 2)
	want(t, "left of the same time", len(left(t, s)), 2)
}

// watching is a proposal about an artifact, whose second version is watched.
func (g stage) watching(t *testing.T, kind, name string) changes.Patch {
	t.Helper()
	c := changeOf(g.workflow(t, name))
	c.Kind = kind
	p, _, err := g.s.CreatePatch(t.Context(), g.by, proposed(g.by, c), nil, event(g.by, "proposed", "it helps"))
	need(t, err)
	got(g.s.TransitionPatch(t.Context(), system, changes.Transition{PatchID: p.ID, Stage: changes.Deciding, Event: changes.Event{What: "checked"}}))(t)
	g.ask(t, p, "decide#1")
	p = g.approve(t, p)
	return got(g.s.TransitionPatch(t.Context(), g.admin, applying(p, g.admin)))(t).Patch
}

func sparedRecordings(t *testing.T, open Open) {
	g := newStage(t, open)
	waiting := g.propose(t, g.workflow(t, "waiting")) // for a person
	patches := []changes.Patch{waiting}
	var spared []string // the newest first
	keep := func(rec run.Recording) {
		g.clock.add(time.Minute)
		spared = append([]string{leave(t, g.s, g.by, &rec)}, spared...)
	}
	for _, kind := range []string{artifacts.KindWorkflow, artifacts.KindPolicy} {
		p := g.watching(t, kind, kind)
		patches = append(patches, p)
		for version := 1; version <= 3; version++ { // of the third nothing is asked
			one := run.Pin{ArtifactID: p.Changes[0].ArtifactID, Name: "w", Version: version}
			rec := run.Recording{Graph: one}
			if kind == artifacts.KindPolicy {
				rec = run.Recording{Policy: one}
			}
			if version == 3 {
				leave(t, g.s, g.by, &rec)
				continue
			}
			keep(rec)
		}
	}
	keep(run.Recording{Graph: run.Pin{ArtifactID: waiting.Changes[0].ArtifactID, Version: 1}})
	for range 3 {
		leave(t, g.s, g.by, recorded(pin("busy", 1)))
		leave(t, g.s, g.by, &run.Recording{}) // that followed nothing
	}
	keep(run.Recording{}) // the newest there is
	want(t, "forgotten while they are under way", excess(t, g.s, 1), 8)
	wantLines(t, left(t, g.s), spared)
	for _, p := range patches {
		got(g.s.TransitionPatch(t.Context(), system, changes.Transition{PatchID: p.ID, Stage: changes.Settled, Event: changes.Event{What: "watched"}}))(t)
	}
	want(t, "forgotten after", excess(t, g.s, 1), 5)
	wantLines(t, left(t, g.s), spared[:1])
}

func sparedThousand(t *testing.T, open Open) {
	g := newStage(t, open)
	a := g.watching(t, artifacts.KindWorkflow, "a").Changes[0]
	var oldest string
	for i := range 1002 {
		g.clock.add(time.Second)
		of := leave(t, g.s, g.by, &run.Recording{Graph: run.Pin{ArtifactID: a.ArtifactID, Version: a.Base}})
		if i == 2 {
			oldest = of
		}
	}
	g.clock.add(time.Second)
	leave(t, g.s, g.by, &run.Recording{})
	want(t, "forgotten", excess(t, g.s, 1), 2)
	ids := left(t, g.s)
	want(t, "left", len(ids), 1001)
	want(t, "the oldest of them", ids[len(ids)-1], oldest)
}

func ratings(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v := person(t, s)
	var said []string // the runs
	say := func(conversationID, messageID string, score float64) {
		c.add(time.Second)
		got(s.PutPreference(t.Context(), v, learning.Event{
			ConversationID: conversationID, MessageID: messageID, Signal: "said", Score: score, Embedding: direction(0), Meta: map[string]any{},
		}))(t)
	}
	turn := func(graph run.Pin, signals ...float64) (conversationID, answerID string) {
		a := accept(t, s, v, chat.NewTurn{Message: "x"})
		end := answer(a.Run.ID, "y")
		end.End.Recording = recorded(graph)
		said = append(said, a.Run.ID)
		closed := closeTurn(t, s, v, end)
		for _, score := range signals {
			say(a.ConversationID, closed.MessageID, score)
		}
		return a.ConversationID, closed.MessageID
	}
	start := c.now()
	turn(pin("g", 1), 1)
	turn(pin("g", 1), 1, -1) // the last word counts
	talk, about := turn(pin("g", 1), 1)
	for range 3 { // copies of an answer are not more answers
		copied := branchOf(t, s, v, talk, about)
		say(copied.ConversationID, copied.ID, -1)
	}
	turn(pin("g", 2), 1)
	turn(pin("h", 1), -1)
	turn(pin("g", 1))
	c.add(time.Hour)
	later := c.now()
	turn(pin("g", 1), -1)
	graph := pin("g", 1).ArtifactID
	up, down, err := s.Rated(t.Context(), graph, 1, start, later)
	need(t, err)
	want(t, "by version", fmt.Sprint(up, down), "1 2")
	up, down, err = s.Rated(t.Context(), graph, 1, later, later.Add(time.Hour))
	need(t, err)
	want(t, "later", fmt.Sprint(up, down), "0 1")
	want(t, "by run", plain(got(s.RatedRuns(t.Context(), start))(t)),
		plain(map[string]int{said[0]: 1, said[1]: -1, said[2]: -1, said[3]: 1, said[4]: -1, said[6]: -1}))
	want(t, "by later runs", len(got(s.RatedRuns(t.Context(), later))(t)), 1)
}
