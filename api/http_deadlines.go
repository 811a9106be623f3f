package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"liminal/internal/fault"
)

// deadlines are how slow the other end of a connection may be: whoever sends or
// reads more slowly is cut, so that nobody holds a connection for nothing.
type deadlines struct {
	json  time.Duration // a JSON body may take so long
	stall time.Duration // a body being uploaded may pause so long
	grace time.Duration // from its start, before it must come at rate
	rate  int64         // bytes a second, on average
	write time.Duration // one write of an answer may take so long
}

var defaultDeadlines = deadlines{json: 15 * time.Second, stall: 30 * time.Second, grace: time.Minute, rate: 16 << 10, write: time.Minute}

// Bounds of what surrounds a body. The size of all header fields together is
// the http.Server's to bound.
const (
	maxFields = 100     // header fields
	maxQuery  = 8 << 10 // bytes of a query
)

// body reads an upload: every read has a deadline that moves with what has
// come.
func (d deadlines) body(w http.ResponseWriter, r io.ReadCloser) io.ReadCloser {
	return &deadlineBody{ReadCloser: r, deadlines: d, control: http.NewResponseController(w), began: time.Now()}
}

type deadlineBody struct {
	io.ReadCloser
	deadlines deadlines
	control   *http.ResponseController
	began     time.Time
	read      int64
}

func (b *deadlineBody) Read(to []byte) (int, error) {
	until := time.Now().Add(b.deadlines.stall)
	due := b.began.Add(b.deadlines.grace + time.Duration(b.read/b.deadlines.rate)*time.Second)
	if due.Before(until) {
		until = due
	}
	_ = b.control.SetReadDeadline(until) // not every writer has deadlines
	n, err := b.ReadCloser.Read(to)
	b.read += int64(n)
	if errors.Is(err, io.EOF) { // net/http takes a deadline that passes later for a client that left
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// bounded refuses requests that are out of bounds before anybody looks at
// them: too many header fields, a query of absurd length, a compressed body.
func (s *server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := outOfBounds(r); err != nil && ours(r.URL.Path) {
			w.Header().Set("Connection", "close")
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func outOfBounds(r *http.Request) error {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	switch encoding := r.Header.Get("Content-Encoding"); {
	case fields > maxFields:
		return fault.New(fault.Invalid, "The request has %d header fields; there may be %d.", fields, maxFields)
	case len(r.URL.RawQuery) > maxQuery:
		return fault.New(fault.Invalid, "The query is longer than %d KB.", maxQuery>>10)
	case strings.Contains(r.URL.RawQuery, "%00"):
		return fault.New(fault.Invalid, "The query holds the character NUL, which no text here may.")
	case encoding != "" && encoding != "identity":
		return fault.New(fault.Invalid, "Bodies are read as they are; send this one without Content-Encoding.")
	}
	return nil
}

// maxDepth is how deep a JSON body may be nested.
const maxDepth = 100

// checkJSON refuses JSON nobody means: nested deeper than anything here has a
// use for, or with the character NUL in a text, which not every database can
// hold. It looks at brackets and strings only; what is no JSON is found later.
func checkJSON(data []byte) error {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			if i++; bytes.HasPrefix(data[i:], []byte("u0000")) {
				return fault.New(fault.Invalid, "A text in the JSON holds the character NUL, which no text here may.")
			}
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fault.New(fault.Invalid, "The JSON is nested deeper than %d levels.", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
