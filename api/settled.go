package api

import (
	"errors"
	"strings"
	"unicode"

	"liminal/internal/stream"
)

// errChanged says that an answer was begun again and is another one now: what was
// sent of it cannot be taken back.
var errChanged = errors.New("the answer was begun again and differs from what was sent")

// settled makes of a run's words what protocols can say that have no word for
// taking something back. What was said before a tool is called stays, as a part of
// its own. After a retry, words are kept back while they repeat what was sent, and
// go on from there; if they differ, that is errChanged (STREAM-32).
type settled struct {
	sent    strings.Builder // of the part under way
	again   strings.Builder // of the same part, since it was begun again
	anew    bool            // it was
	lost    bool            // what was said of it since is not known
	ending  bool            // tools are to be called: the part is over, unless it is begun again before
	earlier bool            // something was sent in a part before
	next    bool            // what was given last to be sent begins a part that follows another
}

// say is what is to be sent of the next piece of the answer.
func (s *settled) say(piece string) (string, error) {
	if s.ending {
		s.part()
	}
	if s.lost { // words from the middle: the whole answer is told at its end
		return "", nil
	}
	if !s.anew {
		return s.send(piece), nil
	}
	s.again.WriteString(piece)
	sent, again := s.sent.String(), s.again.String()
	switch {
	case strings.HasPrefix(again, sent):
		s.anew = false
		s.again.Reset()
		return s.send(again[len(sent):]), nil
	case strings.HasPrefix(sent, again):
		return "", nil
	}
	return "", errChanged
}

// send notes what is sent.
func (s *settled) send(text string) string {
	s.next = text != "" && s.earlier && s.sent.Len() == 0
	s.sent.WriteString(text)
	return text
}

// spoken reports whether anything was sent.
func (s *settled) spoken() bool { return s.earlier || s.sent.Len() > 0 }

// reset hears that the words so far do not count.
func (s *settled) reset(reason string) {
	if reason == stream.ResetTools {
		s.ending = true
		return
	}
	if reason == stream.ResetGap && s.ending {
		s.part()
	}
	s.ending = false
	s.again.Reset()
	s.anew, s.lost = s.sent.Len() > 0, reason == stream.ResetGap
}

// part ends a part: what follows is said after it.
func (s *settled) part() {
	s.earlier = s.spoken()
	s.sent.Reset()
	s.again.Reset()
	s.anew, s.lost, s.ending = false, false, false
}

// pause says whether what was sent still stands where the run asks a person: the
// store has no words of an answer that is not over. Of what is lost it is assumed.
func (s *settled) pause() error {
	if s.anew && !s.lost {
		return errChanged
	}
	return nil
}

// rest is what of the whole answer has not been sent yet. The stored answer has no
// space around it.
func (s *settled) rest(whole string) (string, error) {
	if s.ending {
		s.part()
	}
	sent := strings.TrimLeftFunc(s.sent.String(), unicode.IsSpace)
	if rest, ok := strings.CutPrefix(whole, sent); ok {
		return s.send(rest), nil
	}
	if strings.TrimSpace(sent) == whole {
		return "", nil
	}
	return "", errChanged
}
