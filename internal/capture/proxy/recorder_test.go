package proxy

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"liminal/internal/capture"
	"liminal/internal/capture/capturetest"
)

// steps notes in which order things happen.
type steps struct {
	mu   sync.Mutex
	list []string
}

func (s *steps) note(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 || s.list[len(s.list)-1] != step {
		s.list = append(s.list, step)
	}
}

func (s *steps) Begin(capture.Request, []byte) capture.Recording {
	s.note("captured")
	return s
}
func (s *steps) Sent(capture.Sent, []byte) { s.note("sent") }
func (s *steps) Answer(int, http.Header)   { s.note("answered") }
func (s *steps) Chunk([]byte)              { s.note("answer captured") }
func (s *steps) End(capture.Ending)        { s.note("ended") }

// What is said of it in the store is in TestBlocksStandBeforeTheTimelineThatNamesThem.
//
// Requirements: PAL-21 (captured, then forwarded; the response the same way)
func TestAnExchangeIsCapturedBeforeItGoesOn(t *testing.T) {
	t.Parallel()
	s, up := &steps{}, &capturetest.Upstream{}
	r := through(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.note("forwarded")
		up.ServeHTTP(w, req)
	}), s)
	whole(t, ask(t, plainClient(t), "POST", r.base+"/v1/messages", []byte(streamed), nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.list, ", "); !strings.HasPrefix(got, "captured, forwarded, answered, answer captured") {
		t.Error(got)
	}
}

// broken panics in each place in turn.
type broken string

func (b broken) Begin(capture.Request, []byte) capture.Recording {
	if b == "begin" {
		panic(string(b))
	}
	return b
}
func (b broken) Sent(capture.Sent, []byte) { b.at("sent") }
func (b broken) Answer(int, http.Header)   { b.at("answer") }
func (b broken) Chunk([]byte)              { b.at("chunk") }
func (b broken) End(capture.Ending)        { b.at("end") }
func (b broken) at(place broken) {
	if b == place {
		panic(string(b))
	}
}

// proxy.md: P6
func TestARecorderThatFailsCostsTheAgentNothing(t *testing.T) {
	t.Parallel()
	for _, place := range []broken{"begin", "answer", "chunk", "end"} {
		r := through(t, &capturetest.Upstream{}, place)
		body := whole(t, ask(t, plainClient(t), "POST", r.base+"/v1/messages", []byte(streamed), nil))
		if !bytes.HasSuffix(body, []byte("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")) || r.proxy.Counts().FailOpen != 1 {
			t.Errorf("%s: %q, %+v", place, body, r.proxy.Counts())
		}
	}
}
