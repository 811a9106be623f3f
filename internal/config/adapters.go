package config

import (
	"fmt"
	"strings"
)

// Adapters says where adapters are trained, and how those made here reach a model
// server.
type Adapters struct {
	// Trainer is builtin or command, which is then Command (docs/training.md).
	Trainer, Command string
	// Dir is a folder that this program writes composed adapters into and the
	// model's server reads them from; empty: they stay here, and servers are told
	// the words of adapters only. ServerDir is the same folder as the server calls
	// it; empty: so too.
	Dir, ServerDir string
	// Load is how vLLM comes to an adapter: resolver, which finds it by its name,
	// or api, which is told.
	Load string
	// Base is the folder below ModelsDir of the model the server serves; empty:
	// the last part of the model's name.
	Base string
	// MaxRank is the largest rank the server takes.
	MaxRank int
	// Keep is how many composed adapters are kept.
	Keep int
}

// adapters are the settings of adapters.
func adapters() []Variable {
	return []Variable{
		{
			Name: "LIMINAL_TRAINER", Default: "builtin",
			Doc: "builtin trains adapters in this program, on the processor; command has LIMINAL_TRAIN_COMMAND do it",
			set: func(c *Config, s string) error { return oneOf(&c.Adapters.Trainer, s, "builtin", "command") },
		},
		{
			Name: "LIMINAL_TRAIN_COMMAND", Doc: "command of LIMINAL_TRAINER=command, without a shell; {dir} is the job's folder, {base} that of the base model, {job} a name, {user} who runs this",
			set: func(c *Config, s string) error { return commandLine(&c.Adapters.Command, s) },
		},
		{
			Name: "LIMINAL_LORA_DIR", Doc: "folder that vLLM or LoRAX reads adapters from, which this program writes; unset: they are told the words of adapters only",
			set: func(c *Config, s string) error { return folder(&c.Adapters.Dir, s) },
		},
		{
			Name: "LIMINAL_LORA_SERVER_DIR", Doc: "the same folder as that server calls it, where it has another path there",
			set: func(c *Config, s string) error { return nonEmpty(&c.Adapters.ServerDir, s) },
		},
		{
			Name: "LIMINAL_LORA_LOAD", Default: "resolver",
			Doc: "how vLLM comes to an adapter: resolver, by lora_filesystem_resolver, or api, by its load_lora_adapter",
			set: func(c *Config, s string) error { return oneOf(&c.Adapters.Load, s, "resolver", "api") },
		},
		{
			Name: "LIMINAL_LORA_BASE", Doc: "folder of shared/models of the model that server serves; unset: the last part of LIMINAL_MODEL",
			set: func(c *Config, s string) error { return folderName(&c.Adapters.Base, s) },
		},
		{
			Name: "LIMINAL_LORA_MAX_RANK", Default: "16",
			Doc: "largest rank that server takes, as its --max-lora-rank, 1 to 512",
			set: func(c *Config, s string) error { return integer(&c.Adapters.MaxRank, s, 1, 512) },
		},
		{
			Name: "LIMINAL_LORA_KEEP", Default: "256",
			Doc: "adapters kept in LIMINAL_LORA_DIR, 1 to 100000; those unused longest go first",
			set: func(c *Config, s string) error { return integer(&c.Adapters.Keep, s, 1, 100_000) },
		},
	}
}

func commandLine(into *string, text string) error {
	*into = text
	if !strings.Contains(text, "{dir}") {
		return fmt.Errorf("does not say where the job's folder goes: write {dir}")
	}
	return nil
}

func folderName(into *string, text string) error {
	*into = text
	if strings.ContainsAny(text, `/\`) || text == "." || text == ".." {
		return fmt.Errorf("is not the name of a folder")
	}
	return nil
}
