package training

import (
	"testing"

	"liminal/internal/learning/dataset"
)

// A database counts events for everybody it holds, so the same words have other
// numbers in another one.
func TestTheSameWordsAreTrainedAlikeWhateverTheirNumbers(t *testing.T) {
	t.Parallel()
	said := func(n int64, id, target string) dataset.Dataset {
		prompt := []dataset.Turn{{Role: "user", Content: "What is a kettle?"}}
		return dataset.Dataset{
			Train:    []dataset.Row{{Prompt: prompt, Target: target, EventID: n, ConversationID: id, MessageID: id}},
			Pairs:    []dataset.Pair{{Prompt: prompt, Chosen: "A pot.", Rejected: "A lake.", ConversationID: id, MessageID: id}},
			Unpaired: []dataset.Unpaired{{Prompt: prompt, Completion: "A lake.", EventID: n, ConversationID: id}},
		}
	}
	one := said(1, "a", "Hello! A pot.")
	if got := seedOf(said(701, "b", "Hello! A pot.")); got != seedOf(one) {
		t.Errorf("with other numbers the seed is %d, not %d", got, seedOf(one))
	}
	for what, other := range map[string]dataset.Dataset{
		"another answer":      said(1, "a", "Hello! A kettle."),
		"without the pair":    {Train: one.Train, Unpaired: one.Unpaired},
		"without the dislike": {Train: one.Train, Pairs: one.Pairs},
	} {
		if seedOf(other) == seedOf(one) {
			t.Errorf("%s: the seed is the same", what)
		}
	}
}
