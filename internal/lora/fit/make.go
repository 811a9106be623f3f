package fit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"liminal/internal/lora/llm"
	"liminal/internal/tensors"
	"liminal/internal/tokens"
)

// Plan is a model to be made from nothing.
type Plan struct {
	Dir   string     // where its folder goes; must not be there yet
	Texts []string   // beside the dialogues; they teach words and spelling
	Shape llm.Config // Vocab and Context are the most; NewConfig makes one
	Steps int
	Batch int // texts a step
	Seed  uint64
	Exams int // asked for each form when it is made
	// Told hears of each step, on the goroutine that trains; nil: nobody.
	Told func(Progress)
}

// Progress is where the training stands.
type Progress struct {
	Step, Of int
	Loss     float64 // of the steps since the last one told of as Told
	HeldOut  float64 // of dialogues that are not taught; 0: not measured at this step
	Speed    float64 // tokens a second
	Left     time.Duration
}

// Made is what came out.
type Made struct {
	Parameters int
	Sum        string // SHA-256 of the weights
	Loss       float64
	HeldOut    float64
	Kept       map[Form]int // of Exams, by form
	Asked      int          // of each form
	Took       time.Duration
}

// BaseShape is base_lm_v1: four layers of 128 numbers, about 1.1 million
// parameters.
func BaseShape() llm.Config { return llm.NewConfig(4, 128, 4, 2, 384, 2048, 512) }

// Special tokens of a model that is made, and the program that writes its
// dialogues, for other readers of the folder.
var special = []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}

const chatTemplate = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

const (
	window    = 192 // tokens a text has at most while it is taught
	everyStep = 10  // steps between two that are told of
)

// Make trains a small language model on made-up dialogues and the texts given,
// and puts it into Plan.Dir, whole or not at all. The same plan gives the same
// weights, bit for bit, on one kind of processor. Cancelling ctx ends it at the
// next step and leaves nothing behind.
func Make(ctx context.Context, p Plan) (made Made, err error) {
	if _, err := os.Stat(p.Dir); err == nil {
		return made, fmt.Errorf("%s is there already", p.Dir)
	}
	began := time.Now()
	raw, err := tokens.Learn(p.corpus(), p.Shape.Vocab, special)
	if err != nil {
		return made, err
	}
	k, err := tokens.Read(raw)
	if err != nil {
		return made, err
	}
	p.Shape.Vocab = k.Size()
	p.Shape.Ends = []int{0, 2}
	t := &teacher{plan: p, k: k, m: llm.New(p.Shape, p.Seed), random: rand.New(rand.NewPCG(p.Seed, 0x6d616b65))} //nolint:gosec // lessons, not secrets
	t.template, _ = tokens.TemplateNamed("chatml")
	t.read()
	if err := t.teach(ctx, &made); err != nil {
		return made, err
	}
	made.Parameters, made.Kept, made.Asked = p.Shape.Parameters(), t.examine(), p.Exams
	made.Sum, err = t.write(raw)
	made.Took = time.Since(began)
	return made, err
}

// corpus is what tokens are learnt of.
func (p Plan) corpus() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range p.Texts {
			if !yield(text) {
				return
			}
		}
		d := NewDialogues(p.Seed)
		for range 3000 {
			one := d.Next()
			for _, turn := range append(one.Turns, tokens.Turn{Text: one.Answer}) {
				if !yield(turn.Text) {
					return
				}
			}
		}
	}
}

// teacher trains one model.
type teacher struct {
	plan     Plan
	k        *tokens.Tokenizer
	template tokens.Template
	m        *llm.Model
	texts    [][]int
	random   *rand.Rand
}

// read cuts the texts into tokens once.
func (t *teacher) read() {
	for _, text := range t.plan.Texts {
		if ids := t.k.EncodeText(text); len(ids) > 8 {
			t.texts = append(t.texts, ids)
		}
	}
}

// batch is what one step learns: dialogues, and of five texts one of those
// given.
func (t *teacher) batch(d *Dialogues) Batch {
	var list []Example
	for i := range t.plan.Batch {
		if i%5 == 4 && len(t.texts) > 0 {
			list = append(list, t.passage())
			continue
		}
		list = append(list, ExampleOf(t.k, t.template, 2, d.Next()))
	}
	return Filled(list, window)
}

// passage is a piece of a text. It counts less than an answer.
func (t *teacher) passage() Example {
	ids := pick(t.random, t.texts)
	if len(ids) > 64 {
		at := t.random.IntN(len(ids) - 64)
		ids = ids[at : at+64]
	}
	return Example{Tokens: ids, From: 1, Weight: 0.3}
}

func (t *teacher) teach(ctx context.Context, made *Made) error {
	p := NewFullPass(t.m)
	params := p.Params()
	adam := NewAdamW(0)
	adam.Beta2, adam.Decay = 0.98, 0.05
	lessons := NewDialogues(t.plan.Seed)
	exam := t.batch(NewDialogues(t.plan.Seed + 1))
	began, learnt := time.Now(), 0
	var sum float64
	for step := range t.plan.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := t.batch(lessons)
		sum += p.Gradients(b)
		adam.Rate = 3e-3 * Rate(step, min(60, t.plan.Steps/10+1), t.plan.Steps)
		adam.Step(params)
		learnt += len(b.Tokens)
		if (step+1)%everyStep > 0 && step+1 < t.plan.Steps {
			continue
		}
		steps := step%everyStep + 1
		now := Progress{Step: step + 1, Of: t.plan.Steps, Loss: sum / float64(steps)}
		if sum = 0; math.IsNaN(now.Loss) || math.IsInf(now.Loss, 0) {
			return errors.New("the loss is no number any more: the training failed")
		}
		if (step+1)%(10*everyStep) == 0 || step+1 == t.plan.Steps {
			now.HeldOut = p.Loss(exam)
			made.HeldOut = now.HeldOut
		}
		passed := time.Since(began)
		now.Speed = float64(learnt) / passed.Seconds()
		now.Left = passed / time.Duration(step+1) * time.Duration(t.plan.Steps-step-1)
		made.Loss = now.Loss
		if t.plan.Told != nil {
			t.plan.Told(now)
		}
	}
	return nil
}

// examine asks for each form in words that were not taught, and counts the
// answers that have it.
func (t *teacher) examine() map[Form]int {
	kept := map[Form]int{}
	r := t.m.NewRunner()
	for _, e := range Exams(t.plan.Exams, t.plan.Seed) {
		prompt := t.template.Prompt(t.k, e.Turns)
		if len(prompt) > t.m.Context/2 {
			continue
		}
		ids := Say(r, t.m.NewSequence(t.m.Context), prompt, t.m.Ends, 80)
		if e.Form.Keeps(t.k.Decode(ids)) {
			kept[e.Form]++
		}
	}
	return kept
}

// write puts the folder in its place: beside it first.
func (t *teacher) write(tokenizer []byte) (sum string, err error) {
	parent := filepath.Dir(t.plan.Dir)
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, "."+filepath.Base(t.plan.Dir)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir) // what is left of it is hidden
		}
	}()
	if err := t.m.WriteConfig(dir); err != nil {
		return "", err
	}
	if sum, err = tensors.WriteNPZ(filepath.Join(dir, "shard_00.npz"), t.m.Tensors()); err != nil {
		return "", err
	}
	config, err := json.MarshalIndent(map[string]any{"chat_template": chatTemplate, "eos_token": special[2], "pad_token": special[0]}, "", "  ")
	if err != nil {
		return "", err
	}
	for name, raw := range map[string][]byte{"tokenizer.json": tokenizer, "tokenizer_config.json": config, "generation_config.json": []byte(`{"temperature": 0.3, "top_p": 0.9}`)} {
		if _, err := tensors.Replace(filepath.Join(dir, name), func(w io.Writer) error { _, err := w.Write(raw); return err }); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as other folders of models
		return "", err
	}
	return sum, os.Rename(dir, t.plan.Dir)
}

// Share is how much of the exams was kept, of 1.
func (m Made) Share() float64 {
	kept := 0
	for _, n := range m.Kept {
		kept += n
	}
	return float64(kept) / float64(max(1, m.Asked*len(Forms())))
}

// Worst are the forms that were kept least, the least first.
func (m Made) Worst() []Form {
	list := Forms()
	slices.SortStableFunc(list, func(a, b Form) int { return m.Kept[a] - m.Kept[b] })
	return list
}
