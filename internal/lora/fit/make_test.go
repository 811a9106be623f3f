package fit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
	"liminal/internal/tokens"
)

// small is a model of some 140,000 parameters.
func small(dir string, steps int) fit.Plan {
	return fit.Plan{Dir: dir, Texts: []string{strings.Repeat("The keeper drains the lake every autumn. ", 20)}, Shape: llm.NewConfig(2, 64, 4, 2, 192, 600, 256), Steps: steps, Batch: 8, Seed: 1}
}

// Requirements: DATA-16 (config.json and shards), LORA-12 (read from config.json and shards)
func TestASmallModelIsMadeAndAnswers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared", "models", "base_lm_v1")
	plan := small(dir, 120)
	plan.Exams = 2
	var told []fit.Progress
	plan.Told = func(p fit.Progress) { told = append(told, p) }
	made, err := fit.Make(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 12 || told[11].Step != 120 || told[11].Left != 0 || told[9].HeldOut == 0 || told[0].HeldOut != 0 {
		t.Errorf("told %+v", told)
	}
	if made.HeldOut > 0.7*told[0].Loss || made.HeldOut == 0 {
		t.Errorf("the loss of other dialogues is %v, it began with %v", made.HeldOut, told[0].Loss)
	}
	t.Logf("%d parameters, loss %.2f, %.0f %% of the wishes kept, %v", made.Parameters, made.HeldOut, 100*made.Share(), made.Took)
	for _, name := range []string{"config.json", "shard_00.npz", "tokenizer.json", "tokenizer_config.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	m, err := llm.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	if m.Parameters() != made.Parameters || made.Parameters > 150_000 {
		t.Errorf("%d parameters, told %d", m.Parameters(), made.Parameters)
	}
	k, err := tokens.Open(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	template, _ := tokens.TemplateNamed("chatml")
	ids := fit.Say(m.NewRunner(), m.NewSequence(200), template.Prompt(k, []tokens.Turn{{Role: "user", Text: "What is a kettle?"}}), m.Ends, 60)
	answer := k.Decode(ids)
	t.Logf("What is a kettle? %s", answer)
	if len(ids) < 3 || !strings.Contains(answer, " ") {
		t.Errorf("it says %q", answer)
	}
	if _, err := fit.Make(t.Context(), plan); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("a model that is there was made again: %v", err)
	}
}

func TestTheSamePlanMakesTheSameModel(t *testing.T) {
	t.Parallel()
	sums := map[string]bool{}
	for range 2 {
		made, err := fit.Make(t.Context(), small(filepath.Join(t.TempDir(), "m"), 4))
		if err != nil {
			t.Fatal(err)
		}
		sums[made.Sum] = true
	}
	other := small(filepath.Join(t.TempDir(), "m"), 4)
	other.Seed = 2
	made, err := fit.Make(t.Context(), other)
	if err != nil || len(sums) != 1 || sums[made.Sum] {
		t.Errorf("%d models of one plan, of another seed the same: %v, %v", len(sums), sums[made.Sum], err)
	}
}

func TestACancelledMakeLeavesNothing(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	plan := small(filepath.Join(parent, "m"), 100)
	plan.Told = func(fit.Progress) { cancel() }
	if _, err := fit.Make(ctx, plan); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if list, err := os.ReadDir(parent); err != nil || len(list) > 0 {
		t.Errorf("it left %v", list)
	}
}

// Every answer that is taught has the form that was wished for, and no wording
// that measures is taught.
func TestDialoguesTeachWhatExamsAsk(t *testing.T) {
	t.Parallel()
	exams := fit.Exams(20, 3)
	if len(exams) != 20*len(fit.Forms()) {
		t.Fatalf("%d exams", len(exams))
	}
	words := map[string]bool{}
	for _, e := range exams {
		if !e.Form.Keeps(e.Answer) {
			t.Errorf("%s: the answer %q does not have it", e.Form, e.Answer)
		}
		for _, turn := range e.Turns {
			words[turn.Text] = true
		}
	}
	d := fit.NewDialogues(3)
	plain := 0
	for range 3000 {
		one := d.Next()
		if one.Answer == "" || len(one.Turns) == 0 || one.Turns[len(one.Turns)-1].Role != "user" {
			t.Fatalf("%+v", one)
		}
		for _, turn := range one.Turns {
			if turn.Role == "system" && words[turn.Text] && strings.HasSuffix(turn.Text, "bullet points.") {
				t.Errorf("a wish that measures is taught: %q", turn.Text)
			}
		}
		if !strings.Contains(one.Answer, "\n") {
			plain++
		}
	}
	if plain < 1000 || plain > 2900 {
		t.Errorf("%d of 3000 answers are of one line", plain)
	}
	for _, f := range fit.Forms() {
		if f.Keeps("") || f.Keeps("Nothing of the kind here, nor there") {
			t.Errorf("%s is kept by an answer without it", f)
		}
	}
}

func TestExamplesFillABatch(t *testing.T) {
	t.Parallel()
	b := fit.Filled([]fit.Example{{Tokens: []int{1, 2, 3, 4}, From: 2}, {Tokens: []int{9, 8}, From: 0, Weight: 0.5}}, 100)
	if b.Length != 16 || b.Rows() != 2 {
		t.Fatalf("%+v", b)
	}
	want := []int{fit.None, 3, 4, fit.None}
	for i, w := range want {
		if b.Targets[i] != w {
			t.Errorf("target %d is %d, not %d", i, b.Targets[i], w)
		}
	}
	if b.Tokens[0] != 1 || b.Tokens[3] != 0 && b.Tokens[3] != 4 || b.Targets[16] != 8 || b.Weights[16] != 0.5 || b.Targets[17] != fit.None {
		t.Errorf("%+v", b)
	}
	cut := fit.Filled([]fit.Example{{Tokens: []int{1, 2, 3, 4, 5, 6}, From: 4}}, 3)
	if cut.Length != 3 || cut.Tokens[0] != 3 || cut.Targets[0] != fit.None || cut.Targets[2] != 6 {
		t.Errorf("%+v", cut)
	}
}
