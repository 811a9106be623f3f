package capture

import "bytes"

// leastSpan is the length from which a span is worth being kept by itself, in bytes.
const leastSpan = 256

// Span is a part of a body, from its first byte to the one behind its last.
type Span struct{ From, To int }

// Split finds what a conversation sends again and again: the system prompt, the
// tools and each message of a request, by their names in Anthropic's protocol and
// OpenAI's. The spans are in order and do not overlap;
// what they leave out is the rest of the body. A body that is no JSON object of
// that form has none: it is kept all the same, as one piece.
func Split(body []byte) (spans []Span) { return Spans(body, leastSpan) }

// Spans is Split with another least length.
func Spans(body []byte, least int) (spans []Span) {
	s := scanner{b: body, least: least}
	if !s.take('{') {
		return nil
	}
	for {
		from, to := s.text()
		if to < 0 || !s.take(':') {
			return spans
		}
		switch name := string(body[from:to]); {
		case (name == `"messages"` || name == `"input"`) && s.next() == '[':
			s.at++
			for s.next() != ']' {
				if spans = s.add(spans); s.broken || !s.take(',') {
					break
				}
			}
			if s.broken || !s.take(']') {
				return spans
			}
		case name == `"messages"` || name == `"input"` || name == `"system"` || name == `"instructions"` || name == `"tools"`:
			spans = s.add(spans)
		default:
			s.value()
		}
		if s.broken || !s.take(',') {
			return spans
		}
	}
}

// scanner goes through JSON without judging it: it only has to find where values
// end in what is JSON, and to end in what is none.
type scanner struct {
	b      []byte
	at     int
	least  int // of a span that is added
	broken bool
}

// next is the next byte that is no space, 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case ' ', '\t', '\r', '\n':
		default:
			return s.b[s.at]
		}
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// text goes over a string; to is -1 where there is none.
func (s *scanner) text() (from, to int) {
	if s.next() != '"' {
		s.broken = true
		return 0, -1
	}
	from, s.at = s.at, s.at+1
	quote := -1 // the next one, escaped or not
	for s.at < len(s.b) {
		if quote < s.at {
			n := bytes.IndexByte(s.b[s.at:], '"')
			if n < 0 {
				break
			}
			quote = s.at + n
		}
		n := bytes.IndexByte(s.b[s.at:quote], '\\')
		if n < 0 {
			s.at = quote + 1
			return from, s.at
		}
		s.at += n + 2 // behind what is escaped
	}
	s.at, s.broken = len(s.b), true
	return 0, -1
}

// value goes over any value, to the byte behind it.
func (s *scanner) value() {
	depth := 0
	for {
		switch s.next() {
		case 0:
			s.broken = true
			return
		case '"':
			s.text()
		case '{', '[':
			s.at++
			depth++
			continue
		case '}', ']':
			if depth == 0 { // nothing before the end of what is around it
				s.broken = true
				return
			}
			s.at++
			depth--
		case ',', ':':
			if depth == 0 {
				s.broken = true
				return
			}
			s.at++
			continue
		default:
			for s.at < len(s.b) && !delimits(s.b[s.at]) {
				s.at++
			}
		}
		if depth == 0 || s.broken {
			return
		}
	}
}

func delimits(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// add goes over a value and adds its span, if that is long enough.
func (s *scanner) add(spans []Span) []Span {
	if v, ok := s.one(); ok && v.To-v.From >= s.least {
		spans = append(spans, v)
	}
	return spans
}
