package adaptation_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/run"
)

// questions are about nothing that the others are about.
var questions = []string{
	"What is a lemma?", "Why is the sky blue?", "Who wrote Faust?", "How do I boil an egg?", "When did Rome fall?", "Where is Lake Titicaca?",
	"Which metal melts first?", "Does a whale sleep?", "Can cheese be frozen?", "Is the moon hollow?", "Should I prune roses in March?",
	"How many strings has a cello?", "Whose portrait hangs in the Louvre?", "What makes bread rise?", "Why do cats purr?", "How far is Mars?",
}

// complains lets v find so many answers too long.
func (h *house) complains(v identity.Viewer, n int) (events []learning.Event) {
	h.Helper()
	for _, question := range questions[:n] {
		events = append(events, h.says(v, h.turn(v, question), learning.Feedback{Signal: "dislike", Notes: "too long"}))
	}
	return events
}

// follows are the lessons that v's next answer followed.
func (h *house) follows(v identity.Viewer) []string {
	h.Helper()
	return listed(h, h.turn(v, "What is a theorem?"), "lessons")
}

// one is the only patch that was learnt from v.
func (h *house) one(v identity.Viewer) changes.Patch {
	h.Helper()
	list := h.patches(v)
	if len(list) != 1 {
		h.Fatalf("%d patches were learnt: %+v", len(list), list)
	}
	return list[0]
}

func TestWhatAPersonTookBackIsLearntAgainOnlyFromWhatTheySaySince(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	h.complains(h.ann, 3)
	h.learn(h.ann)
	if len(h.follows(h.ann)) == 0 {
		t.Fatal("nothing is followed")
	}
	if _, err := h.desk.RollBack(t.Context(), h.ann, h.one(h.ann).ID, "I want them long"); err != nil {
		t.Fatal(err)
	}
	if got := h.follows(h.ann); len(got) != 0 {
		t.Errorf("taken back, and %v is followed", got)
	}
	h.learn(h.ann)
	if p := h.one(h.ann); p.Status != changes.RolledBack || len(h.follows(h.ann)) != 0 {
		t.Errorf("it was learnt again: %s", p.Status)
	}
	h.says(h.ann, h.turn(h.ann, questions[5]), learning.Feedback{Signal: "dislike", Notes: "too long"})
	h.learn(h.ann)
	if len(h.patches(h.ann)) != 2 || len(h.follows(h.ann)) == 0 {
		t.Errorf("said once more, it is not learnt: %+v", h.patches(h.ann))
	}
}

// Requirements: CFG-04
func TestWhoWantsToBeAskedIsAsked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	h.must(h.store.PutLearningSettings(t.Context(), h.ann, learning.Settings{Personal: true}))
	h.complains(h.ann, 3)
	h.learn(h.ann)
	p := h.one(h.ann)
	if p.Status != changes.Pending || len(h.follows(h.ann)) != 0 {
		t.Fatalf("without being asked it is %s", p.Status)
	}
	h.learn(h.ann) // nothing new: the same patch waits
	if again := h.one(h.ann); again.ID != p.ID || again.Status != changes.Pending {
		t.Errorf("patch %d is %s", again.ID, again.Status)
	}
	_, err := h.desk.Decide(t.Context(), h.ann, p.ID, changes.Decision{Approve: true})
	h.must(err)
	_, err = h.desk.Apply(t.Context(), h.ann, p.ID, changes.RolloutPlan{})
	h.must(err)
	if len(h.follows(h.ann)) == 0 {
		t.Error("approved and applied, it is not followed")
	}
}

func TestALessonThatIsSwitchedOffIsNotToldAnyMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	h.complains(h.ann, 3)
	h.learn(h.ann)
	off, was := learning.LessonOff, h.follows(h.ann)
	for _, id := range was {
		_, err := h.store.ChangeLesson(t.Context(), h.ann, id, learning.LessonChange{State: &off})
		h.must(err)
	}
	if got := h.follows(h.ann); len(was) == 0 || len(got) != 0 {
		t.Errorf("of %v still %v are followed", was, got)
	}
	h.learn(h.ann)
	if got := h.follows(h.ann); len(got) != 0 {
		t.Errorf("the next run brought back %v", got)
	}
}

func TestWhereNothingIsToBeLearntNothingIs(t *testing.T) {
	t.Parallel()
	t.Run("by the person's wish", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, options{})
		h.complains(h.ann, 3)
		h.must(h.store.PutLearningSettings(t.Context(), h.ann, learning.Settings{ByRule: true}))
		h.learn(h.ann)
		if len(h.lessons(h.ann)) != 0 || len(h.patches(h.ann)) != 0 {
			t.Errorf("learnt %+v", h.lessons(h.ann))
		}
	})
	t.Run("by a wish that came later", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, options{})
		h.complains(h.ann, 3)
		h.learn(h.ann)
		h.must(h.store.PutLearningSettings(t.Context(), h.ann, learning.Settings{ByRule: true}))
		h.steps.Forget(t.Context(), h.ann.UserID)
		if got := h.follows(h.ann); len(got) != 0 {
			t.Errorf("%v is followed", got)
		}
	})
	t.Run("by the settings of the program", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, options{off: true})
		h.complains(h.ann, 3)
		h.learn(h.ann)
		if len(h.lessons(h.ann)) != 0 || slices.Contains(h.called, "lesson.derive_v1") {
			t.Errorf("learnt %+v by %v", h.lessons(h.ann), h.called)
		}
	})
}

// What a gate found could be made up by whoever calls the tool by hand.
//
// Requirements: CFG-13
func TestOnlyTheRunThatLearnsProposes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	r := run.Run{ID: id.New(), WorkflowID: "tool:x", Kind: run.KindTool, UserID: h.ann.UserID, Status: run.Running, Input: json.RawMessage(`{}`)}
	h.must(h.store.CreateRun(t.Context(), h.ann, r))
	if _, err := h.steps.Propose(t.Context(), h.ann, r.ID, "", nil, gated("rule")); !errors.Is(err, fault.Forbidden) {
		t.Errorf("proposed in a run of a tool: %v", err)
	}
}

// A worker may die after a step was done and before anybody heard of it.
func TestStepsThatAreDoneTwiceAreDoneOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	h.complains(h.ann, 3)
	h.die = func(string) bool { return true }
	h.learn(h.ann)
	a := h.adapter(h.ann, "learnt.persona")
	if p := h.one(h.ann); p.Status != changes.Applied || a == nil || a.Version != 2 {
		t.Errorf("the patch is %s, the adapter %+v", p.Status, a)
	}
	if n := len(h.lessons(h.ann)); n == 0 || n != len(h.follows(h.ann)) {
		t.Errorf("%d lessons are kept, %v followed", n, h.follows(h.ann))
	}
	h.pass(time.Hour)
	h.learn(h.ann)
	h.one(h.ann)
}

// Requirements: CLUS-01 (periodic)
func TestWhoHasSomethingNewToLearnFromIsDueUntilItWasRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{})
	due := func() bool {
		list, err := h.store.Learners(t.Context(), identity.System(), 10)
		h.must(err)
		return slices.Contains(list, h.ann.UserID)
	}
	h.complains(h.ann, 3)
	if !due() {
		t.Fatal("after three notes nobody is due")
	}
	if h.learn(h.ann); due() {
		t.Error("what was read is due again")
	}
}

func TestALessonThatIsRemovedComesBackOnlyFromWhatIsSaidSince(t *testing.T) {
	t.Parallel()
	onBoth(t, options{}, removedLesson)
}

func removedLesson(t *testing.T, o options) {
	h := newHouse(t, o)
	h.complains(h.ann, 3)
	h.learn(h.ann)
	list := h.lessons(h.ann)
	if len(list) != 1 {
		t.Fatalf("learnt %+v", list)
	}
	h.must(h.store.RemoveLesson(t.Context(), h.ann, list[0].ID))
	if got := h.follows(h.ann); len(got) != 0 {
		t.Errorf("removed, %v is followed", got)
	}
	for range 2 {
		h.learn(h.ann)
		if got := h.lessons(h.ann); len(got) != 0 {
			t.Fatalf("it was read again out of the same notes: %+v", got)
		}
	}
	h.says(h.ann, h.turn(h.ann, questions[9]), learning.Feedback{Signal: "like"}) // not for it
	h.learn(h.ann)
	if got := h.lessons(h.ann); len(got) != 0 {
		t.Errorf("another word brought it back: %+v", got)
	}
	h.says(h.ann, h.turn(h.ann, questions[10]), learning.Feedback{Signal: "dislike", Notes: "too long"})
	h.learn(h.ann)
	if got := h.lessons(h.ann); len(got) != 1 || got[0].ID != list[0].ID || got[0].Text != list[0].Text || got[0].State != learning.LessonActive {
		t.Errorf("said once more, it is not learnt: %+v", got)
	}
}
