package train

import (
	"context"
	"slices"

	"liminal/internal/learning/gate"
	"liminal/internal/learning/lesson"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/serve"
)

// Bounds of what Wishes has answered: on a processor each word takes its time.
const (
	wishPrompts  = 8   // held-out prompts
	wishTokens   = 64  // of an answer, or as many as the longest wanted one has
	wishTokensTo = 128 // at most
)

// Wishes has held-out prompts answered by the base alone, with the adapters that
// serve now and with those that would, and counts in how many answers the manner is
// kept which the targets of sets have in common (lesson.MannerOf), where it can be
// told by rule. Sets are those of one adapter. At most 8 prompts are answered, each
// by its likeliest words. Where there is no such manner the count is of nothing.
// ctx's error is the only one.
func Wishes(ctx context.Context, f *serve.Folder, sets batches.Sets, now, fresh []llm.Gated) (gate.Kept, error) {
	var prompts [][]int
	for _, set := range []string{batches.Held, batches.HeldPairs, batches.HeldUnpaired} {
		for _, b := range sets[set] {
			for row := range b.Rows {
				ids := b.Prompt(row)
				if len(prompts) < wishPrompts && !slices.ContainsFunc(prompts, func(p []int) bool { return slices.Equal(p, ids) }) {
					prompts = append(prompts, ids)
				}
			}
		}
	}
	var wanted []string
	most := wishTokens
	for _, b := range slices.Concat(sets[batches.Train], sets[batches.Held]) {
		for row := range b.Rows {
			ids := b.Target(row)
			if end := slices.IndexFunc(ids, func(id int) bool { return slices.Contains(f.Stops, id) }); end >= 0 {
				ids = ids[:end]
			}
			wanted, most = append(wanted, f.Tokens.Decode(ids)), max(most, len(ids)+1)
		}
	}
	most = min(most, wishTokensTo)
	k := gate.Kept{Kinds: []string{}}
	base, err := answered(ctx, f, prompts, most, 0)
	if err != nil {
		return k, err
	}
	m := lesson.MannerOf(wanted, base)
	k.Kinds = m.Kinds()
	if len(k.Kinds) == 0 {
		return k, nil
	}
	k.Prompts, k.Of, k.Base = len(prompts), len(prompts)*len(k.Kinds), keep(m, base)
	k.Now = k.Base
	if len(now) > 0 {
		before, err := answered(ctx, f, prompts, most, 0, now...)
		if err != nil {
			return k, err
		}
		k.Now = keep(m, before)
	}
	after, err := answered(ctx, f, prompts, most, 0, fresh...)
	k.New = keep(m, after)
	return k, err
}

func keep(m lesson.Manner, answers []string) (n int) {
	for _, text := range answers {
		n += m.Kept(text)
	}
	return n
}
