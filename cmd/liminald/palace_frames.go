package main

import (
	"fmt"
	"strings"
	"time"

	"liminal/internal/capture"
	captured "liminal/internal/palace"
)

// frames prints the events of an answer, each with when it was there, since its request
// began.
func (p *palace) frames(list []captured.Frame) error {
	if p.json {
		return writeJSON(p.out, map[string]any{"frames": append([]captured.Frame{}, list...)})
	}
	var b strings.Builder
	for _, f := range list {
		when := "-"
		if f.After >= 0 {
			when = fmt.Sprintf("+%.3f s", (time.Duration(f.After) * time.Microsecond).Seconds())
		}
		fmt.Fprintf(&b, "%12s  %s  %s\n", when, withoutControls(f.Event), withoutControls(f.Data))
	}
	_, err := fmt.Fprint(p.out, harmless(b.String()))
	return err
}

// blockFrames are those of a block, which must have come in events.
func (p *palace) blockFrames(b blockSaid, raw []byte) error {
	if b.Form != captured.FormSSE {
		return usageError{fmt.Errorf("block %s came in a request, which has no events; --part raw prints its bytes", blockName(b.Block))}
	}
	list := captured.Frames(raw, 0, nil)
	for i := range list {
		if len(b.FrameTimes) == len(list) {
			list[i].After = b.FrameTimes[i]
		}
	}
	return p.frames(list)
}

// exchangeFrames are those of an answer in the spool.
func (p *palace) exchangeFrames(e *capture.Exchange) error {
	if !strings.HasPrefix(e.Response.Header.Get("Content-Type"), "text/event-stream") {
		return usageError{fmt.Errorf("the answer of %s is no stream; --part response prints its bytes", e.Request.ID)}
	}
	return p.frames(captured.Frames(e.Answered, 0, e.Response.Marks))
}
