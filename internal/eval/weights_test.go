package eval

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
)

// A model of some 90,000 numbers learns little, and nothing by chance: weights
// that are trained with corrections and followed by answers have more of them in
// the form that was wished for, about things nobody judged an answer of.
func TestWeightsOfSimulatedPeopleAreTrainedAndFollowed(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "little")
	_, err := fit.Make(t.Context(), fit.Plan{
		Dir: base, Texts: []string{strings.Repeat("The keeper drains the lake every autumn. ", 20)},
		Shape: llm.NewConfig(2, 64, 4, 2, 128, 600, 256), Steps: 250, Batch: 8, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	r, err := Weights(t.Context(), WeightsOptions{Base: base, Seed: 1, People: 1, Scratch: t.TempDir(), Progress: &told})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + told.String())
	if len(r.Groups) != 2 || r.Model != "little" {
		t.Fatalf("%+v", r)
	}
	careful := r.Groups[1].People[0]
	if careful.Rows < 8 || careful.HeldOut < 4 || careful.Steps < 6 || len(careful.Wishes) != forms {
		t.Errorf("%+v", careful)
	}
	// Other instructions round otherwise, and a model as small is unsteady: one of the two learns.
	gain := max(careful.Kept.Weights-careful.Kept.Before, r.Groups[0].People[0].Kept.Weights-r.Groups[0].People[0].Kept.Before)
	if gain < 0.1 {
		t.Errorf("with weights %.2f more of the wishes are kept", gain)
	}
	var text bytes.Buffer
	if err := r.Print(&text, true); err != nil || !strings.Contains(text.String(), "as the gate decides") {
		t.Errorf("%s %v", text.String(), err)
	}
}

// A person asks about other things, in other words, than they judged answers of.
func TestHeldOutPromptsShareNoThingAndNoWording(t *testing.T) {
	t.Parallel()
	first, then := drawProbes(newDraw(3))
	if len(first) < 60 || len(then) != unjudged*unworded {
		t.Fatalf("%d and %d prompts", len(first), len(then))
	}
	things, ways := map[int]bool{}, map[int]bool{}
	way := func(p probe) int {
		for i := range fit.Wordings() {
			if fit.Ask(p.thing, i) == p.text {
				return i
			}
		}
		return -1
	}
	for _, p := range first {
		things[p.thing], ways[way(p)] = true, true
	}
	for _, p := range then {
		if things[p.thing] || ways[way(p)] {
			t.Errorf("%q is like what was judged", p.text)
		}
	}
}
