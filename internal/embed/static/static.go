// Package static embeds texts with a table of token vectors, as model2vec
// makes them: no server, no accelerator, some microseconds a sentence.
//
// A model is a folder with model.safetensors (a tensor "embeddings", one row a
// token), tokenizer.json and config.json. A text's vector is the mean of its
// tokens' rows, cut to embed.Dim numbers: such models are ordered by how much
// each number says. The package may import embed, fault, tensors and
// tokens.
package static

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/tokens"
)

// Embedder implements embed.Embedder. It is safe for concurrent use and keeps
// vocabulary × 64 numbers in memory: 8 MB for a model of 30,000 tokens.
type Embedder struct {
	name   string
	tokens *tokens.Tokenizer
	table  table
	most   int // tokens read of a text; 0: all
	runes  int // characters read of a text, a bound set before it is cut into tokens; 0: all
}

var _ embed.Embedder = (*Embedder)(nil)

// layout is where a model's files lie in its folder.
type layout struct{ weights, tokens, config, tensor string }

// layouts are the ways model2vec and sentence-transformers write a model.
var layouts = []layout{
	{"model.safetensors", "tokenizer.json", "config.json", "embeddings"},
	{"model.safetensors", "tokenizer.json", "config_sentence_transformers.json", "embedding.weight"},
	{"0_StaticEmbedding/model.safetensors", "0_StaticEmbedding/tokenizer.json", "config_sentence_transformers.json", "embedding.weight"},
}

// Open reads the model in dir. Whatever is wrong with it is an Invalid fault
// that names the file.
func Open(dir string) (*Embedder, error) {
	l, err := laidOut(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, l.tokens)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, wrong(path, err)
	}
	tokens, err := tokens.Read(raw)
	if err != nil {
		return nil, wrong(path, err)
	}
	sum := sha256.New()
	sum.Write(raw)
	most, err := longest(filepath.Join(dir, l.config))
	if err != nil {
		return nil, err
	}
	weights := filepath.Join(dir, l.weights)
	t, err := readTable(weights, l.tensor, embed.Dim, sum)
	if err != nil {
		return nil, wrong(weights, err)
	}
	if err := t.covers(tokens.Size()); err != nil {
		return nil, wrong(weights, err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Embedder{
		name:   filepath.Base(abs) + "-" + hex.EncodeToString(sum.Sum(nil))[:8] + "@" + strconv.Itoa(embed.Dim),
		tokens: tokens, table: t, most: most, runes: most * tokens.MedianLength(),
	}, nil
}

func laidOut(dir string) (layout, error) {
	for _, l := range layouts {
		missing := false
		for _, name := range []string{l.weights, l.tokens, l.config} {
			_, err := os.Stat(filepath.Join(dir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return layout{}, fault.Wrap(fault.Invalid, err, "The embedding model in %s cannot be read. Check who may read the folder.", dir)
			}
			missing = missing || err != nil
		}
		if !missing {
			return l, nil
		}
	}
	return layout{}, fault.New(fault.Invalid, "The folder %s holds no static embedding model: that is a model.safetensors, a tokenizer.json and a config.json, as model2vec saves them.", dir)
}

// longest reads how many tokens of a text the model looks at: model2vec's
// default where the file does not say, 0 where it says null.
func longest(path string) (int, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, wrong(path, err)
	}
	config := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &config); err != nil {
		return 0, wrong(path, err)
	}
	given, ok := config["max_length"]
	switch {
	case !ok:
		return 512, nil
	case string(given) == "null":
		return 0, nil
	}
	n := 0
	if err := json.Unmarshal(given, &n); err != nil || n < 1 {
		return 0, wrong(path, cmp.Or(err, errors.New("max_length must be a positive number or null")))
	}
	return n, nil
}

// wrong is what a person is told of a file that cannot be used.
func wrong(path string, cause error) error {
	return fault.Wrap(fault.Invalid, cause, "The embedding model cannot be used: %s: %v.", path, cause)
}

// Version names the folder, its contents and the dimension: a model that was
// exchanged under the same name is another encoder (RAG-09).
func (e *Embedder) Version() string { return e.name }

// Dim is how many numbers a vector has.
func (e *Embedder) Dim() int { return embed.Dim }

// Embed returns a unit vector for every text, in their order. A text of which
// the model knows no token gets the fixed unit vector (EMB-03).
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = e.vector(text)
	}
	return out, nil
}

func (e *Embedder) vector(text string) []float32 {
	ids := e.tokens.Encode(beginning(text, e.runes))
	if e.most > 0 && len(ids) > e.most {
		ids = ids[:e.most]
	}
	sum := make([]float64, e.table.dim)
	for _, id := range ids {
		if id != e.tokens.Unknown() {
			e.table.add(sum, id)
		}
	}
	mean := make([]float32, len(sum))
	for i, x := range sum {
		mean[i] = float32(x / float64(max(len(ids), 1)))
	}
	return embed.Fit(mean, embed.Dim)
}

// beginning is the first n characters of a text; all of it for 0.
func beginning(text string, n int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if n == 0 || len(text) <= n {
		return text
	}
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// Local reports that sentences are cheap.
func (e *Embedder) Local() bool { return true }
