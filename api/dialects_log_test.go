package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// played is a log that was made up, with what it means.
type played struct {
	log   []entry
	parts []string        // of the answer: what was said before tools, and at last what is stored
	asked []run.Interrupt // what it waits for at its end
	end   stream.Kind
	last  stream.Event // as the store tells it

	skipped bool // a question was, and its answer is not shown
}

// entry is an event of a log that was made up.
type entry struct {
	stream.Event
	step int // where in the log that begins which is done again, where a worker dies
	part int // of the answer, that is said then
}

// final is what the last part is in the end: the stored answer, or what is said
// before the question.
func (p played) final() string { return p.parts[len(p.parts)-1] }

// composer makes logs up.
type composer struct {
	*rand.Rand
	played
	began int
}

func (c *composer) chance(percent int) bool { return c.IntN(100) < percent }

func (c *composer) add(kind stream.Kind, data any) {
	e := logLine(kind, data)
	e.Seq = int64(len(c.log) + 1)
	c.log = append(c.log, entry{e, c.began, len(c.parts)})
}

var someWords = strings.Fields("Die Klageerwiderung ist am Montag fällig [1] und nicht früher; the answer is 42 €. 東京 naïve\n\n- one\n- two **bold**")

func (c *composer) sentence() string {
	list := make([]string, 2+c.IntN(6))
	for i := range list {
		list[i] = someWords[c.IntN(len(someWords))]
	}
	return strings.Join(list, []string{" ", "\n"}[c.IntN(2)]) + fmt.Sprint(" ", c.IntN(90))
}

// say streams a text in pieces.
func (c *composer) say(text string) {
	for len(text) > 0 {
		runes := []rune(text)
		n := 1 + c.IntN(min(len(runes), 24))
		c.add(stream.Token, string(runes[:n]))
		text = string(runes[n:])
	}
}

// speak says a text that is begun again now and then, seldom as another.
func (c *composer) speak(text string) {
	for c.chance(25) {
		first := text
		reason := stream.ResetRetry
		if c.chance(20) {
			first = c.sentence()
			reason = []string{stream.ResetRetry, stream.ResetSafety}[c.IntN(2)]
		}
		runes := []rune(first)
		c.say(string(runes[:c.IntN(len(runes)+1)]))
		c.add(stream.Reset, stream.ResetData{Reason: reason})
	}
	c.say(text)
}

func (c *composer) use(id string) {
	call := stream.ToolCallData{ID: id, Name: "read_file", Arguments: map[string]any{"path": id}}
	for c.add(stream.ToolCall, call); c.chance(20); {
		c.add(stream.ToolCall, call) // another attempt
	}
	c.add(stream.ToolResult, stream.ToolResultData{ID: id, Name: "read_file", Status: stream.ToolOK, Summary: "1 file"})
}

// compose makes one log up.
func compose(seed uint64) played {
	c := &composer{Rand: rand.New(rand.NewPCG(seed, 19))}
	calls := 0
	for c.chance(45) { // a part before a tool, often without words
		c.began = len(c.log)
		c.add(stream.Status, stream.StatusData{Node: "work", Message: "Looking"})
		text := ""
		if c.chance(60) {
			text = c.sentence()
			c.speak(text)
			c.add(stream.Reset, stream.ResetData{Reason: stream.ResetTools})
		}
		for n := 1 + c.IntN(2); n > 0; n-- {
			calls++
			c.began = len(c.log)
			c.use(fmt.Sprint("t", calls))
		}
		if c.chance(15) {
			q := run.Interrupt{ID: "before", Message: "May I?"}
			c.add(stream.Interrupt, chat.Asked(q))
			c.add(stream.Resumed, stream.ResumedData{InterruptID: q.ID})
		}
		c.parts = append(c.parts, text)
	}
	c.began = len(c.log)
	c.finish()
	c.last.Seq = 0
	return c.played
}

// finish is the last part and how it ends.
func (c *composer) finish() {
	text, stored := c.sentence(), ""
	switch c.IntN(12) {
	case 0: // a failure
		runes := []rune(text)
		c.say(string(runes[:c.IntN(len(runes))]))
		c.closes(stream.Error, stream.RunError{Code: "server_error", Message: "The model is away.", Reason: "upstream"}, "")
	case 1: // a person stops it
		runes := []rune(text)
		stored = string(runes[:c.IntN(len(runes))])
		c.say(stored)
		stored = strings.TrimSpace(stored)
		c.closes(stream.CancelAck, stream.CancelAckData{Content: stored}, stored)
	case 2: // a question was skipped: what it says is not shown
		c.skipped = true
		c.closes(stream.MessageDone, stream.MessageDoneData{Content: "hidden", Answer: stream.Answer{Suppressed: true}}, "")
	case 3, 4: // a question
		if c.chance(50) {
			stored = text
			c.speak(text)
		}
		q := run.Interrupt{ID: "q", Message: "Which one of " + c.sentence() + "?", Options: []run.Option{{ID: "a", Label: "This"}, {ID: "b", Label: "That"}}}
		c.asked = []run.Interrupt{q}
		c.add(stream.Interrupt, chat.Asked(q))
		c.closes(stream.Paused, stream.PausedData{InterruptIDs: []string{q.ID}}, stored)
	default:
		c.speak(text)
		stored = text
		if c.chance(20) { // its end was not streamed
			stored += " " + c.sentence()
		}
		done := stream.MessageDoneData{Content: strings.TrimSpace(stored), Answer: stream.Answer{Truncated: c.chance(20), Usage: json.RawMessage(`{"input_tokens":7,"output_tokens":5}`)}}
		if c.chance(50) {
			done.Citations = json.RawMessage(`[{"n":1,"document_id":"d1","title":"One","text":"quoted"}]`)
		}
		if c.chance(50) {
			c.add(stream.Trace, json.RawMessage(`[]`))
		}
		c.closes(stream.MessageDone, done, done.Content)
	}
}

func (c *composer) closes(kind stream.Kind, data any, stored string) {
	c.add(kind, data)
	c.end, c.last = kind, c.log[len(c.log)-1].Event
	c.parts = append(c.parts, stored)
}

// crashed is the log of a worker that died after event at: its step is done again.
func (p played) crashed(at int) []entry {
	if at == 0 || at == len(p.log) {
		return p.log
	}
	from := at
	if p.log[at-1].step == p.log[at].step {
		from = p.log[at].step
	}
	again := entry{Event: logLine(stream.Reset, stream.ResetData{Reason: stream.ResetRetry}), part: p.log[at].part}
	return slices.Concat(p.log[:at], []entry{again}, p.log[from:])
}

// forgotten is the log of which event at is the last that is held: how the run
// stands is told by the store.
func (p played) forgotten(at int) []entry {
	last := len(p.parts) - 1
	rest := []entry{{Event: logLine(stream.Reset, stream.ResetData{Reason: stream.ResetGap}), part: last}}
	for _, q := range p.asked {
		rest = append(rest, entry{Event: logLine(stream.Interrupt, chat.Asked(q)), part: last})
	}
	return slices.Concat(p.log[:at], rest, []entry{{Event: p.last, part: last}})
}

// attempts are what was said of each part of the answer, each time it was begun.
func (p played) attempts(log []entry) [][]string {
	list := make([][]string, len(p.parts))
	said := ""
	for i, e := range log {
		reset := false
		switch e.Kind {
		case stream.Token:
			piece, _ := stream.Read[stream.TokenData](e.Data)
			said += string(piece)
		case stream.Reset:
			reset = true
		default:
		}
		if said != "" && (reset || i == len(log)-1 || log[i+1].part != e.part) {
			part := e.part
			if reset && i > 0 {
				part = log[i-1].part
			}
			list[part] = append(list[part], said)
			said = ""
		}
	}
	return list
}

// contradicts reports whether a part of a log was said in words that are not its
// own in the end: then a protocol that cannot take words back must fail.
func (p played) contradicts(log []entry) bool {
	for part, list := range p.attempts(log) {
		if part < len(p.parts)-1 || p.end != stream.Error {
			list = append(list, p.parts[part])
		}
		for i, one := range list {
			for _, other := range list[i+1:] {
				if !strings.HasPrefix(one, other) && !strings.HasPrefix(other, one) && !alike(one, other, false) {
					return true
				}
			}
		}
	}
	return false
}

// whole are the parts of the answer whose tools were called in a log.
func (p played) whole(log []entry) (n int) {
	for _, e := range log {
		if reset, _ := stream.Read[stream.ResetData](e.Data); e.Kind == stream.ToolCall || e.Kind == stream.Reset && reset.Reason == stream.ResetTools {
			n = max(n, e.part+1)
		}
	}
	return n
}
