package redis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"liminal/internal/stream"
)

// head is what an entry says of its event; the data follows it after a
// newline, as it is. Seq and Time are the entry's id.
type head struct {
	Kind    stream.Kind `json:"k"`
	Attempt int         `json:"a,omitempty"`
	Node    string      `json:"n,omitempty"`
	Key     string      `json:"y,omitempty"`
	Mark    string      `json:"x,omitempty"` // of the call that appended it
}

func encoded(e stream.Event, mark string) (string, error) {
	raw, err := json.Marshal(head{e.Kind, e.Attempt, e.Node, e.Key, mark})
	if err != nil {
		return "", err
	}
	return string(append(append(raw, '\n'), e.Data...)), nil
}

func decoded(seq int64, entry string) (stream.Event, error) {
	first, data, ok := strings.Cut(entry, "\n")
	var h head
	if !ok || json.Unmarshal([]byte(first), &h) != nil {
		return stream.Event{}, fmt.Errorf("redis: event %d of a log cannot be read", seq)
	}
	e := stream.Event{Seq: seq, Kind: h.Kind, Attempt: h.Attempt, Node: h.Node, Key: h.Key, Time: time.UnixMicro(seq)}
	if data != "" {
		e.Data = json.RawMessage(data)
	}
	return e, nil
}

// batch is what one message says: the events that came right after before.
type batch struct {
	before   int64 // Seq of the event before
	last     int64 // Seq of the newest event
	base     int64 // which life of the log it is
	finished bool
	events   []stream.Event
}

var errNews = errors.New("redis: a message about a log cannot be read")

// read gives what the message says, decoded once for all who listen. ok is
// false when it does not say what happened: the log must be read.
func (n *news) read() (b batch, ok bool) {
	if n.payload == "" {
		return batch{}, false
	}
	n.once.Do(func() { n.batch, n.err = decodedBatch(n.payload) })
	return n.batch, n.err == nil
}

func decodedBatch(s string) (b batch, err error) {
	var finished int64
	for _, field := range []*int64{&b.before, &b.last, &b.base, &finished} {
		if *field, s, err = number(s); err != nil {
			return b, err
		}
	}
	b.finished = finished == 1
	for s != "" {
		var seq, length int64
		if seq, s, err = number(s); err != nil {
			return b, err
		}
		if length, s, err = number(s); err != nil || length > int64(len(s)) || length < 0 {
			return b, errNews
		}
		e, err := decoded(seq, s[:length])
		if err != nil {
			return b, err
		}
		b.events, s = append(b.events, e), s[length:]
	}
	return b, nil
}

func number(s string) (n int64, rest string, err error) {
	digits, rest, _ := strings.Cut(s, ":")
	if n, err = strconv.ParseInt(digits, 10, 64); err != nil {
		return 0, "", errNews
	}
	return n, rest, nil
}

// page is what a reading of a log gives.
type page struct {
	known    bool
	base     int64
	last     int64
	at       int64 // where the events begin
	gap      bool  // something before them is missing
	finished bool
	events   []stream.Event
}

func decodedPage(reply []any) (p page, err error) {
	const fixed = 5
	if len(reply) == 0 {
		return p, nil
	}
	if len(reply) < fixed {
		return p, fmt.Errorf("redis: a log answered %d values", len(reply))
	}
	n := [fixed]int64{}
	for i := range n {
		n[i], _ = reply[i].(int64)
	}
	p = page{known: true, base: n[0], last: n[1], at: n[2], gap: n[3] == 1, finished: n[4] == 1}
	for i := fixed; i+1 < len(reply); i += 2 {
		id, _ := reply[i].(string)
		entry, _ := reply[i+1].(string)
		digits, _, _ := strings.Cut(id, "-")
		seq, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return p, fmt.Errorf("redis: a log has an entry %q", id)
		}
		e, err := decoded(seq, entry)
		if err != nil {
			return p, err
		}
		p.events = append(p.events, e)
	}
	return p, nil
}

// burst is how many pieces of one text a reader gets one by one; when it is
// further behind, it gets them at once.
const burst = 256

// merged makes one token of the neighbours of one text, when there are many.
func merged(events []stream.Event) []stream.Event {
	if len(events) <= burst {
		return events
	}
	out := events[:0]
	var text bytes.Buffer
	flush := func() {
		if text.Len() > 0 {
			out[len(out)-1].Data, _ = json.Marshal(text.String()) // a string always encodes
			text.Reset()
		}
	}
	for _, e := range events {
		var piece string
		if e.Kind != stream.Token || e.Key != "" || json.Unmarshal(e.Data, &piece) != nil {
			flush()
			out = append(out, e)
			continue
		}
		if last := len(out) - 1; text.Len() > 0 && out[last].Node == e.Node && out[last].Attempt == e.Attempt {
			out[last].Seq, out[last].Time = e.Seq, e.Time
		} else {
			flush()
			out = append(out, e)
		}
		text.WriteString(piece)
	}
	flush()
	return out
}
