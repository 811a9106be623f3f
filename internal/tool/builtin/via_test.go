package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"context"

	"liminal/internal/data"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/internal/webaccess"
)

// recorded answers any query and keeps what was asked.
type recorded struct {
	asked  data.Query
	who    data.Person
	answer map[string]any
	err    error
}

func (s *recorded) Ask(_ context.Context, _ data.Source, who data.Person, q data.Query) (map[string]any, error) {
	s.asked, s.who = q, who
	return s.answer, s.err
}

func (s *recorded) KnownAs(context.Context, identity.Viewer, data.Match) (string, error) {
	return "ann@x.test", nil
}

type oneSecret string

func (s oneSecret) Secret(_ context.Context, name string) (string, error) {
	if name != "api" {
		return "", fault.New(fault.NotFound, "There is no such secret.")
	}
	return string(s), nil
}

func boxWith(t *testing.T, p builtin.Parts) *tool.Box {
	t.Helper()
	box, err := tool.NewBox(builtin.Tools(p), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func specFrom(t *testing.T, doc string) tool.Spec {
	t.Helper()
	s, err := tool.Decode([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The person comes from the run and never from the inputs, whatever a spec that was
// stored long ago says; a record that is not there passes any output schema.
//
// Requirements: ISO-10 (a tool call), GRND-14 (the result)
func TestAQueryIsAskedForThePersonOfTheRun(t *testing.T) {
	t.Parallel()
	s := &recorded{answer: map[string]any{"items": []any{}}}
	box := boxWith(t, builtin.Parts{Sources: s, People: s})
	spec := specFrom(t, `{"kind":"tool.spec","name":"find","description":"d","input_schema":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"}}},
		"output_schema":{"type":"object","required":["items"],"additionalProperties":false,"properties":{"items":{"type":"array"}}},
		"via":{"query":{"source":"firm","parts":{"items":{"sql":"select 1 as id"}}}}}`)
	spec.Over = &tool.Over{Source: json.RawMessage(`{"kind":"data.source","driver":"sqlite"}`)}
	v := identity.Viewer{UserID: "ann", TenantID: "acme"}
	if _, err := box.Call(t.Context(), spec, &tool.Call{Viewer: v, Scope: tool.Scope{Locale: "de"}, Inputs: map[string]any{"q": "x"}}); err != nil {
		t.Fatal(err)
	}
	if s.who != (data.Person{Viewer: "ann@x.test", ID: "ann", Tenant: "acme", Locale: "de"}) || s.asked.Inputs["q"] != "x" || len(s.asked.Known) != 2 {
		t.Errorf("%+v %+v", s.who, s.asked)
	}
	s.err = data.ErrMissing
	out, err := box.Call(t.Context(), spec, &tool.Call{Viewer: v})
	if raw, _ := json.Marshal(out); err != nil || string(raw) != `{"error":"not found"}` {
		t.Errorf("%s, %v", raw, err)
	}
	if spec.Over = nil; true {
		if _, err := box.Call(t.Context(), spec, &tool.Call{Viewer: v}); !errors.Is(err, fault.NotFound) {
			t.Errorf("without its source: %v", err)
		}
	}
}

// Inputs stand in an address as text only: none begins another part of it, leads
// out of its folder, or makes a header of its own.
func TestARequestEncodesItsInputsByPlace(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got, body = r, string(raw)
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		case "/broken":
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			fmt.Fprint(w, `{"a":{"b":[1,"two"]}}`)
		}
	}))
	defer server.Close()
	client, err := webaccess.New(webaccess.Options{AllowLoopback: true})
	if err != nil {
		t.Fatal(err)
	}
	box := boxWith(t, builtin.Parts{Servers: client, Secrets: oneSecret("hunter2")})
	call := func(via string, inputs map[string]any) (map[string]any, error) {
		spec := specFrom(t, fmt.Sprintf(`{"kind":"tool.spec","name":"ask","description":"d","input_schema":{"type":"object"},"output_schema":{"type":"object"},"via":{"http":%s}}`, strings.ReplaceAll(via, "HOST", server.URL)))
		return box.Call(t.Context(), spec, &tool.Call{Viewer: ann, Inputs: inputs})
	}
	out, err := call(`{"method":"POST","url":"HOST/x/{id}/y?q={q}&gone={gone}&fixed=1","headers":{"X-Q":"{q}"},"body":{"text":{"$input":"id"},"n":{"$input":"n"},"left":{"$input":"gone"}},
		"result":{"first":{"$output":"/a/b/1"}},"credential":{"secret":"api"},"escape":"little"}`, map[string]any{"id": "../a/b?c#(d)", "q": "x&y=z", "n": float64(2)})
	if err != nil || out["first"] != "two" {
		t.Fatalf("%v, %v", out, err)
	}
	if got.URL.EscapedPath() != "/x/..%2Fa%2Fb%3Fc%23%28d%29/y" || got.URL.RawQuery != "q=x%26y%3Dz&fixed=1" || got.Header.Get("X-Q") != "x&y=z" || got.Header.Get("Authorization") != "Bearer hunter2" {
		t.Errorf("%s ? %s %v", got.URL.EscapedPath(), got.URL.RawQuery, got.Header)
	}
	if body != `{"n":2,"text":"../a/b?c\\#\\(d\\)"}` {
		t.Errorf("%s", body)
	}
	if _, err := call(`{"method":"GET","url":"HOST/x/{id}"}`, map[string]any{"id": ".."}); err != nil || got.URL.EscapedPath() != "/x/%2E%2E" {
		t.Errorf("%v, %s", err, got.URL.EscapedPath())
	}
	if _, err := call(`{"method":"GET","url":"HOST/x","headers":{"X-Q":"{q}"}}`, map[string]any{"q": "a\r\nX-Admin: 1"}); !errors.Is(err, fault.Invalid) {
		t.Errorf("a line break in a header: %v", err)
	}
	if _, err := call(`{"method":"GET","url":"HOST/away","credential":{"secret":"api"}}`, nil); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirect is followed: %v", err)
	}
	if _, err := call(`{"method":"GET","url":"HOST/broken"}`, nil); !errors.Is(err, fault.RateLimited) {
		t.Errorf("%v", err)
	}
	if _, err := call(`{"method":"GET","url":"HOST/x","credential":{"secret":"gone"}}`, nil); fault.Reason(err) != fault.NotConfigured {
		t.Errorf("%v", err)
	}
	if _, err := call(`{"method":"GET","url":"http://10.0.0.1/"}`, nil); !errors.Is(err, fault.Forbidden) {
		t.Errorf("an address of the inside: %v", err)
	}
}

// A renamed tool calls the one it stands on with the inputs it was given places
// for, and gives what it says of the result.
func TestARenamedToolPutsInputsAndResultsInPlace(t *testing.T) {
	t.Parallel()
	s := &recorded{answer: map[string]any{"items": []any{map[string]any{"id": "1"}}}}
	box := boxWith(t, builtin.Parts{Sources: s, People: s})
	inner := specFrom(t, `{"kind":"tool.spec","name":"find","description":"d","input_schema":{"type":"object","required":["q"],"properties":{"q":{"type":"string"},"n":{"type":"integer"}}},
		"output_schema":{"type":"object"},"via":{"query":{"source":"firm","parts":{"items":{"sql":"select 1 as id"}}}}}`)
	inner.Over = &tool.Over{Source: json.RawMessage(`{"kind":"data.source"}`)}
	outer := specFrom(t, `{"kind":"tool.spec","name":"find_one","description":"d","input_schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}},
		"output_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}},
		"via":{"tool":{"name":"find","inputs":{"q":{"$input":"name"},"n":1},"returns":{"id":{"$output":"/items/0/id"}}}}}`)
	outer.Over = &tool.Over{Spec: &inner}
	out, err := box.Call(t.Context(), outer, &tool.Call{Viewer: ann, Inputs: map[string]any{"name": "x"}})
	if err != nil || out["id"] != "1" || s.asked.Inputs["q"] != "x" || s.asked.Inputs["n"] != float64(1) {
		t.Errorf("%v, %v, %v", out, err, s.asked.Inputs)
	}
	if _, err := box.Call(t.Context(), outer, &tool.Call{Viewer: ann}); !errors.Is(err, fault.Invalid) {
		t.Errorf("without an input: %v", err)
	}
	outer.Privileged = true
	if _, err := box.Call(t.Context(), outer, &tool.Call{Viewer: ann, Inputs: map[string]any{"name": "x"}}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("a privileged one: %v", err)
	}
}
