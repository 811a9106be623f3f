package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

const (
	// MostRead is how large a body may be that is read here, in bytes: what Anthropic's
	// API takes. A larger one passes as it is.
	MostRead = 32 << 20
	// mostNested is how deep values may lie in one another. The reader calls itself, and
	// no program may be ended by what a body says.
	mostNested = 512
	// defaultTTL is how long a prompt cache holds where the body names no other time.
	defaultTTL = 5 * time.Minute
	longTTL    = time.Hour
)

// ownTools begin so. What they answered was asked for, and is never set aside.
const ownTools = "mcp__palace__"

// ErrUnread is why a body is not read: what it says is not for certain, or it is none of
// the form of a request for messages.
var ErrUnread = errors.New("the body is not read")

// Span is a part of a body, from its first byte to the one behind its last.
type Span struct{ From, To int }

// Empty tells that there is nothing.
func (s Span) Empty() bool { return s.To <= s.From }

// Body is a request for messages as it was sent, and where in it stands what a view
// reads or changes. Nothing in it is written anew.
type Body struct {
	Raw      []byte
	Model    string
	System   Span
	Tools    Span // empty: there are none
	Messages []Message
	// Thinking is the object of that name, and Thinks whether it asks for thinking.
	Thinking Span
	Thinks   bool
	// Recall tells that the agent can ask back.
	Recall bool
	// TTL is how long the backend keeps what it has read of this request.
	TTL time.Duration

	others  []Span // the values of all other members, in order
	names   []string
	binding Span   // thinking.block_binding
	bound   string // its prefix_mismatch_behavior
}

// Message is one of messages.
type Message struct {
	Span
	Role    string
	Content Span
	// Text tells that Content is a text, and no list.
	Text  bool
	Parts []Part
}

// Part is a block of a message.
type Part struct {
	Span
	Type string
	// ID is that of a tool_use, or of the one that a tool_result answers.
	ID      string
	Tool    string // of a tool_use
	Input   Span   // as above
	Content Span   // of a tool_result; empty: it says nothing
	Failed  bool   // as above: is_error
	Control Span   // its cache_control; empty: none
}

// Of are the bytes of a span.
func (b *Body) Of(s Span) []byte { return b.Raw[s.From:s.To] }

// ReadBody finds what stands where in a request for messages. One that says a thing
// twice, or that is no JSON, is not read: whoever gets it may understand another.
func ReadBody(raw []byte) (*Body, error) {
	if len(raw) > MostRead {
		return nil, fmt.Errorf("%w: it has %d bytes, and %d may be", ErrUnread, len(raw), MostRead)
	}
	if !shallow(raw) || !gjson.ValidBytes(raw) {
		return nil, fmt.Errorf("%w: it is no JSON, or nested too deep", ErrUnread)
	}
	return read(raw)
}

// read reads what is JSON.
func read(raw []byte) (*Body, error) {
	b := &Body{Raw: raw, TTL: defaultTTL}
	err := members(gjson.ParseBytes(raw), func(name string, v gjson.Result) error {
		at := spanOf(v)
		switch name {
		case "model":
			b.Model = v.Str
		case "system":
			b.System = at
			if v.IsArray() {
				v.ForEach(func(_, block gjson.Result) bool { b.times(block.Get("cache_control")); return true })
			}
		case "tools":
			b.Tools = at
			v.ForEach(func(_, tool gjson.Result) bool {
				b.Recall = b.Recall || tool.Get("name").Str == RecallTool
				b.times(tool.Get("cache_control"))
				return true
			})
		case "messages":
			if !v.IsArray() {
				return errors.New("messages is no list")
			}
			return each(v, func(m gjson.Result) error { return b.message(m) })
		case "thinking":
			b.Thinking = at
			return b.thinking(v)
		default:
			b.names, b.others = append(b.names, name), append(b.others, at)
		}
		return nil
	})
	if err == nil && len(b.Messages) == 0 {
		err = errors.New("there are no messages")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	return b, nil
}

// message reads one.
func (b *Body) message(v gjson.Result) error {
	m := Message{Span: spanOf(v)}
	err := members(v, func(name string, v gjson.Result) error {
		switch name {
		case "role":
			m.Role = v.Str
		case "content":
			m.Content = spanOf(v)
			if m.Text = v.Type == gjson.String; m.Text {
				m.Parts = []Part{{Span: m.Content, Type: "text"}}
				return nil
			}
			if !v.IsArray() {
				return errors.New("a content is neither text nor list")
			}
			return each(v, func(part gjson.Result) error {
				p, err := b.part(part)
				m.Parts = append(m.Parts, p)
				return err
			})
		}
		return nil
	})
	if err == nil && m.Content.Empty() {
		err = errors.New("a message has no content")
	}
	b.Messages = append(b.Messages, m)
	return err
}

func (b *Body) part(v gjson.Result) (p Part, err error) {
	p.Span = spanOf(v)
	var answers string
	err = members(v, func(name string, v gjson.Result) error {
		switch name {
		case "type":
			p.Type = v.Str
		case "id":
			p.ID = v.Str
		case "tool_use_id":
			answers = v.Str
		case "name":
			p.Tool = v.Str
		case "input":
			p.Input = spanOf(v)
		case "content":
			p.Content = spanOf(v)
		case "is_error":
			p.Failed = v.Type == gjson.True
		case "cache_control":
			p.Control = spanOf(v)
			b.times(v)
		}
		return nil
	})
	if p.Type == "tool_result" {
		p.ID, p.Tool, p.Input = answers, "", Span{}
	} else {
		p.Content = Span{}
	}
	return p, err
}

func (b *Body) thinking(v gjson.Result) error {
	return members(v, func(name string, v gjson.Result) error {
		switch name {
		case "type":
			b.Thinks = v.Str == "adaptive" || v.Str == "enabled"
		case "block_binding":
			b.binding = spanOf(v)
			return members(v, func(name string, v gjson.Result) error {
				if name == "prefix_mismatch_behavior" {
					b.bound = v.Str
				}
				return nil
			})
		}
		return nil
	})
}

// times notes the longest time that a cache_control asks for.
func (b *Body) times(control gjson.Result) {
	if control.Get("ttl").Str == "1h" {
		b.TTL = longTTL
	}
}

// members goes over an object, whose names must all be different.
func members(v gjson.Result, do func(name string, v gjson.Result) error) (err error) {
	if !v.IsObject() {
		return errors.New("where an object should be is none")
	}
	var seen []string
	v.ForEach(func(key, v gjson.Result) bool {
		for _, s := range seen {
			if s == key.Str {
				err = fmt.Errorf("%q is there twice", s)
				return false
			}
		}
		seen = append(seen, key.Str)
		err = do(key.Str, v)
		return err == nil
	})
	return err
}

func each(v gjson.Result, do func(gjson.Result) error) (err error) {
	v.ForEach(func(_, e gjson.Result) bool {
		err = do(e)
		return err == nil
	})
	return err
}

func spanOf(v gjson.Result) Span { return Span{v.Index, v.Index + len(v.Raw)} }

// shallow reports whether nothing lies too deep.
func shallow(b []byte) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > mostNested {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return true
}

// last is where the last message of a user stands; -1: there is none.
func (b *Body) last() int {
	for i := len(b.Messages) - 1; i >= 0; i-- {
		if b.Messages[i].Role == "user" {
			return i
		}
	}
	return -1
}

// Closed is how many messages an epoch may change: those before the last message of the
// user, and before the round of tools that this one answers.
func (b *Body) Closed() int {
	at := b.last()
	for i := at - 1; i >= 0; i-- {
		switch m := b.Messages[i]; {
		case m.Role == "user":
			at = i // the API takes neighbours as one
		case m.Role == "assistant" && m.has("tool_use"):
			return i
		case m.Role == "assistant":
			return at
		}
	}
	return max(at, 0)
}

// NewTurn reports whether the user has said something, and no tool.
func (b *Body) NewTurn() bool {
	at := b.last()
	for i := at; i >= 0 && b.Messages[i].Role != "assistant"; i-- {
		if b.Messages[i].has("tool_result") {
			return false
		}
	}
	for i := at + 1; i < len(b.Messages); i++ {
		if b.Messages[i].Role == "assistant" { // it is begun for the model
			return false
		}
	}
	return at >= 0 && len(b.Messages[at].Parts) > 0
}

// Asks are the bytes of the last message of the user.
func (b *Body) Asks() []byte {
	if at := b.last(); at >= 0 {
		return b.Of(b.Messages[at].Span)
	}
	return nil
}

func (m *Message) has(kind string) bool {
	for _, p := range m.Parts {
		if p.Type == kind {
			return true
		}
	}
	return false
}

// Same reports whether two spans of two bodies say the same, byte for byte.
func (b *Body) same(s Span, other *Body, t Span) bool { return bytes.Equal(b.Of(s), other.Of(t)) }

// uses are the calls of tools by their ids.
func (b *Body) uses() map[string]Part {
	out := map[string]Part{}
	for _, m := range b.Messages {
		for _, p := range m.Parts {
			if p.Type == "tool_use" {
				out[p.ID] = p
			}
		}
	}
	return out
}

// isOwn reports whether a tool is one of ours.
func isOwn(tool string) bool { return strings.HasPrefix(tool, ownTools) }

// New is where what the client adds to the last answer begins.
func (b *Body) New() int {
	at := len(b.Messages)
	for at > 0 && b.Messages[at-1].Role != "assistant" {
		at--
	}
	return at
}
