package inproc

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"liminal/internal/stream"
)

const (
	overhead   = 160      // bytes an entry takes beside its data
	textLength = 32 << 10 // bytes of text one entry takes before the next begins
	burst      = 256      // pieces of one text a reader gets one by one; when further behind, at once
)

// log is the events of one run.
type log struct {
	limit int // bytes

	// Under the memory's lock:
	holders int
	touched time.Time
	forget  *time.Timer // set once finished

	mu       sync.Mutex
	entries  []entry
	keys     map[string]bool
	attempts map[string]int // the latest of each call
	bytes    int
	base     int64 // below the first Seq
	last     int64 // Seq of the newest event
	lost     int64 // Seq of the newest event that was dropped for space
	finished bool
	wake     chan struct{} // closed by the next change; nil while nobody waits
}

// entry is an event, or all consecutive tokens of one attempt of one step as
// one growing text: a long answer costs a few bytes a token, a reader that is
// behind gets its backlog in one piece, and one that comes back inside the
// text gets exactly the rest.
type entry struct {
	stream.Event
	text  []byte
	marks []mark // nil unless the entry is text
}

// mark is where a token ends.
type mark struct {
	seq int64
	end int
	at  time.Time
}

func newLog(base int64, limit int) *log {
	return &log{limit: limit, base: base, last: base, touched: time.Now()}
}

func (l *log) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last == l.base
}

func (l *log) append(now time.Time, events []stream.Event) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		if l.unasked(e) || l.followed(e) || l.known(e.Key) {
			continue
		}
		l.last++
		e.Seq, e.Time, e.Call, e.Again = l.last, now, "", false
		l.add(e)
	}
	l.trim()
	l.wakeAll()
	return l.last
}

// unasked reports whether an event is only for an attempt that is made again,
// and this one is not.
func (l *log) unasked(e stream.Event) bool { return e.Again && l.attempts[e.Call] != e.Attempt }

// followed reports whether a later attempt of an event's call has spoken, and
// takes note of this one.
func (l *log) followed(e stream.Event) bool {
	if e.Call == "" {
		return false
	}
	if e.Attempt < l.attempts[e.Call] {
		return true
	}
	if l.attempts == nil {
		l.attempts = map[string]int{}
	}
	l.attempts[e.Call] = e.Attempt
	return false
}

// known reports whether the key has been used, and marks it used.
func (l *log) known(key string) bool {
	if key == "" {
		return false
	}
	if l.keys[key] {
		return true
	}
	if l.keys == nil {
		l.keys = map[string]bool{}
	}
	l.keys[key] = true
	return false
}

func (l *log) add(e stream.Event) {
	var piece string
	if e.Kind != stream.Token || e.Key != "" || json.Unmarshal(e.Data, &piece) != nil {
		l.entries = append(l.entries, entry{Event: e})
		l.bytes += overhead + len(e.Data)
		return
	}
	if !l.continues(e) {
		e.Data = nil
		l.entries = append(l.entries, entry{Event: e})
		l.bytes += overhead
	}
	text := &l.entries[len(l.entries)-1]
	text.text = append(text.text, piece...)
	text.marks = append(text.marks, mark{e.Seq, len(text.text), e.Time})
	text.Seq = e.Seq
	l.bytes += len(piece) + 40
}

// continues reports whether a token goes on with the last entry.
func (l *log) continues(e stream.Event) bool {
	if len(l.entries) == 0 {
		return false
	}
	last := &l.entries[len(l.entries)-1]
	return last.marks != nil && last.Node == e.Node && last.Attempt == e.Attempt && len(last.text) < textLength
}

// trim drops the oldest entries over the limit, and never the newest.
func (l *log) trim() {
	n := 0
	for l.bytes > l.limit && n < len(l.entries)-1 {
		e := &l.entries[n]
		l.bytes -= overhead + len(e.Data) + len(e.text) + 40*len(e.marks)
		l.lost = e.Seq
		n++
	}
	if n > 0 {
		l.entries = append([]entry(nil), l.entries[n:]...)
	}
}

func (l *log) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished = true
	l.wakeAll()
}

func (l *log) wakeAll() {
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
}

// Follow implements stream.Log.
func (m *Memory) Follow(ctx context.Context, run string, after int64) iter.Seq2[stream.Event, error] {
	return func(yield func(stream.Event, error) bool) {
		l := m.hold(run)
		defer m.drop(run, l)
		for ctx.Err() == nil {
			events, wake := l.since(after)
			for _, e := range events {
				if ctx.Err() != nil || !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			if len(events) > 0 {
				continue
			}
			if wake == nil {
				return
			}
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

// since returns the events after seq. When there are none it returns a
// channel that is closed by the next change, or nil when none will come.
func (l *log) since(seq int64) ([]stream.Event, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var events []stream.Event
	if at, gap := l.gap(seq); gap {
		events, seq = append(events, stream.Gap(at, time.Now())), at
	}
	for i := l.firstAfter(seq); i < len(l.entries); i++ {
		events = l.entries[i].since(seq, events)
	}
	if len(events) > 0 || l.finished {
		return events, nil
	}
	if l.wake == nil {
		l.wake = make(chan struct{})
	}
	return nil, l.wake
}

// gap reports whether a reader at seq has missed what is not here any more,
// and where it goes on: after what was dropped, or, when its number is of
// another life of the log, at the beginning.
func (l *log) gap(seq int64) (at int64, gap bool) {
	at = max(l.base, l.lost)
	switch {
	case seq == 0:
		return at, l.lost > 0
	case seq < l.base, seq < l.lost, seq > l.last:
		return at, true
	}
	return seq, false
}

// firstAfter finds the first entry with something after seq.
func (l *log) firstAfter(seq int64) int {
	low, high := 0, len(l.entries)
	for low < high {
		if mid := (low + high) / 2; l.entries[mid].Seq > seq {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// since appends what of the entry lies after seq.
func (e *entry) since(seq int64, events []stream.Event) []stream.Event {
	if e.marks == nil {
		return append(events, e.Event)
	}
	first := len(e.marks)
	for first > 0 && e.marks[first-1].seq > seq {
		first--
	}
	begin := 0
	if first > 0 {
		begin = e.marks[first-1].end
	}
	if len(e.marks)-first > burst {
		return append(events, e.piece(begin, e.marks[len(e.marks)-1]))
	}
	for _, m := range e.marks[first:] {
		events = append(events, e.piece(begin, m))
		begin = m.end
	}
	return events
}

// piece is the text from begin to a mark as one token.
func (e *entry) piece(begin int, m mark) stream.Event {
	p := e.Event
	p.Seq, p.Time = m.seq, m.at
	p.Data, _ = json.Marshal(string(e.text[begin:m.end])) // a string always encodes
	return p
}
