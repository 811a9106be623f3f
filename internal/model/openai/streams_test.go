package openai_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/openai"
)

var update = flag.Bool("update", false, "rewrite what streams are read as")

// kinds are the content types of the files in testdata/streams.
var kinds = map[string]string{".sse": "text/event-stream; charset=utf-8", ".json": "application/json", ".html": "text/html", ".raw": ""}

// Every file in testdata/streams is an answer as a server of that backend
// sends it; beside it stands what it is read as.
//
// Requirements: testdata/streams
func TestStreamsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/streams/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no streams", err)
	}
	for _, file := range files {
		kind, ok := kinds[filepath.Ext(file)]
		if !ok {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(filepath.Base(file), "-")
			got := written(play(t, opened(t, name, replay{kind: kind, body: doc}), question()))
			beside := strings.TrimSuffix(file, filepath.Ext(file)) + ".events"
			raw, err := os.ReadFile(beside)
			proves, want := "", string(raw)
			if line, rest, more := strings.Cut(want, "\n"); more && strings.HasPrefix(line, "# Requirements:") {
				proves, want = line+"\n", rest // for scripts/requirements
			}
			if *update {
				if err := os.WriteFile(beside, []byte(proves+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("read as\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// replay is a server that gives one answer to everything.
type replay struct {
	kind string
	body []byte
}

func (r replay) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {r.kind}},
		Body: io.NopCloser(bytes.NewReader(r.body)), Request: req,
	}, nil
}

func opened(t testing.TB, backend string, transport http.RoundTripper) model.Model {
	t.Helper()
	b, ok := model.BackendOf(backend)
	if !ok {
		b, _ = model.BackendOf("vllm")
	}
	url := "http://server.example/v1"
	if backend == "openai" {
		url = "https://api.openai.com/v1"
	}
	m, err := openai.New(openai.Options{
		BaseURL: url, Model: "base", Backend: b, HTTP: &http.Client{Transport: transport},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func question() model.Request {
	return model.Request{
		Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "How is it?"}}}},
		Tools:    []model.Tool{{Name: "read"}, {Name: "write"}},
	}
}

// heard is an answer with what it failed of.
type heard struct {
	events []model.Event
	err    error
}

func play(t testing.TB, m model.Model, req model.Request) heard {
	t.Helper()
	var h heard
	for e, err := range m.Stream(t.Context(), req) {
		if h.err != nil {
			t.Fatal("the stream went on after its error")
		}
		if h.err = err; err == nil {
			h.events = append(h.events, e)
		}
	}
	return h
}

// written is an answer line by line; ids made by us are left out.
func written(h heard) string {
	var b strings.Builder
	for _, e := range h.events {
		switch e.Type {
		case model.ToolCall:
			id := e.ID
			if len(id) > 20 {
				id = "(ours)"
			}
			fmt.Fprintf(&b, "call %s %s(%s)\n", id, e.Name, e.Input)
		case model.UsageReport:
			raw, _ := json.Marshal(e.Usage)
			fmt.Fprintf(&b, "usage %s\n", raw)
		case model.Stop:
			fmt.Fprintf(&b, "stop %s\n", e.Reason)
		default:
			fmt.Fprintf(&b, "%s %q\n", e.Type, cmp.Or(e.Text, e.Quote))
		}
	}
	if h.err != nil {
		fmt.Fprintf(&b, "error %s (%s): %v\n", fault.CodeOf(h.err), fault.Reason(h.err), h.err)
	}
	return b.String()
}
