package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Violation is one promise that was not kept.
type Violation struct {
	What         string `json:"what"` // turns, answers, messages, events, questions, uploads, walls
	How          string `json:"how"`  // lost, doubled, reordered, failed, wrong
	Person       string `json:"person,omitempty"`
	Run          string `json:"run,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Text         string `json:"text"`
}

func (v Violation) String() string {
	where := strings.TrimSpace(v.Person + " run " + v.Run + " conversation " + v.Conversation)
	return fmt.Sprintf("%s %s: %s (%s)", v.What, v.How, v.Text, where)
}

// verify holds what is stored against what was told.
// forgot are the moments at which the log of events was lost, as it may be.
func verify(seen Observed, stored map[string]*Holding, forgot []time.Time) []Violation {
	v := &verifier{stored: stored, losses: forgot}
	for _, t := range seen.Turns {
		v.turn(t)
	}
	v.conversations(seen.Turns)
	for _, u := range seen.Uploads {
		v.upload(u)
	}
	for _, h := range stored {
		v.walls(h, seen.Turns)
	}
	slices.SortStableFunc(v.found, func(a, b Violation) int { return cmp.Compare(a.What+a.How, b.What+b.How) })
	return v.found
}

type verifier struct {
	stored map[string]*Holding
	losses []time.Time
	found  []Violation
}

func (v *verifier) report(t *Turn, what, how, format string, args ...any) {
	v.found = append(v.found, Violation{
		What: what, How: how, Person: t.Person, Run: t.Run, Conversation: t.Conversation,
		Text: fmt.Sprintf(t.Kind+" turn "+t.Marker+": "+format, args...),
	})
}

// turn checks one turn: that there is exactly what was promised, once.
func (v *verifier) turn(t *Turn) {
	h := v.stored[t.Person]
	if h == nil {
		v.report(t, "turns", "lost", "%s has nothing stored at all", t.Person)
		return
	}
	v.question(t, h)
	if !t.accepted() {
		return
	}
	r, ok := h.Runs[t.Run]
	if !ok {
		v.report(t, "turns", "lost", "its run is not listed")
		return
	}
	v.standing(t, h, r)
	v.answer(t, h, r)
	v.replies(t, h, r)
	readers := t.Readers
	if replay := h.Replays[t.Run]; replay != nil {
		readers = append(slices.Clone(readers), replay)
	}
	v.streams(t, readers)
}

// question checks that what the person said stands there once. When nobody
// ever told them what became of it, once or never.
func (v *verifier) question(t *Turn, h *Holding) {
	n := 0
	for _, list := range h.Conversations {
		for _, m := range list {
			if m.Role == "user" && m.Content == t.Message {
				n++
			}
		}
	}
	switch {
	case t.Twin != "" && t.accepted() && t.Twin != t.Run:
		v.report(t, "turns", "doubled", "sent twice at once with one key it became run %s too", t.Twin)
	case n > 1:
		v.report(t, "messages", "doubled", "the question stands there %d times after %d requests with one key", n, t.Tries)
	case n == 0 && t.accepted():
		v.report(t, "messages", "lost", "the question is not stored")
	}
}

// standing checks that the run has ended well or waits for its person.
func (v *verifier) standing(t *Turn, h *Holding, r Run) {
	switch {
	case r.Status == "failed":
		v.report(t, "turns", "failed", "it ended with %s", r.why())
	case r.ended():
	case r.Status == "waiting":
		if !slices.ContainsFunc(pendingOf(h), func(q Question) bool { return q.RunID == t.Run }) {
			v.report(t, "questions", "lost", "the run waits for a person and asks nothing")
		}
	default:
		v.report(t, "turns", "lost", "it is still %s", r.Status)
	}
	if r.Status == "cancelled" && !t.CancelSent {
		v.report(t, "turns", "wrong", "it was cancelled and nobody asked for that")
	}
}

func pendingOf(h *Holding) (list []Question) {
	for _, q := range h.Pending {
		list = append(list, q)
	}
	return list
}

// answer checks the stored answer against the question and against what every
// client was told.
func (v *verifier) answer(t *Turn, h *Holding, r Run) {
	var answers []Message
	for _, m := range h.Conversations[t.Conversation] {
		if m.RunID == t.Run && m.Role == "assistant" {
			answers = append(answers, m)
		}
	}
	switch {
	case len(answers) > 1:
		v.report(t, "answers", "doubled", "it has %d answers", len(answers))
		return
	case len(answers) == 0:
		if r.Status == "done" {
			v.report(t, "answers", "lost", "the run is done and has no answer")
		}
		v.toldNothing(t)
		return
	}
	stored := answers[0].Content
	v.whole(t, r, answers[0])
	if t.Direct != nil && *t.Direct != stored {
		v.report(t, "answers", "wrong", "the client was answered %q, stored is %q", short(*t.Direct), short(stored))
	}
	for _, reader := range t.Readers {
		v.shown(t, reader, stored)
	}
}

// toldNothing checks that no client got an answer that is not stored.
func (v *verifier) toldNothing(t *Turn) {
	if t.Direct != nil {
		v.report(t, "answers", "lost", "the client was answered %q, and nothing is stored", short(*t.Direct))
	}
	for _, reader := range t.Readers {
		for _, e := range reader.events() {
			if e.Kind == "message_done" {
				v.report(t, "answers", "lost", "reader %s was told %q, and nothing is stored", reader.Name, short(e.field("content")))
			}
		}
	}
}

// whole checks that an answer is the one to its question, to the end.
func (v *verifier) whole(t *Turn, r Run, m Message) {
	if r.Status != "done" || m.Meta["truncated"] == true {
		return
	}
	switch {
	case !strings.Contains(m.Content, t.Marker):
		v.report(t, "answers", "wrong", "the answer is of another question: %q", short(m.Content))
	case !strings.HasSuffix(m.Content, lastWord):
		v.report(t, "answers", "lost", "the answer lacks its end: %q", short(m.Content))
	case strings.Count(m.Content, lastWord) > 1:
		v.report(t, "answers", "doubled", "the answer says everything twice: %q", short(m.Content))
	case t.Kind == kindDocument && !strings.Contains(m.Content, "codeword-"+t.Person):
		v.report(t, "answers", "wrong", "the answer quotes nothing of %s's: %q", t.Person, short(m.Content))
	}
}

// shown checks what one client has on the screen when its stream has ended.
func (v *verifier) shown(t *Turn, reader *Reader, stored string) {
	end := reader.end()
	if end == nil || end.Kind == "paused" {
		v.report(t, "events", "lost", "reader %s was never told how it ended", reader.Name)
		return
	}
	if end.Kind == "error" {
		return
	}
	if got := end.field("content"); got != stored {
		v.report(t, "answers", "wrong", "reader %s was told %q, stored is %q", reader.Name, short(got), short(stored))
	}
	text, exact := reader.screen()
	switch {
	case end.Kind == "cancel_ack":
		if exact && !strings.HasPrefix(stored, text) && !strings.HasPrefix(text, stored) {
			v.report(t, "events", "wrong", "reader %s put together %q before the cancel, kept is %q", reader.Name, short(text), short(stored))
		}
	case end.Seq > 0 && exact && text != stored && !v.forgot(t.Asked, end.At):
		v.report(t, "events", "wrong", "reader %s put together %q, stored is %q", reader.Name, short(text), short(stored))
	}
}

// replies checks that an acknowledged answer of a person was used exactly once.
func (v *verifier) replies(t *Turn, h *Holding, r Run) {
	taken := 0
	for _, reply := range t.Replies {
		if reply.Taken {
			taken++
		}
		if taken > 1 {
			v.report(t, "questions", "doubled", "reply %s was acknowledged after another was", reply.Marker)
		}
		said, used := 0, 0
		for _, m := range h.Conversations[t.Conversation] {
			switch n := strings.Count(m.Content, reply.Marker); m.Role {
			case "user":
				said += n
			case "assistant":
				used += n
			default: // notices
			}
		}
		_, open := h.Pending[reply.Interrupt]
		switch {
		case reply.Refused != "" && said+used > 0:
			v.report(t, "questions", "wrong", "reply %s was refused and stands in the conversation", reply.Marker)
		case said > 1 || used > 1:
			v.report(t, "questions", "doubled", "reply %s stands in the conversation %d times and in answers %d times", reply.Marker, said, used)
		case reply.Taken && open:
			v.report(t, "questions", "lost", "reply %s was acknowledged and the question is still open", reply.Marker)
		case reply.Taken && r.Status == "done" && (said != 1 || used != 1):
			v.report(t, "questions", "lost", "reply %s was acknowledged and stands in the conversation %d times, in answers %d times", reply.Marker, said, used)
		}
	}
}

// upload checks an acknowledged file.
func (v *verifier) upload(u *Upload) {
	h := v.stored[u.Person]
	t := &Turn{Person: u.Person, Run: u.Run, Kind: "upload", Marker: u.Name}
	if h == nil {
		v.report(t, "uploads", "lost", "%s has nothing stored at all", u.Person)
		return
	}
	files := 0
	for _, f := range h.Files {
		if f.SHA256 == u.SHA256 {
			files++
		}
	}
	switch {
	case files > u.Tries:
		v.report(t, "uploads", "doubled", "it was sent %d times and is there %d times", u.Tries, files)
	case u.Path == "":
	case files == 0:
		v.report(t, "uploads", "lost", "the file was acknowledged as %s and is not listed", u.Path)
	default:
		v.document(t, u, h)
	}
}

func (v *verifier) document(t *Turn, u *Upload, h *Holding) {
	d, ok := h.Documents[u.Document]
	switch {
	case !ok:
		v.report(t, "uploads", "lost", "its document %s is not there", u.Document)
	case d.Status != "ready":
		v.report(t, "uploads", "lost", "its document is %s: %s", d.Status, d.Error)
	case d.Chunks == 0:
		v.report(t, "uploads", "lost", "its document is ready and has no passages")
	}
}

// marked finds whose words a text holds.
var marked = regexp.MustCompile(`\b(?:mk|rp|codeword)-(p[0-9]+)-`)

// walls checks that a person sees nothing of another.
func (v *verifier) walls(h *Holding, turns []*Turn) {
	at := &Turn{Person: h.Person, Kind: "all", Marker: "turns"}
	for _, reached := range h.Reached {
		v.report(at, "walls", "wrong", "%s got at %s", h.Person, reached)
	}
	for id, list := range h.Conversations {
		for _, m := range list {
			v.foreign(&Turn{Person: h.Person, Conversation: id, Run: m.RunID}, m.Content)
		}
	}
	for _, t := range turns {
		if t.Person != h.Person {
			continue
		}
		for _, reader := range t.Readers {
			for _, e := range reader.events() {
				v.foreign(t, string(e.Data))
			}
		}
	}
}

func (v *verifier) foreign(t *Turn, text string) {
	for _, m := range marked.FindAllStringSubmatch(text, -1) {
		if m[1] != t.Person {
			v.report(t, "walls", "wrong", "%s sees words of %s: %q", t.Person, m[1], short(text))
			return
		}
	}
}

// short is a text as a report has room for.
func short(s string) string {
	const most = 60
	if len(s) <= 2*most {
		return s
	}
	return s[:most] + " … " + s[len(s)-most:]
}
