package storetest

import (
	"fmt"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/learning"
)

func storedLessons(t *testing.T, open Open) {
	p := teach(t, open)
	o := p.another(t)
	one, two, theirs := p.says(t, "One?", learning.Feedback{}), p.says(t, "Two?", learning.Feedback{}), o.says(t, "Theirs?", learning.Feedback{})
	c := found(id.New())
	p.put(t, nil, c)
	l := learning.Lesson{
		ID: id.New(), AdapterID: p.adapter(t, "persona", `"type":"persona"`), ClusterID: c.ID, Text: "Be brief.",
		Directive: &learning.Directive{Kind: "length", Value: "short"}, Strength: 0.75, MadeBy: learning.ByModel,
		Sources: []int64{two.ID, theirs.ID, one.ID, one.ID + 1<<40, two.ID},
	}
	orphan := learning.Lesson{ID: id.New(), Text: "Of another.", MadeBy: learning.ByRule, Sources: []int64{theirs.ID}}
	stored := got(p.s.PutLessons(t.Context(), p.v, []learning.Lesson{l, orphan}))(t)
	l.UserID, l.State, l.Sources, l.CreatedAt, l.UpdatedAt = p.v.UserID, learning.LessonActive, []int64{one.ID, two.ID}, p.clock.now(), p.clock.now()
	same(t, "returned", stored, l)
	same(t, "listed", got(p.s.ListLessons(t.Context(), p.v))(t), l)
	same(t, "read", got(p.s.ReadLessons(t.Context(), p.v, id.New(), l.ID))(t), l)
	same(t, "read by another", got(p.s.ReadLessons(t.Context(), o.v, l.ID))(t))
	same(t, "listed by another", got(p.s.ListLessons(t.Context(), o.v))(t))

	p.clock.add(1e9)
	l.Text, l.Directive, l.State, l.Strength, l.Sources, l.UpdatedAt = "Be longer.", nil, learning.LessonRejected, 0.5, []int64{two.ID}, p.clock.now()
	same(t, "changed", got(p.s.PutLessons(t.Context(), p.v, []learning.Lesson{l}))(t), l)
	same(t, "listed", got(p.s.ListLessons(t.Context(), p.v))(t), l)
	same(t, "one the gate rejected", got(p.s.ReadLessons(t.Context(), p.v, l.ID))(t))

	stranger := l
	stranger.Sources = []int64{theirs.ID}
	_, err := o.s.PutLessons(t.Context(), o.v, []learning.Lesson{stranger})
	wantFault(t, err, fault.Conflict)
	gone := learning.Lesson{ID: id.New(), Text: "Of a situation that is gone.", MadeBy: learning.ByRule, ClusterID: id.New(), Sources: []int64{one.ID}}
	_, err = p.s.PutLessons(t.Context(), p.v, []learning.Lesson{gone})
	wantFault(t, err, fault.Conflict)

	second, third := p.lesson(t, "second", one), p.lesson(t, "third", one)
	var texts []string
	for _, l := range got(p.s.ReadLessons(t.Context(), p.v, third, second))(t) {
		texts = append(texts, l.Text)
	}
	want(t, "in the order asked for", strings.Join(texts, ", "), "third, second")
}

func same(t testing.TB, what string, got []learning.Lesson, want ...learning.Lesson) {
	t.Helper()
	for _, list := range [][]learning.Lesson{got, want} {
		for i, l := range list {
			if l.Directive != nil { // printed by value
				list[i].Text += fmt.Sprint(*l.Directive)
				list[i].Directive = nil
			}
		}
	}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s is %s, want %s", what, g, w)
	}
}

func changedLessons(t *testing.T, open Open) {
	p := teach(t, open)
	o := p.another(t)
	e := p.says(t, "One?", learning.Feedback{})
	made := learning.Lesson{
		ID: id.New(), Text: "Be brief.", Directive: &learning.Directive{Kind: "length", Value: "short"}, MadeBy: learning.ByRule, Sources: []int64{e.ID},
	}
	got(p.s.PutLessons(t.Context(), p.v, []learning.Lesson{made}))(t)
	off, text := learning.LessonOff, " Be brief with letters. "
	changed := got(p.s.ChangeLesson(t.Context(), p.v, made.ID, learning.LessonChange{Text: &text}))(t)
	want(t, "reworded", fmt.Sprint(changed.Text, changed.MadeBy, changed.State, changed.Directive, changed.Sources), fmt.Sprint("Be brief with letters.personactive<nil> ", []int64{e.ID}))
	got(p.s.ChangeLesson(t.Context(), p.v, made.ID, learning.LessonChange{State: &off}))(t)
	want(t, "read when off", len(got(p.s.ReadLessons(t.Context(), p.v, made.ID))(t)), 0)
	derived := made
	derived.Strength = 1
	again := got(p.s.PutLessons(t.Context(), p.v, []learning.Lesson{derived}))(t)[0]
	want(t, "derived again", fmt.Sprint(again.Text, again.State, again.MadeBy, again.Strength), "Be brief with letters.offperson1")
	stored := got(p.s.ListLessons(t.Context(), p.v))(t)[0]
	want(t, "stored", fmt.Sprint(stored.Text, stored.State, stored.MadeBy, stored.Strength), "Be brief with letters.offperson1")

	long, lines, rejected := strings.Repeat("ä", learning.MaxLesson+1), "Be\nbrief.", learning.LessonRejected
	for name, c := range map[string]learning.LessonChange{"too long": {Text: &long}, "two lines": {Text: &lines}, "nothing": {Text: new(string)}, "rejected": {State: &rejected}} {
		if _, err := p.s.ChangeLesson(t.Context(), p.v, made.ID, c); err == nil {
			t.Errorf("a lesson was changed to one that is %s", name)
		} else {
			wantFault(t, err, fault.Invalid)
		}
	}
	_, err := o.s.ChangeLesson(t.Context(), o.v, made.ID, learning.LessonChange{State: &off})
	wantFault(t, err, fault.NotFound)
	wantFault(t, o.s.DropLesson(t.Context(), o.v, made.ID), fault.NotFound)
	need(t, p.s.DropLesson(t.Context(), p.v, made.ID))
	wantFault(t, p.s.DropLesson(t.Context(), p.v, made.ID), fault.NotFound)
}

func removedLessons(t *testing.T, open Open) {
	p := teach(t, open)
	o := p.another(t)
	one, two := p.says(t, "One?", learning.Feedback{}), p.says(t, "Two?", learning.Feedback{})
	made := learning.Lesson{ID: id.New(), Text: "Be brief.", Directive: &learning.Directive{Kind: "length", Value: "short"}, MadeBy: learning.ByRule, Sources: []int64{one.ID, two.ID}}
	got(p.s.PutLessons(t.Context(), p.v, []learning.Lesson{made}))(t)
	wantFault(t, o.s.RemoveLesson(t.Context(), o.v, made.ID), fault.NotFound)
	need(t, p.s.RemoveLesson(t.Context(), p.v, made.ID))
	wantFault(t, p.s.RemoveLesson(t.Context(), p.v, made.ID), fault.NotFound)
	want(t, "listed", len(got(p.s.ListLessons(t.Context(), p.v))(t)), 0)
	want(t, "told", len(got(p.s.ReadLessons(t.Context(), p.v, made.ID))(t)), 0)
	off := learning.LessonOff
	_, err := p.s.ChangeLesson(t.Context(), p.v, made.ID, learning.LessonChange{State: &off})
	wantFault(t, err, fault.NotFound)
	kept := got(p.s.RemovedLessons(t.Context(), p.v))(t)
	if len(kept) != 1 || kept[0].ID != made.ID || kept[0].Text != "" || kept[0].Directive != nil || kept[0].RemovedAt.IsZero() || len(kept[0].Sources) != 2 {
		t.Errorf("of a removed one is kept %+v", kept)
	}
	want(t, "another's", len(got(o.s.RemovedLessons(t.Context(), o.v))(t)), 0)
	got(p.s.PutLessons(t.Context(), p.v, []learning.Lesson{made}))(t)
	want(t, "learnt again", len(got(p.s.ListLessons(t.Context(), p.v))(t)), 1)
	want(t, "and removed no more", len(got(p.s.RemovedLessons(t.Context(), p.v))(t)), 0)
	need(t, p.s.RemoveLesson(t.Context(), p.v, made.ID))
	for _, e := range []learning.Event{one, two} {
		_, err := p.s.DropPreference(t.Context(), p.v, learning.Retraction{ID: e.ID})
		need(t, err)
	}
	want(t, "kept once nothing stands for it", len(got(p.s.RemovedLessons(t.Context(), p.v))(t)), 0)
}
