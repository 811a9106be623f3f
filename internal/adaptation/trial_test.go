package adaptation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/run"
)

// within is one more turn of a conversation.
func (h *house) within(v identity.Viewer, conversation, message string) turn {
	h.Helper()
	a, err := h.store.Accept(h.Context(), v, chat.NewTurn{ConversationID: conversation, Message: message, RequestID: id.New(), NoContext: true, Locale: v.Locale})
	h.must(err)
	if status := h.begin(v, a.Run); status != run.Done {
		h.Fatalf("the turn ended %s", status)
	}
	m, err := h.store.Message(h.Context(), v, chat.AnswerID(a.Run.ID))
	h.must(err)
	return turn{conversation: conversation, answer: m}
}

// tried is a persona of ann's with a version on trial, which lists one lesson
// more than the one before.
func (h *house) tried() (a artifacts.Artifact, p changes.Patch, more string) {
	h.Helper()
	h.complains(h.ann, 3)
	h.learn(h.ann)
	if a := h.adapter(h.ann, "learnt.persona"); a == nil || a.Rollout != nil {
		h.Fatalf("the first version is %+v", a)
	}
	was := h.follows(h.ann)
	for _, question := range questions[4:7] {
		h.says(h.ann, h.turn(h.ann, question), learning.Feedback{Signal: "dislike", Notes: "no lists please"})
	}
	h.learn(h.ann)
	now := h.adapter(h.ann, "learnt.persona")
	if now.Rollout == nil || now.Rollout.Share != 50 || now.Rollout.From != 2 {
		h.Fatalf("what was learnt next is on trial %+v; lessons %+v", now.Rollout, h.lessons(h.ann))
	}
	for _, l := range h.lessons(h.ann) {
		if !slices.Contains(was, l.ID) {
			more = l.ID
		}
	}
	return *now, h.patches(h.ann)[0], more
}

// few says that a half of the conversations asked so far is smaller than the tests
// need. Which half one is of is chance, so more are asked where that is so, within
// bounds.
func few(asked int, halves ...[]turn) bool {
	return asked < 300 && slices.ContainsFunc(halves, func(half []turn) bool { return len(half) < 10 })
}

// halves are the conversations of so many new ones that follow a lesson, and
// those that do not; each is asked twice. While a version is tried, each half has
// what the tests need.
func (h *house) halves(lesson string, n int, tried bool) (with, without []turn) {
	h.Helper()
	for i := 0; i < n || tried && few(i, with, without); i++ {
		about := h.turn(h.ann, fmt.Sprint("What is the number ", i, "?"))
		again := h.within(h.ann, about.conversation, "And its square?")
		follows := slices.Contains(listed(h, about, "lessons"), lesson)
		if follows != slices.Contains(listed(h, again, "lessons"), lesson) {
			h.Fatal("a conversation changes sides")
		}
		if follows {
			with = append(with, about)
		} else {
			without = append(without, about)
		}
	}
	return with, without
}

func TestAVersionOnTrialTakesHalfOfItsPersonsConversations(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	a, p, more := h.tried()
	with, without := h.halves(more, 40, true)
	if len(with) < 10 || len(without) < 10 {
		t.Fatalf("%d conversations try it, %d do not", len(with), len(without))
	}
	if len(listed(t, without[0], "lessons")) == 0 {
		t.Error("the others follow nothing")
	}
	for _, about := range with[:3] {
		h.says(h.ann, about, learning.Feedback{Signal: "like"})
	}
	w, err := h.desk.Watch(t.Context(), h.ann, p.ID)
	h.must(err)
	if w.Runs != (changes.TwoOf{Before: 2 * len(without), After: 2 * len(with)}) || len(w.Rows) != 3 || len(w.Rules) != 1 || w.Rules[0].Met || w.Over {
		t.Errorf("it is watched by %+v", w)
	}
	h.pass(25 * time.Hour)
	look, err := h.desk.StepWatch(t.Context(), p.ID)
	h.must(err)
	if now := h.adapter(h.ann, "learnt.persona"); !look.Over || now.Rollout != nil || now.Version != a.Version {
		t.Errorf("after a day it is over: %v; on trial %+v", look.Over, now.Rollout)
	}
	if _, rest := h.halves(more, 12, false); len(rest) != 0 {
		t.Errorf("after the trial %d of 12 conversations do not follow it", len(rest))
	}
}

// Requirements: TRAIN-07 (else the version before stays pinned)
func TestWhatIsLikedLessGoesBackByRule(t *testing.T) {
	t.Parallel()
	onBoth(t, options{}, likedLess)
}

func likedLess(t *testing.T, o options) {
	h := newHouse(t, o)
	a, p, more := h.tried()
	// The same version with other weights: they are tried, and go back, alike.
	_, err := h.desk.Promote(t.Context(), h.ann, p.ID)
	h.must(err)
	a = *h.adapter(h.ann, "learnt.persona")
	p, err = h.desk.ProposeLearned(t.Context(), h.ann, changes.Proposal{
		ArtifactID: a.ID, Justification: "Trained.", Patch: json.RawMessage(`[{"op":"add","path":"/current_version","value":2},{"op":"add","path":"/weight","value":0.5}]`),
	})
	h.must(err)
	p, err = h.desk.ByRule(t.Context(), p.ID, changes.Ruling{Rule: "gate of policy.learning v1"}, changes.RolloutPlan{Share: 50, Hours: 24, RollBack: true})
	h.must(err)
	by := map[int][]turn{}
	for i := 0; i < 40 || few(i, by[a.Version], by[a.Version+1]); i++ {
		about := h.turn(h.ann, fmt.Sprint("What is the number ", i, "?"))
		version := h.version(about, a.ID)
		by[version] = append(by[version], about)
	}
	if len(by) != 2 || len(by[a.Version]) < 10 || len(by[a.Version+1]) < 10 {
		t.Fatalf("%d and %d conversations take the versions", len(by[a.Version]), len(by[a.Version+1]))
	}
	for _, about := range by[a.Version][:4] {
		h.says(h.ann, about, learning.Feedback{Signal: "like"})
	}
	say := func(n int, signal string) {
		for _, about := range by[a.Version+1][:n] {
			h.says(h.ann, about, learning.Feedback{Signal: signal})
		}
	}
	say(7, "like")
	say(1, "dislike")
	look, err := h.desk.StepWatch(t.Context(), p.ID)
	h.must(err)
	if look.Over || look.Verdict != "fine" {
		t.Fatalf("with one of seven disliked: %+v", look)
	}
	say(2, "dislike")
	look, err = h.desk.StepWatch(t.Context(), p.ID)
	h.must(err)
	back := h.adapter(h.ann, "learnt.persona")
	if !look.Over || back.Version != a.Version+2 || back.Rollout != nil || string(back.Schema) != string(a.Schema) {
		t.Fatalf("with two of seven disliked: %+v; version %d, %s", look, back.Version, back.Schema)
	}
	if got := h.follows(h.ann); !slices.Contains(got, more) {
		t.Errorf("the version before is not followed: %v", got)
	}
	view, err := h.desk.Get(t.Context(), h.ann, p.ID)
	h.must(err)
	if last := view.Events[len(view.Events)-1]; view.Status != changes.RolledBack || last.What != "rolled_back" || last.Reason == "" {
		t.Errorf("its way ends with %+v", last)
	}
}

// version is the version of an adapter that an answer's run has pinned.
func (h *house) version(about turn, adapterID string) int {
	h.Helper()
	r, err := h.store.Run(h.Context(), h.ann, about.answer.RunID)
	h.must(err)
	i := slices.IndexFunc(r.Pins, func(p run.Pin) bool { return p.ArtifactID == adapterID })
	if i < 0 {
		h.Fatalf("the run has pinned %+v", r.Pins)
	}
	return r.Pins[i].Version
}
