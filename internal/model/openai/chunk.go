package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
)

// chunk is one piece of an answer, or a whole one that was not streamed.
type chunk struct {
	done    bool // the protocol's own end
	Choices []choice
	Usage   *usage
	Error   json.RawMessage
	Object  json.RawMessage // "error" of one
}

type choice struct {
	Index        int
	Delta        *delta
	Message      *delta // of an answer that was not streamed
	FinishReason string
}

// UnmarshalJSON reads a choice whose reason may be null.
func (c *choice) UnmarshalJSON(doc []byte) error {
	var raw struct {
		Index        int             `json:"index"`
		Delta        *delta          `json:"delta"`
		Message      *delta          `json:"message"`
		FinishReason json.RawMessage `json:"finish_reason"`
	}
	if err := json.Unmarshal(doc, &raw); err != nil {
		return err
	}
	*c = choice{Index: raw.Index, Delta: raw.Delta, Message: raw.Message, FinishReason: word(raw.FinishReason)}
	return nil
}

// delta is what a piece adds. What servers disagree on is read later.
type delta struct {
	Content          json.RawMessage `json:"content"`
	Reasoning        json.RawMessage `json:"reasoning"`         // vLLM, Ollama, Together
	ReasoningContent json.RawMessage `json:"reasoning_content"` // DeepSeek, llama.cpp, older vLLM
	Refusal          json.RawMessage `json:"refusal"`
	ToolCalls        []piece         `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"` // before there were tools
}

// size is how much of an answer a chunk carries, in bytes.
func (c chunk) size() (n int) {
	for _, one := range c.Choices {
		d := one.Delta
		if d == nil {
			continue
		}
		for _, text := range []json.RawMessage{d.Content, d.Reasoning, d.ReasoningContent, d.Refusal} {
			n += len(word(text))
		}
		for _, t := range d.ToolCalls {
			n += t.Function.size()
		}
		n += d.FunctionCall.size()
	}
	return n
}

func (f *function) size() int {
	if f == nil {
		return 0
	}
	n := len(word(f.Arguments))
	if n == 0 && len(f.Arguments) > 2 && f.Arguments[0] == '{' {
		n = len(f.Arguments)
	}
	return len(f.Name) + n
}

type piece struct {
	Index    *int      `json:"index"`
	ID       string    `json:"id"`
	Function *function `json:"function"`
}

type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a string of JSON; from some servers the JSON itself
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Hit int `json:"prompt_cache_hit_tokens"` // DeepSeek's name of the same
}

// chunks reads the pieces of an answer, in whichever form the server gives it.
func chunks(resp *http.Response) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		body, streamed, err := opened(resp)
		if err != nil {
			yield(chunk{}, err)
			return
		}
		if !streamed {
			yield(whole(body))
			return
		}
		for e, err := range events(body) {
			if err != nil {
				yield(chunk{}, err)
				return
			}
			for _, doc := range documents(e.data) {
				c, err := parse(e.name, doc)
				if !yield(c, err) || err != nil {
					return
				}
			}
		}
	}
}

// opened tells a stream from a single document. What servers call it decides
// where it can; else its first sign does.
func opened(resp *http.Response) (body io.Reader, streamed bool, err error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		return resp.Body, true, nil
	case "application/json":
		return resp.Body, false, nil
	case "text/html":
		return nil, false, errPage
	}
	first := make([]byte, 1)
	n, err := io.ReadFull(resp.Body, first)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	return io.MultiReader(bytes.NewReader(first[:n]), resp.Body), n == 0 || first[0] != '{', nil
}

// whole reads an answer that was not streamed.
func whole(body io.Reader) (chunk, error) {
	doc, err := io.ReadAll(io.LimitReader(body, maxLine))
	if err != nil {
		return chunk{}, err
	}
	c, err := parse("", doc)
	c.done = err == nil
	return c, err
}

// documents are the JSON documents of an event's data: one, or, from servers
// that forget the blank line between events, one a line.
func documents(data []byte) [][]byte {
	if !bytes.ContainsRune(data, '\n') || json.Valid(data) {
		return [][]byte{data}
	}
	return bytes.Split(data, []byte("\n"))
}

// parse reads one document. Of an event with a name of its own that is not
// JSON nothing is expected.
func parse(name string, doc []byte) (chunk, error) {
	doc = bytes.TrimSpace(doc)
	switch {
	case len(doc) == 0:
		return chunk{}, nil
	case string(doc) == "[DONE]":
		return chunk{done: true}, nil
	case name == "error" && !json.Valid(doc):
		return chunk{}, errors.New(string(doc))
	}
	var c chunk
	if err := json.Unmarshal(doc, &c); err != nil {
		if name != "" && name != "message" {
			return chunk{}, nil
		}
		return chunk{}, err
	}
	if failed := c.failed(name, doc); failed != nil {
		return chunk{}, failed
	}
	return c, nil
}

// failed is the error that a document of an answer is instead of a piece.
func (c chunk) failed(name string, doc []byte) error {
	if len(c.Choices) > 0 || empty(c.Error) && name != "error" && word(c.Object) != "error" {
		return nil
	}
	return errors.New(cmp.Or(refusalOf(doc).message, "an error without words"))
}

func empty(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// word reads a string; anything else is none. "null" is what some servers
// write for null.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil || s == "null" {
		return ""
	}
	return s
}

// said reads content: a string, or a list of parts with text in them.
func said(raw json.RawMessage) (text, thought string) {
	if empty(raw) {
		return "", ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, ""
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", ""
	}
	var words, thoughts strings.Builder
	for _, p := range parts {
		words.WriteString(p.Text)
		inner, _ := said(p.Thinking)
		thoughts.WriteString(inner)
	}
	return words.String(), thoughts.String()
}
