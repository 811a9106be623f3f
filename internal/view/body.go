package view

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
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
	from := skipSpace(raw, 0)
	err := b.members(Span{from, len(raw)}, func(name string, v Span) error {
		switch name {
		case "model":
			b.Model = b.text(v)
		case "system":
			b.System = v
			return b.each(v, func(block Span) error {
				b.times(gjson.GetBytes(b.Of(block), "cache_control"))
				return nil
			})
		case "tools":
			b.Tools = v
			return b.each(v, func(tool Span) error { return b.tool(tool) })
		case "messages":
			if raw[v.From] != '[' {
				return errors.New("messages is no list")
			}
			return b.each(v, b.message)
		case "thinking":
			b.Thinking = v
			return b.thinking(v)
		default:
			b.names, b.others = append(b.names, name), append(b.others, v)
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

func (b *Body) tool(at Span) error {
	if b.Raw[at.From] != '{' {
		return nil
	}
	return b.members(at, func(name string, v Span) error {
		switch name {
		case "name":
			b.Recall = b.Recall || b.text(v) == RecallTool
		case "cache_control":
			b.times(gjson.ParseBytes(b.Of(v)))
		}
		return nil
	})
}

// message reads one.
func (b *Body) message(at Span) error {
	m := Message{Span: at}
	err := b.members(at, func(name string, v Span) error {
		switch name {
		case "role":
			m.Role = b.text(v)
		case "content":
			m.Content = v
			if m.Text = b.Raw[v.From] == '"'; m.Text {
				m.Parts = []Part{{Span: v, Type: "text"}}
				return nil
			}
			if b.Raw[v.From] != '[' {
				return errors.New("a content is neither text nor list")
			}
			return b.each(v, func(part Span) error {
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

func (b *Body) part(at Span) (p Part, err error) {
	p.Span = at
	var answers string
	err = b.members(at, func(name string, v Span) error {
		switch name {
		case "type":
			p.Type = b.text(v)
		case "id":
			p.ID = b.text(v)
		case "tool_use_id":
			answers = b.text(v)
		case "name":
			p.Tool = b.text(v)
		case "input":
			p.Input = v
		case "content":
			p.Content = v
		case "is_error":
			p.Failed = b.Raw[v.From] == 't'
		case "cache_control":
			p.Control = v
			b.times(gjson.ParseBytes(b.Of(v)))
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

func (b *Body) thinking(at Span) error {
	return b.members(at, func(name string, v Span) error {
		switch name {
		case "type":
			kind := b.text(v)
			b.Thinks = kind == "adaptive" || kind == "enabled"
		case "block_binding":
			b.binding = v
			return b.members(v, func(name string, v Span) error {
				if name == "prefix_mismatch_behavior" {
					b.bound = b.text(v)
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

// text is what a text says; "" for what is none.
func (b *Body) text(at Span) string {
	if b.Raw[at.From] != '"' {
		return ""
	}
	return unquoted(b.Of(at))
}

func unquoted(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	return gjson.ParseBytes(text).Str
}

// members goes over an object, whose names must all be different.
func (b *Body) members(at Span, do func(name string, v Span) error) error {
	raw := b.Raw
	if at.Empty() || raw[at.From] != '{' {
		return errors.New("where an object should be is none")
	}
	var seen []string
	for i := skipSpace(raw, at.From+1); raw[i] != '}'; {
		end := endOfText(raw, i)
		name := unquoted(raw[i:end])
		if slices.Contains(seen, name) {
			return fmt.Errorf("%q is there twice", name)
		}
		seen = append(seen, name)
		v := valueAt(raw, skipSpace(raw, end)+1) // behind the colon
		if err := do(name, v); err != nil {
			return err
		}
		i = next(raw, v.To)
	}
	return nil
}

// each goes over a list; what is none has nothing in it.
func (b *Body) each(at Span, do func(Span) error) error {
	raw := b.Raw
	if raw[at.From] != '[' {
		return nil
	}
	for i := skipSpace(raw, at.From+1); raw[i] != ']'; {
		v := valueAt(raw, i)
		if err := do(v); err != nil {
			return err
		}
		i = next(raw, v.To)
	}
	return nil
}

// The functions below find where values of JSON end, which must be JSON: most of a body
// is texts, and those are gone over by whole words. gjson would take them out of their
// escapes as well.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// next is where the next element or the end of what is around it stands.
func next(b []byte, i int) int {
	if i = skipSpace(b, i); b[i] == ',' {
		return skipSpace(b, i+1)
	}
	return i
}

// endOfText is the byte behind a text.
func endOfText(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		i += n + 1
		escapes := 0
		for b[i-2-escapes] == '\\' { // at the latest, the quote that begins it ends this
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// valueAt is the value at a byte, or behind the space there.
func valueAt(b []byte, i int) Span {
	i = skipSpace(b, i)
	from, depth := i, 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = endOfText(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ' ', '\n', '\t', '\r', ':':
			i++
			continue
		default:
			for i++; i < len(b) && !bytes.ContainsRune([]byte(",:]} \n\t\r"), rune(b[i])); i++ {
			}
		}
		if depth == 0 {
			break
		}
	}
	return Span{from, i}
}

// shallow reports whether nothing lies too deep.
func shallow(b []byte) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = endOfText(b, i) - 1
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
