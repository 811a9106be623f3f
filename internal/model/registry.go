package model

import "slices"

// MaxAdapters is how many adapters one request may use, whatever its backend
// takes (LORA-09).
const MaxAdapters = 3

// BackendOf is the capability registry (001 §5.0.2, LORA-03, LORA-07): what
// the backend of that name can do with adapters; false for a name it does not
// know.
//
// Beyond the seed's table: vllm and ollama serve an adapter as a model of its
// own, and vllm is given several with gates as one that was made of them
// (Backend.Composing); llamacpp takes the numbers of adapters it has loaded, with a scale
// each; the others have no adapters and follow instructions only.
func BackendOf(name string) (Backend, bool) {
	b := Backend{Name: name, Max: 1}
	switch name {
	case "openai", "azure", "vertex", "bedrock", "ollama":
		b.Style = StyleModelID
	case "vllm":
		b.Style, b.Multi, b.Gates, b.Max = StyleModelID, true, true, 3
	case "sagemaker":
		b.Style = StyleParam
	case "together", "adapter_server", "llamacpp":
		b.Style, b.Multi, b.Gates, b.Max = StyleParam, true, true, 3
	case "lorax":
		b.Style, b.Multi, b.Gates, b.Max = StyleParam, true, true, 5
	case "local_lora", "local_gpu_lora":
		b.Style, b.Multi, b.Gates, b.Max = StyleNone, true, true, 3
		b.Modes = []string{ModeLocal, ModePrompt, ModeHybrid}
		return b, true
	case "anthropic", "extractive", "scripted", "textfile", "process":
		b.Style, b.Multi, b.Max = StyleNone, true, MaxAdapters
		b.Modes = []string{ModePrompt, ModeHybrid}
		return b, true
	default:
		return Backend{}, false
	}
	b.Modes = []string{ModeRemote, ModePrompt, ModeHybrid}
	return b, true
}

// Cap is how many adapters one request to the backend may use (LORA-09).
func (b Backend) Cap() int {
	if !b.Multi {
		return 1
	}
	return min(MaxAdapters, max(b.Max, 1))
}

// Takes reports whether the backend can use an adapter of that mode; an empty
// one is hybrid. The zero Backend takes every mode.
func (b Backend) Takes(mode string) bool {
	if mode == "" {
		mode = ModeHybrid
	}
	return len(b.Modes) == 0 || slices.Contains(b.Modes, mode)
}
