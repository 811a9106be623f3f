package adaptation_test

import (
	"slices"
	"strings"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/lora/fit"
)

// Two people want the opposite of each other: one lists, the other one sentence.
// Both train on one base, in one process that answers both from one cache of
// adapters. Each gets their own manner, of things they never spoke of, and not the
// other's; whoever taught nothing is answered as before, word for word.
//
// Requirements: TRAIN-17 (the running platform trains and applies it), ISO-01
func TestTwoPeopleWithOppositeWishesGetTheirOwnManner(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: here{}})
	const taught = 16 // of the things the base knows; the others are asked about
	var asked []string
	for thing := taught; thing < fit.Things(); thing++ {
		asked = append(asked, fit.Ask(thing, 0))
	}
	wants := []struct {
		who  identity.Viewer
		form fit.Form
	}{{h.ann, fit.Listed}, {h.bob, fit.Short}}
	before := h.toEach(h.root, asked)
	for _, w := range wants {
		for thing := range taught {
			about := h.turn(w.who, fit.Ask(thing, 0))
			h.says(w.who, about, learning.Feedback{Signal: "dislike", Corrected: fit.Answer(thing, w.form)})
		}
		h.learn(w.who)
	}
	h.sweep()
	for _, w := range wants {
		j := h.job(w.who)
		if j.Stage != learning.StageDone || j.Version != 1 {
			t.Fatalf("the training for %s ended %s at %s: %s", w.form, j.Status, j.Stage, j.Reason)
		}
		// Half of their conversations try it; all take it from here.
		p := h.patches(w.who)[0]
		if _, err := h.desk.Promote(t.Context(), w.who, p.ID); err != nil {
			t.Errorf("%s: patch %d is %s: %v", w.form, p.ID, p.Status, err)
		}
	}
	got := [2][]string{}
	for _, question := range asked { // by turns
		for i, w := range wants {
			got[i] = append(got[i], h.turn(w.who, question).answer.Content)
		}
	}
	kept := func(answers []string, form fit.Form) (n int) {
		for _, a := range answers {
			if form.Keeps(a) {
				n++
			}
		}
		return n
	}
	for i, w := range wants {
		own, others := kept(got[i], w.form), kept(got[i], wants[1-i].form)
		t.Logf("%s: %d of %d, the other's %d, before %d; %q", w.form, own, len(asked), others, kept(before, w.form), got[i][0])
		// A list of so small a model that breaks off reads as one sentence, too.
		if own < len(asked)/2 || 2*others > own {
			t.Errorf("who wants %s gets it in %d of %d answers, and the other's in %d: %s", w.form, own, len(asked), others, strings.Join(got[i], " | "))
		}
	}
	if after := h.toEach(h.root, asked); !slices.Equal(after, before) {
		t.Errorf("who taught nothing is answered %q, before %q", after, before)
	}
}

// toEach are answers to v, one a question, each in a conversation of its own.
func (h *house) toEach(v identity.Viewer, questions []string) (out []string) {
	h.Helper()
	for _, question := range questions {
		out = append(out, h.turn(v, question).answer.Content)
	}
	return out
}
