package remote_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/embed"
	"liminal/internal/embed/remote"
	"liminal/internal/fault"
)

// asked is one request as the server saw it.
type asked struct {
	path, auth string
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions"`
}

// server speaks the protocols as the real ones do: vectors of size numbers
// that depend on the text alone, in reverse order with their index.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []asked
	base64 bool
	size   int
}

func serve(t *testing.T, answer func(w http.ResponseWriter, a asked)) *server {
	t.Helper()
	s := &server{size: 96}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{path: r.Method + " " + r.URL.Path, auth: r.Header.Get("Authorization")}
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Errorf("request %s: %v", raw, err)
		}
		s.mu.Lock()
		s.asked = append(s.asked, a)
		s.mu.Unlock()
		if answer != nil {
			answer(w, a)
			return
		}
		s.answer(w, a)
	}))
	t.Cleanup(s.Close)
	return s
}

func vectorOf(text string, size int) []float32 {
	v := make([]float32, size)
	for i := range v {
		v[i] = float32(len(text)%7) + float32(i%5) - 1.5
	}
	return v
}

func (s *server) answer(w http.ResponseWriter, a asked) {
	size := s.size
	if a.Dimensions > 0 {
		size = a.Dimensions
	}
	if strings.HasSuffix(a.path, "/api/embed") {
		list := [][]float32{}
		for _, text := range a.Input {
			list = append(list, vectorOf(text, size))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": a.Model, "embeddings": list, "prompt_eval_count": 3})
		return
	}
	data := []any{}
	for i, text := range slices.Backward(a.Input) {
		var v any = vectorOf(text, size)
		if s.base64 {
			raw := []byte{}
			for _, x := range vectorOf(text, size) {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			}
			v = base64.StdEncoding.EncodeToString(raw)
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": a.Model, "usage": map[string]any{"prompt_tokens": 3}})
}

func open(t *testing.T, o remote.Options) *remote.Embedder {
	t.Helper()
	e, err := remote.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Requirements: EMB-04, EMB-01
func TestEachTextGetsItsOwnVectorCutToTheDimension(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "bb", "ccc", "dddd", "eeeee"}
	for name, c := range map[string]struct {
		style  remote.Style
		base   string
		path   string
		base64 bool
	}{
		"openai":           {remote.OpenAI, "/v1", "POST /v1/embeddings", false},
		"openai, bare":     {remote.OpenAI, "", "POST /v1/embeddings", false},
		"openai, base64":   {remote.OpenAI, "/v1/", "POST /v1/embeddings", true},
		"openai, prefixed": {remote.OpenAI, "/proxy/v1", "POST /proxy/v1/embeddings", false},
		"ollama":           {remote.Ollama, "", "POST /api/embed", false},
		"ollama, its /v1":  {remote.Ollama, "/v1", "POST /api/embed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			s.base64 = c.base64
			e := open(t, remote.Options{BaseURL: s.URL + c.base, APIKey: "k-1", Model: "some-model", Style: c.style, Batch: 2})
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if want := embed.Fit(vectorOf(texts[i], 96), 64); !slices.Equal(v, want) {
					t.Errorf("vector of %q is %v…, want %v…", texts[i], v[:4], want[:4])
				}
			}
			if len(s.asked) != 3 || s.asked[0].path != c.path || s.asked[0].auth != "Bearer k-1" || s.asked[0].Dimensions != 0 {
				t.Errorf("asked %+v, want three calls of two texts", s.asked)
			}
			if e.Version() != "some-model@64" || e.Dim() != 64 {
				t.Errorf("version %q of %d numbers", e.Version(), e.Dim())
			}
		})
	}
}

// Requirements: EMB-04
func TestAModelThatShortensItselfIsAskedTo(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for _, model := range []string{"text-embedding-3-small", "openai/text-embedding-3-large", "text-embedding-ada-002", "nomic-embed-text"} {
		e := open(t, remote.Options{BaseURL: s.URL, Model: model})
		if _, err := e.Embed(t.Context(), []string{"text"}); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	for _, a := range s.asked {
		got = append(got, a.Dimensions)
	}
	if !slices.Equal(got, []int{64, 64, 0, 0}) {
		t.Errorf("asked for dimensions %v", got)
	}
}

// Requirements: EMB-03
func TestEmptyTextsAreNotSent(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	e := open(t, remote.Options{BaseURL: s.URL, Model: "m"})
	got, err := e.Embed(t.Context(), []string{"", "word", " \n\t"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 1 || !slices.Equal(s.asked[0].Input, []string{"word"}) {
		t.Errorf("sent %+v", s.asked)
	}
	for _, i := range []int{0, 2} {
		if !slices.Equal(got[i], embed.Fit(nil, 64)) {
			t.Errorf("text %d: %v…", i, got[i][:3])
		}
	}
	if _, err := e.Embed(t.Context(), nil); err != nil || len(s.asked) != 1 {
		t.Errorf("no text at all: %v after %d calls", err, len(s.asked))
	}
}

func TestBatchesAreBoundedInBytesAndLongTextsCut(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	e := open(t, remote.Options{BaseURL: s.URL, Model: "m", Batch: 1000})
	texts := make([]string, 30)
	for i := range texts {
		texts[i] = strings.Repeat("é", 20_000)
	}
	if _, err := e.Embed(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	for _, a := range s.asked {
		size := 0
		for _, text := range a.Input {
			size += len(text)
			if len(text) > 24<<10 || strings.ContainsRune(text, '\uFFFD') {
				t.Fatalf("a text of %d bytes was sent, or half a character", len(text))
			}
		}
		if size > 256<<10 {
			t.Errorf("a request of %d bytes", size)
		}
	}
	if len(s.asked) != 3 {
		t.Errorf("%d requests, want 3", len(s.asked))
	}
}

func status(code int, header, body string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, _ asked) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestFailuresAreFaultsAPersonCanActOn(t *testing.T) {
	t.Parallel()
	const key = "sk-secret"
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, asked)
		code   fault.Code
		reason string
		after  int64
		says   string
	}{
		"bad key":        {status(401, "", `{"error":{"message":"Incorrect key sk-secret"}}`), fault.Internal, fault.NotConfigured, 0, "refused"},
		"bad request":    {status(400, "", `{"error":{"message":"This model's maximum context length is 8192 tokens."}}`), fault.Invalid, "", 0, "maximum context length"},
		"no such model":  {status(404, "", `{"error":"model \"m\" not found, try pulling it first"}`), fault.Invalid, "", 0, "try pulling it"},
		"key repeated":   {status(422, "", `{"error":"key sk-secret is odd"}`), fault.Invalid, "", 0, "422"},
		"429":            {status(429, "Retry-After: 7", `{}`), fault.RateLimited, fault.Upstream, 7000, "busy"},
		"429 in ms":      {status(429, "Retry-After-Ms: 1500", `{}`), fault.RateLimited, fault.Upstream, 1500, "busy"},
		"503":            {status(503, "", `<html>`), fault.RateLimited, fault.Upstream, 0, "busy"},
		"500":            {status(500, "", `oops`), fault.Internal, fault.Upstream, 0, "500"},
		"garbage":        {status(200, "", `<html>hello</html>`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"too few":        {status(200, "", `{"data":[{"index":0,"embedding":[1,2]}]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"too many":       {status(200, "", `{"embeddings":[[1],[2],[3]]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"one twice":      {status(200, "", `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"index outside":  {status(200, "", `{"data":[{"index":0,"embedding":[1]},{"index":9,"embedding":[2]}]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"uneven vectors": {status(200, "", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[2]}]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"empty vector":   {status(200, "", `{"embeddings":[[],[]]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"null vector":    {status(200, "", `{"embeddings":[null,[1]]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
		"bad base64":     {status(200, "", `{"data":[{"index":0,"embedding":"AAA"},{"index":1,"embedding":"AAAA"}]}`), fault.Internal, fault.Upstream, 0, "makes no sense"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answer)
			_, err := open(t, remote.Options{BaseURL: s.URL, APIKey: key, Model: "m"}).Embed(t.Context(), []string{"one", "two"})
			if fault.CodeOf(err) != c.code || fault.Reason(err) != c.reason {
				t.Fatalf("%v: code %s, reason %q", err, fault.CodeOf(err), fault.Reason(err))
			}
			f := fault.From(err)
			if !strings.Contains(f.Message, c.says) || strings.Contains(err.Error(), key) {
				t.Errorf("it says %q", err)
			}
			if d, _ := f.Details.(map[string]any); c.after > 0 && d["retry_after_ms"] != c.after {
				t.Errorf("details %v, want to wait %d ms", f.Details, c.after)
			}
			if len(s.asked) != 1 {
				t.Errorf("asked %d times: who calls decides about retries", len(s.asked))
			}
		})
	}
}

func TestACutAnswerAndAClosedServerAreUpstreamFaults(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ asked) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"data":[`)
	})
	e := open(t, remote.Options{BaseURL: s.URL, Model: "m"})
	if _, err := e.Embed(t.Context(), []string{"one"}); fault.Reason(err) != fault.Upstream {
		t.Errorf("a cut answer: %v", err)
	}
	s.Close()
	if _, err := e.Embed(t.Context(), []string{"one"}); fault.Reason(err) != fault.Upstream {
		t.Errorf("a closed server: %v", err)
	}
}

func TestACancelledCallEndsAtOnce(t *testing.T) {
	t.Parallel()
	began, end := make(chan struct{}), make(chan struct{})
	s := serve(t, func(http.ResponseWriter, asked) { close(began); <-end })
	defer close(end)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	e := open(t, remote.Options{BaseURL: s.URL, Model: "m"})
	go func() {
		_, err := e.Embed(ctx, []string{"one"})
		done <- err
	}()
	<-began
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestWhatCannotWorkIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for i, o := range []remote.Options{
		{BaseURL: "http://host"},
		{BaseURL: "host:80", Model: "m"},
		{BaseURL: "ftp://host", Model: "m"},
		{BaseURL: "http://host", Model: "m", Style: "cohere"},
		{BaseURL: "http://host", Model: "m", Dim: -1},
	} {
		if e, err := remote.New(o); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%d: %v, %v", i, e, fmt.Sprint(err))
		}
	}
}
