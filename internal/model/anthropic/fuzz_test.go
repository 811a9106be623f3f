package anthropic_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/anthropic"
	"liminal/internal/model/modeltest"
)

// Whatever a server sends, the answer ends, and what it cites stands in a
// passage word for word.
func FuzzAStream(f *testing.F) {
	for _, file := range fuzzSeeds(f) {
		f.Add(file)
	}
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	}))
	f.Cleanup(s.Close)
	m, err := anthropic.New(anthropic.Options{BaseURL: s.URL, APIKey: modeltest.Key})
	if err != nil {
		f.Fatal(err)
	}
	req := cites()
	f.Fuzz(func(t *testing.T, stream []byte) {
		body = stream
		ended := 0
		for e, err := range m.Stream(t.Context(), req) {
			if ended++; err == nil && e.Type != model.Stop {
				ended--
			}
			if e.Type == model.Citation && !stands(req, e) {
				t.Errorf("%q does not stand in %+v", e.Quote, e.Source)
			}
		}
		if ended != 1 {
			t.Errorf("the answer ended %d times", ended)
		}
	})
}

func fuzzSeeds(f *testing.F) (seeds [][]byte) {
	f.Helper()
	entries, err := os.ReadDir("testdata/answers")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile("testdata/answers/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, raw)
	}
	return seeds
}

func stands(req model.Request, e model.Event) bool {
	for _, b := range model.Passages(req.Messages) {
		from, to := e.Source.Start-b.Source.Start, e.Source.End-b.Source.Start
		if b.Source.ChunkID == e.Source.ChunkID && from >= 0 && from < to && to <= len(b.Text) && b.Text[from:to] == e.Quote {
			return true
		}
	}
	return false
}
