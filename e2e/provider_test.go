package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// provider is a model's server as the outside sees it: it speaks the protocol
// of OpenAI's chat completions over HTTP, and says what the test tells it to.
type provider struct {
	*httptest.Server

	mu    sync.Mutex
	calls []object
	reply func(w http.ResponseWriter, call object, n int) // n counts from 1
}

// offer starts a server whose answers are what reply makes of each request.
func offer(t *testing.T, reply func(w http.ResponseWriter, call object, n int)) *provider {
	t.Helper()
	f := &provider{reply: reply}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.CloseClientConnections)
	t.Cleanup(f.Close)
	return f
}

func (f *provider) serve(w http.ResponseWriter, r *http.Request) {
	var call object
	if r.URL.Path != "/v1/chat/completions" || json.NewDecoder(r.Body).Decode(&call) != nil {
		http.NotFound(w, r)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+secretKey {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`)
		return
	}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	n := len(f.calls)
	f.mu.Unlock()
	f.reply(w, call, n)
}

// count is how many requests there were so far.
func (f *provider) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// call is request n, from 1.
func (f *provider) call(n int) object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[n-1]
}

const secretKey = "sk-e2e-4f3a9c1d7b2e8f60"

// env makes a program use the server.
func (f *provider) env(more ...string) []string {
	return append([]string{
		"MODEL_BACKEND=openai", "OPENAI_BASE_URL=" + f.URL + "/v1", "OPENAI_API_KEY=" + secretKey,
	}, more...)
}

// says streams a text, a word a chunk, with the usage in the last chunk.
func says(w http.ResponseWriter, text string) {
	s := begin(w)
	for _, word := range strings.SplitAfter(text, " ") {
		s.delta(word)
	}
	s.end()
}

// speech is an answer under way.
type speech struct{ w http.ResponseWriter }

func begin(w http.ResponseWriter) speech {
	w.Header().Set("Content-Type", "text/event-stream")
	return speech{w}
}

func (s speech) delta(text string) {
	s.chunk(object{"choices": []any{object{"index": 0, "delta": object{"content": text}}}})
}

func (s speech) end() {
	s.chunk(object{"choices": []any{object{"index": 0, "delta": object{}, "finish_reason": "stop"}}})
	s.chunk(object{"choices": []any{}, "usage": object{"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}})
	fmt.Fprint(s.w, "data: [DONE]\n\n")
	s.flush()
}

func (s speech) chunk(c object) {
	c["id"], c["object"], c["model"] = "chatcmpl-1", "chat.completion.chunk", "gpt-4o"
	raw, _ := json.Marshal(c)
	fmt.Fprintf(s.w, "data: %s\n\n", raw)
	s.flush()
}

func (s speech) flush() {
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// words are all texts of a request, joined.
func words(call object) string {
	raw, _ := json.Marshal(call["messages"])
	return string(raw)
}

// Requirements: LORA-08, LORA-25 (usage on each call), CHAT-26, SAFE-08, STREAM-11
func TestAnAnswerComesFromTheProviderWithItsCostAndWithoutItsKey(t *testing.T) {
	t.Parallel()
	f := offer(t, func(w http.ResponseWriter, _ object, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`)
			return
		}
		says(w, "A lease is a contract for the use of a thing.")
	})
	p := start(t, f.env("LIMINAL_LOG_LEVEL=debug", "LIMINAL_LOG_PAYLOADS=1")...)
	ada := p.signUp("ada@example.org")
	asked := ada.must("POST", "/v1/chat", object{"message": "What is a lease?"})
	if got := asked["content"]; got != "A lease is a contract for the use of a thing." {
		t.Fatalf("answered %q", got)
	}
	if n := f.count(); n != 2 {
		t.Errorf("%d requests, want the refused one and one more", n)
	}
	usage := asked["usage"].(object)
	if usage["input_tokens"] != 1000.0 || usage["output_tokens"] != 200.0 || usage["cost_usd"] == nil {
		t.Errorf("usage is %v", usage)
	}
	if model := f.call(2)["model"]; model == nil || model == "" {
		t.Error("no model was named")
	}
	if strings.Contains(p.log.tail(1<<20), secretKey) {
		t.Error("the key stands in the log")
	}
	if raw, _ := json.Marshal(ada.must("GET", "/v1/runs/"+asked["run_id"].(string), nil)); strings.Contains(string(raw), secretKey) {
		t.Error("the key stands in the run")
	}
}

// Requirements: STREAM-32, LORA-25 (a clean message), CHAT-28
func TestAnAnswerThatBreaksOffAtTheProviderIsSpokenAgainWhole(t *testing.T) {
	t.Parallel()
	f := offer(t, func(w http.ResponseWriter, _ object, n int) {
		if n == 1 {
			begin(w).delta("A lease is something ")
			panic(http.ErrAbortHandler)
		}
		says(w, "A lease is a contract.")
	})
	p := start(t, f.env()...)
	ada := p.signUp("ada@example.org")
	begun := ada.must("POST", "/v1/chat", object{"message": "What is a lease?", "stream": true})
	events := ada.follow(begun["run_id"].(string), 0, nil)
	done := last(t, events, "message_done").object()
	if done["content"] != "A lease is a contract." || text(events) != done["content"] {
		t.Errorf("the reader has %q, the message is %q", text(events), done["content"])
	}
}

// Requirements: OPS-08
func TestAProgramWithoutItsKeyStartsAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := start(t, "MODEL_BACKEND=anthropic", "ANTHROPIC_API_KEY=")
	ada := p.signUp("ada@example.org")
	status, _, _, message := ada.do("POST", "/v1/chat", object{"message": "What is a lease?"})
	if status != http.StatusServiceUnavailable || !strings.Contains(message, "ANTHROPIC_API_KEY") {
		t.Errorf("answered %d: %s", status, message)
	}
	docs := ada.must("POST", "/v1/contexts", object{"name": "Contracts"})["id"].(string)
	if d := ada.upload(docs, "lease.md", []byte(lease)); d["status"] != "ready" {
		t.Errorf("without a model documents are not read: %v", d)
	}
}

// Requirements: CHAT-27, LORA-25 (a clean message)
func TestAProviderThatIsDownEndsTheTurnWithASentence(t *testing.T) {
	t.Parallel()
	f := offer(t, func(w http.ResponseWriter, _ object, _ int) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "<html>bad gateway</html>")
	})
	p := start(t, f.env()...)
	ada := p.signUp("ada@example.org")
	begun := ada.must("POST", "/v1/chat", object{"message": "What is a lease?", "stream": true})
	events := ada.follow(begun["run_id"].(string), 0, nil)
	reason := last(t, events, "error").object()
	if reason["message"] == "" || strings.Contains(fmt.Sprint(reason["message"]), "html") {
		t.Errorf("the turn ended with %v", reason)
	}
	if got := ada.messages(begun["conversation_id"].(string)); len(got) != 1 {
		t.Errorf("the conversation holds %q, want the question alone", got)
	}
}

// What must not be shown never reaches the stream, not even a piece of it.
//
// Requirements: SAFE-01, SAFE-03, SAFE-09
func TestASecretInAnAnswerIsTakenOutBeforeAnybodySeesIt(t *testing.T) {
	t.Parallel()
	const secret = "AKIAIOSFODNN7EXAMPLEKEYABCDEFGH"
	const key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" + secret + "\n-----END PRIVATE KEY-----"
	f := offer(t, func(w http.ResponseWriter, _ object, _ int) {
		s := begin(w)
		for _, piece := range strings.SplitAfter("Here is the key you asked for: "+key+" and that was all of it.", "") {
			s.delta(piece)
		}
		s.end()
	})
	p := start(t, f.env()...)
	ada := p.signUp("ada@example.org")
	begun := ada.must("POST", "/v1/chat", object{"message": "Show me the key", "stream": true})
	events := ada.follow(begun["run_id"].(string), 0, nil)
	for _, e := range events {
		if raw, _ := json.Marshal(e.Data); strings.Contains(string(raw), secret) || strings.Contains(string(raw), "MIIEvQ") {
			t.Errorf("%s shows the key: %s", e.Kind, raw)
		}
	}
	done := last(t, events, "message_done").object()
	if content := done["content"].(string); !strings.Contains(content, "Here is the key") || !strings.Contains(content, "that was all") {
		t.Errorf("the rest of the answer is %q", content)
	}
	if raw, _ := json.Marshal(done["content_struct"]); !strings.Contains(string(raw), `"redaction"`) {
		t.Errorf("no segment says that something was removed: %s", raw)
	}
}
