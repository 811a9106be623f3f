package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/e2e/iopressure"
)

// at is a moment n milliseconds into a made-up storm.
func at(n int) time.Time { return time.UnixMilli(1_000_000 + int64(n)) }

func told(seq int64, kind string, data any) Event {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // the data is written in this file
	}
	return Event{Seq: seq, Kind: kind, Data: raw, At: at(int(seq))}
}

// account is a made-up storm without a fault: two people, one conversation of
// two turns of which the second asked back, and one upload.
type account struct {
	told   Observed
	stored map[string]*Holding
	forgot []time.Time
}

func (a *account) turn(i int) *Turn       { return a.told.Turns[i] }
func (a *account) leg(turn, leg int) *Leg { return a.turn(turn).Readers[0].Legs[leg] }
func (a *account) p1() *Holding           { return a.stored["p1"] }

// say puts words into a message of p1's conversation.
func (a *account) say(i int, words string) { a.p1().Conversations["c"][i].Content = words }

func clean() *account {
	first, second := "About mk-p1-1: word. "+lastWord, "About mk-p1-2 like rp-p1-2-7: word. "+lastWord
	legs := func(text, run string) []*Leg {
		return []*Leg{
			{Began: at(0), Ended: at(4), Events: []Event{
				told(1, "status", object{"node": "say"}), told(2, "token", "Half an answ"), told(3, "reset", object{"reason": "retry"}),
			}},
			{After: 3, Began: at(5), Ended: at(9), Events: []Event{
				told(5, "status", object{"node": "say"}), told(6, "token", text[:10]), told(7, "token", text[10:]),
				told(8, "trace", object{}), told(9, "message_done", object{"content": text, "run_id": run}),
			}},
		}
	}
	asked := []*Leg{{Began: at(0), Ended: at(3), Events: []Event{
		told(1, "interrupt", object{"interrupt_id": "q"}), told(2, "paused", object{"interrupt_ids": []string{"q"}}),
	}}, {After: 2, Began: at(3), Ended: at(9), Events: []Event{
		told(3, "resumed", object{"interrupt_id": "q"}), told(4, "token", second), told(5, "message_done", object{"content": second}),
	}}}
	user := func(run, text string, seq int) Message {
		return Message{ID: fmt.Sprint("m", seq), Role: "user", Content: text, Seq: seq, RunID: run}
	}
	answer := func(run, text string, seq int) Message {
		return Message{ID: fmt.Sprint("m", seq), Role: "assistant", Content: text, Seq: seq, RunID: run}
	}
	return &account{
		told: Observed{
			Turns: []*Turn{
				{
					Person: "p1", Marker: "mk-p1-1", Kind: kindPlain, Message: "Tell mk-p1-1", Order: 1, Conversation: "c", Run: "r1", Tries: 2,
					Readers: []*Reader{{Name: "first", Legs: legs(first, "r1")}},
				},
				{
					Person: "p1", Marker: "mk-p1-2", Kind: kindQuestion, Message: "Tell mk-p1-2", Order: 2, Conversation: "c", Run: "r2", Tries: 1,
					Replies: []*Reply{{Interrupt: "q", Marker: "rp-p1-2-7", Taken: true}},
					Readers: []*Reader{{Name: "first", Legs: asked}},
				},
			},
			Uploads: []*Upload{{Person: "p1", Name: "f.md", SHA256: "s", Tries: 1, Path: "f.md", Document: "d"}},
		},
		stored: map[string]*Holding{
			"p1": {
				Person: "p1",
				Conversations: map[string][]Message{"c": {
					user("r1", "Tell mk-p1-1", 1), answer("r1", first, 2), user("r2", "Tell mk-p1-2", 3),
					{Role: "system", Content: "How exactly?", Seq: 4, RunID: "r2"},
					user("r2", "like rp-p1-2-7", 5), answer("r2", second, 6),
				}},
				Runs:      map[string]Run{"r1": {ID: "r1", Status: "done"}, "r2": {ID: "r2", Status: "done"}},
				Pending:   map[string]Question{},
				Documents: map[string]Document{"d": {ID: "d", Status: "ready", Chunks: 3}},
				Files:     []File{{Path: "f.md", SHA256: "s"}},
				Replays: map[string]*Reader{"r1": {Name: "replay", Legs: []*Leg{{Began: at(20), Ended: at(21), Events: []Event{
					told(1, "status", object{}), told(2, "token", "Half an answ"), told(3, "reset", object{"reason": "retry"}), told(5, "status", object{}),
					told(7, "token", first), told(8, "trace", object{}), told(9, "message_done", object{"content": first}),
				}}}}},
			},
			"p2": {Person: "p2"},
		},
	}
}

func TestACleanStormBreaksNoPromise(t *testing.T) {
	t.Parallel()
	a := clean()
	if found := verify(a.told, a.stored, a.forgot); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func TestEveryDoctoredRecordIsCaught(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		what, how string
		doctor    func(*account)
	}{
		"a run is gone":             {"turns", "lost", func(a *account) { delete(a.p1().Runs, "r1") }},
		"a run never ends":          {"turns", "lost", func(a *account) { a.p1().Runs["r1"] = Run{ID: "r1", Status: "running"} }},
		"a run fails":               {"turns", "failed", func(a *account) { a.p1().Runs["r1"] = Run{ID: "r1", Status: "failed"} }},
		"a run ends as cancelled":   {"turns", "wrong", func(a *account) { a.p1().Runs["r1"] = Run{ID: "r1", Status: "cancelled"} }},
		"a person has nothing":      {"turns", "lost", func(a *account) { delete(a.stored, "p1") }},
		"a run waits for nothing":   {"questions", "lost", func(a *account) { a.p1().Runs["r2"] = Run{ID: "r2", Status: "waiting"} }},
		"a question is gone":        {"messages", "lost", func(a *account) { a.say(0, "") }},
		"a conversation is gone":    {"messages", "lost", func(a *account) { delete(a.p1().Conversations, "c") }},
		"a question is doubled":     {"messages", "doubled", func(a *account) { a.p1().Conversations["x"] = a.p1().Conversations["c"][:1] }},
		"a number is left out":      {"messages", "lost", func(a *account) { a.p1().Conversations["c"][5].Seq = 7 }},
		"messages are exchanged":    {"messages", "reordered", func(a *account) { c := a.p1().Conversations["c"]; c[0], c[2] = c[2], c[0] }},
		"turns are exchanged":       {"messages", "reordered", func(a *account) { a.turn(0).Order, a.turn(1).Order = 2, 1 }},
		"an answer precedes":        {"answers", "reordered", func(a *account) { exchange(a.p1().Conversations["c"], 0, 1) }},
		"an answer is gone":         {"answers", "lost", func(a *account) { a.p1().Conversations["c"] = slices.Delete(a.p1().Conversations["c"], 1, 2) }},
		"an answer is doubled":      {"answers", "doubled", func(a *account) { c := a.p1().Conversations; c["c"] = append(c["c"], c["c"][5]) }},
		"an answer lacks its end":   {"answers", "lost", func(a *account) { a.say(1, "About mk-p1-1: wo") }},
		"an answer says it twice":   {"answers", "doubled", func(a *account) { a.say(1, "About mk-p1-1. "+lastWord+" "+lastWord) }},
		"an answer is another's":    {"answers", "wrong", func(a *account) { a.say(1, "About mk-p1-9: word. "+lastWord) }},
		"a direct answer differs":   {"answers", "wrong", func(a *account) { s := "else"; a.turn(0).Direct = &s }},
		"an event is lost":          {"events", "lost", func(a *account) { a.leg(0, 1).Events = slices.Delete(a.leg(0, 1).Events, 3, 4) }},
		"an event comes twice":      {"events", "doubled", func(a *account) { l := a.leg(0, 1); l.Events = slices.Insert(l.Events, 1, l.Events[0]) }},
		"an event comes again":      {"events", "doubled", func(a *account) { a.leg(0, 1).Events[0].Seq = 3 }},
		"events are exchanged":      {"events", "reordered", func(a *account) { e := a.leg(0, 1).Events; e[1], e[2] = e[2], e[1] }},
		"a number means two things": {"events", "doubled", func(a *account) { a.leg(0, 1).Events[0].Kind = "progress" }},
		"a word is lost":            {"events", "wrong", func(a *account) { a.leg(0, 1).Events = slices.Delete(a.leg(0, 1).Events, 1, 2) }},
		"a reset is ignored":        {"events", "wrong", func(a *account) { a.leg(0, 0).Events[2].Kind = "status" }},
		"a reader is left waiting":  {"events", "lost", func(a *account) { a.turn(0).Readers[0].Legs = a.turn(0).Readers[0].Legs[:1] }},
		"a reader was told else":    {"answers", "wrong", func(a *account) { a.leg(0, 1).Events[4] = told(9, "message_done", object{"content": "else"}) }},
		"a reply is not used":       {"questions", "lost", func(a *account) { a.say(5, "About mk-p1-2: word. "+lastWord) }},
		"a reply is used twice":     {"questions", "doubled", func(a *account) { a.say(4, "like rp-p1-2-7 rp-p1-2-7") }},
		"a reply leaves it open":    {"questions", "lost", func(a *account) { a.p1().Pending["q"] = Question{ID: "q", RunID: "r2"} }},
		"two replies are taken": {"questions", "doubled", func(a *account) {
			a.turn(1).Replies = append(a.turn(1).Replies, &Reply{Interrupt: "q", Marker: "rp-p1-2-8", Taken: true})
		}},
		"a refused reply is used":    {"questions", "wrong", func(a *account) { a.turn(1).Replies[0].Taken, a.turn(1).Replies[0].Refused = false, "409" }},
		"two clicks are two turns":   {"turns", "doubled", func(a *account) { a.turn(0).Twin = "r9" }},
		"a file is gone":             {"uploads", "lost", func(a *account) { a.p1().Files = nil }},
		"a file is doubled":          {"uploads", "doubled", func(a *account) { a.p1().Files = append(a.p1().Files, a.p1().Files...) }},
		"a document is gone":         {"uploads", "lost", func(a *account) { delete(a.p1().Documents, "d") }},
		"a document stays unread":    {"uploads", "lost", func(a *account) { a.p1().Documents["d"] = Document{Status: "reading"} }},
		"a document has no passages": {"uploads", "lost", func(a *account) { a.p1().Documents["d"] = Document{Status: "ready"} }},
		"a door is open":             {"walls", "wrong", func(a *account) { a.stored["p2"].Reached = []string{"/v1/runs/r1"} }},
		"a message is another's": {"walls", "wrong", func(a *account) {
			a.stored["p2"].Conversations = map[string][]Message{"x": {{Role: "user", Content: "Tell mk-p1-1"}}}
		}},
		"an event is another's": {"walls", "wrong", func(a *account) { a.leg(0, 0).Events[0].Data = json.RawMessage(`"codeword-p2-1-1"`) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := clean()
			c.doctor(a)
			found := verify(a.told, a.stored, a.forgot)
			if !slices.ContainsFunc(found, func(v Violation) bool { return v.What == c.what && v.How == c.how }) {
				t.Errorf("no %s %s among %v", c.what, c.how, found)
			}
		})
	}
}

// exchange swaps two messages and their numbers.
func exchange(list []Message, i, j int) {
	list[i], list[j] = list[j], list[i]
	list[i].Seq, list[j].Seq = list[j].Seq, list[i].Seq
}

func TestWhatThePlatformDeclaredLostIsNoViolation(t *testing.T) {
	t.Parallel()
	a := clean()
	// The process died after the first leg: its log went with it, the second
	// leg was told so, and the replay knows the new life only.
	a.forgot = []time.Time{at(4)}
	second := a.leg(0, 1)
	second.Events = slices.Insert(second.Events, 0, told(4, "reset", object{"reason": "gap"}))
	replay := a.p1().Replays["r1"].Legs[0]
	replay.Events = replay.Events[3:]
	if found := verify(a.told, a.stored, a.forgot); len(found) > 0 {
		t.Errorf("%v", found)
	}
	a.forgot = nil
	if found := verify(a.told, a.stored, a.forgot); len(found) == 0 {
		t.Error("a replay without its beginning passes although nothing was forgotten")
	}
}

func TestSilenceIsMeasuredFromTheFault(t *testing.T) {
	t.Parallel()
	a := clean()
	struck := []Struck{{Name: faultWorker, At: at(6).Add(time.Microsecond), Healed: at(7)}, {Name: "disk full", At: at(7000), Healed: at(7001)}}
	a.leg(0, 1).Events[2].At, a.leg(0, 1).Ended = at(6006), at(6009)
	a.turn(1).Readers = nil
	r := newReport(a.told, a.stored, struck, nil, nil)
	if got := r.Recoveries[faultWorker]; got.Streams != 1 || got.Max.Round(time.Millisecond) != 6*time.Second || got.MaxRun != "r1" {
		t.Errorf("measured %+v", got)
	}
	if got := r.Recoveries["disk full"]; got.Faults != 1 || got.Streams != 0 {
		t.Errorf("a fault after all streams had ended affected %+v", got)
	}
	if !r.broken() || r.Violations[0].How != "late" {
		t.Errorf("six seconds of silence after a worker's death pass: %v", r.Violations)
	}
}

// silent is a made-up storm in which a reader saw nothing from just after its
// sixth millisecond until so many milliseconds into the storm.
func silent(until int) *account {
	a := clean()
	a.leg(0, 1).Events[2].At, a.leg(0, 1).Ended = at(until), at(until+3)
	a.turn(1).Readers = nil
	return a
}

func strike(name string, n int) Struck {
	return Struck{Name: name, At: at(n).Add(time.Microsecond), Healed: at(n + 1)}
}

func TestASilenceThatTheNextFaultCutsIsJudgedByItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		until  int // when the reader saw something again
		struck []Struck
		broken []string // what a violation names
	}{
		"both parts are short":   {7000, []Struck{strike(faultWorker, 6), strike(faultServer, 4000)}, nil},
		"the first part is long": {7000, []Struck{strike(faultWorker, 6), strike("disk full", 5500)}, []string{faultWorker}},
		"the rest is long":       {9500, []Struck{strike(faultWorker, 6), strike(faultServer, 4000)}, []string{faultServer}},
		"both are long":          {12000, []Struck{strike(faultWorker, 6), strike(faultServer, 6000)}, []string{faultServer, faultWorker}},
		"nothing cuts it":        {7000, []Struck{strike(faultWorker, 6), strike(faultServer, 7001)}, []string{faultWorker}},
	} {
		a := silent(c.until)
		r := newReport(a.told, a.stored, c.struck, nil, nil)
		var broken []string
		for _, v := range r.Violations {
			broken = append(broken, strings.Split(v.Text, `"`)[1])
		}
		slices.Sort(broken)
		if !slices.Equal(broken, c.broken) {
			t.Errorf("%s: %v", name, r.Violations)
		}
		if cut := r.Recoveries[faultWorker].Cut; (cut == 1) != (name != "nothing cuts it") {
			t.Errorf("%s: %d were cut", name, cut)
		}
	}
}

func TestASilenceOfTheDisksIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	stall := iopressure.Stall{For: 4 * time.Second, Of: 6 * time.Second}
	slow := func() *Report {
		r := newReport(Observed{}, nil, nil, nil, nil)
		r.judge(faultWorker, []late{{run: "r1", wait: 6 * time.Second, stall: stall}})
		return r
	}
	own := func() *Report {
		r := newReport(Observed{}, nil, nil, nil, nil)
		r.judge(faultWorker, []late{{run: "r1", wait: 9 * time.Second, stall: stall}, {run: "r2", wait: 6 * time.Second}})
		r.countViolations(r.Violations)
		return r
	}
	fine := func() *Report { return newReport(Observed{}, nil, nil, nil, nil) }
	for name, c := range map[string]struct {
		storms []func() *Report
		passed int // storms
		broken bool
	}{
		"well the first time":       {[]func() *Report{fine}, 1, false},
		"well the second time":      {[]func() *Report{slow, fine}, 2, false},
		"slow every time":           {[]func() *Report{slow, slow, slow, fine}, 3, true},
		"also slow by itself":       {[]func() *Report{own, fine}, 1, true},
		"slow by itself the second": {[]func() *Report{slow, own, fine}, 2, true},
	} {
		passed := 0
		r, err := measured(t.Context(), options{}, io.Discard, func(context.Context, options, io.Writer) (*Report, error) {
			passed++
			return c.storms[passed-1](), nil
		})
		if err != nil || passed != c.passed || r.broken() != c.broken || len(r.Again) != passed-1 {
			t.Errorf("%s: %d storms, %v, %v", name, passed, r.Violations, err)
		}
		if (r.Counts["events"].Wrong > 0) != c.broken {
			t.Errorf("%s: %d wrong events are counted", name, r.Counts["events"].Wrong)
		}
		var text strings.Builder
		if r.write(&text); strings.Contains(text.String(), "measured again") != (passed > 1) {
			t.Errorf("%s: %s", name, &text)
		}
	}
}
