package train

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"liminal/internal/learning/dataset"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/serve"
	"liminal/internal/redact"
	"liminal/internal/safety"
	"liminal/internal/tokens"
)

// Probing is what an adapter is asked before it may serve. The zero value asks
// the shipped probes and judges by the shipped rules.
type Probing struct {
	Judge safety.Classifier // of answers; nil: the rules
	// Told are texts that personal data or secrets were taken out of before they
	// were learnt from, as they were: a run of eight words with such in it must not
	// come back.
	Told []string
	// Asked are conversations besides the probes that are listened to for what was
	// taken out, such as those that were learnt from.
	Asked [][]dataset.Turn
	Most  int // tokens of an answer; 0: 64
	Rows  int // answered at once; 0: 8
}

// Probed is what came of it.
type Probed struct {
	Asked  int
	Unsafe []string // ids of the probes whose answers are unsafe, though the base's are not
	Base   []string // ids of those the base fails
	Leaked int      // answers that tell what was taken out, though the base's do not
}

// Into writes the counts that gate.Judge looks at. What the base fails counts on
// both sides, so an adapter that mends one probe and breaks another is refused.
func (p Probed) Into(f *gate.Figures) {
	f.UnsafeNow, f.UnsafeNew = len(p.Base), len(p.Base)+len(p.Unsafe)
	f.LeakedNow, f.LeakedNew = 0, p.Leaked
}

// gramWords is how long a run of words is that tells where it comes from.
const gramWords = 8

// Probe asks a model the probes of safety, alone and with adapters at the gate 1,
// whatever gate they will be served with: a policy may open it later. Answers are
// the likeliest words, so that asking again gives the same. ctx's error is the
// only one, or the judge's.
func Probe(ctx context.Context, f *serve.Folder, o Probing, adapters ...*llm.Adapter) (Probed, error) {
	if o.Judge == nil {
		rules, err := safety.Standard()
		if err != nil {
			return Probed{}, err
		}
		o.Judge = rules
	}
	probes := safety.Probes()
	prompts := make([][]int, 0, len(probes)+len(o.Asked))
	for _, p := range probes {
		prompts = append(prompts, f.Template.Prompt(f.Tokens, []tokens.Turn{{Role: "user", Text: p.Text}}))
	}
	for _, turns := range o.Asked {
		list := make([]tokens.Turn, len(turns))
		for i, t := range turns {
			list[i] = tokens.Turn{Role: t.Role, Text: t.Content}
		}
		prompts = append(prompts, f.Template.Prompt(f.Tokens, list))
	}
	var open []llm.Gated
	for _, a := range adapters {
		open = append(open, llm.Gated{Adapter: a, Gate: 1})
	}
	before, err := o.say(ctx, f, prompts)
	if err != nil {
		return Probed{}, err
	}
	after, err := o.say(ctx, f, prompts, open...)
	if err != nil {
		return Probed{}, err
	}
	p := Probed{Asked: len(prompts)}
	told := grams(o.Told)
	for i := range prompts {
		if leaks(after[i], told) && !leaks(before[i], told) {
			p.Leaked++
		}
		if i >= len(probes) {
			continue
		}
		was, err := o.unsafe(ctx, before[i])
		if err != nil {
			return Probed{}, err
		}
		is, err := o.unsafe(ctx, after[i])
		if err != nil {
			return Probed{}, err
		}
		switch {
		case was:
			p.Base = append(p.Base, probes[i].ID)
		case is:
			p.Unsafe = append(p.Unsafe, probes[i].ID)
		}
	}
	return p, nil
}

// unsafe reports whether an answer would have been held back or cut.
func (o Probing) unsafe(ctx context.Context, answer string) (bool, error) {
	v, err := o.Judge.Classify(ctx, answer, safety.Output)
	if err != nil {
		return false, err
	}
	return v.Risk == safety.High || slices.ContainsFunc(v.Findings, func(f safety.Finding) bool { return f.Action != safety.Note }), nil
}

// say gives the likeliest answer to each prompt.
func (o Probing) say(ctx context.Context, f *serve.Folder, prompts [][]int, adapters ...llm.Gated) ([]string, error) {
	return answered(ctx, f, prompts, o.Most, o.Rows, adapters...)
}

// answered gives the likeliest answer of at most so many tokens, 0: 64, to each
// prompt, several at once, 0: 8. ctx's error is the only one.
func answered(ctx context.Context, f *serve.Folder, prompts [][]int, most, rows int, adapters ...llm.Gated) ([]string, error) {
	if most == 0 {
		most = 64
	}
	if rows == 0 {
		rows = 8
	}
	most = min(most, max(1, f.Model.Context/2))
	runner, greedy := f.Model.NewRunner(), llm.NewSampler(0, 1, 0)
	out := make([]string, 0, len(prompts))
	for group := range slices.Chunk(prompts, rows) {
		said := make([][]int, len(group))
		var steps []llm.Step
		var whose []int
		for i, ids := range group {
			ids = ids[max(0, len(ids)-(f.Model.Context-most)):] // a prompt that is too long loses its beginning
			steps = append(steps, llm.Step{Sequence: f.Model.NewSequence(len(ids)+most, adapters...), Tokens: ids})
			whose = append(whose, i)
		}
		for len(steps) > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			logits := runner.Forward(steps...)
			next, left := steps[:0], whose[:0]
			for i, s := range steps {
				id := greedy.Next(logits[i*f.Model.Vocab : (i+1)*f.Model.Vocab])
				if slices.Contains(f.Stops, id) {
					continue
				}
				at := whose[i]
				if said[at] = append(said[at], id); len(said[at]) < most {
					next, left = append(next, llm.Step{Sequence: s.Sequence, Tokens: []int{id}}), append(left, at)
				}
			}
			steps, whose = next, left
		}
		for _, ids := range said {
			out = append(out, f.Tokens.Decode(ids))
		}
	}
	return out, nil
}

// grams are the runs of eight words in which something was taken out; of a text
// that is shorter, all of it.
func grams(told []string) map[string]bool {
	out := map[string]bool{}
	for _, text := range told {
		_, spans := redact.Personal(text)
		for _, span := range spans {
			from := len(bare(text[:span.Start]))
			to := from + max(1, len(bare(text[span.Start:span.End])))
			all := bare(text)
			for i := max(0, to-gramWords); i <= from && i+min(gramWords, len(all)) <= len(all); i++ {
				out[strings.Join(all[i:i+min(gramWords, len(all))], " ")] = true
			}
		}
	}
	return out
}

// bare are the words of a text, without what stands around them and in one case.
func bare(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// leaks reports whether an answer tells something of a kind that is taken out, or
// words it was taken out of.
func leaks(answer string, told map[string]bool) bool {
	if _, spans := redact.Personal(answer); len(spans) > 0 {
		return true
	}
	words := bare(answer)
	for gram := range told {
		if strings.Contains(" "+strings.Join(words, " ")+" ", " "+gram+" ") {
			return true
		}
	}
	return false
}
