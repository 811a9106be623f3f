package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"liminal/internal/lora/llm"
	"liminal/internal/tokens"
)

// Folder is a model as it lies in a folder, with all that is needed to talk to
// it.
type Folder struct {
	Name        string // the folder's
	Model       *llm.Model
	Tokens      *tokens.Tokenizer
	Template    tokens.Template
	Stops       []int
	Temperature float64 // of answers, where nobody asks for another
	TopP        float64
	TopK        int     // 0: any
	Penalty     float64 // of what was said already; 0: none
}

// Open reads a model, its tokenizer and the way it writes dialogues. The error
// says which file is wrong, and how.
func Open(dir string) (f *Folder, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f = &Folder{Name: filepath.Base(abs), Temperature: 0.7, TopP: 0.9}
	if f.Tokens, err = tokens.Open(filepath.Join(dir, "tokenizer.json")); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	program, err := chatTemplate(dir)
	if err != nil {
		return nil, err
	}
	if f.Template, err = tokens.TemplateOf(program); err != nil {
		return nil, err
	}
	if err := f.habits(dir); err != nil {
		return nil, err
	}
	if f.Model, err = llm.Open(dir); err != nil {
		return nil, err
	}
	if f.Tokens.Size() > f.Model.Vocab {
		err := fmt.Errorf("tokenizer.json has %d tokens, the model %d", f.Tokens.Size(), f.Model.Vocab)
		return nil, errors.Join(err, f.Model.Close())
	}
	f.Stops = f.Template.Stops(f.Tokens)
	for _, id := range f.Model.Ends {
		if !slices.Contains(f.Stops, id) {
			f.Stops = append(f.Stops, id)
		}
	}
	return f, nil
}

// chatTemplate is the program a model is shipped with; empty: none.
func chatTemplate(dir string) (string, error) {
	raw, err := optional(dir, "chat_template.jinja")
	if err != nil || raw != nil {
		return string(raw), err
	}
	raw, err = optional(dir, "tokenizer_config.json")
	if err != nil || raw == nil {
		return "", err
	}
	var c struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return "", fmt.Errorf("tokenizer_config.json: %w", err)
	}
	var one string
	if len(c.Template) == 0 || json.Unmarshal(c.Template, &one) == nil {
		return one, nil
	}
	var list []struct{ Name, Template string }
	if err := json.Unmarshal(c.Template, &list); err != nil {
		return "", fmt.Errorf("tokenizer_config.json: its chat_template cannot be read: %w", err)
	}
	for _, t := range list {
		if t.Name == "default" {
			return t.Template, nil
		}
	}
	return "", nil
}

// habits reads what generation_config.json says of answers.
func (f *Folder) habits(dir string) error {
	raw, err := optional(dir, "generation_config.json")
	if err != nil || raw == nil {
		return err
	}
	var g struct {
		Sample      *bool    `json:"do_sample"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"top_p"`
		TopK        int      `json:"top_k"`
		Penalty     float64  `json:"repetition_penalty"`
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		return fmt.Errorf("generation_config.json: %w", err)
	}
	if g.Temperature != nil && *g.Temperature >= 0 && *g.Temperature <= 2 {
		f.Temperature = *g.Temperature
	}
	if g.TopP != nil && *g.TopP > 0 && *g.TopP <= 1 {
		f.TopP = *g.TopP
	}
	if g.TopK > 0 {
		f.TopK = g.TopK
	}
	if g.Penalty > 1 && g.Penalty <= 2 {
		f.Penalty = g.Penalty
	}
	if g.Sample != nil && !*g.Sample && g.Temperature == nil {
		f.Temperature = 0
	}
	return nil
}

// optional is the contents of a file that need not be there; nil: it is not.
func optional(dir, name string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// IsModel reports whether a folder looks like a language model's. It says nothing
// of whether it can be run.
func IsModel(dir string) bool {
	c, ok := transformer(dir)
	return ok && (slices.Contains([]string{"llama", "mistral", "qwen2"}, c.Type) ||
		slices.ContainsFunc(c.Architectures, func(a string) bool { return strings.HasSuffix(a, "ForCausalLM") }))
}

// IsTransformer reports whether a folder looks like that of any model with
// layers: of a language model, or of one that compares texts.
func IsTransformer(dir string) bool {
	_, ok := transformer(dir)
	return ok
}

// kind is what a config.json says of the kind of its model.
type kind struct {
	Layers        int      `json:"num_hidden_layers"`
	Type          string   `json:"model_type"`
	Architectures []string `json:"architectures"`
}

func transformer(dir string) (c kind, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return c, false
	}
	return c, c.Layers > 0
}
