package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Server is the model's server beside its chat: what it serves, and what it is
// told of adapters.
type Server struct {
	URL  string // up to and with /v1, or without any path
	Key  string
	HTTP *http.Client // nil: http.DefaultClient's transport, with redirects refused
}

// Bounds of what a server is asked.
const (
	askLimit = 10 * time.Second
	// loadLimit is longer: the server reads the adapter before it answers.
	loadLimit = 2 * time.Minute
	maxAnswer = 4 << 20
)

// card is a model in the server's list.
type card struct {
	ID     string  `json:"id"`
	Root   string  `json:"root"`
	Parent *string `json:"parent"`
}

// errNotAllowed says that the server takes no adapters while it runs.
var errNotAllowed = errors.New("the server does not take adapters while it runs: start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True")

// list is what the server serves: models, and adapters with their parent.
func (s Server) list(ctx context.Context) ([]card, error) {
	var out struct {
		Data []card `json:"data"`
	}
	status, body, err := s.ask(ctx, askLimit, http.MethodGet, s.at("v1/models"), nil)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, s.refused("its list of models", status, body)
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, fmt.Errorf("the list of models of %s cannot be read: %w", s.host(), err)
	}
	return out.Data, nil
}

// load has vLLM read an adapter, and keep it under a name.
func (s Server) load(ctx context.Context, name, path string) error {
	status, body, err := s.ask(ctx, loadLimit, http.MethodPost, s.at("v1/load_lora_adapter"), map[string]string{"lora_name": name, "lora_path": path})
	switch {
	case err != nil:
		return err
	case status == http.StatusOK, status == http.StatusBadRequest && strings.Contains(said(body), "already been loaded"):
		return nil
	case missing(status, body):
		return errNotAllowed
	}
	return s.refused("to load the adapter in "+path, status, body)
}

// unload has vLLM forget an adapter. One that it does not know is no error.
func (s Server) unload(ctx context.Context, name string) error {
	status, body, err := s.ask(ctx, askLimit, http.MethodPost, s.at("v1/unload_lora_adapter"), map[string]string{"lora_name": name})
	if err != nil || status == http.StatusOK || status == http.StatusNotFound {
		return err
	}
	return s.refused("to unload the adapter "+name, status, body)
}

// served is the name an adapter's config has to have as its base: the model as the
// server was started with. vLLM compares it with the path, or name, of the model
// it has read, which is not the name it serves it by.
func (s Server) served(ctx context.Context, backend, model string) (string, error) {
	if backend == lorax {
		status, body, err := s.ask(ctx, askLimit, http.MethodGet, s.at("info"), nil)
		if err != nil {
			return "", err
		}
		var info struct {
			Model string `json:"model_id"`
		}
		if status != http.StatusOK || json.Unmarshal(body, &info) != nil || info.Model == "" {
			return "", s.refused("which model it serves", status, body)
		}
		return info.Model, nil
	}
	cards, err := s.list(ctx)
	if err != nil {
		return "", err
	}
	first := ""
	for _, c := range cards {
		if c.Parent != nil && *c.Parent != "" {
			continue // an adapter
		}
		name := c.Root
		if name == "" {
			name = c.ID
		}
		if c.ID == model {
			return name, nil
		}
		if first == "" {
			first = name
		}
	}
	if model != "" || first == "" {
		return "", fmt.Errorf("%s does not serve the model %q", s.host(), model)
	}
	return first, nil
}

func (s Server) ask(ctx context.Context, limit time.Duration, method, address string, body any) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var doc io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		doc = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, address, doc)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.Key != "" {
		r.Header.Set("Authorization", "Bearer "+s.Key)
	}
	resp, err := s.client().Do(r)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // without the URL, which may hold a secret
		}
		return 0, nil, fmt.Errorf("%s cannot be asked: %w", s.host(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, answer, err
}

func (s Server) client() *http.Client {
	if s.HTTP != nil {
		return s.HTTP
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// at is where the server has something.
func (s Server) at(path string) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1"), ""
	return u.JoinPath(path).String()
}

func (s Server) host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "the model's server"
	}
	return u.Host
}

// refused says what a server said instead.
func (s Server) refused(what string, status int, body []byte) error {
	text := strings.Join(strings.Fields(said(body)), " ")
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300]) + "…"
	}
	if s.Key != "" {
		text = strings.ReplaceAll(text, s.Key, "…")
	}
	return fmt.Errorf("%s was asked %s and says, with HTTP status %d: %s", s.host(), what, status, text)
}

// said is the sentence of an error, in the forms vLLM has had: around it "error",
// or nothing.
func said(body []byte) string {
	var e struct {
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil {
		return string(body)
	}
	switch {
	case e.Error.Message != "":
		return e.Error.Message
	case e.Message != "":
		return e.Message
	}
	return string(body)
}

// missing reports whether the server has no such address at all, which is another
// thing than an adapter it does not find.
func missing(status int, body []byte) bool {
	return status == http.StatusMethodNotAllowed || status == http.StatusNotFound && !strings.Contains(string(body), "message")
}
