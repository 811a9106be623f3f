package main

import (
	"cmp"
	"slices"
	"time"
)

// streams checks what a run's readers were told against each other: within
// one reader numbers grow, and between its first and its last number there is
// everything that anybody saw there.
func (v *verifier) streams(t *Turn, readers []*Reader) {
	known := map[int64]Event{}
	for _, reader := range readers {
		v.growing(t, reader)
		for _, e := range reader.events() {
			if e.Seq == 0 || e.gap() {
				continue
			}
			other, ok := known[e.Seq]
			if ok && other.Kind != e.Kind {
				v.report(t, "events", "doubled", "number %d is %s for one reader and %s for %s", e.Seq, other.Kind, e.Kind, reader.Name)
			}
			known[e.Seq] = e
		}
	}
	for _, reader := range readers {
		for _, leg := range reader.Legs {
			v.covered(t, reader, leg, known)
		}
	}
}

// growing checks the numbers of one reader over all its connections.
func (v *verifier) growing(t *Turn, reader *Reader) {
	last := Event{}
	for _, e := range reader.events() {
		if e.Seq == 0 {
			continue
		}
		switch {
		case e.gap(): // says where it goes on, which may be where it was
			if e.Seq < last.Seq {
				v.report(t, "events", "reordered", "reader %s had %d and was sent back to %d", reader.Name, last.Seq, e.Seq)
			}
		case e.Seq == last.Seq && !last.gap():
			v.report(t, "events", "doubled", "reader %s got %s %d twice", reader.Name, e.Kind, e.Seq)
		case e.Seq < last.Seq:
			v.report(t, "events", "reordered", "reader %s got %s %d after %s %d", reader.Name, e.Kind, e.Seq, last.Kind, last.Seq)
		}
		last = e
	}
}

// covered checks that one connection left nothing out. A backlog of tokens may
// come as one piece, and a pause that is over is not told to those who come
// after it, so neither is looked for; the text is compared as a whole.
func (v *verifier) covered(t *Turn, reader *Reader, leg *Leg, known map[int64]Event) {
	got := map[int64]bool{}
	from, to := leg.After, leg.After
	type span struct{ from, to int64 }
	var spans []span
	for _, e := range leg.Events {
		switch {
		case e.Seq == 0:
			continue
		case e.gap():
			spans = append(spans, span{from, to})
			from = e.Seq
		}
		got[e.Seq], to = true, e.Seq
	}
	spans = append(spans, span{from, to})
	for seq, e := range known {
		if e.Kind == "token" || e.Kind == "paused" || got[seq] || leg.After == 0 && v.forgot(e.At, leg.Ended) {
			continue
		}
		if slices.ContainsFunc(spans, func(s span) bool { return seq > s.from && seq < s.to }) {
			v.report(t, "events", "lost", "reader %s read from %d to %d and never saw %s %d", reader.Name, leg.After, to, e.Kind, seq)
		}
	}
}

// forgot reports whether the log was lost in between. A reader that knew
// nothing and came after that was shown what there was.
func (v *verifier) forgot(from, to time.Time) bool {
	return slices.ContainsFunc(v.losses, func(at time.Time) bool { return from.Before(at) && to.After(at) })
}

// conversations checks the order of what stands in each.
func (v *verifier) conversations(turns []*Turn) {
	byThread := map[string][]*Turn{}
	for _, t := range turns {
		if t.accepted() {
			byThread[t.Conversation] = append(byThread[t.Conversation], t)
		}
	}
	for _, list := range byThread {
		slices.SortFunc(list, func(a, b *Turn) int { return cmp.Compare(a.Order, b.Order) })
		h := v.stored[list[0].Person]
		if h == nil {
			continue
		}
		messages, ok := h.Conversations[list[0].Conversation]
		if !ok {
			v.report(list[0], "messages", "lost", "the conversation of %d accepted turns is not there", len(list))
			continue
		}
		v.dense(list[0], messages)
		v.ordered(list, messages)
	}
}

// dense checks that the messages are numbered 1, 2, 3 and shown in that order.
func (v *verifier) dense(t *Turn, messages []Message) {
	for i, m := range messages {
		switch want := i + 1; {
		case m.Seq > want && (i == 0 || messages[i-1].Seq < m.Seq):
			v.report(t, "messages", "lost", "message %d follows number %d", m.Seq, want-1)
			return
		case m.Seq != want:
			v.report(t, "messages", "reordered", "message %d stands in place %d", m.Seq, want)
			return
		}
	}
}

// ordered checks that questions stand in the order they were accepted in, and
// each answer after its question and after the answer before.
func (v *verifier) ordered(turns []*Turn, messages []Message) {
	asked, answered := 0, 0
	for _, t := range turns {
		q, a := 0, 0
		for i, m := range messages {
			switch {
			case m.RunID != t.Run:
			case m.Role == "user" && m.Content == t.Message:
				q = i + 1
			case m.Role == "assistant":
				a = i + 1
			}
		}
		switch {
		case q == 0: // reported as lost
		case q < asked:
			v.report(t, "messages", "reordered", "its question stands before that of an earlier turn")
		case a > 0 && a < q:
			v.report(t, "answers", "reordered", "its answer stands before its question")
		case a > 0 && a < answered:
			v.report(t, "answers", "reordered", "its answer stands before that of an earlier turn")
		}
		asked, answered = max(asked, q), max(answered, a)
	}
}
