package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"liminal/internal/config"
)

// maxModels bounds the list of models that is read, in bytes.
const maxModels = 4 << 20

// modelServer is where a model is, and how it is asked what it has.
type modelServer struct {
	url     string // of the list of models
	shown   string // of the server, as it may be told
	header  http.Header
	setting string // where its address is from
	key     string // and its key
}

// serverOf is the server that a configuration says answers.
func serverOf(m config.Model) (modelServer, error) {
	s := modelServer{header: http.Header{}, setting: "OPENAI_BASE_URL", key: "OPENAI_API_KEY"}
	base := m.OpenAIServer()
	if m.Backend == "anthropic" {
		base, s.setting, s.key = m.AnthropicURL, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return s, fmt.Errorf("%s names no server", s.setting)
	}
	s.shown = u.Redacted()
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	switch {
	case m.Backend == "anthropic":
		path = strings.TrimSuffix(path, "/v1") + "/v1"
		s.header.Set("X-Api-Key", m.AnthropicKey)
		s.header.Set("Anthropic-Version", "2023-06-01")
	case m.Backend == "azure" && !strings.HasSuffix(path, "/v1"):
		before, _, _ := strings.Cut(path, "/openai")
		path = before + "/openai"
		u.RawQuery = url.Values{"api-version": {m.OpenAIVersion}}.Encode()
		s.header.Set("Api-Key", m.OpenAIKey)
	case m.OpenAIKey != "":
		s.header.Set("Authorization", "Bearer "+m.OpenAIKey)
	}
	if m.Backend == "azure" {
		s.header.Set("Api-Key", m.OpenAIKey)
	}
	u.Path, u.RawPath = cmp.Or(path, "/v1")+"/models", ""
	s.url = u.String()
	return s, nil
}

// askModel asks the server of a model what it has. Any answer shows that it is
// there; not every server lists its models.
func askModel(ctx context.Context, m config.Model) finding {
	f := finding{Check: "language model", Health: well}
	s, err := serverOf(m)
	if err != nil {
		f.Health, f.Says, f.Hint = ill, err.Error(), "set it to the URL of the model's server"
		return f
	}
	status, models, err := s.models(ctx)
	name := cmp.Or(m.Name, m.Backend)
	switch {
	case err != nil:
		f.Health, f.unreachable = ill, true
		f.Says = fmt.Sprintf("no server answers at %s: %v", s.shown, err)
		f.Hint = "start it, or check " + s.setting
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Health, f.Says = ill, fmt.Sprintf("the server at %s refuses the key (HTTP status %d)", s.shown, status)
		f.Hint = "check " + s.key
	case status >= http.StatusInternalServerError:
		f.Health, f.Says = warning, fmt.Sprintf("the server at %s answers with HTTP status %d", s.shown, status)
		f.Hint = "it is there, and not well: look at its own log, or try again later"
	case status != http.StatusOK || len(models) == 0:
		f.Says = fmt.Sprintf("%s at %s, which answers; it does not list its models", name, s.shown)
	case m.Name != "" && !slices.ContainsFunc(models, func(id string) bool { return strings.HasPrefix(id, m.Name) }):
		f.Health, f.Says = warning, fmt.Sprintf("the server at %s answers, and %s is not among its models", s.shown, m.Name)
		f.Hint = "set LIMINAL_MODEL to one of " + first(models)
	default:
		f.Says = fmt.Sprintf("%s at %s, which answers and has %s", name, s.shown, count(len(models), "model"))
	}
	return f
}

// models asks for the list of models. An answer that is none has no models.
func (s modelServer) models(ctx context.Context) (status int, ids []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header = s.header
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the key goes nowhere else
	res, err := client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the sentence has the address, without what is secret in it
		}
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }() // it has been read
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(res.Body, maxModels)).Decode(&list) != nil {
		return res.StatusCode, nil, nil
	}
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	return res.StatusCode, ids, nil
}
