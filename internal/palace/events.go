package palace

import (
	"bytes"
	"context"
	"sort"

	"liminal/internal/capture"
	"liminal/internal/identity"
)

// Frame is an event of an answer.
type Frame struct {
	Event string `json:"event"`
	Data  string `json:"data"`
	// After is when all of it was there, in microseconds since the request began; -1:
	// nobody noted it.
	After int64 `json:"after_us"`
}

// Frames are the events of a part of an answer that say something, with when they came.
// start is where the part begins in the answer, marks are when what of that came.
func Frames(part []byte, start int, marks []capture.Mark) (list []Frame) {
	for f := range frames(part) {
		name := ""
		for line := range bytes.Lines(part[f.From:f.To]) {
			if n, ok := bytes.CutPrefix(line, []byte("event:")); ok {
				name = string(bytes.TrimSpace(n))
			}
		}
		if name == "" && len(f.data) == 0 { // a comment, or the end of one that was cut
			continue
		}
		end, after := int64(start+f.To), int64(-1)
		if at := sort.Search(len(marks), func(i int) bool { return marks[i].End >= end }); at < len(marks) {
			after = marks[at].After
		}
		list = append(list, Frame{name, string(f.data), after})
	}
	return list
}

// FrameTimes says of each event of a block when it was there; nil where the block is no stream's.
func (l *Library) FrameTimes(ctx context.Context, v identity.Viewer, b Block, c Content) ([]int64, error) {
	if b.Form != FormSSE {
		return nil, nil
	}
	e, err := l.PalaceExchange(ctx, v, b.ExchangeID)
	if err != nil {
		return nil, err
	}
	w, err := OpenWire(e.Wire)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, f := range Frames(c.Raw, b.Start, w.Marks) {
		out = append(out, f.After)
	}
	return out, nil
}
