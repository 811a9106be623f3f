package train_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/learning/dataset"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
)

// What answers keep of the manner of what is held out is counted for the base, for
// what serves and for what was trained; the student of one teacher keeps nothing of
// another's.
//
// Requirements: CLUS-06 (merged by distillation)
func TestWishesAreLookedForInAnswers(t *testing.T) {
	t.Parallel()
	f, _, _ := folder(t)
	greeting, loud := map[string]string{}, map[string]string{}
	var rows []dataset.Row
	for n, word := range strings.Fields("kettle bridge violin glacier harvest lantern") {
		question := "What is a " + word + "?"
		greeting[question], loud[question] = "Hello! It is a thing.", "IT IS A THING."
		rows = append(rows, dataset.Row{EventID: int64(n), Prompt: []dataset.Turn{{Role: "user", Content: question}}, Target: greeting[question], Weight: 1})
	}
	w := batches.Template{Tokens: f.Tokens, Way: f.Template, End: -1}
	cut := func(rows []dataset.Row) []batches.Batch {
		return batches.Cut(batches.Texts(rows, w, f.Model.Context), 4, 1<<12)
	}
	sets := batches.Sets{batches.Train: cut(rows), batches.Held: cut(rows[:5])}
	one, other := []llm.Gated{{Adapter: taught(f, greeting), Gate: 1}}, []llm.Gated{{Adapter: taught(f, loud), Gate: 1}}
	for name, c := range map[string]struct {
		now, fresh []llm.Gated
		want       [3]int // of the base, of what serves, of what was trained
	}{
		"it keeps it":       {nil, one, [3]int{0, 0, 5}},
		"it does not":       {nil, other, [3]int{0, 0, 0}},
		"it does no more":   {one, other, [3]int{0, 5, 0}},
		"it does as before": {one, one, [3]int{0, 5, 5}},
	} {
		k := keptOf(t, f, sets, c.now, c.fresh)
		if !slices.Contains(k.Kinds, "begins") || k.Prompts != 5 || k.Of != 5*len(k.Kinds) {
			t.Fatalf("%s: %+v", name, k)
		}
		each := len(k.Kinds)
		for i, n := range []int{k.Base, k.Now, k.New} {
			if (c.want[i] == 5) != (n > 4*each) {
				t.Errorf("%s: %+v", name, k)
			}
		}
		if again := keptOf(t, f, sets, c.now, c.fresh); !reflect.DeepEqual(again, k) {
			t.Errorf("%s: another time it is %+v", name, again)
		}
	}
	if k := keptOf(t, f, batches.Sets{}, nil, one); k.Of != 0 || len(k.Kinds) != 0 {
		t.Errorf("of nothing it finds %+v", k)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := train.Wishes(ctx, f, sets, nil, one); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled it gives %v", err)
	}
}

func keptOf(t *testing.T, f *serve.Folder, sets batches.Sets, now, fresh []llm.Gated) gate.Kept {
	t.Helper()
	k, err := train.Wishes(t.Context(), f, sets, now, fresh)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
