package api

import (
	"encoding/json"
	"strconv"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// Completion is the answer to a CompletionRequest.
type Completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object" enum:"chat.completion"`
	Created int64              `json:"created" doc:"in seconds since 1970"`
	Model   string             `json:"model"`
	Choices []CompletionChoice `json:"choices"`
	Usage   *CompletionUsage   `json:"usage"`
	Liminal CompletionOf       `json:"x_liminal"`
}

// CompletionChoice is the one answer there is.
type CompletionChoice struct {
	Index        int              `json:"index"`
	Message      CompletionAnswer `json:"message"`
	FinishReason string           `json:"finish_reason" enum:"stop,length,content_filter,tool_calls"`
	Logprobs     *string          `json:"logprobs" nullable:"true"`
}

// CompletionAnswer is what the assistant says.
type CompletionAnswer struct {
	Role        string                 `json:"role" enum:"assistant"`
	Content     *string                `json:"content" nullable:"true" doc:"null: it calls tools"`
	ToolCalls   []CompletionCall       `json:"tool_calls,omitempty" doc:"of the caller's; all are answered together, by messages of the role tool"`
	Refusal     *string                `json:"refusal" nullable:"true"`
	Annotations []CompletionAnnotation `json:"annotations" doc:"what it cites"`
}

// CompletionCall is a call of one of the caller's tools.
type CompletionCall struct {
	Index    *int   `json:"index,omitempty" doc:"in a stream: which of them"`
	ID       string `json:"id"`
	Type     string `json:"type" enum:"function"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments" doc:"a JSON object"`
	} `json:"function"`
}

// completionCalls are calls as the protocol says them.
func completionCalls(calls []clientCall, streamed bool) []CompletionCall {
	var list []CompletionCall
	for i, c := range calls {
		one := CompletionCall{ID: c.ID, Type: "function"}
		if streamed {
			one.Index = &i
		}
		one.Function.Name, one.Function.Arguments = c.Name, c.Arguments
		list = append(list, one)
	}
	return list
}

// CompletionAnnotation is a citation: a passage of a document, or a record.
type CompletionAnnotation struct {
	Type string `json:"type" enum:"url_citation"`
	URL  struct {
		URL   string `json:"url"`
		Title string `json:"title"`
		Start int    `json:"start_index" doc:"of its mark, in characters of the content"`
		End   int    `json:"end_index"`
	} `json:"url_citation"`
}

// CompletionChunk is a piece of a stream.
type CompletionChunk struct {
	ID      string            `json:"id"`
	Object  string            `json:"object" enum:"chat.completion.chunk"`
	Created int64             `json:"created"`
	Model   string            `json:"model"`
	Choices []CompletionDelta `json:"choices"`
	Usage   *CompletionUsage  `json:"usage,omitempty"`
	Liminal *CompletionOf     `json:"x_liminal,omitempty" doc:"with the last words"`
}

// CompletionDelta is what a piece adds.
type CompletionDelta struct {
	Index int `json:"index"`
	Delta struct {
		Role        string                 `json:"role,omitempty"`
		Content     *string                `json:"content,omitempty"`
		ToolCalls   []CompletionCall       `json:"tool_calls,omitempty"`
		Annotations []CompletionAnnotation `json:"annotations,omitempty"`
	} `json:"delta"`
	FinishReason *string `json:"finish_reason" nullable:"true"`
}

// CompletionUsage is what a turn used, of all its calls of models.
type CompletionUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// CompletionOf is what the protocol has no place for.
type CompletionOf struct {
	ConversationID string     `json:"conversation_id" format:"uuid"`
	RunID          string     `json:"run_id" format:"uuid"`
	Interrupt      *Interrupt `json:"interrupt,omitempty" doc:"the run waits: the content is its question, and the next message its answer"`
	Ignored        []string   `json:"ignored,omitempty" doc:"members of the request that changed nothing"`
}

// completionEncoder puts the log of one run into OpenAI's words.
type completionEncoder struct {
	id, model, locale, base string

	created int64
	usage   bool // told at the end of a stream
	about   CompletionOf

	// asked are the questions that wait, the one that the next message answers first.
	asked func() ([]run.Interrupt, error)
	// ended hears all that was said.
	ended func(answer string)

	words settled
	all   strings.Builder
	begun bool
}

// finish is how an answer ended.
type finish struct {
	rest   string // of its words
	reason string
	calls  []clientCall // of the caller's tools
	cited  []chat.Citation
	usage  *CompletionUsage
	used   stream.UsageData
}

// end is what the last event of a run says.
func (e *completionEncoder) end(event stream.Event) (f finish, err error) {
	if event.Kind != stream.Paused {
		return endTold(event)
	}
	open, err := e.asked()
	if err != nil {
		return f, err
	}
	f, e.about.Interrupt = endAsked(open, e.locale)
	if e.all.Len() > 0 && f.rest != "" {
		f.rest = "\n\n" + f.rest
	}
	return f, nil
}

// endTold is what the last event of a run says that ended.
func endTold(event stream.Event) (f finish, err error) {
	f.reason = "stop"
	var known stream.Answer
	switch event.Kind {
	case stream.CancelAck:
		stopped, _ := stream.Read[stream.CancelAckData](event.Data)
		f.rest, known = stopped.Content, value(stopped.Answer)
	default:
		done, _ := stream.Read[stream.MessageDoneData](event.Data)
		f.rest, known = done.Content, done.Answer
	}
	switch {
	case known.Suppressed:
		f.rest, f.reason = "", "content_filter"
	case known.Truncated:
		f.reason = "length"
	}
	if len(known.Citations) > 0 && json.Unmarshal(known.Citations, &f.cited) != nil {
		f.cited = nil
	}
	_ = json.Unmarshal(known.Usage, &f.used) // missing: it is not known
	f.usage = completionUsage(f.used)
	return f, nil
}

// usageOf counts what an answer used, as the store has it; zero: it is not known.
func usageOf(raw json.RawMessage) *CompletionUsage {
	var used stream.UsageData
	_ = json.Unmarshal(raw, &used) // missing: it is not known
	return completionUsage(used)
}

func completionUsage(used stream.UsageData) *CompletionUsage {
	u := &CompletionUsage{Prompt: used.InputTokens + used.CacheReadTokens + used.CacheWriteTokens, Completion: used.OutputTokens}
	u.Total, u.Details.Cached = u.Prompt+u.Completion, used.CacheReadTokens
	return u
}

// annotations are citations at their marks, with links under base.
func annotations(base string, cited []chat.Citation, content string) []CompletionAnnotation {
	list := make([]CompletionAnnotation, 0, len(cited))
	for _, c := range cited {
		a := CompletionAnnotation{Type: "url_citation"}
		a.URL.URL, a.URL.Title = citedAt(base, c)
		mark := "[" + strconv.Itoa(c.N) + "]"
		if at := strings.Index(content, mark); at >= 0 {
			a.URL.Start = runes(content, at)
			a.URL.End = a.URL.Start + len(mark)
		}
		list = append(list, a)
	}
	return list
}

// whole is the answer of a run by its last event.
func (e *completionEncoder) whole(event stream.Event) (any, error) {
	return e.completion(event)
}

func (e *completionEncoder) completion(event stream.Event) (Completion, error) {
	f, err := e.end(event)
	if err != nil {
		return Completion{}, err
	}
	e.ended(f.rest)
	if f.usage == nil {
		f.usage = &CompletionUsage{}
	}
	answer := CompletionAnswer{Role: "assistant", Content: &f.rest, ToolCalls: completionCalls(f.calls, false), Annotations: annotations(e.base, f.cited, f.rest)}
	if len(f.calls) > 0 && f.rest == "" {
		answer.Content = nil
	}
	return Completion{
		ID: e.id, Object: "chat.completion", Created: e.created, Model: e.model, Usage: f.usage, Liminal: e.about,
		Choices: []CompletionChoice{{Message: answer, FinishReason: f.reason}},
	}, nil
}

// encode implements encoder.
func (e *completionEncoder) encode(event stream.Event) ([][]byte, error) {
	var out [][]byte
	var over error
	switch {
	case event.Kind == stream.Token:
		piece, _ := stream.Read[stream.TokenData](event.Data)
		text, err := e.words.say(string(piece))
		if err != nil {
			return e.broken("server_error", e.changed())
		}
		out = e.text(text)
	case event.Kind == stream.Reset:
		reset, _ := stream.Read[stream.ResetData](event.Data)
		e.words.reset(reset.Reason)
	case event.Kind == stream.ToolCall:
		e.words.part()
	case event.Kind == stream.Error:
		reason, _ := stream.Read[stream.RunError](event.Data)
		return e.broken(reason.Code, reason.Message)
	case event.Kind.Ends():
		f, err := e.end(event)
		if err != nil {
			return nil, err
		}
		if event.Kind == stream.Paused {
			if e.words.pause() != nil {
				return e.broken("server_error", e.changed())
			}
		} else {
			if f.rest, err = e.words.rest(f.rest); err != nil && f.reason != "content_filter" {
				return e.broken("server_error", e.changed())
			}
		}
		out, over = e.last(f), errOver
	}
	return out, over
}

// last is the end of a stream that is whole.
func (e *completionEncoder) last(f finish) [][]byte {
	out := e.text(f.rest)
	e.ended(e.all.String())
	if len(f.calls) > 0 {
		chunk := e.chunk()
		chunk.Choices[0].Delta.ToolCalls = completionCalls(f.calls, true)
		out = append(out, dataLine(chunk))
	}
	chunk := e.chunk()
	chunk.Choices[0].FinishReason = &f.reason
	if cited := annotations(e.base, f.cited, e.all.String()); len(cited) > 0 {
		chunk.Choices[0].Delta.Annotations = cited
	}
	chunk.Liminal = &e.about
	out = append(out, dataLine(chunk))
	if e.usage {
		last := e.chunk()
		last.Choices, last.Usage = []CompletionDelta{}, f.usage
		if last.Usage == nil {
			last.Usage = &CompletionUsage{}
		}
		out = append(out, dataLine(last))
	}
	return append(out, []byte("data: [DONE]\n\n"))
}

func (e *completionEncoder) chunk() CompletionChunk {
	return CompletionChunk{ID: e.id, Object: "chat.completion.chunk", Created: e.created, Model: e.model, Choices: make([]CompletionDelta, 1)}
}

func (e *completionEncoder) text(text string) [][]byte {
	if text == "" && e.begun {
		return nil
	}
	chunk := e.chunk()
	if !e.begun {
		e.begun = true
		chunk.Choices[0].Delta.Role = "assistant"
	}
	if e.words.next { // a part of its own was sent before
		e.words.next = false
		text = "\n\n" + text
	}
	e.all.WriteString(text)
	chunk.Choices[0].Delta.Content = &text
	return [][]byte{dataLine(chunk)}
}

func (e *completionEncoder) changed() string {
	return "The answer was begun again and differs from what was sent. The run " + e.about.RunID + " has it whole."
}

// broken ends a stream with the protocol's error.
func (e *completionEncoder) broken(code, message string) ([][]byte, error) {
	return [][]byte{dataLine(OpenAIFailure{Error: OpenAIReason{Message: message, Type: "server_error", Code: &code}})}, errOver
}

func (e *completionEncoder) ping() []byte { return []byte(": ping\n\n") }

// dataLine is an event of the protocol.
func dataLine(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = []byte(`{"error":{"message":"The answer cannot be told.","type":"server_error","param":null,"code":null}}`)
	}
	return append(append([]byte("data: "), raw...), '\n', '\n')
}

// OpenAIFailure is an unsuccessful answer of the protocol.
type OpenAIFailure struct {
	Error OpenAIReason `json:"error"`
}

// OpenAIReason says what went wrong.
type OpenAIReason struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param" nullable:"true"`
	Code    *string `json:"code" nullable:"true"`
}

// speaksOpenAI reports whether a path is answered in the protocol's shape.
func speaksOpenAI(path string) bool {
	return path == completionsPath || path == responsesPath || strings.HasPrefix(path, responsesPath+"/") || path == modelsPath || strings.HasPrefix(path, modelsPath+"/") || strings.HasPrefix(path, audioPath)
}

// asOpenAI is a failure in the protocol's shape.
func (f *Failure) asOpenAI() OpenAIFailure {
	kind, code := "invalid_request_error", f.Reason.Code
	switch f.code {
	case 401:
		code = "invalid_api_key"
	case 403:
		code = "insufficient_permissions"
	case 429:
		kind, code = "requests", "rate_limit_exceeded"
	}
	if f.code >= 500 {
		kind = "server_error"
	}
	if details, ok := f.Reason.Details.(map[string]any); ok {
		switch reason, _ := details["reason"].(string); {
		case reason == "" || f.code == 401: // clients know a key that is none by the protocol's own word
		case reason == fault.Budget:
			kind, code = "insufficient_quota", "insufficient_quota"
		default:
			code = reason
		}
	}
	out := OpenAIFailure{Error: OpenAIReason{Message: f.Reason.Message, Type: kind, Code: &code}}
	if details, ok := f.Reason.Details.(map[string]any); ok {
		if field, ok := details["field"].(string); ok {
			out.Error.Param = &field
		}
	}
	if problems, ok := f.Reason.Details.([]Problem); ok && len(problems) > 0 {
		field := strings.TrimPrefix(problems[0].Field, "body.")
		out.Error.Param = &field
	}
	return out
}
