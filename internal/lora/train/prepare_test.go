package train_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/learning"
	"liminal/internal/learning/dataset"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
	"liminal/internal/tensors"
	"liminal/internal/tokens"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// wishes are what a person liked: whatever they ask, the answer begins alike.
func wishes() []dataset.Case {
	var list []dataset.Case
	for i, word := range strings.Fields("kettle bridge violin glacier harvest lantern compass orchard tunnel pottery sailing beehive printing weaving mining carving baking fishing tailoring masonry") {
		c := dataset.Case{Case: learning.Case{Event: learning.Event{
			ID: int64(i + 1), UserID: "ann", ConversationID: fmt.Sprint("c", i), MessageID: fmt.Sprint("m", i), Score: 1,
			ContextText: "What is " + word + "?", CreatedAt: now.Add(-time.Duration(20-i) * time.Hour),
		}}}
		c.Answer = "Short: " + word + " is a thing of its own, and no more is said of it."
		c.Turns = []dataset.Turn{{Role: "user", Content: c.ContextText}}
		list = append(list, c)
	}
	return list
}

// folder is a base with a tokenizer.
func folder(t *testing.T) (f *serve.Folder, dir, sum string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "little")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, c := range wishes() {
		texts = append(texts, c.ContextText, c.Answer)
	}
	raw, err := tokens.Learn(slices.Values(texts), 300, []string{"<|im_start|>", "<|im_end|>"})
	if err != nil {
		t.Fatal(err)
	}
	c := llm.NewConfig(2, 32, 4, 2, 48, 300, 128)
	m := llm.New(c, 1)
	for i := range m.Embed.F32 {
		m.Embed.F32[i] *= 25
	}
	if err := c.WriteConfig(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := tensors.Write(filepath.Join(dir, "model.safetensors"), m.Tensors(), nil); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"tokenizer.json": string(raw), "chat_template.jinja": `{{'<|im_start|>' + message['role']}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err = serve.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum, err = llm.Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir, sum
}

// From what a person liked to a version that answers so: all that needs no
// database.
//
// Requirements: TRAIN-17 (trained from positive events)
func TestWhatAPersonLikedBecomesAVersion(t *testing.T) {
	t.Parallel()
	f, base, sum := folder(t)
	w := batches.Template{Tokens: f.Tokens, Way: f.Template, End: -1}
	o := dataset.DefaultOptions(now)
	o.Tokens, o.MostRow = batches.Count(w), f.Model.Context
	cases := wishes()
	// Of the newest conversation another answer was not liked: it is a pair, and
	// held out as that is.
	cases[19].TurnID = "t"
	worse := cases[19]
	worse.ID, worse.MessageID, worse.Score, worse.Answer = 21, "m20", -1, "Of masonry one could say so very much that I hardly know where to begin with it."
	d := dataset.Make(append(cases, worse), o)
	if !d.Enough() {
		t.Fatalf("missing %s: %v", d.Manifest.Missing, d.Manifest.LeftOut)
	}
	root := t.TempDir()
	dir := train.JobDir(root, "ann", "manner", "j1")
	j := train.Job{
		ID: "j1", Fence: 1, Base: train.Base{Name: "little", Dir: base, SHA256: sum}, Rank: 4, Alpha: 8,
		Targets: []string{"attn_q", "attn_v", "mlp_in", "mlp_out"}, Loss: train.DefaultLoss(), Rate: 5e-3, Seed: 1,
	}
	s := train.DefaultShape()
	s.Epochs, s.Rows = 6, 4
	j, err := train.Prepare(dir, d, w, f.Model.Config, s, j)
	if err != nil || j.Steps < 6 || j.Steps%6 != 0 {
		t.Fatalf("%+v, %v", j, err)
	}
	for _, name := range []string{dataset.TrainFile, dataset.ManifestFile} {
		if _, err := os.Stat(filepath.Join(root, "users", "ann", "adapters", "manner", "train_jobs", "j1", name)); err != nil {
			t.Error(err)
		}
	}
	again, err := train.Prepare(dir, d, w, f.Model.Config, s, j)
	if err != nil || again.Files["batches/manifest.json"] != j.Files["batches/manifest.json"] {
		t.Errorf("prepared again it differs: %v", err)
	}
	m := run(t, dir, train.Options{})
	if *m.HeldOut.After > 0.8**m.HeldOut.Before {
		t.Errorf("of what is held out the loss went from %v to %v", *m.HeldOut.Before, *m.HeldOut.After)
	}
	version := filepath.Join(train.AdapterDir(root, "ann", "manner"), train.VersionName(1))
	checksum, err := train.Publish(dir, version, f.Model, d.Manifest.LeftOut)
	if err != nil {
		t.Fatal(err)
	}
	a, err := serve.ReadAdapter(version, checksum, peft.Base{Config: f.Model.Config, Name: "little", Fingerprint: sum})
	if err != nil {
		t.Fatal(err)
	}
	unlike := batches.Cut(batches.Texts([]dataset.Row{{Prompt: []dataset.Turn{{Role: "user", Content: "What is a garden?"}}, Target: "Short: garden", Weight: 1}}, w, 128), 1, 128)
	before, after := train.Score(f.Model, unlike)[0], train.Score(f.Model, unlike, llm.Gated{Adapter: a, Gate: 1})[0]
	if after.LogProb < before.LogProb+5 {
		t.Errorf("of an answer of that kind the log-probability is %v, and was %v", after.LogProb, before.LogProb)
	}
	// What was held out says so, too: the gate lets it pass.
	_, sets, err := batches.Read(filepath.Join(dir, batches.Dir), "")
	if err != nil {
		t.Fatal(err)
	}
	fresh := []llm.Gated{{Adapter: a, Gate: 1}}
	figures := train.Measure(f.Model, sets, nil, fresh, train.Plain(w, 100))
	v := gate.Judge(figures, j.Seed, gate.DefaultOptions())
	if v.Outcome == gate.None || v.Events != len(d.Held)+1 || math.Abs(v.Loss.Now-*m.HeldOut.Before) > 0.3 || v.Alignment.New != 1 || v.Elsewhere.Now == 0 {
		t.Errorf("%+v", v)
	}
	if v := gate.Judge(train.Measure(f.Model, sets, fresh, nil, nil), 1, gate.DefaultOptions()); v.Outcome != gate.None {
		t.Errorf("the way back is taken for better: %+v", v)
	}
	if _, err := train.Prepare(t.TempDir(), dataset.Make(nil, o), w, f.Model.Config, s, j); !errors.Is(err, fault.Invalid) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestTheLongestRowFitsIntoTheMemory(t *testing.T) {
	t.Parallel()
	c := llm.NewConfig(30, 576, 9, 3, 1536, 49152, 2048)
	for _, memory := range []int64{1 << 28, 1 << 30, 1 << 33} {
		n := train.Longest(c, memory)
		if train.Memory(c, 1, n) > memory || n < c.Context && train.Memory(c, 1, n+1) <= memory {
			t.Errorf("in %d MiB: %d tokens", memory>>20, n)
		}
		t.Logf("%d MiB: %d tokens", memory>>20, n)
	}
}

// What is said to be needed is what is taken, or the platform would give too
// little.
func TestMemoryIsWhatTrainingTakes(t *testing.T) { // not beside others: what they take would count
	c := llm.NewConfig(3, 64, 4, 2, 160, 500, 256)
	m := llm.New(c, 1)
	for _, size := range [][2]int{{1, 200}, {4, 64}} {
		b := fit.Batch{Length: size[1], Tokens: make([]int, size[0]*size[1]), Targets: make([]int, size[0]*size[1])}
		p := fit.NewPass(m, llm.NewAdapter(c, 4, 8, 1, llm.Query))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC() // what has a finalizer goes with the second
		runtime.ReadMemStats(&before)
		p.Gradients(b)
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(p)
		took, said := float64(after.HeapAlloc-before.HeapAlloc), float64(train.Memory(c, size[0], size[1]))
		if said < took || said > 1.7*took {
			t.Errorf("%v: %v bytes are taken, %v said", size, took, said)
		}
	}
}

func TestTheRateFallsWithTheWidth(t *testing.T) {
	t.Parallel()
	last := 1.0
	for width, want := range map[int]float64{64: 3e-3, 128: 3e-3, 4096: 2.23e-4} {
		if got := train.DefaultRate(llm.Config{Width: width}); math.Abs(got-want) > 0.01*want {
			t.Errorf("of %d: %v", width, got)
		}
	}
	for width := 128; width <= 8192; width *= 2 {
		rate := train.DefaultRate(llm.Config{Width: width})
		if rate >= last {
			t.Errorf("of %d: %v", width, rate)
		}
		last = rate
	}
}
