package adaptation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

// listed reads a list of texts of a message's meta.
func listed(t testing.TB, about turn, key string) []string {
	t.Helper()
	raw, err := json.Marshal(about.answer.Meta[key])
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// Requirements: PLAT-11 (config evolution), LORA-23 (with zero adapters; with one), ROUTE-12 (a persona the program finds)
func TestThreeNotesMakeAPersonaThatTheNextTurnFollows(t *testing.T) {
	t.Parallel()
	onBoth(t, options{}, threeNotes)
}

// onBoth runs a test on each database.
func onBoth(t *testing.T, o options, f func(t *testing.T, o options)) {
	t.Helper()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		o := o // both run after the loop
		o.postgres = postgres
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, o)
		})
	}
}

// evolved checks that a document's newest version is what a patch made of a draft,
// and that it has a lesson of what was said.
func (h *house) evolved(v identity.Viewer, a artifacts.Artifact, p changes.Patch, events []learning.Event) {
	h.Helper()
	if len(p.Changes) != 1 || p.Changes[0].ArtifactID != a.ID {
		h.Fatalf("the patch changes %+v, not %s", p.Changes, a.ID)
	}
	var lesson learning.Lesson
	for _, l := range h.lessons(v) {
		if slices.Contains(l.Sources, events[0].ID) {
			lesson = l
		}
	}
	before, err := h.library.At(h.Context(), v, a.ID, a.Version-1)
	h.must(err)
	if lesson.ID == "" || !strings.Contains(string(a.Schema), lesson.ID) || !before.IsDraft() || p.Changes[0].Applied != a.Version {
		h.Errorf("the lesson %+v is not in %s, which was %s before; the patch is %+v", lesson, a.Schema, before.Schema, p.Changes[0])
	}
}

func threeNotes(t *testing.T, o options) {
	h := newHouse(t, o)
	var events []learning.Event
	for _, question := range []string{"What is a lemma?", "Why is the sky blue?", "Who wrote Faust?"} {
		about := h.turn(h.ann, question)
		if len(listed(t, about, "adapters")) != 0 || about.answer.Meta["lessons"] != nil {
			t.Fatalf("before anything is learnt, the answer says %v", about.answer.Meta)
		}
		events = append(events, h.says(h.ann, about, learning.Feedback{Signal: "dislike", Notes: "too long, heron"}))
	}
	if a, p := h.adapter(h.ann, "learnt.persona"), h.patches(h.ann); a != nil || len(p) != 0 || len(h.lessons(h.ann)) != 0 {
		t.Fatalf("before the run that learns there are %+v and %+v", a, p)
	}
	h.learn(h.ann)
	a := h.adapter(h.ann, "learnt.persona")
	if a == nil || a.IsDraft() || a.Version != 2 {
		t.Fatalf("the adapter is %+v; lessons %+v", a, h.lessons(h.ann))
	}
	p := h.patches(h.ann)
	if len(p) != 1 || p[0].Status != changes.Applied || !strings.Contains(p[0].Justification, "no language model is configured") || !strings.Contains(string(p[0].Found), `"code":"untried_no_model"`) {
		t.Errorf("the patches are %+v", p)
	}
	h.evolved(h.ann, *a, p[0], events)
	about := h.turn(h.ann, "What is a theorem?")
	if got := listed(t, about, "adapters"); len(got) != 1 || got[0] != a.ID {
		t.Errorf("the next answer was made with %v", about.answer.Meta)
	}
	if got := listed(t, about, "lessons"); len(got) == 0 || got[0] != h.lessons(h.ann)[0].ID {
		t.Errorf("it followed %v", got)
	}
	if other := h.turn(h.bob, "What is a theorem?"); len(listed(t, other, "adapters")) != 0 {
		t.Errorf("another person's answer was made with %v", other.answer.Meta)
	}
	for _, text := range append(h.kept, string(a.Schema), p[0].Justification) {
		if strings.Contains(text, "heron") || strings.Contains(text, "Faust") && strings.Contains(text, "learn") {
			t.Errorf("what people wrote stands in %s", text)
		}
	}
	for _, e := range events {
		if _, err := h.recorder.TakeBack(t.Context(), h.ann, learning.Retraction{ID: e.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if about := h.turn(h.ann, "And a corollary?"); about.answer.Meta["lessons"] != nil || len(h.lessons(h.ann)) != 0 {
		t.Errorf("the notes are gone, and the answer still follows %v", about.answer.Meta["lessons"])
	}
}
