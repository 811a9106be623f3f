package fit

import (
	"slices"

	"liminal/internal/lora/llm"
	"liminal/internal/tokens"
)

// Example is tokens of one text, and which of them are learnt.
type Example struct {
	Tokens []int
	From   int // the first that is learnt; those before it are read only
	Weight float32
}

// Filled are examples as the rows of one batch: as long as the longest of them,
// up to most tokens. What is longer loses its beginning.
func Filled(list []Example, most int) Batch {
	length := 0
	for _, e := range list {
		length = max(length, len(e.Tokens)-1)
	}
	// Lengths in steps: batches of few shapes.
	length = min((length+15)/16*16, most)
	b := Batch{Length: length}
	for _, e := range list {
		if over := len(e.Tokens) - 1 - length; over > 0 {
			e.Tokens, e.From = e.Tokens[over:], max(e.From-over, 0)
		}
		weight := e.Weight
		if weight == 0 {
			weight = 1
		}
		for i := range length {
			token, target := 0, None
			if i+1 < len(e.Tokens) {
				token = e.Tokens[i]
				if i+1 >= e.From {
					target = e.Tokens[i+1]
				}
			} else if i < len(e.Tokens) {
				token = e.Tokens[i]
			}
			b.Tokens, b.Targets, b.Weights = append(b.Tokens, token), append(b.Targets, target), append(b.Weights, weight)
		}
	}
	return b
}

// ExampleOf is a dialogue in the tokens of a model: the answer and its end are
// learnt.
func ExampleOf(k *tokens.Tokenizer, t tokens.Template, end int, d Dialogue) Example {
	prompt := t.Prompt(k, d.Turns)
	return Example{Tokens: append(slices.Concat(prompt, k.EncodeText(d.Answer)), end), From: len(prompt)}
}

// Say is the likeliest answer of a model to a prompt, at most most tokens.
func Say(r *llm.Runner, s *llm.Sequence, prompt, stops []int, most int) []int {
	var out []int
	greedy := llm.NewSampler(0, 1, 0)
	for next := prompt; len(out) < most; {
		id := greedy.Next(r.Forward(llm.Step{Sequence: s, Tokens: next}))
		if slices.Contains(stops, id) {
			break
		}
		out, next = append(out, id), []int{id}
	}
	return out
}
