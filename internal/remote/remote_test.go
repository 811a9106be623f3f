package remote_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/remote"
)

// served is a server that knows one account and a list of two pages.
func served(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, status int, body string) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
	mux.HandleFunc("POST /v1/auth/login", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Email, Password string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Password != "right" {
			say(w, 401, `{"status":"error","error":{"code":"unauthorized","message":"No.","details":{"reason":"credentials"}},"request_id":"r"}`)
			return
		}
		say(w, 200, `{"status":"ok","data":{"access_token":"token"},"request_id":"r"}`)
	})
	mux.HandleFunc("GET /v1/things", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer token":
			say(w, 401, `{"status":"error","error":{"code":"unauthorized","message":"Who?","details":null},"request_id":"r"}`)
		case r.URL.Query().Get("cursor") == "":
			say(w, 200, `{"status":"ok","data":{"data":[1,2],"next_cursor":"more"},"request_id":"r"}`)
		default:
			say(w, 200, `{"status":"ok","data":{"data":[3],"next_cursor":null},"request_id":"r"}`)
		}
	})
	mux.HandleFunc("GET /v1/odd", func(w http.ResponseWriter, _ *http.Request) { say(w, 200, "<html>") })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestAnAddressAndItsPasswordSignIn(t *testing.T) {
	t.Parallel()
	s, err := remote.SignIn(t.Context(), served(t).URL+"/", remote.Account{User: "ada@example.org", Password: "right"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := remote.All[int](t.Context(), s, "/v1/things", nil)
	if err != nil || !slices.Equal(all, []int{1, 2, 3}) {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestWhatTheServerRefusesKeepsItsCodeAndSentence(t *testing.T) {
	t.Parallel()
	at := served(t).URL
	_, err := remote.SignIn(t.Context(), at, remote.Account{User: "ada@example.org", Password: "wrong"})
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Code != fault.Unauthorized || refused.Message != "No." || !strings.Contains(string(refused.Details.(json.RawMessage)), "credentials") {
		t.Errorf("got %v", err)
	}
	if _, err := remote.SignIn(t.Context(), at, remote.Account{}); err == nil || !strings.Contains(err.Error(), "LIMINAL_TOKEN") {
		t.Errorf("without an account: %v", err)
	}
	s, err := remote.SignIn(t.Context(), at, remote.Account{Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), "/v1/odd", nil, nil); err == nil || !strings.Contains(err.Error(), "not as Liminal does") {
		t.Errorf("another server: %v", err)
	}
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, err := remote.SignIn(t.Context(), gone.URL, remote.Account{User: "a", Password: "b"})
	if _, ok := errors.AsType[*remote.Unreachable](err); !ok || !strings.Contains(err.Error(), gone.URL) {
		t.Errorf("got %v", err)
	}
}

// What listens where only programs of its person can is asked without an account, and
// an answer without an envelope comes as it is.
func TestAServerBesideIsAskedWithoutAnAccount(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/bytes", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("<as it is>" + r.Header.Get("Authorization")))
	})
	mux.HandleFunc("GET /v1/none", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"code":"unauthorized","message":"No."}}`))
	})
	h := httptest.NewServer(mux)
	t.Cleanup(h.Close)
	s := remote.Beside(h.URL, h.Client())
	if got, err := s.Bytes(t.Context(), "/v1/bytes"); err != nil || string(got) != "<as it is>" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := s.Bytes(t.Context(), "/v1/none"); !errors.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), "No.") {
		t.Errorf("got %v", err)
	}
}
