package train_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
	"liminal/internal/tensors"
)

// TestMain makes the test program its own child: one that trains a folder, and
// one that trains in a cell.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "train-folder":
			os.Exit(child(os.Args[2:]))
		case "train-parent":
			os.Exit(parent(os.Args[2]))
		case "foreign-trainer":
			os.Exit(foreign(os.Args[2:]))
		case "train-in-cell":
			if err := train.Serve(os.Stdin, os.Stdout); err != nil {
				os.Stderr.WriteString(err.Error())
				os.Exit(1)
			}
			return
		}
	}
	code := m.Run()
	_ = os.RemoveAll(once.dir) // it is below the folder of temporary files
	os.Exit(code)
}

// child trains a folder and tells each step. A second argument is the step from
// which no file may have more than a third bytes; without a third, the step in
// which it waits to be killed.
func child(args []string) int {
	out := bufio.NewWriter(os.Stdout)
	_, err := train.Run(context.Background(), args[0], train.Options{Report: func(m train.Metric) {
		fmt.Fprintln(out, m.Step)
		_ = out.Flush() // the parent may be gone
		if len(args) == 1 || args[1] != strconv.Itoa(m.Step) {
			return
		}
		if len(args) == 2 {
			select {}
		}
		most, _ := strconv.ParseUint(args[2], 10, 64)
		limitFiles(most)
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

var shape = llm.NewConfig(2, 32, 4, 2, 48, 64, 32)

// once is what all jobs share, as to put files on the disk takes time: the base,
// which nobody changes, and the batches, which are copied.
var once struct {
	sync.Once
	dir, base, sum, batches, manifest string
	err                               error
}

func prepared(t *testing.T) {
	t.Helper()
	once.Do(func() {
		if once.dir, once.err = os.MkdirTemp("", "train"); once.err != nil {
			return
		}
		once.base, once.batches = filepath.Join(once.dir, "little"), filepath.Join(once.dir, batches.Dir)
		if once.err = os.Mkdir(once.base, 0o700); once.err != nil {
			return
		}
		if once.err = shape.WriteConfig(once.base); once.err != nil {
			return
		}
		m := llm.New(shape, 1)
		for i := range m.Embed.F32 { // texts that differ are told apart
			m.Embed.F32[i] *= 25
		}
		if _, once.err = tensors.Write(filepath.Join(once.base, "model.safetensors"), m.Tensors(), nil); once.err != nil {
			return
		}
		if once.sum, once.err = llm.Fingerprint(once.base); once.err != nil {
			return
		}
		once.manifest, once.err = batches.Write(once.batches, shape.Vocab,
			batches.Sets{batches.Train: batches.Cut(texts(24, 1), 4, 64), batches.Held: batches.Cut(texts(6, 2), 4, 64), batches.Pairs: pairs(), batches.Unpaired: avoided()})
	})
	if once.err != nil {
		t.Fatal(once.err)
	}
}

// texts follow a rule that can be learnt: the answer counts on from the last
// token of the prompt.
func texts(n int, seed uint64) []batches.Text {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]batches.Text, n)
	for i := range list {
		at := r.IntN(40)
		list[i] = batches.Text{Source: int64(i + 1), Weight: 0.5 + r.Float64(), Prompt: []int{r.IntN(64), r.IntN(64), at}}
		for j := range 3 + r.IntN(6) {
			list[i].Target = append(list[i].Target, at+1+j)
		}
	}
	return list
}

// avoided are answers that do not move on.
func avoided() []batches.Batch {
	list := texts(12, 4)
	for i := range list {
		for k := range list[i].Target {
			list[i].Target[k] = list[i].Prompt[2]
		}
	}
	return batches.Cut(list, 4, 64)
}

// pairs are of answers that count on, and better, or back.
func pairs() []batches.Batch {
	var list [][2]batches.Text
	for i, t := range texts(12, 3) {
		worse := t
		worse.Target = slices.Clone(t.Target)
		slices.Reverse(worse.Target)
		t.Source, worse.Source = int64(100+i), int64(100+i)
		list = append(list, [2]batches.Text{t, worse})
	}
	return batches.CutPairs(list, 4, 64)
}

// job is a folder with a job that can be trained.
func job(t *testing.T, change func(j *train.Job)) string {
	t.Helper()
	prepared(t)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, batches.Dir), os.DirFS(once.batches)); err != nil {
		t.Fatal(err)
	}
	j := train.Job{
		ID: "j1", Fence: 1, Base: train.Base{Name: "little", Dir: once.base, SHA256: once.sum},
		Files: map[string]string{batches.Dir + "/" + batches.ManifestFile: once.manifest},
		Rank:  4, Alpha: 8, Targets: []string{"attn_q", "v_proj", "mlp_in"}, Loss: train.DefaultLoss(), Rate: 5e-3, Steps: 60, Seed: 3,
	}
	if change != nil {
		change(&j)
	}
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	return dir
}

func run(t *testing.T, dir string, o train.Options) train.Manifest {
	t.Helper()
	m, err := train.Run(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// losses are what the steps of a folder came to, without the clock's figures.
func losses(t *testing.T, dir string) []train.Metric {
	t.Helper()
	list, err := train.ReadMetrics(filepath.Join(dir, train.MetricsFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Speed, list[i].ETA = 0, 0
	}
	return list
}

// same reports whether two folders came to the same, bit for bit.
func same(t *testing.T, a, b string) {
	t.Helper()
	x, _ := json.Marshal(losses(t, a))
	y, _ := json.Marshal(losses(t, b))
	if !bytes.Equal(x, y) {
		t.Errorf("the losses differ:\n%s\n%s", x, y)
	}
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile, train.ManifestFile} {
		x, err := os.ReadFile(filepath.Join(a, train.ResultDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if y, err := os.ReadFile(filepath.Join(b, train.ResultDir, name)); err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs, %v", name, err)
		}
	}
}

// copied is a folder with the same job.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "job")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
