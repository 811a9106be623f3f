package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/anthropic"
	"liminal/internal/model/modeltest"
)

func open(t *testing.T, url, name string) model.Model {
	t.Helper()
	m, err := anthropic.New(anthropic.Options{BaseURL: url, APIKey: modeltest.Key, Model: name})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Requirements: LORA-19 (streams tokens), LORA-24, LORA-25 (a clean message)
func TestTheProviderKeepsToTheProtocol(t *testing.T) {
	t.Parallel()
	modeltest.RunWire(t, modeltest.Wire{
		Open:   func(t *testing.T, url string) model.Model { return open(t, url, "") },
		Serve:  server,
		Signed: true,
	})
}

// A model that knows no output format is made to call a tool instead; all the
// rest is the same.
func TestAnOlderModelKeepsToTheProtocol(t *testing.T) {
	t.Parallel()
	modeltest.RunWire(t, modeltest.Wire{
		Open:   func(t *testing.T, url string) model.Model { return open(t, url, "claude-3-haiku-20240307") },
		Serve:  server,
		Signed: true,
	})
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := anthropic.New(anthropic.Options{}); fault.Reason(err) != fault.NotConfigured {
		t.Errorf("without a key: %v", err)
	}
	for _, url := range []string{"api.anthropic.com", "ftp://x", "http://", "http://\x00"} {
		if _, err := anthropic.New(anthropic.Options{APIKey: "k", BaseURL: url}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", url, err)
		}
	}
	m, err := anthropic.New(anthropic.Options{APIKey: "k"})
	if err != nil || m.Name() != anthropic.DefaultModel || !m.Generative() {
		t.Error(m, err)
	}
}

// A server says in three ways how long to wait, or does not say.
//
// Requirements: LORA-25 (a rate limit is tried again)
func TestHowLongToWaitIsWhatTheServerSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]any{
		"Retry-After: 7":     int64(7000),
		"Retry-After: 0.5":   int64(500),
		"Retry-After-Ms: 12": int64(12),
		"Retry-After: " + now.Add(time.Minute).Format(http.TimeFormat): int64(60_000),
		"Retry-After: soon":     nil,
		"Retry-After: -3":       nil,
		"Retry-After: NaN":      nil,
		"Retry-After: Inf":      nil,
		"Retry-After: 1e300":    nil,
		"Retry-After-Ms: 1e300": nil,
		"X-Other: 1":            nil,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Set(name, value)
			refuse(w, http.StatusTooManyRequests, "rate_limit_error", "Slow down.")
		}))
		defer s.Close()
		m, err := anthropic.New(anthropic.Options{BaseURL: s.URL, APIKey: "k", Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range m.Stream(t.Context(), model.Request{}) {
			details, _ := fault.From(err).Details.(map[string]any)
			if details["retry_after_ms"] != want {
				t.Errorf("%s: %v, want %v", header, details, want)
			}
		}
	}
}

func TestAnAccountWithoutCreditIsForWhoeverRunsTheServer(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]string{http.StatusPaymentRequired: "billing_error", http.StatusBadRequest: "invalid_request_error"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, status, kind, "Your credit balance is too low to access the Anthropic API.")
		}))
		defer s.Close()
		for _, err := range open(t, s.URL, "").Stream(t.Context(), model.Request{}) {
			if fault.Reason(err) != fault.NotConfigured || !strings.Contains(fault.From(err).Message, "credit") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
}

// Errors go to the log: what a server repeats of the request does not.
func TestAnErrorRepeatsLittleOfWhatAServerSays(t *testing.T) {
	t.Parallel()
	document := strings.Repeat("The terms of the contract are secret.\n", 500)
	for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusOK} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if status == http.StatusOK { // an error in the stream
				w.Header().Set("Content-Type", "text/event-stream")
				doc, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": "api_error", "message": document}})
				_, _ = fmt.Fprintf(w, "event: error\ndata: %s\n\n", doc)
				return
			}
			refuse(w, status, "invalid_request_error", "Cannot read: "+document)
		}))
		defer s.Close()
		for _, err := range open(t, s.URL, "").Stream(t.Context(), model.Request{}) {
			if err == nil || len(err.Error()) > 1500 || strings.Contains(err.Error(), "\n") {
				t.Errorf("status %d: %d bytes: %.300v", status, len(err.Error()), err)
			}
		}
	}
}

func TestTheKeyGoesNowhereElse(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("another server was asked")
	}))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/gateway/v1/messages" {
			t.Errorf("asked at %s", r.URL.Path)
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	failed := false
	for _, err := range open(t, s.URL+"/gateway", "").Stream(t.Context(), model.Request{}) {
		failed = fault.Reason(err) == fault.Upstream
	}
	if !failed {
		t.Error("a redirect is no answer")
	}
}

// A gateway may ask for a password, which stands in its address.
func TestAGatewaysPasswordStandsInNoError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusOK} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, status, "api_error", "No.")
		}))
		defer s.Close()
		for _, err := range open(t, strings.Replace(s.URL, "http://", "http://ann:geheimnis%2F@", 1), "").Stream(t.Context(), model.Request{}) {
			if err == nil || strings.Contains(err.Error(), "geheimnis") {
				t.Errorf("status %d: %v", status, err)
			}
		}
	}
}
