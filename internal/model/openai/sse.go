package openai

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// event is one event of a stream: its name, mostly empty, and its data.
type event struct {
	name string
	data []byte // valid until the next event
}

// maxLine bounds one line of a stream, in bytes: an answer that is not
// streamed stands in one.
const maxLine = 4 << 20

// events reads a text/event-stream. Lines end with \n, \r\n or \r; comments
// and unknown fields are passed over; the last event needs no blank line
// behind it.
func events(r io.Reader) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 16<<10), maxLine)
		lines.Split(eachLine())
		var e event
		begun, first := false, true
		for lines.Scan() {
			line := lines.Bytes()
			if first {
				line, first = bytes.TrimPrefix(line, []byte("\ufeff")), false
			}
			if len(line) > 0 {
				begun = e.field(line, begun)
				continue
			}
			if begun && !yield(e, nil) {
				return
			}
			e, begun = event{data: e.data[:0]}, false
		}
		if err := lines.Err(); err != nil {
			yield(event{}, err)
			return
		}
		if begun {
			yield(e, nil)
		}
	}
}

// field reads one line of an event; true when the event has data by now.
func (e *event) field(line []byte, begun bool) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		if begun {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		return true
	}
	return begun
}

// eachLine splits at every line end. A \n behind a \r belongs to it, and may
// come later: it is not waited for.
func eachLine() bufio.SplitFunc {
	skip := false
	return func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		start := 0
		if skip && len(data) > 0 {
			skip = false
			if data[0] == '\n' {
				start = 1
			}
		}
		if i := bytes.IndexAny(data[start:], "\r\n"); i >= 0 {
			skip = data[start+i] == '\r'
			return start + i + 1, data[start : start+i], nil
		}
		if atEOF && len(data) > start {
			return len(data), data[start:], nil
		}
		return start, nil, nil
	}
}
