package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"liminal/internal/model"
	"liminal/internal/model/modeltest"
)

// object is a JSON object, as the protocol is made of.
type object = map[string]any

// server plays a scenario as Anthropic's Messages API does.
func server(s modeltest.Scenario) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" || r.Header.Get("anthropic-version") == "" {
			refuse(w, http.StatusNotFound, "not_found_error", "Not found.")
			return
		}
		var asked request
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model == "" || asked.MaxTokens == 0 || !asked.Stream {
			refuse(w, http.StatusBadRequest, "invalid_request_error", "The request is not complete.")
			return
		}
		play(&wire{ResponseWriter: w, asked: asked}, r, s)
	})
}

// request is what the server reads of a request.
type request struct {
	Model      string          `json:"model"`
	MaxTokens  int             `json:"max_tokens"`
	Stream     bool            `json:"stream"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Messages   []struct {
		Content []struct {
			Type   string `json:"type"`
			Source struct {
				Data string `json:"data"`
			} `json:"source"`
			Citations struct {
				Enabled bool `json:"enabled"`
			} `json:"citations"`
		} `json:"content"`
	} `json:"messages"`
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("request-id", "req_0123")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": kind, "message": message}})
}

func play(w *wire, r *http.Request, s modeltest.Scenario) {
	switch s.Name {
	case modeltest.RateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(int(s.RetryAfter.Seconds())))
		refuse(w, http.StatusTooManyRequests, "rate_limit_error", "This request would exceed the rate limit of your organization.")
	case modeltest.Overloaded:
		refuse(w, 529, "overloaded_error", "Overloaded")
	case modeltest.ServerError:
		refuse(w, http.StatusInternalServerError, "api_error", "Internal server error")
	case modeltest.BadKey:
		refuse(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key: "+r.Header.Get("x-api-key"))
	case modeltest.BadRequest:
		refuse(w, http.StatusBadRequest, "invalid_request_error", "messages.1.content: the field is required.")
	case modeltest.ContextTooLong:
		refuse(w, http.StatusBadRequest, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")
	case modeltest.NoSuchModel:
		refuse(w, http.StatusNotFound, "not_found_error", "model: "+w.asked.Model)
	default:
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.answer(r, s)
	}
}

// wire writes events.
type wire struct {
	http.ResponseWriter
	asked request
	block int
}

func (w *wire) flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

func (w *wire) send(kind string, data object) {
	data["type"] = kind
	raw, _ := json.Marshal(data)
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, raw)
	w.flush()
}

// begin starts a block, delta adds to it.
func (w *wire) begin(block object) {
	w.send("content_block_start", object{"index": w.block, "content_block": block})
}

func (w *wire) delta(kind, field string, value any) {
	w.send("content_block_delta", object{"index": w.block, "delta": object{"type": kind, field: value}})
}

func (w *wire) end() {
	w.send("content_block_stop", object{"index": w.block})
	w.block++
}

func (w *wire) say(pieces ...string) {
	w.begin(object{"type": "text", "text": ""})
	for _, p := range pieces {
		w.delta("text_delta", "text", p)
	}
	w.end()
}

func (w *wire) answer(r *http.Request, s modeltest.Scenario) {
	w.start(s)
	switch s.Name {
	case modeltest.SlowFirstByte:
		select {
		case <-s.Hold:
		case <-r.Context().Done():
			return
		}
		w.say(s.Text...)
	case modeltest.Thinking:
		w.think(s)
		w.say(s.Text...)
	case modeltest.Tools:
		w.say(s.Text...)
		w.call(s.Calls)
	case modeltest.Structured:
		w.structured(s)
	case modeltest.Citations:
		w.cite(s)
	case modeltest.UnknownEvent:
		w.strange(s)
	case modeltest.Endless:
		w.endless(r, s)
		return
	case modeltest.ErrorMidStream, modeltest.CutMidStream, modeltest.EndsMidStream:
		w.breakOff(s)
		return
	default:
		w.say(s.Text...)
	}
	w.stop(s)
}

func (w *wire) start(s modeltest.Scenario) {
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": w.asked.Model, "content": []any{}, "stop_reason": nil}
	if s.Name != modeltest.NoUsage {
		message["usage"] = object{
			"input_tokens": s.Usage.Input, "output_tokens": 1,
			"cache_read_input_tokens": s.Usage.CacheRead, "cache_creation_input_tokens": s.Usage.CacheWrite,
		}
	}
	w.send("message_start", object{"message": message})
	w.send("ping", object{})
}

func (w *wire) stop(s modeltest.Scenario) {
	reason := map[modeltest.Name]string{
		modeltest.Tools: "tool_use", modeltest.LongAnswer: "max_tokens", modeltest.Refused: "refusal",
	}[s.Name]
	if s.Name == modeltest.Structured && w.asked.ToolChoice != nil {
		reason = "tool_use"
	}
	if reason == "" {
		reason = "end_turn"
	}
	last := object{"delta": object{"stop_reason": reason, "stop_sequence": nil}}
	if s.Name != modeltest.NoUsage {
		last["usage"] = object{"output_tokens": s.Usage.Output}
	}
	w.send("message_delta", last)
	w.send("message_stop", object{})
}

func (w *wire) think(s modeltest.Scenario) {
	w.begin(object{"type": "thinking", "thinking": "", "signature": ""})
	for _, t := range s.Thoughts {
		w.delta("thinking_delta", "thinking", t)
	}
	w.delta("signature_delta", "signature", "EqQBCgIYAhIM")
	w.end()
}

func (w *wire) call(calls []modeltest.Call) {
	for _, c := range calls {
		w.begin(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}})
		w.delta("input_json_delta", "partial_json", "")
		for _, f := range c.Fragments() {
			w.delta("input_json_delta", "partial_json", f)
		}
		w.end()
	}
}

// structured answers with JSON as it was asked for: as text, or as the input
// of the tool it must call.
func (w *wire) structured(s modeltest.Scenario) {
	if w.asked.ToolChoice == nil {
		w.say(s.Text...)
		return
	}
	var choice struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(w.asked.ToolChoice, &choice)
	w.begin(object{"type": "tool_use", "id": "toolu_1", "name": choice.Name, "input": object{}})
	for _, piece := range s.Text {
		w.delta("input_json_delta", "partial_json", piece)
	}
	w.end()
}

// cite cites what the server itself was shown, in its own way of counting.
func (w *wire) cite(s modeltest.Scenario) {
	w.say(s.Text[0])
	w.begin(object{"type": "text", "text": "", "citations": []any{}})
	index := 0
	for _, m := range w.asked.Messages {
		for _, b := range m.Content {
			if b.Type != "document" {
				continue
			}
			if at := strings.Index(b.Source.Data, s.Quote); at >= 0 && b.Citations.Enabled {
				start := utf8.RuneCountInString(b.Source.Data[:at])
				w.delta("citations_delta", "citation", object{
					"type": "char_location", "cited_text": s.Quote, "document_index": index, "document_title": "x",
					"start_char_index": start, "end_char_index": start + utf8.RuneCountInString(s.Quote),
				})
			}
			index++
		}
	}
	for _, piece := range s.Text[1:] {
		w.delta("text_delta", "text", piece)
	}
	w.end()
}

func (w *wire) strange(s modeltest.Scenario) {
	_, _ = io.WriteString(w, ": a comment\n\nevent: weather_report\ndata: {\"type\":\"weather_report\",\"sun\":[1,2]}\n\n")
	w.begin(object{"type": "hologram", "depth": 3})
	w.delta("hologram_delta", "light", "blue")
	w.end()
	w.begin(object{"type": "text", "text": "", "mood": "calm"})
	for _, piece := range s.Text {
		w.send("ping", object{})
		w.delta("text_delta", "text", piece)
		w.delta("smell_delta", "smell", "hay")
	}
	w.end()
}

func (w *wire) endless(r *http.Request, s modeltest.Scenario) {
	w.begin(object{"type": "text", "text": ""})
	for r.Context().Err() == nil {
		for _, piece := range s.Text {
			w.delta("text_delta", "text", piece)
		}
	}
}

func (w *wire) breakOff(s modeltest.Scenario) {
	w.begin(object{"type": "text", "text": ""})
	w.delta("text_delta", "text", s.Text[0])
	switch s.Name {
	case modeltest.ErrorMidStream:
		w.send("error", object{"error": object{"type": "overloaded_error", "message": "Overloaded"}})
	case modeltest.CutMidStream:
		panic(http.ErrAbortHandler)
	default:
	}
}

// passage is a block of a document's text from a byte on.
func passage(id, text string, start int) model.Block {
	return model.Block{Type: model.Passage, Text: text, Source: &model.Source{
		DocumentID: id, ChunkID: id + "-1", Title: "About " + id, Heading: "Part 1", Page: 2, Start: start, End: start + len(text),
	}}
}
