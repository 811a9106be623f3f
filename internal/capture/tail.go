package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"liminal/internal/vault"
)

// Tail reads a spool as it grows: each exchange once, whole, in the order in which
// they ended. One whose writer was killed comes where the writer's last segment ends,
// before what later writers wrote. It is used by one goroutine.
type Tail struct {
	dir    string
	reader spoolReader
	read   map[string]*tailed // segments, by the names of their files
	open   map[string]string  // where the exchanges that have not ended began, by id
	Log    func(error)        // told of segments that are damaged; nil: nobody is
}

// tailed is a segment that is read as it grows.
type tailed struct {
	writer string
	at     int64
	spans  []int64
	near   *spanCache
	ended  bool // nothing more comes
	begun  int  // exchanges that began here and have not been returned
}

// NewTail begins to read a spool at a segment, which Done named; "": at the oldest.
func NewTail(dir, from string, keys *vault.Ring) (*Tail, error) {
	in, err := newDecoder(keys)
	if err != nil {
		return nil, err
	}
	t := &Tail{
		dir: dir, read: map[string]*tailed{}, open: map[string]string{},
		reader: spoolReader{in: in, want: func(Request) bool { return true }, open: map[string]*Exchange{}},
	}
	names, err := segments(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if filepath.Base(name) < from {
			t.read[filepath.Base(name)] = &tailed{ended: true}
		}
	}
	return t, nil
}

// Skip passes over segments of which everything was returned before, as Whole said.
func (t *Tail) Skip(names []string) {
	for _, name := range names {
		t.read[name] = &tailed{ended: true}
	}
}

// Close frees what the reader holds.
func (t *Tail) Close() { t.reader.in.Close() }

// Done is the first segment that must be read again after a restart: all exchanges
// that began before it have been returned.
func (t *Tail) Done() string {
	for _, name := range slices.Sorted(maps.Keys(t.read)) {
		if s := t.read[name]; !s.ended || s.begun > 0 {
			return name
		}
	}
	return ""
}

// Whole are the segments before that one: all that is in them has been returned.
func (t *Tail) Whole() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(t.read)) {
		if s := t.read[name]; !s.ended || s.begun > 0 {
			break
		}
		names = append(names, name)
	}
	return names
}

// mostHeld is how many bytes of bodies Next returns at once, and one exchange more.
const mostHeld = 32 << 20

// Next returns what ended since, at most so many and at least none; more says that
// there may be more at once.
func (t *Tail) Next(most int) (out []*Exchange, more bool, err error) {
	names, err := segments(t.dir)
	if err != nil {
		return nil, false, err
	}
	// Who lives is asked before what they wrote is read: who ends in between has
	// written everything by then.
	newest := map[string]string{} // the last segment of a writer
	for _, name := range names {
		s := t.segment(name)
		newest[s.writer] = name
	}
	living := map[string]bool{}
	for writer := range newest {
		living[writer] = lives(t.dir, writer)
	}
	for _, name := range names {
		s := t.segment(name)
		if s.ended {
			continue
		}
		found, whole, err := t.follow(name, s, most-len(out))
		if out = append(out, found...); err != nil && len(out) == 0 {
			return nil, false, err
		}
		if err != nil || !whole {
			return out, true, nil
		}
		switch {
		case newest[s.writer] != name:
			s.ended, s.near = true, nil
		case !living[s.writer]:
			s.ended, s.near = true, nil
			out = append(out, t.abandoned(func(writer string) bool { return writer == s.writer })...)
		}
	}
	// Of writers whose last segment made room before it was read.
	return append(out, t.abandoned(func(writer string) bool { return !living[writer] })...), false, nil
}

// segment is what is known of a file; its first record says whose it is.
func (t *Tail) segment(path string) *tailed {
	name := filepath.Base(path)
	s := t.read[name]
	if s == nil {
		s = &tailed{}
		t.read[name] = s
	}
	if s.writer != "" || s.ended || s.at > 0 {
		return s
	}
	f, err := os.Open(path)
	if err != nil {
		return s
	}
	defer f.Close() //nolint:errcheck // only read
	form := make([]byte, len(segmentForm))
	if _, err := io.ReadFull(f, form); err != nil || string(form) != segmentForm {
		return s
	}
	if k, payload, err := readRecord(f); err == nil && k == kindWriter {
		var head writerRecord
		if _, err := opened(t.reader.in, payload, &head); err == nil {
			s.writer = head.ID
		}
	}
	return s
}

// follow reads a segment on; whole: to where it ends now. An error is of keys that are
// not there: it goes on from the same record when they are.
func (t *Tail) follow(path string, s *tailed, most int) (out []*Exchange, whole bool, err error) {
	name := filepath.Base(path)
	f, err := os.Open(path)
	if err != nil { // it made room, or cannot be read: what began in it ends in none
		s.ended = true
		if !errors.Is(err, os.ErrNotExist) {
			t.tell(err)
		}
		return nil, true, nil
	}
	defer f.Close() //nolint:errcheck // only read
	if s.at == 0 {
		form := make([]byte, len(segmentForm))
		n, err := io.ReadFull(f, form)
		if err != nil && string(form[:n]) == segmentForm[:n] {
			return nil, true, nil // its writer was killed as it began
		}
		if string(form) != segmentForm {
			s.ended = true
			t.tell(fmt.Errorf("%s is no segment of a spool that this version reads", path))
			return nil, true, nil
		}
		s.at = int64(len(segmentForm))
	}
	if _, err := f.Seek(s.at, io.SeekStart); err != nil {
		t.tell(err)
		return nil, true, nil
	}
	from := bufio.NewReaderSize(f, 256<<10)
	if s.near == nil {
		s.near = newSpanCache()
	}
	segment := &openSegment{file: f, at: s.at, spans: s.spans, near: s.near}
	for held := 0; len(out) < most && held < mostHeld; {
		k, payload, err := readRecord(from)
		if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
			return out, true, nil
		}
		var e *Exchange
		before := len(t.reader.open)
		if errors.Is(err, errDamaged) { // somebody may just erase it
			k, payload, err = readRecord(io.NewSectionReader(f, segment.at, recordHead+longestRecord))
		}
		if err == nil {
			if e, err = t.reader.record(segment, k, payload); closedToUs(err) {
				return out, false, fmt.Errorf("%s is not read from byte %d on: %w", path, segment.at, err)
			}
			segment.at += recordHead + 1 + int64(len(payload))
			s.at, s.spans = segment.at, segment.spans
		}
		if err != nil {
			s.ended = true
			t.tell(fmt.Errorf("%s is damaged at byte %d, and is not read further: %w", path, s.at, err))
			return out, true, nil
		}
		if len(t.reader.open) > before {
			t.began(name, s)
		}
		if e != nil {
			out = append(out, t.returned(e))
			held += len(e.Asked) + len(e.Answered)
		}
	}
	return out, false, nil
}

// began notes where the exchange began that was found just now.
func (t *Tail) began(name string, s *tailed) {
	for id, e := range t.reader.open {
		if _, known := t.open[id]; !known {
			t.open[id], e.writer = name, s.writer
			s.begun++
		}
	}
}

// returned is an exchange that leaves; what it began in may be done.
func (t *Tail) returned(e *Exchange) *Exchange {
	if s := t.read[t.open[e.Request.ID]]; s != nil {
		s.begun--
	}
	delete(t.open, e.Request.ID)
	return e
}

// abandoned are the exchanges of writers that do not live any more.
func (t *Tail) abandoned(by func(writer string) bool) (out []*Exchange) {
	for id, e := range t.reader.open {
		if by(e.writer) {
			delete(t.reader.open, id)
			out = append(out, t.returned(e))
		}
	}
	slices.SortFunc(out, func(a, b *Exchange) int { return strings.Compare(a.Request.ID, b.Request.ID) })
	return out
}

func (t *Tail) tell(err error) {
	if t.Log != nil {
		t.Log(err)
	}
}
