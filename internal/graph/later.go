package graph

import (
	"strconv"
	"strings"
	"time"
)

// Bounds of what a tool may put off.
const (
	maxPause = time.Minute   // before one call
	maxRest  = 2 * time.Hour // before all calls of one visit
	maxLater = 1000          // how often one visit is called again
)

// later is a tool's result that says to come back: the call waits and is made
// again, with what it wants back. Like the time in which a person is waited
// for, the pause is not the run's: nothing in the run could shorten it.
func (r *Run) later(t *thread, place int, raw map[string]any) {
	s := t.Slots[place]
	pause, f := s.pause(raw)
	if f != nil {
		r.failTrace(s.Trace, ResultFailed, f)
		s.Trace, s.Phase, s.Failure = -1, settled, f
		r.settled(t, place)
		return
	}
	s.Later++
	s.Rested += pause
	s.Phase, s.Attempt = resting, 0
	s.Resume = map[string]any{"state": raw["state"]}
	nth := strconv.Itoa(s.Later)
	s.CallID = s.ID + ".l" + nth
	r.emit(t, place, Effect{ID: s.ID + ".w" + nth, Kind: KindWait, Wait: &Wait{Until: r.state.Clock.Add(pause), Rest: true}})
}

// pause reads how long a tool wants to be left alone.
func (s *slot) pause(raw map[string]any) (time.Duration, *Failure) {
	ms, _ := raw["after_ms"].(float64)
	pause := time.Duration(ms * float64(time.Millisecond))
	switch {
	case ms < 1 || pause > maxPause:
		return 0, failuref(CodeValidation, "tool %s put its answer off by after_ms %v; it is a number from 1 to %d", s.Tool, raw["after_ms"], maxPause.Milliseconds())
	case s.Later >= maxLater || s.Rested+pause > maxRest:
		return 0, failuref(CodeLimit, "tool %s has put its answer off %d times, for %s in all: at most %d times and %s are allowed", s.Tool, s.Later, s.Rested, maxLater, maxRest)
	}
	return pause, nil
}

// resting says whether nothing is under way but what a person or a pause that a
// tool asked for holds up.
func (r *Run) resting() bool {
	for _, o := range r.state.Open {
		if o.Effect.Kind != KindAsk && (o.Effect.Kind != KindWait || r.thread(o.Thread).Slots[o.Slot].Phase != resting) {
			return false
		}
	}
	return len(r.state.Open) > 0
}

// FirstCall is the id of the first call of an effect that was put off, which
// stands for all of them; else the id itself.
func FirstCall(id string) string {
	if i := strings.LastIndex(id, ".l"); i > strings.LastIndexByte(id, '#') {
		if _, err := strconv.Atoi(id[i+2:]); err == nil {
			return id[:i]
		}
	}
	return id
}
