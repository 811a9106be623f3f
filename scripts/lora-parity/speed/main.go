// The program speed takes the figures of this program that bench.py puts beside
// those of llama.cpp and PyTorch: a line of JSON each.
//
//	speed make DIR             a model of SmolLM-135M's shape, random weights
//	speed f32|bf16|train DIR   seconds of 128 tokens read, 32 said; of two steps
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"liminal/internal/cputime"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
	"liminal/internal/tensors"
)

const (
	prompt, says = 128, 32
	rows, length = 4, 64
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "speed make|f32|bf16|train DIR")
		os.Exit(2)
	}
	if err := do(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func do(what, dir string) error {
	switch what {
	case "make":
		m := llm.New(llm.NewConfig(30, 576, 9, 3, 1536, 49152, 2048), 1)
		return errors.Join(write(dir, m), write(dir+"-bf16", m.Rounded()))
	case "bf16":
		dir += "-bf16"
	}
	m, err := llm.Open(dir)
	if err != nil {
		return err
	}
	out := map[string]any{}
	if what == "train" {
		out["step"] = train(m)
	} else {
		out["prefill"], out["decode"], out["next"] = answer(m)
	}
	out["mb"] = peak()
	return json.NewEncoder(os.Stdout).Encode(out)
}

func write(dir string, m *llm.Model) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := m.WriteConfig(dir); err != nil {
		return err
	}
	_, err := tensors.Write(dir+"/model.safetensors", m.Tensors(), map[string]string{"format": "pt"})
	return err
}

// seconds are what something takes.
type seconds struct {
	CPU  float64 `json:"cpu"`
	Wall float64 `json:"wall"`
}

func timed(f func()) seconds {
	wall, used := time.Now(), cputime.Process()
	f()
	return seconds{(cputime.Process() - used).Seconds(), time.Since(wall).Seconds()}
}

func token(i int) int { return i*7919%40000 + 3 }

func answer(m *llm.Model) (read, say seconds, next int) {
	r, s := m.NewRunner(), m.NewSequence(256)
	ids := make([]int, prompt)
	var most float32
	for i := range ids {
		ids[i] = token(i)
	}
	for i, x := range r.Forward(llm.Step{Sequence: s, Tokens: ids}) {
		if i == 0 || x > most {
			next, most = i, x
		}
	}
	s.Cut(0)
	read = timed(func() { r.Forward(llm.Step{Sequence: s, Tokens: ids}) })
	say = timed(func() {
		for i := range says {
			r.Forward(llm.Step{Sequence: s, Tokens: ids[i : i+1]})
		}
	})
	return read, say, next
}

func train(m *llm.Model) seconds {
	a := llm.NewAdapter(m.Config, 8, 16, 1, llm.Query, llm.Value)
	p, adam := fit.NewPass(m, a), fit.NewAdamW(1e-4)
	b := fit.Batch{Length: length}
	for row := range rows {
		for i := range length {
			next := fit.None
			if i+1 < length {
				next = (row*31+(i+1)*7919)%40000 + 3
			}
			b.Tokens, b.Targets = append(b.Tokens, (row*31+i*7919)%40000+3), append(b.Targets, next)
		}
	}
	step := func() {
		p.Gradients(b)
		adam.Step(p.Params())
	}
	step()
	return timed(func() { step(); step() })
}
