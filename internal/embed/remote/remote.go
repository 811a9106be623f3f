// Package remote embeds texts with a server: any with OpenAI's /v1/embeddings,
// or Ollama's /api/embed.
//
// It may import embed and fault. A call is made once: who asks decides whether
// to ask again (Temporal does), and a fault says when.
package remote

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/embed"
	"liminal/internal/fault"
)

// Style is the protocol a server speaks.
type Style string

// The styles.
const (
	OpenAI Style = "openai" // POST {BaseURL}/embeddings
	Ollama Style = "ollama" // POST {BaseURL}/api/embed
)

// Bounds of one request.
const (
	defaultBatch = 64        // texts
	batchBytes   = 256 << 10 // of all texts together; about a fifth of what OpenAI takes
	textBytes    = 24 << 10  // of one text; encoders read some 8,000 tokens at most
	connectTime  = 10 * time.Second
)

// Options of an Embedder. BaseURL and Model are required.
type Options struct {
	BaseURL string // "https://api.openai.com/v1", "http://localhost:11434"
	APIKey  string // sent as a bearer token; may be empty
	Model   string
	Style   Style        // "": OpenAI
	Dim     int          // numbers in a vector; 0: embed.Dim
	Batch   int          // texts in one request; 0: 64
	HTTP    *http.Client // nil: one that gives up connecting after 10 s and otherwise leaves time to the context
}

// Embedder implements embed.Embedder with a server. It is safe for concurrent
// use.
type Embedder struct {
	o   Options
	url string
}

var _ embed.Embedder = (*Embedder)(nil)

// New returns an Embedder. It asks the server nothing yet.
func New(o Options) (*Embedder, error) {
	o.Style = cmp.Or(o.Style, OpenAI)
	o.Dim = cmp.Or(o.Dim, embed.Dim)
	o.Batch = cmp.Or(o.Batch, defaultBatch)
	if o.Model == "" {
		return nil, fault.New(fault.Invalid, "An embedding server needs the name of a model.")
	}
	if o.Dim < 1 || o.Batch < 1 {
		return nil, fault.New(fault.Invalid, "An embedding server needs a positive dimension and batch; they are %d and %d.", o.Dim, o.Batch)
	}
	at, err := endpoint(o.BaseURL, o.Style)
	if err != nil {
		return nil, err
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Transport: &http.Transport{
			Proxy:       http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: connectTime}).DialContext, TLSHandshakeTimeout: connectTime,
			MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		}}
	}
	return &Embedder{o, at}, nil
}

// endpoint is where texts are posted to. A base with or without its "/v1" or
// "/api" means the same server.
func endpoint(base string, style Style) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fault.New(fault.Invalid, "The address of the embedding server must begin with http:// or https:// and name a host; %q does not.", base)
	}
	path := strings.TrimRight(u.Path, "/")
	switch style {
	case OpenAI:
		u.Path = cmp.Or(path, "/v1") + "/embeddings"
	case Ollama:
		u.Path = strings.TrimSuffix(strings.TrimSuffix(path, "/v1"), "/api") + "/api/embed"
	default:
		return "", fault.New(fault.Invalid, "An embedding server speaks %q or %q; %q is neither.", OpenAI, Ollama, style)
	}
	return u.String(), nil
}

// Version names the model and the dimension: the same model behind another
// address gives the same vectors (RAG-09).
func (e *Embedder) Version() string { return e.o.Model + "@" + strconv.Itoa(e.o.Dim) }

// Dim is how many numbers a vector has.
func (e *Embedder) Dim() int { return e.o.Dim }

// Embed returns a unit vector for every text, in their order. Texts without a
// letter or sign get the fixed unit vector and are not sent (EMB-03); of texts
// over 24 KiB the beginning is. Errors are faults: Invalid when the server
// refuses the request, RateLimited when it is busy, Internal otherwise.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var asked []int
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			out[i] = embed.Fit(nil, e.o.Dim)
			continue
		}
		asked = append(asked, i)
	}
	for len(asked) > 0 {
		n := e.fitting(texts, asked)
		batch := make([]string, n)
		for i, at := range asked[:n] {
			batch[i] = cut(texts[at])
		}
		vectors, err := e.ask(ctx, batch)
		if err != nil {
			return nil, err
		}
		for i, at := range asked[:n] {
			out[at] = embed.Fit(vectors[i], e.o.Dim)
		}
		asked = asked[n:]
	}
	return out, nil
}

// fitting is how many of the texts that are still asked fit one request: at
// least one.
func (e *Embedder) fitting(texts []string, asked []int) int {
	size, n := 0, 0
	for _, at := range asked {
		size += min(len(texts[at]), textBytes)
		if n == e.o.Batch || n > 0 && size > batchBytes {
			break
		}
		n++
	}
	return n
}

// cut is at most textBytes of a text, whole characters.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= textBytes {
		return text
	}
	end := textBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
