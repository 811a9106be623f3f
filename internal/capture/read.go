package capture

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"liminal/internal/vault"
)

// Exchanges reads a spool: each exchange when it ended, and behind them those that
// did not end, the oldest first. The bodies are read of those that want accepts;
// nil: of none.
//
// A segment may be one that is being written, or whose writer was killed: it is
// read as far as it goes. One that is damaged is an error, and the next is read.
func Exchanges(dir string, keys *vault.Ring, want func(Request) bool) iter.Seq2[*Exchange, error] {
	return func(yield func(*Exchange, error) bool) {
		names, err := segments(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		in, err := newDecoder(keys)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close()
		r := spoolReader{in: in, want: want, open: map[string]*Exchange{}}
		for _, name := range names {
			for e, err := range r.segment(name) {
				if !yield(e, err) {
					return
				}
			}
		}
		rest := slices.SortedFunc(maps.Values(r.open), func(a, b *Exchange) int { return strings.Compare(a.Request.ID, b.Request.ID) })
		for _, e := range rest {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// spoolReader puts exchanges together, whose records may be in several segments.
type spoolReader struct {
	in   *decoder
	want func(Request) bool
	open map[string]*Exchange
}

// openSegment is a segment that is read.
type openSegment struct {
	file  *os.File
	at    int64
	spans []int64 // where each begins
	near  *spanCache
}

// spanCache keeps spans that were read: the next request of a conversation names
// nearly the same ones again.
type spanCache struct {
	held  int
	spans map[int][]byte
}

// mostNear is what a cache holds of a segment, in bytes.
const mostNear = 32 << 20

func newSpanCache() *spanCache { return &spanCache{spans: map[int][]byte{}} }

func (c *spanCache) put(n int, span []byte) {
	if c.held += len(span); c.held > mostNear {
		clear(c.spans)
		c.held = len(span)
	}
	c.spans[n] = span
}

func (r *spoolReader) segment(name string) iter.Seq2[*Exchange, error] {
	return func(yield func(*Exchange, error) bool) {
		f, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) { // it made room meanwhile
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close() //nolint:errcheck // only read
		from := bufio.NewReaderSize(f, 64<<10)
		form := make([]byte, len(segmentForm))
		if n, err := io.ReadFull(from, form); err != nil && string(form[:n]) == segmentForm[:n] {
			return // its writer was killed before the first record
		} else if string(form) != segmentForm {
			yield(nil, fmt.Errorf("%s is no segment of a spool that this version reads", name))
			return
		}
		s := &openSegment{file: f, at: int64(len(segmentForm)), near: newSpanCache()}
		for {
			k, payload, err := readRecord(from)
			if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
				return
			}
			var e *Exchange
			if err == nil {
				e, err = r.record(s, k, payload)
				s.at += recordHead + 1 + int64(len(payload))
			}
			if err != nil {
				yield(nil, unread(name, s.at, err))
				return
			}
			if e != nil && !yield(e, nil) {
				return
			}
		}
	}
}

// unread is why a segment is not read further.
func unread(name string, at int64, err error) error {
	if closedToUs(err) {
		return fmt.Errorf("%s is not read from byte %d on: %w", name, at, err)
	}
	return fmt.Errorf("%s is damaged at byte %d, and is not read further: %w", name, at, err)
}

// record takes in one record, and returns the exchange that it ends.
func (r *spoolReader) record(s *openSegment, k kind, payload []byte) (*Exchange, error) {
	switch k {
	case kindSpan, kindSpan | kindErased:
		s.spans = append(s.spans, s.at)
	case kindRequest:
		var head requestRecord
		own, err := opened(r.in, payload, &head)
		if err != nil {
			return nil, err
		}
		e := &Exchange{Request: head.Request, Masked: head.Masked}
		r.open[head.ID] = e
		if r.want != nil && r.want(head.Request) {
			e.Answered = []byte{}
			if head.Sum != "" {
				e.Asked, err = r.body(s, head, own)
			}
			switch {
			case closedToUs(err):
				delete(r.open, head.ID)
			case errors.Is(err, errErased):
				e.Asked, e.Request.Lost, err = nil, LostErased, nil
			}
		}
		return nil, err
	case kindPart:
		var head partRecord
		content, err := opened(r.in, payload, &head)
		if err != nil {
			return nil, err
		}
		e := r.exchange(head.ID)
		e.Response.Marks = append(e.Response.Marks, head.Marks...)
		e.Masked = e.Masked || head.Masked
		if head.From != e.Response.Size {
			e.Response.Lost = LostMemory
		}
		e.Response.Size = head.From + int64(len(content))
		if e.Answered != nil {
			e.Answered = append(e.Answered, content...)
		}
	case kindSent:
		var head sentRecord
		if _, err := opened(r.in, payload, &head); err != nil {
			return nil, err
		}
		r.exchange(head.ID).Sent = &head.Sent
	case kindEnding:
		var head endingRecord
		if _, err := opened(r.in, payload, &head); err != nil {
			return nil, err
		}
		e := r.exchange(head.ID)
		delete(r.open, head.ID)
		if head.Response.Lost == "" && (e.Response.Lost != "" || e.Response.Size != head.Response.Size) {
			head.Response.Lost = LostMemory
		}
		head.Response.Marks = e.Response.Marks
		e.Response, e.Ending = head.Response, &head.Ending
		return e, nil
	}
	return nil, nil // what was erased, and what a later version has
}

// exchange is the one under way; its head may have made room.
func (r *spoolReader) exchange(id string) *Exchange {
	if e := r.open[id]; e != nil {
		return e
	}
	e := &Exchange{Request: Request{ID: id, Size: -1, Lost: LostDisk}}
	if r.want != nil && r.want(e.Request) {
		e.Answered = []byte{}
	}
	r.open[id] = e
	return e
}

// body follows a recipe, and makes sure that the body is the one that was sent.
func (r *spoolReader) body(s *openSegment, head requestRecord, own []byte) ([]byte, error) {
	out := make([]byte, 0, max(0, head.Size))
	for _, n := range head.Recipe {
		switch {
		case n > 0 && n <= len(own):
			out, own = append(out, own[:n]...), own[n:]
		case n < 0 && -n-1 < len(s.spans):
			span, err := r.span(s, -n-1)
			if err != nil {
				return nil, err
			}
			out = append(out, span...)
		default:
			return nil, fmt.Errorf("the body of %s names what is not there", head.ID)
		}
	}
	if sum := sha256.Sum256(out); hex.EncodeToString(sum[:]) != head.Sum {
		return nil, fmt.Errorf("the body of %s is not the one that was written", head.ID)
	}
	return out, nil
}

// span is the n-th of a segment.
func (r *spoolReader) span(s *openSegment, n int) ([]byte, error) {
	if span, ok := s.near.spans[n]; ok {
		return span, nil
	}
	k, payload, err := readRecord(io.NewSectionReader(s.file, s.spans[n], recordHead+longestRecord))
	if err != nil {
		return nil, err
	}
	if k&kindErased != 0 {
		return nil, errErased
	}
	span, err := opened(r.in, payload, nil)
	if err == nil {
		s.near.put(n, span)
	}
	return span, err
}
