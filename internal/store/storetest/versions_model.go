package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/store"
)

// said is a question of the model and what was said after it: a tree. In each
// place of a conversation there are versions, of which one is shown.
type said struct {
	id, text string
	place    *place // what follows
}

// place is where a question may stand; shown is nil while nothing does.
type place struct {
	versions []*said
	shown    *said
}

// model is a conversation as it should be.
type model struct {
	id   string
	root *place
	all  []*said
}

func (m *model) path() (list []*said, end *place) {
	for end = m.root; end.shown != nil; end = end.shown.place {
		list = append(list, end.shown)
	}
	return list, end
}

func (m *model) add(at *place, messageID, text string) {
	q := &said{id: messageID, text: text, place: &place{}}
	at.versions, at.shown = append(at.versions, q), q
	m.all = append(m.all, q)
}

// placeOf finds the place of a question on the path; nil when it is not there.
func (m *model) placeOf(of func(p *place) bool) *place {
	for at := m.root; at.shown != nil; at = at.shown.place {
		if of(at) {
			return at
		}
	}
	return nil
}

// anyPath says, replaces, shows and copies at random and compares with the
// model after each step.
func anyPath(t *testing.T, open Open) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := &walker{T: t, s: open(t, unlimited).Store, rand: rand.New(rand.NewPCG(seed, 6))}
			w.v = person(t, w.s)
			w.models = []*model{{root: &place{}}}
			for step := range 60 {
				m := w.models[w.rand.IntN(len(w.models))]
				what := w.step(m, step)
				for i, other := range w.models {
					// The one that was changed, a copy that was made, and now and
					// then all: what a step does to others stays done.
					if other == m || i == len(w.models)-1 || step%10 == 9 {
						w.check(other, what)
					}
				}
				if t.Failed() {
					t.Fatalf("after step %d, %s", step, what)
				}
			}
		})
	}
}

type walker struct {
	*testing.T
	s      *store.Store
	v      identity.Viewer
	rand   *rand.Rand
	models []*model
}

func (w *walker) step(m *model, n int) string {
	text := fmt.Sprint("q", n)
	switch k := w.rand.IntN(10); {
	case k < 3 || len(m.all) == 0:
		_, end := m.path()
		w.say(m, end, text, "")
		return "say " + text
	case k < 4:
		return w.sayTwo(m, text)
	case k < 7:
		return w.replace(m, text)
	case k < 9:
		return w.show(m)
	default:
		return w.branch(m)
	}
}

func (w *walker) say(m *model, at *place, text, replaces string) {
	w.Helper()
	a := accept(w, w.s, w.v, chat.NewTurn{Message: text, ConversationID: m.id, Replaces: replaces})
	m.id = a.ConversationID
	m.add(at, a.MessageID, text)
	closeTurn(w, w.s, w.v, answer(a.Run.ID, "to "+text))
}

// sayTwo says the second thing while the first is answered: its question moves
// on when the answer is written, and what is set aside stays where it is.
func (w *walker) sayTwo(m *model, text string) string {
	one := accept(w, w.s, w.v, chat.NewTurn{Message: text, ConversationID: m.id})
	two := accept(w, w.s, w.v, chat.NewTurn{Message: text + "b", ConversationID: m.id, Multitask: "enqueue"})
	for _, a := range []chat.Accepted{one, two} {
		_, end := m.path()
		m.add(end, a.MessageID, text)
		closeTurn(w, w.s, w.v, answer(a.Run.ID, "to "+text))
		text += "b"
	}
	return "say " + text + " behind another"
}

// replace says any question anew, one that is not shown as well.
func (w *walker) replace(m *model, text string) string {
	q := m.all[w.rand.IntN(len(m.all))]
	at := m.placeOf(func(p *place) bool { return p.shown == q })
	if at == nil {
		_, err := w.s.Accept(w.Context(), w.v, chat.NewTurn{Message: text, ConversationID: m.id, Replaces: q.id})
		wantFault(w, err, fault.Invalid)
		return "replace what is set aside"
	}
	w.say(m, at, text, q.id)
	return "replace " + q.text + " by " + text
}

func (w *walker) show(m *model) string {
	q := m.all[w.rand.IntN(len(m.all))]
	at := m.placeOf(func(p *place) bool { return slices.Contains(p.versions, q) })
	err := w.s.ShowVersion(w.Context(), w.v, m.id, q.id)
	if at == nil {
		wantFault(w, err, fault.Conflict)
		return "show what has no version on the path"
	}
	need(w, err)
	at.shown = q
	return "show " + q.text
}

func (w *walker) branch(m *model) string {
	path, _ := m.path()
	q := path[w.rand.IntN(len(path))]
	to := id.New()
	need(w, second(w.s.Branch(w.Context(), w.v, m.id, q.id, to)))
	list, _, err := w.s.ListMessages(w.Context(), w.v, to, "", 100)
	need(w, err)
	b := &model{id: to, root: &place{}}
	end := b.root
	for i, from := range path {
		b.add(end, list[2*i].ID, from.text)
		if end = end.shown.place; from == q {
			break
		}
	}
	w.models = append(w.models, b)
	return "branch at " + q.text
}

// check compares a conversation with its model: the path is dense, and in the
// list from either end; the versions are those of each place; nothing is lost.
func (w *walker) check(m *model, what string) {
	w.Helper()
	if m.id == "" {
		return
	}
	var lines []string
	path, _ := m.path()
	for i, q := range path {
		lines = append(lines, fmt.Sprintf("%d user %s", 2*i+1, q.text), fmt.Sprintf("%d assistant to %s", 2*i+2, q.text))
	}
	wantLines(w, transcript(w, w.s, w.v, m.id), lines)
	page := got(w.s.MessagePage(w.Context(), w.v, m.id, chat.MessageRange{Limit: 100}))(w)
	for at, p := m.root, 0; at.shown != nil; at, p = at.shown.place, p+1 {
		var ids []string
		for _, q := range at.versions {
			ids = append(ids, q.id)
		}
		if len(ids) == 1 {
			ids = nil
		}
		if 2*p >= len(page.Messages) {
			break // a page is full
		}
		if !slices.Equal(page.Messages[2*p].Versions, ids) {
			w.Errorf("after %s the versions in place %d are %v, want %v", what, p, page.Messages[2*p].Versions, ids)
		}
	}
	for _, q := range m.all {
		kept, err := w.s.Message(w.Context(), w.v, q.id)
		if err != nil || kept.Content != q.text {
			w.Errorf("after %s the question %s is %q, %v", what, q.text, kept.Content, err)
		}
		if _, err := w.s.Message(w.Context(), w.v, id.Derive(kept.RunID, "assistant")); err != nil && !errors.Is(err, fault.NotFound) {
			w.Error(err)
		}
	}
	c := got(w.s.Conversation(w.Context(), w.v, m.id))(w)
	want(w, "active", c.ActiveRun == nil, true)
}
