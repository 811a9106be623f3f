package model

import "slices"

// Style is how a backend is told which adapters to use (LORA-07).
type Style string

// The styles.
const (
	StyleModelID Style = "model_id"      // an adapter is a model of its own: its remote id stands in the request's model
	StyleParam   Style = "adapter_param" // adapters travel beside the model, in a parameter
	StyleNone    Style = "none"          // weights are loaded here, or not at all
)

// Backend is what a model backend can do with adapters: a row of the
// capability registry (001 §5.0.2).
type Backend struct {
	Name  string
	Style Style
	Multi bool // more than one adapter in a request
	Gates bool // each with a weight
	Max   int  // adapters in one request, at least 1
	Modes []string
}

// The modes of an adapter (LORA-02).
const (
	ModeLocal  = "local"
	ModeRemote = "remote"
	ModePrompt = "prompt"
	ModeHybrid = "hybrid"
)

// Local reports whether the backend loads weights from disk.
func (b Backend) Local() bool { return slices.Contains(b.Modes, ModeLocal) }

// Composing is the row of a server that is handed weights of adapters too, made
// into one beside it (internal/lora/remote).
func (b Backend) Composing() Backend {
	b.Modes = append([]string{ModeLocal}, slices.DeleteFunc(slices.Clone(b.Modes), func(m string) bool { return m == ModeLocal })...)
	return b
}
