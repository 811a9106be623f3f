package train_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"liminal/internal/learning/gate"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
)

// near is how far logits and losses may be from those of transformers and PEFT.
const near = 1e-4

// parity is the folder of what scripts/lora-parity.sh made: the small one that is
// checked in, or a fresh one.
func parity() string {
	if dir := os.Getenv("LORA_PARITY"); dir != "" {
		return dir
	}
	return filepath.Join("testdata", "parity")
}

// expected is an expected.json: what the Python libraries make of a prompt.
type expected struct {
	Prompt []int `json:"prompt"`
	Cases  map[string]struct {
		Logits []float64 `json:"logits"`
		Says   []int     `json:"says"`
	} `json:"cases"`
}

func expect(t *testing.T, dir string) (e expected) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// compare compares what a model makes of the prompt with what was expected.
func (e expected) compare(t *testing.T, name string, m *llm.Model, adapters ...llm.Gated) {
	t.Helper()
	want, ok := e.Cases[name]
	if !ok {
		t.Fatalf("there is no case %s", name)
	}
	r, s := m.NewRunner(), m.NewSequence(len(e.Prompt)+len(want.Says), adapters...)
	got := slices.Clone(r.Forward(llm.Step{Sequence: s, Tokens: e.Prompt}))
	most := 0.0
	for i, x := range got {
		most = max(most, math.Abs(float64(x)-want.Logits[i]))
	}
	var said []int
	for next := got; len(said) < len(want.Says); next = r.Forward(llm.Step{Sequence: s, Tokens: said[len(said)-1:]}) {
		best := 0
		for i, x := range next {
			if x > next[best] {
				best = i
			}
		}
		said = append(said, best)
	}
	t.Logf("%s: logits differ by at most %.2g", name, most)
	if !(most <= near) || !slices.Equal(said, want.Says) {
		t.Errorf("%s: logits differ by %g; it says %v, transformers %v", name, most, said, want.Says)
	}
}

func opened(t *testing.T, dir string) *llm.Model {
	t.Helper()
	m, err := llm.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Folders and adapters that transformers and PEFT saved are read here, and mean
// the same: Llama with scaled positions, Mistral, Qwen2 with its biases; adapters
// of some products, of all, of one layer, and with a scale of rsLoRA.
func TestWhatTransformersAndPEFTSavedMeansTheSameHere(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"llama", "mistral", "qwen2"} {
		dir := filepath.Join(parity(), "theirs", family)
		e, m := expect(t, dir), opened(t, dir)
		for name := range e.Cases {
			if name == "base" {
				e.compare(t, name, m)
				continue
			}
			a, err := peft.Read(filepath.Join(dir, name), peft.Base{Config: m.Config, Name: family})
			if err != nil {
				t.Errorf("%s, %s: %v", family, name, err)
				continue
			}
			e.compare(t, name, m, llm.Gated{Adapter: a, Gate: 1})
		}
		if len(e.Cases) < 2 {
			t.Errorf("%s has %d cases", family, len(e.Cases))
		}
	}
}

// What is saved here means the same to transformers and PEFT; several adapters
// with gates are there what they are here, and what the one is that was composed
// of them.
//
// Requirements: LORA-13
func TestWhatIsSavedHereMeansTheSameToTransformersAndPEFT(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(parity(), "ours")
	e, m := expect(t, dir), opened(t, filepath.Join(dir, "base"))
	e.compare(t, "base", m)
	adapters := map[string]*llm.Adapter{}
	for _, name := range []string{"persona", "law", "upper", "composed"} {
		var err error
		if adapters[name], err = peft.Read(filepath.Join(dir, "adapters", name), peft.Base{Config: m.Config, Name: "base"}); err != nil {
			t.Fatal(err)
		}
		e.compare(t, name, m, llm.Gated{Adapter: adapters[name], Gate: 1})
	}
	gates := []llm.Gated{{Adapter: adapters["persona"], Gate: 0.5}, {Adapter: adapters["law"], Gate: 1}, {Adapter: adapters["upper"], Gate: 0.25}}
	e.compare(t, "gated", m, gates...)
	e.compare(t, "composed", m, gates...)
	e.compare(t, "gated", m, llm.Gated{Adapter: adapters["composed"], Gate: 1})
	// And they are what is written here now: the same bytes.
	again := t.TempDir()
	if _, err := peft.Write(again, peft.Compose(m.Config, gates...), peft.Base{Config: m.Config, Name: "base", Fingerprint: fingerprint(t, filepath.Join(dir, "base"))}, 8); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		want, err := os.ReadFile(filepath.Join(dir, "adapters", "composed", name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(again, name)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is written otherwise now: run scripts/lora-parity.sh again", name)
		}
	}
}

func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum, err := llm.Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// The trainer of transformers and PEFT goes the same way, step by step, with each
// loss; what it leaves passes the checks and the gate, as what is trained here.
//
// Requirements: TRAIN-01 (cross-entropy; DPO)
func TestTransformersAndPEFTTrainTheSameWay(t *testing.T) {
	t.Parallel()
	for _, loss := range []string{"sft", "dpo", "kto"} {
		t.Run(loss, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "ours")
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(parity(), "ours"))); err != nil {
				t.Fatal(err)
			}
			theirs := filepath.Join(dir, "jobs", loss)
			j, err := train.ReadJob(theirs)
			if err != nil {
				t.Fatal(err)
			}
			m := opened(t, filepath.Join(dir, "base"))
			result, err := train.Check(theirs, j, m)
			if err != nil {
				t.Fatal(err)
			}
			want := losses(t, theirs)
			if err := os.RemoveAll(filepath.Join(theirs, train.ResultDir)); err != nil {
				t.Fatal(err)
			}
			run(t, theirs, train.Options{})
			got := losses(t, theirs)
			most, after := 0.0, 0.0
			for i, g := range got {
				w := want[i]
				if g.Step != w.Step || g.Compared != w.Compared || (g.HeldOut == nil) != (w.HeldOut == nil) {
					t.Fatalf("step %d is %+v here and %+v there", i+1, g, w)
				}
				most = max(most, math.Abs(g.Loss-w.Loss), math.Abs(g.Penalty-w.Penalty), math.Abs(*g.HeldOut-*w.HeldOut))
				after = *g.HeldOut
			}
			t.Logf("%d steps: losses differ by at most %.2g; held out from %.3f to %.3f", len(got), most, *got[0].HeldOut, after)
			if len(got) != len(want) || len(got) < 30 || !(most <= near) {
				t.Errorf("%d steps here and %d there, losses differ by %g", len(got), len(want), most)
			}
			mine, err := train.Check(theirs, j, m)
			if err != nil {
				t.Fatal(err)
			}
			_, sets, err := batches.Read(filepath.Join(theirs, batches.Dir), "")
			if err != nil {
				t.Fatal(err)
			}
			for who, a := range map[string]*llm.Adapter{"theirs": result.Adapter, "ours": mine.Adapter} {
				f := train.Measure(m, sets, nil, []llm.Gated{{Adapter: a, Gate: 1}}, nil)
				v := gate.Judge(f, j.Seed, gate.DefaultOptions())
				t.Logf("%s: the gate says %s, loss %.3f and %.3f, alignment %.2f and %.2f, P %.2f", who, v.Outcome, v.Loss.Now, v.Loss.New, v.Alignment.Now, v.Alignment.New, v.P)
				if v.Outcome != gate.ByRule {
					t.Errorf("%s: the gate says %+v", who, v)
				}
			}
		})
	}
}
