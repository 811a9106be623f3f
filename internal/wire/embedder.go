package wire

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"liminal/internal/config"
	"liminal/internal/embed"
	"liminal/internal/embed/remote"
	"liminal/internal/embed/static"
	"liminal/internal/lora/serve"
)

// Encoder is what a configuration makes vectors with, for who looks at the
// settings.
func Encoder(c config.Config) (embed.Embedder, error) {
	return theEncoder(c, slog.New(slog.DiscardHandler))
}

// theEncoder is what a configuration makes vectors with (EMB-06).
func theEncoder(c config.Config, log *slog.Logger) (embed.Embedder, error) {
	switch c.Embed.Encoder {
	case "openai":
		return remote.New(remote.Options{
			BaseURL: cmp.Or(c.Embed.URL, c.Model.OpenAIServer(), "https://api.openai.com/v1"), APIKey: embedKey(c),
			Model: c.Embed.Model, Style: remote.OpenAI,
		})
	case "ollama":
		return remote.New(remote.Options{
			BaseURL: cmp.Or(c.Embed.URL, config.OllamaURL), APIKey: c.Embed.Key, Model: c.Embed.Model, Style: remote.Ollama,
		})
	case "static":
		return staticEncoder(c)
	case "auto":
		return foundEncoder(c, log)
	default:
		return embed.Hash{}, nil
	}
}

// embedKey is the encoder's key. The model's goes to the model's server alone.
func embedKey(c config.Config) string {
	if c.Embed.URL != "" {
		return c.Embed.Key
	}
	return cmp.Or(c.Embed.Key, c.Model.OpenAIKey)
}

// staticEncoder opens the static model that is named, or the one there is.
func staticEncoder(c config.Config) (embed.Embedder, error) {
	if c.Embed.Model != "" {
		if strings.ContainsAny(c.Embed.Model, `/\`) {
			return nil, fmt.Errorf("LIMINAL_EMBED_MODEL=%s is not the name of a folder in %s", c.Embed.Model, c.ModelsDir())
		}
		return static.Open(filepath.Join(c.ModelsDir(), c.Embed.Model))
	}
	found, err := staticModels(c.ModelsDir())
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("LIMINAL_EMBEDDER=static, and no folder of %s holds a model.safetensors with a tokenizer.json", c.ModelsDir())
	case len(found) > 1:
		return nil, fmt.Errorf("LIMINAL_EMBEDDER=static, and %s holds %s: name one with LIMINAL_EMBED_MODEL", c.ModelsDir(), strings.Join(found, ", "))
	}
	return static.Open(filepath.Join(c.ModelsDir(), found[0]))
}

// foundEncoder is a static model if exactly one was put there, else the hash.
func foundEncoder(c config.Config, log *slog.Logger) (embed.Embedder, error) {
	found, err := staticModels(c.ModelsDir())
	if err != nil || len(found) == 0 {
		return embed.Hash{}, err
	}
	if len(found) > 1 && c.Embed.Model == "" {
		log.Warn("several static models: none is used until LIMINAL_EMBED_MODEL names one", "folder", c.ModelsDir(), "models", found)
		return embed.Hash{}, nil
	}
	return staticEncoder(c)
}

// staticModels are the folders of dir that hold a static model. Models of
// other kinds lie beside them.
func staticModels(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if there(dir, e.Name(), "model.safetensors") && there(dir, e.Name(), "tokenizer.json") && !serve.IsTransformer(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func there(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

// formers are encoders whose vectors may still be in the index, beside the one
// in use: until a context is embedded anew it is read with its own (RAG-08).
func formers(now embed.Embedder) []embed.Embedder {
	if now.Version() == (embed.Hash{}).Version() {
		return nil
	}
	return []embed.Embedder{embed.Hash{}}
}
