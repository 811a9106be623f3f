package capturetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// OpenAI is a backend that speaks OpenAI's chat completions and responses as far as
// agents need. A client with tools is asked to call the first of them, once; then the
// turn ends. Its zero value is ready.
type OpenAI struct {
	mu    sync.Mutex
	asked []Asked
}

// Asked are the requests so far.
func (u *OpenAI) Asked() []Asked {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]Asked{}, u.asked...)
}

// openAIQuestion is what is read of a request of either protocol.
type openAIQuestion struct {
	Model   string
	Stream  bool
	Options struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Name     string
		Function struct{ Name string }
	}
}

// ServeHTTP implements http.Handler.
func (u *OpenAI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	u.mu.Lock()
	u.asked = append(u.asked, Asked{r.Method, r.RequestURI, r.Host, r.Header.Clone(), body})
	n := len(u.asked)
	u.mu.Unlock()
	w.Header().Set("X-Request-Id", fmt.Sprintf("req_%032d", n))
	var q openAIQuestion
	_ = json.Unmarshal(body, &q) // then a question without anything
	tool := ""
	if len(q.Tools) > 0 && !strings.Contains(string(body), `"call_`) {
		tool = q.Tools[0].Name + q.Tools[0].Function.Name
	}
	switch r.URL.Path {
	case "/v1/chat/completions":
		u.chat(w, q, n, tool)
	case "/v1/responses":
		u.responses(w, q, n, tool)
	case "/v1/models":
		reply(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "gpt-invented", "object": "model"}}})
	default:
		reply(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "Not found", "type": "invalid_request_error", "param": nil, "code": nil}})
	}
}

// OpenAIAnswer is what it says at the end of a turn.
const OpenAIAnswer = "Grüße: this is the end of the turn."

const openAIInput = `{"path":"a file"}`

// pieces writes events with data each, and flushes between them.
func pieces(w http.ResponseWriter, named bool, all ...any) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, v := range all {
		data, _ := json.Marshal(v)
		if m, ok := v.(map[string]any); ok && named {
			_, _ = fmt.Fprintf(w, "event: %s\n", m["type"]) // a client that is gone has what it wanted, here and below
		}
		if s, ok := v.(string); ok {
			data = []byte(s)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
}

func (u *OpenAI) chat(w http.ResponseWriter, q openAIQuestion, n int, tool string) {
	id, call := fmt.Sprintf("chatcmpl-%024d", n), fmt.Sprintf("call_%024d", n)
	usage := map[string]any{"prompt_tokens": 120, "completion_tokens": 20, "total_tokens": 140, "prompt_tokens_details": map[string]any{"cached_tokens": 100}}
	finish := "stop"
	if tool != "" {
		finish = "tool_calls"
	}
	if !q.Stream {
		message := map[string]any{"role": "assistant", "content": OpenAIAnswer, "refusal": nil}
		if tool != "" {
			message["content"] = nil
			message["tool_calls"] = []any{map[string]any{"id": call, "type": "function", "function": map[string]any{"name": tool, "arguments": openAIInput}}}
		}
		reply(w, http.StatusOK, map[string]any{"id": id, "object": "chat.completion", "model": q.Model, "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}, "usage": usage})
		return
	}
	var all []any
	chunk := func(delta map[string]any, finish any) {
		c := map[string]any{"id": id, "object": "chat.completion.chunk", "model": q.Model, "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}
		if q.Options.Usage {
			c["usage"] = nil
		}
		all = append(all, c)
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	if tool == "" {
		for _, word := range strings.SplitAfter(OpenAIAnswer, " ") {
			chunk(map[string]any{"content": word}, nil)
		}
	} else {
		part := func(more map[string]any) {
			more["index"] = 0
			chunk(map[string]any{"tool_calls": []any{more}}, nil)
		}
		part(map[string]any{"id": call, "type": "function", "function": map[string]any{"name": tool, "arguments": ""}})
		part(map[string]any{"function": map[string]any{"arguments": openAIInput[:5]}})
		part(map[string]any{"function": map[string]any{"arguments": openAIInput[5:]}})
	}
	chunk(map[string]any{}, finish)
	if q.Options.Usage {
		all = append(all, map[string]any{"id": id, "object": "chat.completion.chunk", "model": q.Model, "choices": []any{}, "usage": usage})
	}
	pieces(w, false, append(all, "[DONE]")...)
}

func (u *OpenAI) responses(w http.ResponseWriter, q openAIQuestion, n int, tool string) {
	id, call := fmt.Sprintf("resp_%024d", n), fmt.Sprintf("call_%024d", n)
	reasoning := map[string]any{"id": fmt.Sprintf("rs_%024d", n), "type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": "It is asked."}}, "encrypted_content": fmt.Sprintf("aW52ZW50ZWQ%d=", n)}
	item := map[string]any{"id": fmt.Sprintf("msg_%024d", n), "type": "message", "role": "assistant", "status": "completed", "content": []any{map[string]any{"type": "output_text", "text": OpenAIAnswer, "annotations": []any{}}}}
	if tool != "" {
		item = map[string]any{"id": fmt.Sprintf("fc_%024d", n), "type": "function_call", "status": "completed", "call_id": call, "name": tool, "arguments": openAIInput}
	}
	response := map[string]any{
		"id": id, "object": "response", "model": q.Model, "status": "completed", "error": nil, "incomplete_details": nil, "output": []any{reasoning, item},
		"usage": map[string]any{"input_tokens": 120, "input_tokens_details": map[string]any{"cached_tokens": 100}, "output_tokens": 20, "output_tokens_details": map[string]any{"reasoning_tokens": 5}, "total_tokens": 140},
	}
	if !q.Stream {
		reply(w, http.StatusOK, response)
		return
	}
	began := map[string]any{"id": id, "object": "response", "model": q.Model, "status": "in_progress", "output": []any{}, "usage": nil}
	all := []any{map[string]any{"type": "response.created", "sequence_number": 0, "response": began}}
	add := func(v map[string]any) {
		v["sequence_number"] = len(all)
		all = append(all, v)
	}
	for i, it := range []map[string]any{reasoning, item} {
		empty := map[string]any{"id": it["id"], "type": it["type"], "status": "in_progress"}
		switch it["type"] {
		case "message":
			empty["role"], empty["content"] = "assistant", []any{}
		case "function_call":
			empty["call_id"], empty["name"], empty["arguments"] = call, tool, ""
		case "reasoning":
			empty["summary"] = []any{}
		}
		add(map[string]any{"type": "response.output_item.added", "output_index": i, "item": empty})
		switch it["type"] {
		case "message":
			part := map[string]any{"type": "output_text", "text": "", "annotations": []any{}}
			add(map[string]any{"type": "response.content_part.added", "item_id": it["id"], "output_index": i, "content_index": 0, "part": part})
			for _, word := range strings.SplitAfter(OpenAIAnswer, " ") {
				add(map[string]any{"type": "response.output_text.delta", "item_id": it["id"], "output_index": i, "content_index": 0, "delta": word, "logprobs": []any{}})
			}
			add(map[string]any{"type": "response.output_text.done", "item_id": it["id"], "output_index": i, "content_index": 0, "text": OpenAIAnswer, "logprobs": []any{}})
		case "function_call":
			add(map[string]any{"type": "response.function_call_arguments.delta", "item_id": it["id"], "output_index": i, "delta": openAIInput})
			add(map[string]any{"type": "response.function_call_arguments.done", "item_id": it["id"], "output_index": i, "arguments": openAIInput, "name": tool})
		}
		add(map[string]any{"type": "response.output_item.done", "output_index": i, "item": it})
	}
	add(map[string]any{"type": "response.completed", "response": response})
	pieces(w, true, all...)
}
