package batches_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/learning/dataset"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/fit"
	"liminal/internal/tokens"
)

func text(source int64, prompt, target int) batches.Text {
	t := batches.Text{Source: source, Weight: 1 / float64(source)}
	for i := range prompt {
		t.Prompt = append(t.Prompt, 10+i)
	}
	for i := range target {
		t.Target = append(t.Target, 50+i)
	}
	return t
}

// Requirements: TRAIN-05 (padded tensors)
func TestTextsArePaddedToBatches(t *testing.T) {
	t.Parallel()
	list := batches.Cut([]batches.Text{text(1, 2, 3), text(2, 1, 1), text(3, 20, 9), text(4, 1, 2), text(5, 3, 2)}, 3, 15)
	var shapes [][2]int
	for _, b := range list {
		shapes = append(shapes, [2]int{b.Rows, b.Length})
	}
	if want := [][2]int{{3, 5}, {1, 5}, {1, 29}}; !reflect.DeepEqual(shapes, want) {
		t.Fatalf("the shapes are %v, not %v", shapes, want)
	}
	b := list[0] // the rows of events 2, 4 and 1
	if want := []int64{10, 50, 0, 0, 0, 10, 50, 51, 0, 0, 10, 11, 50, 51, 52}; !slices.Equal(b.Inputs, want) {
		t.Errorf("the tokens are %v", b.Inputs)
	}
	if want := []int64{-100, 50, -100, -100, -100, -100, 50, 51, -100, -100, -100, -100, 50, 51, 52}; !slices.Equal(b.Labels, want) {
		t.Errorf("the labels are %v", b.Labels)
	}
	if want := []int64{1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1}; !slices.Equal(b.Mask, want) {
		t.Errorf("the mask is %v", b.Mask)
	}
	n := fit.None
	f := b.Fit()
	if want := []int{50, n, n, n, n, 50, 51, n, n, n, n, 50, 51, 52, n}; !slices.Equal(f.Targets, want) || f.Length != 5 || f.Weights[0] != 0.5 || f.Weights[14] != 1 {
		t.Errorf("fit learns %v with %v", f.Targets, f.Weights)
	}
	if s := b.Shifted(); !slices.Equal(s.Prompts, []int{1, 1, 2}) || !slices.Equal(s.Targets, []int{2, 3, 1}) || s.Length != 4 || !slices.Equal(s.Inputs[:4], []int64{10, 50, 51, 0}) {
		t.Errorf("shifted it is %+v", s)
	}
	if b.Tokens() != 10 {
		t.Errorf("%d tokens are text", b.Tokens())
	}
}

// Requirements: TRAIN-05 (a manifest)
func TestWhatIsWrittenIsReadAndNothingElse(t *testing.T) {
	t.Parallel()
	train := batches.Cut([]batches.Text{text(1, 2, 3), text(2, 1, 1)}, 1, 100)
	held := batches.Cut([]batches.Text{text(3, 4, 4)}, 1, 100)
	pairs := batches.CutPairs([][2]batches.Text{{text(4, 2, 9), text(4, 2, 3)}, {text(5, 1, 2), text(5, 1, 4)}}, 2, 100)
	sets := batches.Sets{batches.Train: train, batches.Held: held, batches.Pairs: pairs}
	write := func() (string, string) {
		dir := filepath.Join(t.TempDir(), batches.Dir)
		sum, err := batches.Write(dir, 80, sets)
		if err != nil {
			t.Fatal(err)
		}
		return dir, sum
	}
	dir, sum := write()
	if _, again := write(); again != sum {
		t.Error("the same batches have another manifest")
	}
	m, read, err := batches.Read(dir, sum)
	if err != nil || !reflect.DeepEqual(read, sets) {
		t.Fatalf("%v: %+v", err, read)
	}
	if len(pairs) != 2 || !slices.Equal(pairs[0].Targets, []int{2, 4}) || pairs[0].Length != 5 || !slices.Equal(pairs[1].Targets, []int{9, 3}) {
		t.Errorf("the pairs are %+v", pairs)
	}
	if e := m.Batches[1]; e.Batch != 1 || e.PromptLen != 2 || e.TargetLen != 3 || e.Rows[0].Source != 1 || m.Batches[2].Set != batches.Held {
		t.Errorf("the manifest says %+v", m)
	}
	replace := func(name, from, to string) func(dir string) {
		return func(dir string) {
			path := filepath.Join(dir, name)
			raw, err := os.ReadFile(path)
			changed := strings.Replace(string(raw), from, to, 1)
			if err != nil || changed == string(raw) {
				t.Fatalf("%s has no %q, %v", name, from, err)
			}
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(dir string)
		sum   string
		says  string
	}{
		"another manifest":  {replace(batches.ManifestFile, `"vocab": 80`, `"vocab": 81`), sum, "checksum"},
		"a turned bit":      {replace("train-0000.safetensors", "attention_mask", "attention-mask"), "", "train-0000.safetensors: it is not the one"},
		"a path":            {replace(batches.ManifestFile, "train-0000", "../train-0000"), "", "leaves the folder"},
		"too large a token": {replace(batches.ManifestFile, `"vocab": 80`, `"vocab": 50`), "", "the token"},
		"half a pair":       {replace(batches.ManifestFile, `"set": "train"`, `"set": "pairs"`), "", "no pairs"},
		"another set":       {replace(batches.ManifestFile, `"set": "held_out"`, `"set": "test"`), "", `set "test"`},
		"no file":           {func(dir string) { _ = os.Remove(filepath.Join(dir, "train-0001.safetensors")) }, "", "train-0001"},
	} {
		dir, _ := write()
		c.spoil(dir)
		_, _, err := batches.Read(dir, c.sum)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Requirements: TRAIN-05 (whitespace-hash fallback)
func TestPromptsAreWrittenAsTheModelReadsThem(t *testing.T) {
	t.Parallel()
	raw, err := tokens.Learn(slices.Values([]string{"the keeper of the lighthouse"}), 280, []string{"<|im_start|>", "<|im_end|>"})
	if err != nil {
		t.Fatal(err)
	}
	k, err := tokens.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	chatml, _ := tokens.TemplateNamed("chatml")
	row := dataset.Row{Prompt: []dataset.Turn{{Role: "user", Content: "Who are you?"}}, Target: "the keeper", EventID: 7, Weight: 1}
	for name, c := range map[string]struct {
		w    batches.Template
		text string
	}{
		"chatml":            {batches.Template{Tokens: k, Way: chatml, End: -1}, "<|im_start|>user\nWho are you?<|im_end|>\n<|im_start|>assistant\nthe keeper<|im_end|>"},
		"plain":             {batches.Template{Tokens: k, Way: tokens.Plain, End: -1}, "User: Who are you?\nAssistant: the keeper\nUser:"},
		"plain with an end": {batches.Template{Tokens: k, Way: tokens.Plain, End: 1}, "User: Who are you?\nAssistant: the keeper<|im_end|>"},
	} {
		one := batches.Texts([]dataset.Row{row}, c.w, 2048)[0]
		var got strings.Builder
		for _, id := range slices.Concat(one.Prompt, one.Target) {
			if k.IsSpecial(id) {
				got.WriteString(k.Token(id))
			} else {
				got.WriteString(k.Decode([]int{id}))
			}
		}
		if got.String() != c.text || one.Source != 7 {
			t.Errorf("%s: %q", name, got.String())
		}
		if p, q := batches.Count(c.w)(row.Prompt, row.Target); p != len(one.Prompt) || q != len(one.Target) {
			t.Errorf("%s: counted %d and %d", name, p, q)
		}
	}
	cut := batches.Texts([]dataset.Row{row}, batches.Hashed{Vocab: 100}, 4)[0]
	if len(cut.Prompt) != 1 || len(cut.Target) != 3 || cut.Prompt[0] != 1 || cut.Target[2] != 2 {
		t.Errorf("cut to four tokens: %v, %v", cut.Prompt, cut.Target)
	}
}
