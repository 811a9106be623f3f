// The program lora-parity writes what make.py hands to transformers and PEFT: a
// small model, adapters and a composed one as this program writes them, and jobs
// of training with each loss. scripts/lora-parity.sh runs both.
//
//	go run ./scripts/lora-parity DIR
package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
	"liminal/internal/tensors"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "name one folder")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var shape = llm.NewConfig(2, 16, 4, 2, 24, 64, 32)

func write(dir string) error {
	base := filepath.Join(dir, "base")
	if err := os.MkdirAll(base, 0o750); err != nil {
		return err
	}
	m := llm.New(shape, 1)
	for i := range m.Embed.F32 { // texts that differ are told apart
		m.Embed.F32[i] *= 25
	}
	_, err := tensors.Write(filepath.Join(base, "model.safetensors"), m.Tensors(), map[string]string{"format": "pt"})
	if err = errors.Join(err, shape.WriteConfig(base)); err != nil {
		return err
	}
	sum, err := llm.Fingerprint(base)
	if err != nil {
		return err
	}
	b := peft.Base{Config: shape, Name: "base", Fingerprint: sum}
	if err := adapters(dir, b); err != nil {
		return err
	}
	return jobs(dir, sum)
}

// adapters are three that are trained, one of them in the upper layer only, what
// they are together, and one as training begins with.
func adapters(dir string, b peft.Base) error {
	upper := trained(2, 4, 3, llm.Value, llm.Down)
	upper.Pairs[0] = [llm.Linears]llm.Pair{}
	all := []llm.Linear{llm.Query, llm.Key, llm.Value, llm.Output, llm.Gate, llm.Up, llm.Down}
	list := map[string]*llm.Adapter{"persona": trained(2, 4, 1, all...), "law": trained(3, 6, 2, llm.Query), "upper": upper}
	list["composed"] = peft.Compose(shape,
		llm.Gated{Adapter: list["persona"], Gate: 0.5}, llm.Gated{Adapter: list["law"], Gate: 1}, llm.Gated{Adapter: upper, Gate: 0.25})
	list["init"] = llm.NewAdapter(shape, 4, 8, 7, llm.Query, llm.Value, llm.Gate, llm.Up)
	for name, a := range list {
		to := filepath.Join(dir, "adapters", name)
		if err := os.MkdirAll(to, 0o750); err != nil {
			return err
		}
		rank := 0
		if name == "composed" {
			rank = 8
		}
		if _, err := peft.Write(to, a, b, rank); err != nil {
			return err
		}
	}
	return nil
}

func trained(rank int, alpha float64, seed uint64, which ...llm.Linear) *llm.Adapter {
	a := llm.NewAdapter(shape, rank, alpha, seed, which...)
	r := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // weights, not secrets
	for _, layer := range a.Pairs {
		for _, p := range layer {
			for i := range p.B {
				p.B[i] = (r.Float32() - 0.5) / 2
			}
		}
	}
	return a
}

// texts count on from the last token of the prompt.
func texts(n int, seed uint64) []batches.Text {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // texts, not secrets
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

func pairs(n int, seed uint64) []batches.Batch {
	var list [][2]batches.Text
	for _, t := range texts(n, seed) {
		worse := t
		worse.Target = slices.Clone(t.Target)
		slices.Reverse(worse.Target)
		list = append(list, [2]batches.Text{t, worse})
	}
	return batches.CutPairs(list, 6, 128)
}

func unpaired(n int, seed uint64) []batches.Batch {
	list := texts(n, seed)
	for i := range list {
		for k := range list[i].Target {
			list[i].Target[k] = list[i].Prompt[2]
		}
	}
	return batches.Cut(list, 6, 128)
}

func jobs(dir, sum string) error {
	for name, kind := range map[string]string{"sft": train.SFT, "dpo": train.DPO, "kto": train.KTO} {
		to := filepath.Join(dir, "jobs", name)
		sets := batches.Sets{batches.Train: batches.Cut(texts(24, 1), 8, 128), batches.Held: batches.Cut(texts(8, 2), 8, 128)}
		switch kind {
		case train.DPO:
			sets[batches.Pairs], sets[batches.HeldPairs] = pairs(8, 3), pairs(4, 5)
		case train.KTO:
			sets[batches.Unpaired], sets[batches.HeldUnpaired] = unpaired(8, 4), unpaired(4, 6)
		}
		manifest, err := batches.Write(filepath.Join(to, batches.Dir), shape.Vocab, sets)
		if err != nil {
			return err
		}
		j := train.Job{
			ID: "parity-" + name, Fence: 3, Base: train.Base{Name: "base", Dir: "../../base", SHA256: sum},
			Files: map[string]string{batches.Dir + "/" + batches.ManifestFile: manifest},
			Rank:  4, Alpha: 8, Targets: []string{"attn_q", "v_proj", "mlp_in"}, Loss: train.DefaultLoss(), Rate: 5e-3, Steps: 40, Seed: 3, Init: "../../adapters/init",
		}
		if j.Loss.Kind = kind; kind != train.SFT {
			j.Loss.Beta = 0.1
		}
		if err := train.WriteJob(to, j); err != nil {
			return err
		}
	}
	return nil
}
