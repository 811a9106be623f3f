package anthropic_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/model"
)

var update = flag.Bool("update", false, "write what was sent and read into testdata")

// golden compares got with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(file)
	var proves []byte
	if line, rest, more := bytes.Cut(want, []byte("\n")); more && bytes.HasPrefix(line, []byte("# Requirements:")) {
		proves, want = append(bytes.Clone(line), '\n'), rest // for scripts/requirements
	}
	if *update {
		if err := os.WriteFile(file, append(proves, got...), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

// files are the cases of a folder.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	return found
}

// Each request in testdata/requests is sent as the file beside it says.
//
// Requirements: LORA-10 (instructions on an API backend), LORA-19 (temperature and max tokens)
func TestARequestInTheWordsOfTheAPI(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "requests/*.request.json") {
		name := strings.TrimSuffix(filepath.Base(file), ".request.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var req model.Request
			d := json.NewDecoder(bytes.NewReader(raw))
			d.DisallowUnknownFields()
			if err := d.Decode(&req); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata/requests", name+".sent.json"), sent(t, req))
		})
	}
}

// sent is the body of a request as the server gets it. Long texts of one
// letter, which are there for their size, are cut.
func sent(t *testing.T, req model.Request) []byte {
	t.Helper()
	for i := range req.Messages {
		for j := range req.Messages[i].Content {
			b := &req.Messages[i].Content[j]
			b.Text = strings.ReplaceAll(b.Text, "<long>", strings.Repeat("x", 5000))
		}
	}
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		refuse(w, http.StatusBadRequest, "invalid_request_error", "This is a test.")
	}))
	defer s.Close()
	for _, err := range open(t, s.URL, "").Stream(t.Context(), req) {
		if err == nil {
			t.Error("it was answered")
		}
	}
	body = bytes.ReplaceAll(body, bytes.Repeat([]byte("x"), 5000), []byte("<long>"))
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return append(out.Bytes(), '\n')
}

// Each stream in testdata/answers becomes the events in the file beside it.
//
// Requirements: testdata/answers
func TestAStreamBecomesEvents(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "answers/*.sse") {
		name := strings.TrimSuffix(filepath.Base(file), ".sse")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata/answers", name+".events"), read(t, raw, cites()))
		})
	}
}

// cites is the request all streams answer: two passages and a tool.
func cites() model.Request {
	return model.Request{
		Messages: []model.Message{{Role: model.User, Content: []model.Block{
			passage("wasser", "Größe ist alles. Größe ist alles. Der 🐟 wohnt im Teich.\nEr ist alt.", 100),
			passage("wege", "Der Weg ist weit.", 7),
			{Type: model.Text, Text: "Wer wohnt wo?"},
		}}},
		Tools: []model.Tool{{Name: "files.list_v1"}},
	}
}

// read plays a stream and writes its events one a line.
func read(t *testing.T, stream []byte, req model.Request) []byte {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream)
	}))
	defer s.Close()
	var out bytes.Buffer
	for e, err := range open(t, s.URL, "").Stream(t.Context(), req) {
		if err != nil {
			fmt.Fprintf(&out, "error %s %s %s\n", fault.CodeOf(err), fault.Reason(err), fault.From(err).Message)
			continue
		}
		fmt.Fprintln(&out, line(e))
	}
	return out.Bytes()
}

func line(e model.Event) string {
	switch e.Type {
	case model.TextDelta:
		return fmt.Sprintf("text %q", e.Text)
	case model.ThinkingDelta:
		return fmt.Sprintf("thinking %q signature %q", e.Text, e.Signature)
	case model.ToolCall:
		return fmt.Sprintf("tool_use %s %s(%s)", e.ID, e.Name, e.Input)
	case model.Citation:
		return fmt.Sprintf("citation %s %d-%d %q", e.Source.ChunkID, e.Source.Start, e.Source.End, e.Quote)
	case model.UsageReport:
		return fmt.Sprintf("usage in %d out %d read %d write %d", e.Usage.Input, e.Usage.Output, e.Usage.CacheRead, e.Usage.CacheWrite)
	default:
		return fmt.Sprintf("%s %s", e.Type, e.Reason)
	}
}
