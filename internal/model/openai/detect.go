package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// OllamaURL is where an Ollama on this machine is.
const OllamaURL = "http://127.0.0.1:11434"

// detecting is how long an Ollama may take to say what it has.
const detecting = 500 * time.Millisecond

// Detect asks for an Ollama and gives the models it has installed, in its
// order; an empty baseURL is OllamaURL, and one that ends with /v1 means the
// same server. It takes at most 500 ms and fails when there is none. What it
// finds is for offering: nothing is asked of a model nobody chose.
func Detect(ctx context.Context, baseURL string) ([]string, error) {
	if baseURL == "" {
		baseURL = OllamaURL
	}
	ctx, cancel := context.WithTimeout(ctx, detecting)
	defer cancel()
	url := strings.TrimSuffix(strings.TrimRight(baseURL, "/"), "/v1") + "/api/tags"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	// No proxy is asked for what is on this machine, and nothing stays open.
	dialer := net.Dialer{Timeout: detecting}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with HTTP status %d: it is no Ollama", url, resp.StatusCode)
	}
	var tags struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&tags); err != nil {
		return nil, fmt.Errorf("%s does not list models: %w", url, err)
	}
	names := []string{}
	for _, m := range tags.Models {
		if m.Name != "" {
			names = append(names, m.Name)
		}
	}
	return names, nil
}
