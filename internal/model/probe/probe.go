// Package probe asks the server of a model whether it is there, and what it has:
// what `liminald doctor` and the page of backends tell.
//
// It may import the standard library only.
package probe

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
	"time"
)

// maxModels bounds the list of models that is read, in bytes.
const maxModels = 4 << 20

// Server is where a model is, and how it is asked.
type Server struct {
	Backend    string // the protocol, as MODEL_BACKEND names it
	URL        string // up to and with /v1
	Key        string
	APIVersion string // of azure
	Model      string // that is to be there; empty: any

	// What the findings tell to set, by name.
	URLSetting, KeySetting, ModelSetting string
	// Limit bounds the question.
	Limit time.Duration
	// HTTP asks; nil: a client that follows no redirect.
	HTTP *http.Client
}

// Health is how well a server is.
type Health int

// The healths.
const (
	Well Health = iota
	Warning
	Ill
)

// Finding is what came of asking.
type Finding struct {
	Health      Health
	Says        string // a sentence
	Hint        string // what to do; empty: nothing
	Unreachable bool   // nobody answers
	Models      []string
}

// Ask asks the server what it has. Any answer shows that it is there; not every
// server lists its models.
func Ask(ctx context.Context, s Server) Finding {
	q, err := s.question()
	if err != nil {
		return Finding{Health: Ill, Says: err.Error(), Hint: "set it to the URL of the model's server"}
	}
	status, models, err := q.models(ctx, s)
	name := cmp.Or(s.Model, s.Backend)
	f := Finding{Models: models}
	switch {
	case err != nil:
		f.Health, f.Unreachable = Ill, true
		f.Says = fmt.Sprintf("no server answers at %s: %v", q.shown, err)
		f.Hint = "start it, or check " + s.URLSetting
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Health, f.Says = Ill, fmt.Sprintf("the server at %s refuses the key (HTTP status %d)", q.shown, status)
		f.Hint = "check " + s.KeySetting
	case status >= http.StatusInternalServerError:
		f.Health, f.Says = Warning, fmt.Sprintf("the server at %s answers with HTTP status %d", q.shown, status)
		f.Hint = "it is there, and not well: look at its own log, or try again later"
	case status != http.StatusOK || len(models) == 0:
		f.Says = fmt.Sprintf("%s at %s, which answers; it does not list its models", name, q.shown)
	case s.Model != "" && !slices.ContainsFunc(models, func(id string) bool { return strings.HasPrefix(id, s.Model) }):
		f.Health, f.Says = Warning, fmt.Sprintf("the server at %s answers, and %s is not among its models", q.shown, s.Model)
		f.Hint = "set " + s.ModelSetting + " to one of " + First(models)
	default:
		f.Says = fmt.Sprintf("%s at %s, which answers and has %s", name, q.shown, count(len(models), "model"))
	}
	return f
}

// question is the request for the list of models.
type question struct {
	url    string
	shown  string // of the server, as it may be told
	header http.Header
}

func (s Server) question() (question, error) {
	q := question{header: http.Header{}}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return q, fmt.Errorf("%s names no server", s.URLSetting)
	}
	q.shown = u.Redacted()
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	switch {
	case s.Backend == "anthropic":
		path = strings.TrimSuffix(path, "/v1") + "/v1"
		q.header.Set("X-Api-Key", s.Key)
		q.header.Set("Anthropic-Version", "2023-06-01")
	case s.Backend == "azure" && !strings.HasSuffix(path, "/v1"):
		before, _, _ := strings.Cut(path, "/openai")
		path = before + "/openai"
		u.RawQuery = url.Values{"api-version": {s.APIVersion}}.Encode()
		q.header.Set("Api-Key", s.Key)
	case s.Key != "":
		q.header.Set("Authorization", "Bearer "+s.Key)
	}
	if s.Backend == "azure" {
		q.header.Set("Api-Key", s.Key)
	}
	u.Path, u.RawPath = cmp.Or(path, "/v1")+"/models", ""
	q.url = u.String()
	return q, nil
}

// models asks for the list of models. An answer that is none has no models.
func (q question) models(ctx context.Context, s Server) (status int, ids []string, err error) {
	if s.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Limit)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, q.url, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header = q.header
	client := s.HTTP
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the key goes nowhere else
	}
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

// offered is how many models are named.
const offered = 3

// First names the first of some models.
func First(models []string) string {
	if len(models) == 0 {
		return "the models you install with: ollama pull NAME"
	}
	if len(models) > offered {
		return strings.Join(models[:offered], ", ") + fmt.Sprintf(" and %d more", len(models)-offered)
	}
	return strings.Join(models, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
