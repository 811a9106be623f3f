package openai_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model/openai"
)

// open is a server that sends a text and then keeps its stream open.
type open string

func (o open) RoundTrip(r *http.Request) (*http.Response, error) {
	read, write := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = write.CloseWithError(r.Context().Err()) })
	go func() { _, _ = io.WriteString(write, string(o)) }()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {streamed}}, Body: read, Request: r}, nil
}

// Some servers neither send [DONE] nor close a stream that is over.
func TestAStreamThatIsOverIsNotWaitedForForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := play(t, opened(t, "vllm", open(`data: {"choices":[{"delta":{"content":"Fine."},"finish_reason":"stop"}]}`+"\n\n")), question())
		if got := written(h); !strings.HasPrefix(got, "text \"Fine.\"\n") || !strings.HasSuffix(got, "stop end_turn\n") {
			t.Errorf("got %s", got)
		}
		if took := time.Since(began); took < time.Second || took > 3*time.Second {
			t.Errorf("it was waited for %v", took)
		}
	})
}

// One that is not over is waited for as long as the caller's context allows.
//
// Requirements: LORA-24
func TestASlowAnswerIsBoundedByItsContextOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		var last error
		for _, err := range opened(t, "vllm", open(`data: {"choices":[{"delta":{"content":"Fine"}}]}`+"\n\n")).Stream(ctx, question()) {
			last = err
		}
		if !errors.Is(last, context.DeadlineExceeded) || time.Since(began) != time.Hour {
			t.Errorf("after %v it ended with %v", time.Since(began), last)
		}
	})
}

func TestAnswersOneAfterTheOtherShareAConnection(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", streamed)
		_, _ = w.Write([]byte(fine))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	for range 5 { // one whose end does not come in 20 ms is given up: a busy machine may pause for longer
		m, err := openai.New(openai.Options{BaseURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		connections.Store(0)
		for range 5 {
			if h := play(t, m, question()); h.err != nil {
				t.Fatal(h.err)
			}
		}
		if connections.Load() == 1 {
			return
		}
	}
	t.Errorf("five answers took %d connections", connections.Load())
}

// What a server sends without end is given up, not kept.
func TestALineWithoutEndIsAnError(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(strings.NewReader("data: "), zeros{})
	h := play(t, opened(t, "vllm", body{endless}), question())
	if fault.Reason(h.err) != fault.Upstream || len(h.events) != 0 {
		t.Errorf("got %s", written(h))
	}
	calls := strings.Repeat(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"`+strings.Repeat("x", 1<<20)+`"}}]}}]}`+"\n\n", 3)
	if h := play(t, opened(t, "vllm", body{strings.NewReader(calls)}), question()); fault.Reason(h.err) != fault.Upstream {
		t.Errorf("got %s", written(h))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

type body struct{ io.Reader }

func (b body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {streamed}}, Body: io.NopCloser(b), Request: r}, nil
}

func TestAModelHasANameAndGenerates(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]openai.Options{"gpt": {BaseURL: "http://a.example", Model: "gpt"}, "ollama": {BaseURL: "http://a.example", Backend: backend(t, "ollama")}} {
		m, err := openai.New(o)
		if err != nil || m.Name() != name || !m.Generative() {
			t.Errorf("%v, %v; want the name %s", m, err, name)
		}
	}
}
