package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"liminal/internal/config"
	"liminal/internal/lora/remote"
	"liminal/internal/lora/train"
	"liminal/internal/wire"
)

// checkAdapters says whether adapters that are made here reach the model's server.
func checkAdapters(ctx context.Context, conf config.Config) finding {
	f := finding{Check: "adapters for the server", Health: off}
	a, m := conf.Adapters, conf.Model
	if !remote.Takes(m.Backend) {
		f.Says = "MODEL_BACKEND=" + m.Backend + " takes none from here"
		if a.Dir != "" {
			f.Health, f.Hint = warning, "LIMINAL_LORA_DIR is for vllm and lorax"
		}
		return f
	}
	if a.Dir == "" {
		f.Says = m.Backend + " is told the words of adapters only"
		f.Hint = "set LIMINAL_LORA_DIR to a folder that it reads too; docs/models.md says how"
		return f
	}
	probe, err := os.CreateTemp(existing(a.Dir), ".doctor-*")
	if err != nil {
		f.Health, f.Says = ill, fmt.Sprintf("LIMINAL_LORA_DIR=%s cannot be written to: %v", a.Dir, withoutPath(err))
		f.Hint = "change its owner, or name another folder"
		return f
	}
	_, _ = probe.Close(), os.Remove(probe.Name()) // a leftover is harmless
	if _, err := os.Stat(a.Dir); errors.Is(err, fs.ErrNotExist) {
		f.Health, f.Says = warning, a.Dir+" is not there yet; it is made at the first start"
		f.Hint = "vLLM does not start while the folder of its VLLM_LORA_RESOLVER_CACHE_DIR is missing: make it first"
		return f
	}
	one := wire.Composed(conf, nil, wire.RemoteServer{Backend: m.Backend, URL: m.OpenAIServer(), Key: m.OpenAIKey, Model: m.Name}, nil, nil)
	if err := one.Check(ctx); err != nil {
		f.Health, f.Says = ill, err.Error()
		f.Hint = "without it people's adapters are words only; docs/models.md says what the server needs"
		return f
	}
	if _, err := os.Stat(filepath.Join(one.Base, "config.json")); err != nil {
		f.Health, f.Says = ill, "which model the server serves is not known here: there is no config.json of it in "+conf.ModelsDir()
		f.Hint = "put the model's folder there, or its config.json alone, and name it with LIMINAL_LORA_BASE"
		return f
	}
	f.Health, f.Says = well, fmt.Sprintf("%s reads them from %s, up to rank %d together", m.Backend, a.Dir, a.MaxRank)
	return f
}

// checkTrainer says who trains adapters.
func checkTrainer(conf config.Config) finding {
	f := finding{Check: "trainer", Health: well, Says: "adapters are trained in this program, on the processor"}
	if conf.Adapters.Trainer != "command" {
		return f
	}
	c, err := train.ParseCommand(conf.Adapters.Command)
	if err == nil {
		err = c.Found()
	}
	if err != nil {
		f.Health, f.Says = ill, fmt.Sprintf("LIMINAL_TRAIN_COMMAND: %v", err)
		f.Hint = "it is needed where the queue of training is worked on; docs/training.md says how it is called"
		return f
	}
	f.Says = "adapters are trained by " + c.Args[0]
	return f
}
