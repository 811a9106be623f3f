package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
)

// maxAnswer bounds an answer: 64 vectors of 4,096 numbers take 4 MiB.
const maxAnswer = 64 << 20

// request is what both protocols are asked with.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format,omitempty"`
	Dimensions int      `json:"dimensions,omitempty"`
	Truncate   *bool    `json:"truncate,omitempty"`
}

// answer is what both protocols answer with: data is OpenAI's, embeddings
// Ollama's.
type answer struct {
	Data []struct {
		Index     *int   `json:"index"`
		Embedding vector `json:"embedding"`
	} `json:"data"`
	Embeddings []vector `json:"embeddings"`
}

// vector reads a list of numbers, or the base64 of little-endian 32-bit ones.
type vector []float32

func (v *vector) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return json.Unmarshal(b, (*[]float32)(v))
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%4 != 0 {
		return fmt.Errorf("a vector is no base64 of 32-bit numbers")
	}
	*v = make(vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

func (e *Embedder) request(texts []string) request {
	r := request{Model: e.o.Model, Input: texts}
	if e.o.Style == Ollama {
		yes := true
		r.Truncate = &yes
		return r
	}
	r.Format = "float"
	if shortens(e.o.Model) {
		r.Dimensions = e.o.Dim
	}
	return r
}

// shortens reports whether a model is known to shorten its vectors itself.
// Servers refuse the parameter for others, whose vectors are cut here.
func shortens(model string) bool {
	_, name, deployed := strings.Cut(model, "/") // "openai/text-embedding-3-small", as gateways name it
	if !deployed {
		name = model
	}
	return strings.HasPrefix(name, "text-embedding-3-")
}

// ask embeds one batch.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(e.request(texts))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if e.o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.o.APIKey)
	}
	res, err := e.o.HTTP.Do(req)
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, e.refused(res)
	}
	return e.read(ctx, res.Body, len(texts))
}

// read takes n vectors of one length out of an answer, in the order of the
// texts.
func (e *Embedder) read(ctx context.Context, body io.Reader, n int) ([][]float32, error) {
	raw, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, e.senseless(err)
	}
	out := make([][]float32, n)
	put := func(at int, v vector) error {
		if at < 0 || at >= n || out[at] != nil {
			return fmt.Errorf("%d vectors for %d texts, or one twice", max(len(a.Data), len(a.Embeddings)), n)
		}
		out[at] = v
		return check(v, out[0])
	}
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if err := put(at, d.Embedding); err != nil {
			return nil, e.senseless(err)
		}
	}
	for i, v := range a.Embeddings {
		if err := put(i, v); err != nil {
			return nil, e.senseless(err)
		}
	}
	if got := max(len(a.Data), len(a.Embeddings)); got != n {
		return nil, e.senseless(fmt.Errorf("%d vectors for %d texts", got, n))
	}
	return out, nil
}

// check refuses a vector that is empty, of another length than the first
// (where that is known already), or not of finite numbers.
func check(v, first []float32) error {
	if len(v) == 0 {
		return fmt.Errorf("a vector without numbers")
	}
	if first != nil && len(first) != len(v) {
		return fmt.Errorf("vectors of %d and of %d numbers in one answer", len(first), len(v))
	}
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("a vector with a number that is not finite")
		}
	}
	return nil
}
