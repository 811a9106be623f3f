// Package batches is what a training job reads: prompts and answers in the
// tokens of a model, padded to rows of one length, as safetensors on disk with
// a manifest (TRAIN-05). Trainers of other makers read the same files: labels
// are the tokens themselves, -100 where nothing is learnt, as transformers has
// them.
//
// It may import learning/dataset, lora/fit, tensors and tokens.
package batches

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"liminal/internal/learning/dataset"
	"liminal/internal/lora/fit"
	"liminal/internal/tokens"
)

// Ignored is the label of what is not learnt.
const Ignored = -100

// Writer turns conversations into tokens.
type Writer interface {
	// Prompt is a conversation up to where the answer begins.
	Prompt(turns []dataset.Turn) []int
	// Target is an answer with its end.
	Target(text string) []int
}

// Template writes as a model was taught to read.
type Template struct {
	Tokens *tokens.Tokenizer
	Way    tokens.Template
	End    int // token that ends an answer where the template has none; -1: none
}

// Prompt implements Writer.
func (t Template) Prompt(turns []dataset.Turn) []int {
	list := make([]tokens.Turn, len(turns))
	for i, turn := range turns {
		list[i] = tokens.Turn{Role: turn.Role, Text: turn.Content}
	}
	return t.Way.Prompt(t.Tokens, list)
}

// Target implements Writer.
func (t Template) Target(text string) []int { return t.Way.Answer(t.Tokens, text, t.End) }

// Hashed is the fallback for a model without a tokenizer: each word is the hash
// of it (TRAIN-05). Nobody can read such tokens again. Vocab is at least 4; the
// tokens 0, 1 and 2 are the filling, a side's end and an answer's end.
type Hashed struct{ Vocab int }

// Prompt implements Writer.
func (h Hashed) Prompt(turns []dataset.Turn) []int {
	ids := []int{}
	for _, t := range turns {
		ids = append(append(ids, h.words(t.Content)...), 1)
	}
	return ids
}

// Target implements Writer.
func (h Hashed) Target(text string) []int { return append(h.words(text), 2) }

func (h Hashed) words(text string) []int {
	var ids []int
	for _, w := range strings.Fields(text) {
		sum := fnv.New32a()
		sum.Write([]byte(w))
		ids = append(ids, 3+int(sum.Sum32()%uint32(h.Vocab-3))) //nolint:gosec // a vocabulary is small, and above 3
	}
	return ids
}

// Count is what dataset.Options.Tokens is to be for a writer.
func Count(w Writer) func(prompt []dataset.Turn, target string) (ofPrompt, ofTarget int) {
	return func(prompt []dataset.Turn, target string) (int, int) {
		return len(w.Prompt(prompt)), len(w.Target(target))
	}
}

// Text is one row in tokens.
type Text struct {
	Source         int64 // the event it comes from
	Prompt, Target []int
	Weight         float64
	Teacher        int // of the job's, whose answers are imitated there
}

// Texts are rows of a dataset in the tokens of a writer. A prompt that is longer
// than most allows beside its target loses its beginning.
func Texts(rows []dataset.Row, w Writer, most int) []Text {
	out := make([]Text, 0, len(rows))
	for _, r := range rows {
		t := Text{Source: r.EventID, Prompt: w.Prompt(r.Prompt), Target: w.Target(r.Target), Weight: r.Weight, Teacher: r.Teacher}
		if over := len(t.Prompt) + len(t.Target) - most; over > 0 {
			t.Prompt = t.Prompt[min(over, len(t.Prompt)):]
		}
		out = append(out, t)
	}
	return out
}

// Batch is rows of one length: Rows × Length numbers, row after row.
type Batch struct {
	Rows, Length         int
	Inputs, Labels, Mask []int64
	Weights              []float32 // of the rows
	Prompts, Targets     []int     // tokens of each row
	Sources              []int64
	Teacher              int // of all rows; see Text
}

// Cut puts texts into batches of at most rows texts and, with their filling,
// tokens tokens; a text that is longer alone is a batch of its own. Texts of a
// batch are of about one length, and of one teacher.
func Cut(texts []Text, rows, tokens int) []Batch {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b Text) int {
		return cmp.Or(cmp.Compare(a.Teacher, b.Teacher), cmp.Compare(len(a.Prompt)+len(a.Target), len(b.Prompt)+len(b.Target)), cmp.Compare(a.Source, b.Source))
	})
	var out []Batch
	for len(texts) > 0 {
		n := 1
		for n < len(texts) && n < rows && texts[n].Teacher == texts[0].Teacher && (n+1)*(len(texts[n].Prompt)+len(texts[n].Target)) <= tokens {
			n++
		}
		out = append(out, filled(texts[:n]))
		texts = texts[n:]
	}
	return out
}

// PairTexts are pairs of a dataset in the tokens of a writer, the better one
// first.
func PairTexts(pairs []dataset.Pair, w Writer, most int) [][2]Text {
	out := make([][2]Text, 0, len(pairs))
	for _, p := range pairs {
		both := Texts([]dataset.Row{
			{EventID: p.EventID, Prompt: p.Prompt, Target: p.Chosen, Weight: p.Weight}, {EventID: p.EventID, Prompt: p.Prompt, Target: p.Rejected, Weight: p.Weight},
		}, w, most)
		out = append(out, [2]Text{both[0], both[1]})
	}
	return out
}

// CutPairs is Cut for pairs: both texts of one are in one batch.
func CutPairs(pairs [][2]Text, rows, tokens int) []Batch {
	long := func(p [2]Text) int {
		return max(len(p[0].Prompt)+len(p[0].Target), len(p[1].Prompt)+len(p[1].Target))
	}
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b [2]Text) int {
		return cmp.Or(cmp.Compare(long(a), long(b)), cmp.Compare(a[0].Source, b[0].Source))
	})
	var out []Batch
	for len(pairs) > 0 {
		n := 1
		for n < len(pairs) && 2*(n+1) <= rows && 2*(n+1)*long(pairs[n]) <= tokens {
			n++
		}
		var texts []Text
		for _, p := range pairs[:n] {
			texts = append(texts, p[0], p[1])
		}
		out = append(out, filled(texts))
		pairs = pairs[n:]
	}
	return out
}

// filled is a batch as long as the longest text.
func filled(texts []Text) Batch {
	b := Batch{Rows: len(texts), Teacher: texts[0].Teacher}
	for _, t := range texts {
		b.Length = max(b.Length, len(t.Prompt)+len(t.Target))
	}
	for _, t := range texts {
		for i := range b.Length {
			id, label, mask := int64(0), int64(Ignored), int64(0)
			switch at := i - len(t.Prompt); {
			case at < 0:
				id, mask = int64(t.Prompt[i]), 1
			case at < len(t.Target):
				id, mask = int64(t.Target[at]), 1
				label = id
			}
			b.Inputs, b.Labels, b.Mask = append(b.Inputs, id), append(b.Labels, label), append(b.Mask, mask)
		}
		b.Weights, b.Sources = append(b.Weights, float32(t.Weight)), append(b.Sources, t.Source)
		b.Prompts, b.Targets = append(b.Prompts, len(t.Prompt)), append(b.Targets, len(t.Target))
	}
	return b
}

// Fit is the batch as fit reads it: each token's target is the label of the
// next.
func (b Batch) Fit() fit.Batch {
	out := fit.Batch{Length: b.Length}
	for r := range b.Rows {
		for i := range b.Length {
			target := fit.None
			if i+1 < b.Length && b.Labels[r*b.Length+i+1] != Ignored {
				target = int(b.Labels[r*b.Length+i+1])
			}
			out.Tokens = append(out.Tokens, int(b.Inputs[r*b.Length+i]))
			out.Targets, out.Weights = append(out.Targets, target), append(out.Weights, b.Weights[r])
		}
	}
	return out
}

// Shifted has of each row its prompt with the target of the next, the last with
// that of the first: answers to something else.
func (b Batch) Shifted() Batch {
	texts := make([]Text, b.Rows)
	for r := range texts {
		texts[r] = Text{Source: b.Sources[r], Weight: float64(b.Weights[r]), Prompt: b.Prompt(r), Target: b.Target((r + 1) % b.Rows)}
	}
	return filled(texts)
}

// Prompt is that of a row, in tokens.
func (b Batch) Prompt(row int) []int { return b.part(row, 0, b.Prompts[row]) }

// Target is that of a row, in tokens, with the end of an answer.
func (b Batch) Target(row int) []int { return b.part(row, b.Prompts[row], b.Targets[row]) }

func (b Batch) part(row, from, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = int(b.Inputs[row*b.Length+from+i])
	}
	return out
}

// Tokens is how many tokens of the batch are text.
func (b Batch) Tokens() int {
	n := 0
	for i := range b.Rows {
		n += b.Prompts[i] + b.Targets[i]
	}
	return n
}
