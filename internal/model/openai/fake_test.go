package openai_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/modeltest"
	"liminal/internal/model/openai"
)

// Requirements: LORA-19 (streams tokens), LORA-25 (a clean message)
func TestOpenAISpeaksItsProtocol(t *testing.T) {
	for name, style := range map[string]style{
		"as OpenAI":      {},
		"as Ollama":      {whole: true, noIndex: true, finish: "stop", overloaded: 503},
		"as vLLM":        {newIDs: true, reasoning: "reasoning", overloaded: 503},
		"as llama.cpp":   {noRole: true, noDone: true, usageWithFinish: true},
		"without an id":  {noIDs: true, crlf: true},
		"without a rule": {noIDs: true, noIndex: true, wholeArguments: true, finish: "eos_token", noDone: true},
	} {
		t.Run(name, func(t *testing.T) {
			backend := "openai"
			if name != "as OpenAI" {
				backend = "vllm"
			}
			b, _ := model.BackendOf(backend)
			modeltest.RunWire(t, modeltest.Wire{
				Open: func(t *testing.T, baseURL string) model.Model {
					m, err := openai.New(openai.Options{BaseURL: baseURL + "/v1", APIKey: modeltest.Key, Model: "wire-1", Backend: b})
					if err != nil {
						t.Fatal(err)
					}
					return m
				},
				Serve: style.serve,
			})
		})
	}
}

// style is how a server deviates from OpenAI's own.
type style struct {
	whole           bool // a tool call comes in one piece
	noIndex, noIDs  bool // of tool calls
	newIDs          bool // another id with each piece of a call
	wholeArguments  bool // as an object, not as a string
	noRole, noDone  bool
	usageWithFinish bool
	crlf            bool
	reasoning       string // the field of thinking
	finish          string // in place of stop and tool_calls
	overloaded      int
}

// wire writes one exchange.
type wire struct {
	style
	http.ResponseWriter
	s modeltest.Scenario
	r *http.Request
}

func (st style) serve(s modeltest.Scenario) http.Handler {
	if st.reasoning == "" {
		st.reasoning = "reasoning_content"
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+modeltest.Key {
			http.Error(rw, "not here", http.StatusTeapot)
			return
		}
		w := &wire{style: st, ResponseWriter: rw, s: s, r: r}
		if status, body := w.refusal(); status != 0 {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))
			return
		}
		w.play()
	})
}

func (w *wire) refusal() (status int, body string) {
	failed := func(message, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, kind, code)
	}
	switch w.s.Name {
	case modeltest.RateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(int(w.s.RetryAfter.Seconds())))
		return 429, failed("Rate limit reached for requests", "requests", "rate_limit_exceeded")
	case modeltest.Overloaded:
		return cmp.Or(w.overloaded, 529), `{"error":"server busy, please try again"}`
	case modeltest.ServerError:
		return 500, failed("The server had an error", "server_error", "")
	case modeltest.BadKey:
		return 401, failed("Incorrect API key provided: "+modeltest.Key+".", "invalid_request_error", "invalid_api_key")
	case modeltest.BadRequest:
		return 400, failed("messages: something is wrong with "+modeltest.Key, "invalid_request_error", "")
	case modeltest.ContextTooLong:
		return 400, failed("This model's maximum context length is 8192 tokens.", "invalid_request_error", "context_length_exceeded")
	case modeltest.NoSuchModel:
		return 404, failed("The model `wire-1` does not exist", "invalid_request_error", "model_not_found")
	default:
		return 0, ""
	}
}

// send writes one event.
func (w *wire) send(doc any) {
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	w.line("data: " + string(raw) + "\n\n")
}

func (w *wire) line(text string) {
	if w.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	_, _ = w.Write([]byte(text)) // a client that left is no failure
	w.ResponseWriter.(http.Flusher).Flush()
}

func (w *wire) delta(fields map[string]any) { w.choice(fields, nil) }

func (w *wire) choice(delta map[string]any, finish any) {
	chunk := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "wire-1",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}},
	}
	if finish != nil && w.usageWithFinish && w.s.Name != modeltest.NoUsage {
		chunk["usage"] = w.usage()
	}
	w.send(chunk)
}

func (w *wire) usage() map[string]any {
	u := w.s.Usage
	return map[string]any{
		"prompt_tokens": u.Input + u.CacheRead, "completion_tokens": u.Output, "total_tokens": u.Tokens(),
		"prompt_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
	}
}

func (w *wire) play() {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.ResponseWriter.(http.Flusher).Flush()
	if w.s.Name == modeltest.SlowFirstByte {
		w.line(": ping\n\n")
		select {
		case <-w.s.Hold:
		case <-w.r.Context().Done():
			return
		}
	}
	if !w.noRole {
		w.delta(map[string]any{"role": "assistant", "content": "", "refusal": nil})
	}
	for _, thought := range w.s.Thoughts {
		w.delta(map[string]any{w.reasoning: thought, "content": nil})
	}
	for i, text := range w.s.Text {
		if w.s.Name == modeltest.UnknownEvent {
			w.strange(i)
		}
		if w.s.Name == modeltest.Refused {
			w.delta(map[string]any{"refusal": text})
			continue
		}
		w.delta(map[string]any{"content": text})
		if w.broken() {
			return
		}
	}
	if w.s.Name == modeltest.Citations {
		w.delta(map[string]any{"content": " ["})
		w.delta(map[string]any{"content": "1"})
		w.delta(map[string]any{"content": "]"})
	}
	for w.s.Name == modeltest.Endless && w.r.Context().Err() == nil {
		w.delta(map[string]any{"content": "on and on "})
	}
	w.calls()
	w.end()
}

// broken plays the scenarios that end after the first piece.
func (w *wire) broken() bool {
	switch w.s.Name {
	case modeltest.ErrorMidStream:
		w.send(map[string]any{"error": map[string]any{"message": "The engine died of " + modeltest.Key, "type": "server_error", "code": 500}})
		w.line("data: [DONE]\n\n")
	case modeltest.CutMidStream:
		panic(http.ErrAbortHandler)
	case modeltest.EndsMidStream:
	default:
		return false
	}
	return true
}

func (w *wire) strange(i int) {
	w.line(": keep-alive\n\n")
	w.line("event: weather\ndata: sunny, for now\n\n")
	w.line("id: 7\nretry: 100\nnonsense\n\n")
	w.send(map[string]any{"object": "chat.completion.ping", "choices": nil, "mood": []int{i}})
	w.send(map[string]any{"choices": []any{}, "prompt_filter_results": []any{map[string]any{"prompt_index": 0}}})
	w.send(map[string]any{"choices": []any{map[string]any{"index": 1, "delta": map[string]any{"content": "another choice"}}}})
}

func (w *wire) calls() {
	for i, c := range w.s.Calls {
		pieces := c.Fragments()
		if w.whole || w.wholeArguments || len(pieces) == 0 {
			pieces = []string{c.Input}
		}
		for at, p := range pieces {
			function := map[string]any{"arguments": p}
			if w.wholeArguments && p != "" {
				function["arguments"] = json.RawMessage(p)
			}
			call := map[string]any{"function": function, "type": "function"}
			if at == 0 {
				function["name"] = c.Name
			}
			if !w.noIDs && (at == 0 || w.newIDs) {
				call["id"] = fmt.Sprintf("%s_%d", c.ID, at)
			}
			if !w.noIndex {
				call["index"] = i
			}
			w.delta(map[string]any{"tool_calls": []any{call}})
		}
	}
}

func (w *wire) end() {
	finish := "stop"
	if len(w.s.Calls) > 0 {
		finish = "tool_calls"
	}
	if w.finish != "" {
		finish = w.finish
	}
	if w.s.Name == modeltest.LongAnswer {
		finish = "length"
	}
	w.choice(map[string]any{}, finish)
	if !w.usageWithFinish && w.s.Name != modeltest.NoUsage {
		w.send(map[string]any{"choices": []any{}, "usage": w.usage()})
	}
	if !w.noDone {
		w.line("data: [DONE]\n\n")
	}
}
