package capture

import (
	"encoding/json"
	"iter"
)

// Members goes over the members of the JSON object that begins at a byte of b: the
// name, and where its value stands. It ends where the object does, or what is no
// JSON begins.
func Members(b []byte, from int) iter.Seq2[string, Span] {
	return func(yield func(string, Span) bool) {
		s := scanner{b: b, at: from}
		if !s.take('{') {
			return
		}
		for s.next() == '"' {
			from, to := s.text()
			var name string
			if s.broken || json.Unmarshal(b[from:to], &name) != nil || !s.take(':') {
				return
			}
			v, ok := s.one()
			if !ok || !yield(name, v) || !s.take(',') {
				return
			}
		}
	}
}

// Elements goes over the elements of the JSON array that begins at a byte of b, as
// Members does over members.
func Elements(b []byte, from int) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		s := scanner{b: b, at: from}
		if !s.take('[') {
			return
		}
		for s.next() != ']' {
			v, ok := s.one()
			if !ok || !yield(v) || !s.take(',') {
				return
			}
		}
	}
}

// one goes over a value and says where it stood.
func (s *scanner) one() (Span, bool) {
	s.next()
	from := s.at
	s.value()
	return Span{from, s.at}, !s.broken
}
