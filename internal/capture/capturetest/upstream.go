// Package capturetest has a backend that speaks Anthropic's Messages API as far as
// its agents need: streams of events, tool rounds, counted tokens, errors and cuts.
// What it says is invented; the form is the true one.
//
// It serves tests and scripts only, and imports the standard library.
package capturetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Asked is a request as it reached the backend.
type Asked struct {
	Method, URI, Host string
	Header            http.Header
	Body              []byte
}

// Sum is the SHA-256 of its body in hexadecimal.
func (a Asked) Sum() string { return Sum(a.Body) }

// Sum is a SHA-256 in hexadecimal.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Fault is what the backend does instead of answering well.
type Fault string

// The faults.
const (
	Overloaded  Fault = "529"    // 529 with retry-after
	Cut         Fault = "cut"    // the connection ends within an event
	EndsEarly   Fault = "early"  // the stream ends well formed, without its last events
	ErrorEvent  Fault = "error"  // an event of type error within the stream
	FallsSilent Fault = "silent" // says nothing more until the client goes, or Release
)

// AskTwoAgents in a message makes the backend ask for two subagents at once, of a
// client that has the tool.
const AskTwoAgents = "ask two agents"

func agentUse(tool string, n, which int) map[string]any {
	return map[string]any{
		"type": "tool_use", "id": fmt.Sprintf("toolu_%022d%02d", n, which), "name": tool,
		"input": map[string]any{"description": "Look", "prompt": fmt.Sprintf("Look at part %d.", which), "subagent_type": "general-purpose"},
	}
}

// Upstream is the backend. Its zero value answers well.
type Upstream struct {
	// Command is what a client with the tool Bash is asked to run, once.
	Command string
	// Next is the tool that a client is asked to call, given what it said last, as JSON,
	// and the names of its tools; none: the turn ends. nil: as Command says.
	Next func(said string, tools []string) (tool string, input map[string]any)
	// Cache bills requests for messages; nil: each is charged as if it were new.
	Cache *PrefixCache

	// Binding has it refuse what breaks the rules of tools and thinking; nil: it does not
	// look.
	Binding *Binding

	mu     sync.Mutex
	judged []Judged
	asked  []Asked
	faults []Fault
	n      int
	gone   chan struct{}

	release chan struct{}
}

// Fail makes the next requests for messages fail so, one each.
func (u *Upstream) Fail(faults ...Fault) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.faults = append(u.faults, faults...)
}

// Asked are the requests so far.
func (u *Upstream) Asked() []Asked {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]Asked{}, u.asked...)
}

// Gone is closed when the client of a request that fell silent goes away.
func (u *Upstream) Gone() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone == nil {
		u.gone = make(chan struct{})
	}
	return u.gone
}

// Release lets streams go on that fell silent, now and from here on.
func (u *Upstream) Release() { close(u.released()) }

func (u *Upstream) released() chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.release == nil {
		u.release = make(chan struct{})
	}
	return u.release
}

// ServeHTTP implements http.Handler.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	u.mu.Lock()
	u.n++
	n := u.n
	u.asked = append(u.asked, Asked{r.Method, r.RequestURI, r.Host, r.Header.Clone(), body})
	fault := Fault("")
	if r.URL.Path == "/v1/messages" && len(u.faults) > 0 {
		fault, u.faults = u.faults[0], u.faults[1:]
	}
	u.mu.Unlock()
	w.Header().Set("request-id", fmt.Sprintf("req_%024d", n))
	w.Header().Set("anthropic-ratelimit-tokens-remaining", "99000")
	switch r.URL.Path {
	case "/v1/messages":
		u.messages(w, r, body, n, fault)
	case "/v1/messages/count_tokens":
		if j := u.judge(r, body); j.Problem != "" {
			reply(w, http.StatusBadRequest, problem("invalid_request_error", j.Problem))
			return
		}
		reply(w, http.StatusOK, map[string]any{"input_tokens": len(body) / 4})
	default:
		reply(w, http.StatusNotFound, problem("not_found_error", "Not found"))
	}
}

func (u *Upstream) messages(w http.ResponseWriter, r *http.Request, body []byte, n int, fault Fault) {
	var q question
	if err := json.Unmarshal(body, &q); err != nil || len(q.Messages) == 0 {
		reply(w, http.StatusBadRequest, problem("invalid_request_error", "messages: at least one message is required"))
		return
	}
	if fault == Overloaded {
		w.Header().Set("retry-after", "1")
		reply(w, 529, problem("overloaded_error", "Overloaded"))
		return
	}
	found := u.judge(r, body)
	if found.Problem != "" {
		reply(w, http.StatusBadRequest, problem("invalid_request_error", found.Problem))
		return
	}
	content, stop := u.say(q, n)
	if t := u.thought(body, n); t != nil {
		content = append([]map[string]any{t}, content...)
	}
	id := fmt.Sprintf("msg_%024d", n)
	output := 42
	usage := map[string]any{"input_tokens": 12, "cache_creation_input_tokens": len(body) / 4, "cache_read_input_tokens": 0, "output_tokens": 1}
	if u.Cache != nil {
		bill, err := u.Cache.Bill(Organisation(r.Header), body)
		if err != nil {
			reply(w, http.StatusBadRequest, problem("invalid_request_error", err.Error()))
			return
		}
		usage, output = bill.Usage(1), 0
		for _, block := range content {
			text, _ := json.Marshal(block) // of what goes out as JSON
			output += Tokens(string(text))
		}
		w.Header().Set("anthropic-organization-id", Organisation(r.Header))
	}
	message := map[string]any{"id": id, "type": "message", "role": "assistant", "model": q.Model, "content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if list := found.transformations(); list != nil {
		message["input_transformations"] = list
	}
	if u.Cache != nil {
		if d := u.Cache.Diagnose(body, id); d != nil {
			message["diagnostics"] = d
		}
	}
	if !q.Stream {
		reply(w, http.StatusOK, message)
		return
	}
	u.stream(w, r, events(message, content, stop, output), fault)
}

// stream writes events, each as it is.
func (u *Upstream) stream(w http.ResponseWriter, r *http.Request, all []string, fault Fault) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	half := len(all) / 2
	for i, e := range all {
		switch {
		case fault == "" || i < half:
			_, _ = io.WriteString(w, e) // a client that is gone has what it wanted
			_ = http.NewResponseController(w).Flush()
			continue
		case fault == Cut:
			_, _ = io.WriteString(w, e[:len(e)/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case fault == ErrorEvent:
			_, _ = io.WriteString(w, event(problem("overloaded_error", "Overloaded")))
		case fault == FallsSilent:
			gone := u.Gone()
			select {
			case <-u.released():
				fault = ""
				_, _ = io.WriteString(w, e) // as above
				_ = http.NewResponseController(w).Flush()
				continue
			case <-r.Context().Done():
			}
			u.mu.Lock()
			defer u.mu.Unlock()
			if gone == u.gone {
				close(u.gone)
				u.gone = nil
			}
		}
		return
	}
}

// question is what is read of a request.
type question struct {
	Model    string
	Stream   bool
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Tools  []struct{ Name string }
	Output json.RawMessage `json:"output_config"`
}

// say is the next message: a tool is asked for once, if there is one.
func (u *Upstream) say(q question, n int) (content []map[string]any, stop string) {
	last := ""
	for _, m := range q.Messages {
		if m.Role == "user" {
			last = string(m.Content)
		}
	}
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	if strings.Contains(string(q.Output), "json_schema") {
		return []map[string]any{text(`{"title":"An invented title"}`)}, "end_turn"
	}
	if u.Next != nil {
		var names []string
		for _, tool := range q.Tools {
			names = append(names, tool.Name)
		}
		if tool, input := u.Next(last, names); tool != "" {
			return []map[string]any{{"type": "tool_use", "id": fmt.Sprintf("toolu_%024d", n), "name": tool, "input": input}}, "tool_use"
		}
	}
	switch {
	case strings.Contains(last, `"tool_result"`):
		return []map[string]any{text("The command ran, and this is the end of the turn.")}, "end_turn"
	}
	if strings.Contains(last, AskTwoAgents) {
		for _, tool := range q.Tools {
			if tool.Name == "Task" || tool.Name == "Agent" {
				return []map[string]any{agentUse(tool.Name, n, 1), agentUse(tool.Name, n, 2)}, "tool_use"
			}
		}
	}
	for _, tool := range q.Tools {
		if tool.Name == "Bash" && u.Command != "" {
			return []map[string]any{
				{"type": "thinking", "thinking": "A command is wanted.", "signature": "aW52ZW50ZWQ="},
				text("I run a command."),
				{"type": "tool_use", "id": fmt.Sprintf("toolu_%024d", n), "name": "Bash", "input": map[string]any{"command": u.Command, "description": "Run it"}},
			}, "tool_use"
		}
	}
	return []map[string]any{text("Grüße: an invented answer, with a \\ and a \" in it.")}, "end_turn"
}

// events are a message as its stream, with what no client knows among them.
func events(message map[string]any, content []map[string]any, stop string, output int) (all []string) {
	began := map[string]any{}
	for k, v := range message {
		began[k] = v
	}
	began["content"], began["stop_reason"] = []any{}, nil
	all = append(all, event(map[string]any{"type": "message_start", "message": began}), event(map[string]any{"type": "ping"}), ": a comment\n\n")
	for i, block := range content {
		add := func(delta map[string]any) {
			all = append(all, event(map[string]any{"type": "content_block_delta", "index": i, "delta": delta}))
		}
		start := map[string]any{"type": block["type"]}
		switch block["type"] {
		case "text":
			start["text"] = ""
		case "thinking":
			start["thinking"], start["signature"] = "", ""
		case "tool_use":
			start["id"], start["name"], start["input"] = block["id"], block["name"], map[string]any{}
		}
		all = append(all, event(map[string]any{"type": "content_block_start", "index": i, "content_block": start}))
		switch block["type"] {
		case "text":
			for _, word := range strings.SplitAfter(block["text"].(string), " ") {
				add(map[string]any{"type": "text_delta", "text": word})
			}
		case "thinking":
			add(map[string]any{"type": "thinking_delta", "thinking": block["thinking"]})
			add(map[string]any{"type": "signature_delta", "signature": block["signature"]})
		case "tool_use":
			input, _ := json.Marshal(block["input"])
			add(map[string]any{"type": "input_json_delta", "partial_json": ""})
			add(map[string]any{"type": "input_json_delta", "partial_json": string(input[:len(input)/2])})
			add(map[string]any{"type": "input_json_delta", "partial_json": string(input[len(input)/2:])})
		}
		all = append(all, event(map[string]any{"type": "content_block_stop", "index": i}))
	}
	return append(all,
		event(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": output}}),
		event(map[string]any{"type": "an_event_of_next_year", "z": 1, "a": 2}),
		event(map[string]any{"type": "message_stop"}))
}

func event(of map[string]any) string {
	data, _ := json.Marshal(of)
	return fmt.Sprintf("event: %s\ndata: %s\n\n", of["type"], data)
}

func problem(kind, message string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

func reply(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // as above
}
