package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"liminal/internal/model"
)

// Whatever a server sends, an answer has its events in order and ends with a
// stop or an error, and the same however its bytes arrive.
func FuzzStream(f *testing.F) {
	files, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(files) == 0 {
		f.Fatal("no streams", err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(doc)
	}
	f.Add([]byte("\ufeffdata: {\"choices\":[{\"delta\":{\"content\":\"[1]\"},\"finish_reason\":\"stop\"}]}\r\rdata"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		req := question()
		req.Messages[0].Content = append(req.Messages[0].Content, model.Block{
			Type: model.Passage, Text: "It is fine.", Source: &model.Source{DocumentID: "d", End: 11},
		})
		at, slow := play(t, opened(t, "vllm", replay{streamed, doc}), req), play(t, opened(t, "vllm", trickle(doc)), req)
		if a, b := written(at), written(slow); a != b {
			t.Errorf("read at once as\n%s\nbyte by byte as\n%s", a, b)
		}
		check(t, at)
	})
}

type trickle []byte

func (d trickle) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {streamed}},
		Body: io.NopCloser(iotest.OneByteReader(bytes.NewReader(d))), Request: r,
	}, nil
}

func check(t *testing.T, h heard) {
	t.Helper()
	stops, usages := 0, 0
	for i, e := range h.events {
		switch e.Type {
		case model.Stop:
			stops++
			if i != len(h.events)-1 || e.Reason == "" {
				t.Errorf("event %d is a stop for %q", i, e.Reason)
			}
		case model.UsageReport:
			usages++
		case model.ToolCall:
			if e.ID == "" || e.Name == "" || len(e.Input) == 0 {
				t.Errorf("call %+v is not complete", e)
			}
		default:
		}
	}
	if want := 1; h.err == nil && (stops != want || usages != want) || h.err != nil && stops != 0 {
		t.Errorf("%d stops, %d usages, error %v", stops, usages, h.err)
	}
}
