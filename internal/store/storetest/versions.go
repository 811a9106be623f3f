package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Versions proves chat.Versions, what Accept replaces, and chat.MessageRange.
func Versions(t *testing.T, open Open) {
	t.Run("a question that is said anew takes the place of the old one and of what followed", func(t *testing.T) { saidAnew(t, open) })
	t.Run("a title follows the first message until a person gives one", func(t *testing.T) { retitled(t, open) })
	t.Run("another version comes back with what followed it", func(t *testing.T) { shownAgain(t, open) })
	t.Run("what cannot be replaced or shown is refused, and changes nothing", func(t *testing.T) { noVersions(t, open) })
	t.Run("nothing is set aside under a turn that has not ended", func(t *testing.T) { asideMeetsTurns(t, open) })
	t.Run("of many who change the path at once each finds it whole", func(t *testing.T) { asideRace(t, open) })
	t.Run("what is remembered of messages set aside is forgotten", func(t *testing.T) { asideForgets(t, open) })
	t.Run("a branch is a copy of the path up to the end of a turn", func(t *testing.T) { branches(t, open) })
	t.Run("a branch is of a bounded size", func(t *testing.T) { boundedBranch(t, open) })
	t.Run("a conversation is read from either end", func(t *testing.T) { messagePages(t, open) })
	t.Run("feedback on an answer that was set aside is on its own question", func(t *testing.T) { asideTarget(t, open) })
	t.Run("whatever is said, replaced, shown and copied, paths are whole and nothing is lost", func(t *testing.T) { anyPath(t, open) })
}

// line is a conversation whose turns are a question and its answer.
type line struct {
	testing.TB
	s  *store.Store
	v  identity.Viewer
	id string
}

func newLine(t testing.TB, open Open, questions ...string) (*line, []string) {
	t.Helper()
	s := open(t, unlimited).Store
	l := &line{TB: t, s: s, v: person(t, s)}
	var ids []string
	for _, q := range questions {
		ids = append(ids, l.say(q, ""))
	}
	return l, ids
}

// say asks, in the place of another question if one is named, answers, and
// returns the id of the question.
func (l *line) say(text, replaces string) string {
	l.Helper()
	a := accept(l, l.s, l.v, chat.NewTurn{Message: text, ConversationID: l.id, Replaces: replaces})
	l.id = a.ConversationID
	closeTurn(l, l.s, l.v, answer(a.Run.ID, "to "+text))
	return a.MessageID
}

func (l *line) show(message string) error {
	return l.s.ShowVersion(l.Context(), l.v, l.id, message)
}

// shows checks the questions of the path, each of which is followed by its
// answer.
func (l *line) shows(questions ...string) {
	l.Helper()
	var lines []string
	for i, q := range questions {
		lines = append(lines, fmt.Sprintf("%d user %s", 2*i+1, q), fmt.Sprintf("%d assistant to %s", 2*i+2, q))
	}
	wantLines(l, transcript(l, l.s, l.v, l.id), lines)
}

// versions are the ids of a message's, as a list shows them.
func (l *line) versions(message string) []string {
	l.Helper()
	p := got(l.s.MessagePage(l.Context(), l.v, l.id, chat.MessageRange{Latest: true, Limit: 100}))(l)
	at := slices.IndexFunc(p.Messages, func(m chat.Message) bool { return m.ID == message })
	if at < 0 {
		l.Fatalf("%s is not shown", message)
	}
	return p.Messages[at].Versions
}

func saidAnew(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one", "two", "three")
	want(t, "versions before", len(l.versions(ids[1])), 0)
	again := l.say("two again", ids[1])
	l.shows("one", "two again")
	wantLines(t, l.versions(again), []string{ids[1], again})
	want(t, "versions of its neighbour", len(l.versions(ids[0])), 0)
	for i, text := range []string{"two", "three"} { // nothing is deleted
		want(t, "set aside", got(l.s.Message(t.Context(), l.v, ids[i+1]))(t).Content, text)
	}
	history := got(l.s.History(t.Context(), l.v, l.id, 100, 100))(t)
	want(t, "history", len(history), 4)
	third := l.say("two a third time", again)
	wantLines(t, l.versions(third), []string{ids[1], again, third})
	l.say("four", "")
	l.shows("one", "two a third time", "four")
	first := l.say("one again", ids[0])
	l.shows("one again")
	wantLines(t, l.versions(first), []string{ids[0], first})
	l.titled("one again") // CHAT-13: what the first message is now
	l.say("and on", "")
	l.shows("one again", "and on")
	l.titled("one again")
}

// A conversation is named after its first message, whichever version of that is
// shown, until a person names it.
func retitled(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one", "two")
	long := "one again " + strings.Repeat("and again ", 10)
	first := l.say(long, ids[0])
	l.titled(string([]rune(strings.TrimSpace(long))[:50]))
	need(t, l.show(ids[0]))
	l.titled("one")
	l.say("two again", ids[1])
	l.titled("one")
	name := "My own name"
	got(l.s.UpdateConversation(t.Context(), l.v, l.id, chat.ConversationChange{Title: &name}))(t)
	l.say("one once more", ids[0])
	l.titled(name)
	need(t, l.show(first))
	l.titled(name)
}

// titled checks what the conversation is called.
func (l *line) titled(title string) {
	l.Helper()
	want(l, "title", got(l.s.Conversation(l.Context(), l.v, l.id))(l).Title, title)
}

func shownAgain(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one", "two", "three")
	two := l.say("two again", ids[1])
	one := l.say("one again", ids[0])
	need(t, l.show(one)) // it is shown
	l.shows("one again")
	wantFault(t, l.show(ids[1]), fault.Conflict) // no version of it is
	l.shows("one again")
	need(t, l.show(ids[0]))
	l.shows("one", "two again")
	wantLines(t, l.versions(two), []string{ids[1], two})
	need(t, l.show(ids[1]))
	l.shows("one", "two", "three")
	wantLines(t, l.versions(ids[1]), []string{ids[1], two})
	four := l.say("four", "")
	need(t, l.show(two))
	l.shows("one", "two again")
	need(t, l.show(ids[1]))
	l.shows("one", "two", "three", "four")
	wantFault(t, l.show(id.New()), fault.NotFound)
	need(t, l.show(one))
	wantFault(t, l.show(four), fault.Conflict)
	l.say("on", "")
	l.shows("one again", "on")
}

func noVersions(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one")
	a := accept(t, l.s, l.v, chat.NewTurn{Message: "two", ConversationID: l.id})
	end := answer(a.Run.ID, "to two")
	end.Notices = []chat.Message{{Role: "system", Content: "Which?"}, {Role: "user", Content: "This."}}
	closed := closeTurn(t, l.s, l.v, end)
	path := transcript(t, l.s, l.v, l.id)
	asked, told := path[3], path[4]
	want(t, "the path", asked+told, "4 system Which?5 user This.")
	page, _, err := l.s.ListMessages(t.Context(), l.v, l.id, "", 10)
	need(t, err)
	other := &line{TB: t, s: l.s, v: l.v}
	elsewhere := other.say("elsewhere", "")
	stranger := &line{TB: t, s: l.s, v: person(t, l.s)}
	theirs := stranger.say("theirs", "")
	replace := func(conversation, message string) error {
		_, err := l.s.Accept(t.Context(), l.v, chat.NewTurn{Message: "x", ConversationID: conversation, Replaces: message})
		return err
	}
	for what, c := range map[string]struct {
		err  error
		code fault.Code
	}{
		"no message":                {replace(l.id, id.New()), fault.NotFound},
		"of another conversation":   {replace(l.id, elsewhere), fault.NotFound},
		"of another person":         {replace(l.id, theirs), fault.NotFound},
		"in another's conversation": {replace(stranger.id, theirs), fault.NotFound},
		"in no conversation":        {replace(id.New(), ids[0]), fault.NotFound},
		"without a conversation":    {replace("", ids[0]), fault.Invalid},
		"no id":                     {replace(l.id, "two"), fault.Invalid},
		"an answer":                 {replace(l.id, closed.MessageID), fault.Invalid},
		"a question's answer":       {replace(l.id, page[4].ID), fault.Invalid},
		"show no message":           {l.show(id.New()), fault.NotFound},
		"show another's":            {l.s.ShowVersion(t.Context(), l.v, stranger.id, theirs), fault.NotFound},
		"show of another":           {l.show(elsewhere), fault.NotFound},
		"show an answer":            {l.show(closed.MessageID), fault.Invalid},
		"show an answer of mine":    {l.show(page[4].ID), fault.Invalid},
	} {
		if !errors.Is(c.err, c.code) {
			t.Errorf("%s: got %v, want a fault %q", what, c.err, c.code)
		}
	}
	wantLines(t, transcript(t, l.s, l.v, l.id), path)
	stranger.shows("theirs")
	again := l.say("one again", ids[0])
	wantFault(t, replace(l.id, ids[0]), fault.Invalid) // it is set aside
	twice := chat.NewTurn{Message: "one more", ConversationID: l.id, Replaces: again, RequestID: "r"}
	first := accept(t, l.s, l.v, twice)
	closeTurn(t, l.s, l.v, answer(first.Run.ID, "to one more"))
	want(t, "a duplicate", accept(t, l.s, l.v, twice).Duplicate, true)
	l.shows("one more")
	wantLines(t, l.versions(first.MessageID), []string{ids[0], again, first.MessageID})
}

// asideMeetsTurns: a turn writes its answer behind its question, so that stays
// where it is until it has ended.
func asideMeetsTurns(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one", "two")
	again := l.say("two again", ids[1])
	active := accept(t, l.s, l.v, chat.NewTurn{Message: "three", ConversationID: l.id})
	queued := accept(t, l.s, l.v, chat.NewTurn{Message: "four", ConversationID: l.id, Multitask: "enqueue"})
	refused := func(when string) {
		t.Helper()
		for _, multitask := range []string{"", "enqueue", "interrupt"} {
			_, err := l.s.Accept(t.Context(), l.v, chat.NewTurn{Message: "x", ConversationID: l.id, Replaces: ids[0], Multitask: multitask})
			wantReason(t, when+" "+multitask, err, "active")
		}
		wantReason(t, when, l.show(ids[1]), "active")
		need(t, l.show(again)) // it is shown
	}
	refused("running")
	_, err := l.s.Branch(t.Context(), l.v, l.id, active.MessageID, id.New())
	wantReason(t, "branch of a running turn", err, "active")
	_, err = l.s.Branch(t.Context(), l.v, l.id, queued.MessageID, id.New())
	wantReason(t, "branch of a queued turn", err, "active")
	need(t, l.s.Ask(t.Context(), l.v, true, run.Interrupt{ID: id.New(), RunID: active.Run.ID, EffectID: "e", Type: "text_input", Message: "?"}))
	refused("waiting")
	closeTurn(t, l.s, l.v, answer(active.Run.ID, "to three"))
	refused("promoted")
	closeTurn(t, l.s, l.v, chat.Close{RunID: queued.Run.ID, End: run.End{Status: run.Cancelled}})
	need(t, l.show(ids[1]))
	l.shows("one", "two")
	need(t, l.show(again))
	wantLines(t, transcript(t, l.s, l.v, l.id), []string{
		"1 user one", "2 assistant to one", "3 user two again", "4 assistant to two again", "5 user three", "6 assistant to three", "7 user four",
	})
}

func wantReason(t testing.TB, what string, err error, reason string) {
	t.Helper()
	if e := fault.From(err); err == nil || e.Code != fault.Conflict || fmt.Sprint(e.Details) == "" || !strings.Contains(fmt.Sprint(e.Details), "reason:"+reason) {
		t.Errorf("%s: got %v, want a conflict of the reason %q", what, err, reason)
	}
}

// asideRace: turns and versions meet at the lock of the conversation. Whoever
// loses says so and leaves no trace.
func asideRace(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one", "two")
	again := l.say("two again", ids[1])
	said := make([]chat.Accepted, writers)
	errs := race(writers, func(i int) (err error) {
		switch i % 5 {
		case 0:
			said[i], err = l.s.Accept(t.Context(), l.v, chat.NewTurn{Message: fmt.Sprint("on ", i), ConversationID: l.id, Multitask: "enqueue"})
		case 1:
			said[i], err = l.s.Accept(t.Context(), l.v, chat.NewTurn{Message: fmt.Sprint("anew ", i), ConversationID: l.id, Replaces: ids[0]})
		case 2:
			return l.show(ids[1])
		case 3:
			return l.show(again)
		default:
			_, err = l.s.MessagePage(t.Context(), l.v, l.id, chat.MessageRange{Latest: true})
		}
		return err
	})
	for _, err := range errs {
		if err != nil && !errors.Is(err, fault.Conflict) && !errors.Is(err, fault.Invalid) {
			t.Error(err)
		}
	}
	accepted := 0
	for _, a := range said {
		if a.Run.ID != "" {
			accepted++
		}
	}
	for closed := 0; closed < accepted; closed++ {
		c := got(l.s.Conversation(t.Context(), l.v, l.id))(t)
		if c.ActiveRun == nil {
			t.Fatalf("%d of %d turns have run, and none is active", closed, accepted)
		}
		closeTurn(t, l.s, l.v, answer(c.ActiveRun.ID, "answer"))
	}
	dense(t, transcript(t, l.s, l.v, l.id))
}

// dense checks that the lines of a transcript are numbered from 1 and that
// questions and answers take turns.
func dense(t testing.TB, lines []string) {
	t.Helper()
	for i, l := range lines {
		role := []string{"user", "assistant"}[i%2]
		if !strings.HasPrefix(l, fmt.Sprintf("%d %s ", i+1, role)) {
			t.Errorf("in place %d stands %q", i+1, l)
		}
	}
}

func asideForgets(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one", "two", "three")
	put := func(base, upto, path int) error {
		return putMemoryOf(t.Context(), l.s, l.v, l.id, base, upto, path)
	}
	summarised := func() string {
		t.Helper()
		a, known, err := l.s.Memory(t.Context(), l.v, l.id)
		need(t, err)
		return fmt.Sprint(known.UptoSeq, known.Path, known.Forgotten, a.Version)
	}
	need(t, put(0, 4, 0))
	want(t, "summarised", summarised(), "4 0 false 1")
	third := l.say("three again", ids[2])
	want(t, "beyond what is summarised", summarised(), "4 1 false 1")
	wantFault(t, put(1, 5, 0), fault.Conflict) // of the former path
	need(t, put(1, 5, 1))
	want(t, "of this path", summarised(), "5 1 false 2")
	need(t, l.show(ids[2]))
	want(t, "what it covers was set aside", summarised(), "0 2 true 2")
	wantFault(t, put(2, 5, 1), fault.Conflict)
	need(t, put(2, 3, 2))
	want(t, "made anew", summarised(), "3 2 false 3")
	need(t, l.show(third))
	want(t, "before the fork", summarised(), "3 3 false 3")
	c := got(l.s.Conversation(t.Context(), l.v, l.id))(t)
	want(t, "the conversation knows", c.Summarised(), 3)
	l.say("one again", ids[0])
	want(t, "from the beginning", summarised(), "0 4 true 3")
}

func asideTarget(t *testing.T, open Open) {
	l, ids := newLine(t, open, "one", "two")
	page, _, err := l.s.ListMessages(t.Context(), l.v, l.id, "", 10)
	need(t, err)
	l.say("two again", ids[1])
	target := got(l.s.Target(t.Context(), l.v, l.id, page[3].ID))(t)
	want(t, "question", target.Question, "two")
	l.say("one again", ids[0])
	target = got(l.s.Target(t.Context(), l.v, l.id, page[1].ID))(t)
	want(t, "question", target.Question, "one")
}

// boundedBranch refuses to copy more messages, or more text, than it may.
func boundedBranch(t *testing.T, open Open) {
	for name, o := range map[string]store.Options{"messages": {Branched: 2}, "text": {Branched: 100, BranchedText: 20}} {
		l := &line{TB: t, s: open(t, o).Store, v: identity.Viewer{}}
		l.v = person(t, l.s)
		one, two := l.say("one", ""), l.say("the other, which is longer", "")
		got(l.s.Branch(t.Context(), l.v, l.id, one, id.New()))(t)
		_, err := l.s.Branch(t.Context(), l.v, l.id, two, id.New())
		wantReason(t, name, err, "size")
	}
}

func branches(t *testing.T, open Open) {
	b := newBranch(t, open)
	b.isACopy(t)
	b.isMadeOnce(t)
	b.goesOnByItself(t)
}

// branched is a conversation of three turns, and a branch of it at the second.
type branched struct {
	*line
	ids    []string // of the first turn's message
	turn   chat.Accepted
	answer string // the second turn's
	made   chat.Conversation
	before []string       // what the conversation says
	path   []string       // and the branch
	copies []chat.Message // of the branch
}

func newBranch(t *testing.T, open Open) branched {
	l, ids := newLine(t, open, "one")
	k := newContext(t, l.s, l.v, "notes")
	_, err := l.s.UpdateConversation(t.Context(), l.v, l.id, chat.ConversationChange{ActiveContextID: &k.ID})
	need(t, err)
	a := accept(t, l.s, l.v, chat.NewTurn{Message: "two", ConversationID: l.id})
	end := answer(a.Run.ID, "to two")
	end.Message.Struct, end.Message.Meta = chat.Compose("to two", nil, nil), map[string]any{"model": "m", "noted": map[string]any{"signal": "like"}}
	end.Notices = []chat.Message{{Role: "system", Content: "Which?", Meta: map[string]any{"suppressed": true}}, {Role: "user", Content: "This."}}
	end.Persist = map[string]any{"mood": "good"}
	b := branched{line: l, ids: ids, turn: a, answer: closeTurn(t, l.s, l.v, end).MessageID}
	l.say("three", "")
	b.before = transcript(t, l.s, l.v, l.id)
	to := id.New()
	b.made = got(l.s.Branch(t.Context(), l.v, l.id, a.MessageID, to))(t)
	want(t, "made", fmt.Sprint(b.made.ID, b.made.Title, b.made.Status, b.made.ActiveContextID, b.made.Meta),
		fmt.Sprint(to, "one", "open", k.ID, map[string]any{"docs": map[string]any{"mood": "good"}}))
	b.path = transcript(t, l.s, l.v, to)
	b.copies, _, err = l.s.ListMessages(t.Context(), l.v, to, "", 10)
	need(t, err)
	return b
}

func (b branched) isACopy(t *testing.T) {
	want(t, "origin", *b.made.Branched, chat.Origin{ConversationID: b.id, MessageID: b.turn.MessageID})
	want(t, "kept", fmt.Sprint(*got(b.s.Conversation(t.Context(), b.v, b.made.ID))(t).Branched), fmt.Sprint(*b.made.Branched))
	wantLines(t, b.path, []string{"1 user one", "2 assistant to one", "3 user two", "5 user This.", "6 assistant to two"})
	answered, last := got(b.s.Message(t.Context(), b.v, b.answer))(t), b.copies[4]
	want(t, "run", last.RunID, b.turn.Run.ID)
	want(t, "written", last.CreatedAt.Equal(answered.CreatedAt), true)
	want(t, "meta", fmt.Sprint(last.Meta), "map[model:m]")
	want(t, "segments", len(last.Struct.Segments), 1)
	if last.ID == b.answer {
		t.Error("a copy is the message itself")
	}
}

// isMadeOnce by its id; by another message's it is not this one.
func (b branched) isMadeOnce(t *testing.T) {
	to := b.made.ID
	want(t, "again", got(b.s.Branch(t.Context(), b.v, b.id, b.turn.MessageID, to))(t).ID, to)
	wantLines(t, transcript(t, b.s, b.v, to), b.path)
	_, err := b.s.Branch(t.Context(), b.v, b.id, b.ids[0], to)
	wantFault(t, err, fault.Conflict)
	other := person(t, b.s)
	_, err = b.s.Branch(t.Context(), other, b.id, b.turn.MessageID, id.New())
	wantFault(t, err, fault.NotFound)
	mine := &line{TB: t, s: b.s, v: other}
	mine.say("mine", "")
	_, err = b.s.Branch(t.Context(), other, mine.id, b.turn.MessageID, id.New())
	wantFault(t, err, fault.NotFound)
}

// goesOnByItself: the copy's questions have versions of their own.
func (b branched) goesOnByItself(t *testing.T) {
	copied := &line{TB: t, s: b.s, v: b.v, id: b.made.ID}
	again := copied.say("two again", b.copies[2].ID)
	copied.shows("one", "two again")
	wantLines(t, copied.versions(again), []string{b.copies[2].ID, again})
	wantLines(t, transcript(t, b.s, b.v, b.id), b.before)
	_, err := b.s.Branch(t.Context(), b.v, b.made.ID, b.copies[2].ID, id.New())
	wantReason(t, "branch of what is set aside", err, "aside")
	twice := got(b.s.Branch(t.Context(), b.v, b.made.ID, b.copies[1].ID, id.New()))(t)
	wantLines(t, transcript(t, b.s, b.v, twice.ID), b.path[:2])
	need(t, b.s.DeleteConversation(t.Context(), b.v, b.id))
	copied.shows("one", "two again")
	copied.say("three", "")
}

func messagePages(t *testing.T, open Open) {
	l, _ := newLine(t, open, "one", "two", "three")
	a := accept(t, l.s, l.v, chat.NewTurn{Message: "four", ConversationID: l.id})
	end := answer(a.Run.ID, "to four")
	end.Notices = []chat.Message{{Role: "system", Content: "hidden", Meta: map[string]any{"suppressed": true}}}
	closeTurn(t, l.s, l.v, end)
	seqs := func(p chat.MessagePage) (list []int) {
		for _, m := range p.Messages {
			list = append(list, m.Seq)
		}
		return list
	}
	read := func(r chat.MessageRange) chat.MessagePage {
		t.Helper()
		return got(l.s.MessagePage(t.Context(), l.v, l.id, r))(t)
	}
	is := func(what string, p chat.MessagePage, next, earlier bool, list ...int) {
		t.Helper()
		if !slices.Equal(seqs(p), list) || (p.Next != "") != next || (p.Earlier != "") != earlier {
			t.Errorf("%s: %v, next %q, earlier %q", what, seqs(p), p.Next, p.Earlier)
		}
	}
	last := read(chat.MessageRange{Latest: true, Limit: 3})
	is("latest", last, false, true, 6, 7, 9)
	middle := read(chat.MessageRange{Before: last.Earlier, Limit: 3})
	is("before", middle, true, true, 3, 4, 5)
	begin := read(chat.MessageRange{Before: middle.Earlier, Limit: 3})
	is("the beginning", begin, true, false, 1, 2)
	is("on from there", read(chat.MessageRange{After: begin.Next, Limit: 3}), true, true, 3, 4, 5)
	is("on from before", read(chat.MessageRange{After: middle.Next, Limit: 3}), false, true, 6, 7, 9)
	is("from the start", read(chat.MessageRange{Limit: 3}), true, false, 1, 2, 3)
	is("all", read(chat.MessageRange{Latest: true, Limit: 100}), false, false, 1, 2, 3, 4, 5, 6, 7, 9)
	empty := got(l.s.CreateConversation(t.Context(), l.v, chat.Conversation{}))(t)
	p := got(l.s.MessagePage(t.Context(), l.v, empty.ID, chat.MessageRange{Latest: true}))(t)
	is("nothing", p, false, false)
	for what, r := range map[string]chat.MessageRange{
		"both ends":          {Latest: true, After: begin.Next},
		"before and after":   {Before: last.Earlier, After: begin.Next},
		"before and latest":  {Before: last.Earlier, Latest: true},
		"the other's cursor": {Before: begin.Next},
		"the other way":      {After: last.Earlier},
		"no cursor":          {Before: "%"},
	} {
		if _, err := l.s.MessagePage(t.Context(), l.v, l.id, r); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	_, err := l.s.MessagePage(t.Context(), person(t, l.s), l.id, chat.MessageRange{Latest: true})
	wantFault(t, err, fault.NotFound)
}

// GoesOn checks that a conversation of two turns that knew no versions has
// them now; second is its second question.
func GoesOn(t *testing.T, s *store.Store, v identity.Viewer, conversationID, second string) {
	l := &line{TB: t, s: s, v: v, id: conversationID}
	l.shows("one", "two")
	again := l.say("two again", second)
	l.shows("one", "two again")
	wantLines(t, l.versions(again), []string{second, again})
	need(t, l.show(second))
	l.say("three", "")
	l.shows("one", "two", "three")
}
