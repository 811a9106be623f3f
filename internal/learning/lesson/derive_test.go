package lesson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/learning"
)

var me = Scope{UserID: "me"}

var monday = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

const (
	longAnswer = "The notice period is three months to the end of a quarter. That follows from the contract and from the law alike. " +
		"It begins with the day on which the letter arrives. Whoever resigns later loses a quarter. Nothing else is agreed upon in writing here."
	shortAnswer = "The notice period is three months to the end of a quarter, says the contract."
	listAnswer  = "There are three things to know here:\n\n- The period is three months.\n- It ends with a quarter.\n- It begins when the letter arrives.\n"
)

// say is what somebody said of an answer, an hour after what was said before.
func say(id int, signal, note string) learning.Case {
	score := map[string]float64{"like": 1, "always": 1, "dislike": -1, "never": -1}[signal]
	c := learning.Case{
		Question: fmt.Sprintf("How long is the notice period in case %d?", id), Answer: fmt.Sprintf("%s Case %d.", longAnswer, id),
		Event: learning.Event{
			ID: int64(id), UserID: "me", MessageID: fmt.Sprint("m", id), ConversationID: fmt.Sprint("c", id), Signal: signal, Score: score,
			CreatedAt: monday.Add(time.Duration(id) * time.Hour), Meta: map[string]any{},
		},
	}
	if note != "" {
		c.Meta["notes"] = note
	}
	return c
}

func notes(signal string, list ...string) []learning.Case {
	var out []learning.Case
	for i, n := range list {
		out = append(out, say(i+1, signal, n))
	}
	return out
}

// digest is what lessons say, in few words.
func digest(list []learning.Lesson) string {
	var out []string
	for _, l := range list {
		w, _ := said(l)
		out = append(out, fmt.Sprintf("%s=%s", w.kind, w.value))
	}
	return strings.Join(out, " ")
}

func TestThreeNotesThatAnswersAreTooLongMakeOneLesson(t *testing.T) {
	t.Parallel()
	got := Derive(notes("dislike", "too long", "Much too long.", "please keep it short"), nil, me)
	if len(got) != 1 {
		t.Fatalf("%d lessons: %s", len(got), digest(got))
	}
	l := got[0]
	if !reflect.DeepEqual(l.Directive, &learning.Directive{Kind: "length", Value: "short"}) || l.Text != "Keep answers short." ||
		l.MadeBy != learning.ByRule || l.State != learning.LessonActive || l.UserID != "me" || !slices.Equal(l.Sources, []int64{1, 2, 3}) ||
		l.Strength <= 0.5 || l.Strength > 1 || l.ID != me.idOf(kindLength) {
		t.Errorf("%+v", l)
	}
	german := Derive(notes("dislike", "zu lang", "Bitte kürzer", "viel zu lang"), nil, me)
	if len(german) != 1 || german[0].Text != "Antworte kurz." || german[0].ID != l.ID {
		t.Errorf("%+v", german)
	}
	other := me
	other.ClusterID, other.Locale = "situation", "de"
	if got := Derive(notes("dislike", "too long", "too long", "too long"), nil, other); got[0].Text != "Antworte kurz." || got[0].ClusterID != "situation" || got[0].ID == l.ID {
		t.Errorf("of a situation: %+v", got)
	}
}

func TestHowMuchMakesALesson(t *testing.T) {
	t.Parallel()
	correct := func(id int, to string) learning.Case {
		c := say(id, "dislike", "")
		c.Corrected = to
		return c
	}
	thumb := func(id int, signal, answer string) learning.Case {
		c := say(id, signal, "")
		c.Answer = fmt.Sprintf("%s (%d)", answer, id)
		return c
	}
	for name, c := range map[string]struct {
		cases []learning.Case
		want  string
	}{
		"nothing":                         {nil, ""},
		"one note":                        {notes("dislike", "too long"), ""},
		"two notes":                       {notes("dislike", "too long", "shorter"), "length=short"},
		"one note that is to hold always": {notes("never", "no bullet points"), "list=no"},
		"two corrections":                 {[]learning.Case{correct(1, shortAnswer), correct(2, shortAnswer+" Yes.")}, ""},
		"three corrections":               {[]learning.Case{correct(1, shortAnswer), correct(2, shortAnswer+" Yes."), correct(3, "Well: "+shortAnswer)}, "length=short"},
		"three thumbs":                    {[]learning.Case{thumb(1, "like", listAnswer), thumb(2, "like", listAnswer), thumb(3, "dislike", longAnswer)}, ""},
		"five thumbs":                     {[]learning.Case{thumb(1, "like", listAnswer), thumb(2, "like", listAnswer), thumb(3, "dislike", longAnswer), thumb(4, "dislike", longAnswer), thumb(5, "like", listAnswer)}, ""},
		"six thumbs that tell apart": {[]learning.Case{
			thumb(1, "like", listAnswer), thumb(2, "like", listAnswer), thumb(3, "dislike", longAnswer), thumb(4, "dislike", longAnswer), thumb(5, "like", listAnswer), thumb(6, "dislike", longAnswer),
		}, "list=yes"},
		"six thumbs up, whatever it was": {[]learning.Case{
			thumb(1, "like", listAnswer), thumb(2, "like", listAnswer), thumb(3, "like", listAnswer), thumb(4, "like", listAnswer), thumb(5, "like", listAnswer), thumb(6, "like", listAnswer),
		}, ""},
		"notes that contradict each other": {notes("dislike", "too long", "too short", "shorter please", "more detail please", "zu lang", "zu kurz"), ""},
		"more of one than of the other":    {notes("dislike", "too long", "too short", "too long", "too long", "too long"), "length=short"},
		"of two things":                    {notes("dislike", "too long and no bullet points", "too long, no lists"), "length=short list=no"},
		"facts":                            {notes("dislike", "wrong", "the deadline is three months", "that is not true", "false"), ""},
	} {
		got := Derive(c.cases, nil, me)
		kept := digest(got)
		if name == "six thumbs that tell apart" { // their lengths differ as well
			kept = digest(slices.DeleteFunc(got, func(l learning.Lesson) bool { return l.ID != me.idOf(kindList) }))
		}
		if kept != c.want {
			t.Errorf("%s: %q, want %q", name, kept, c.want)
		}
	}
}

func TestWhatIsExcludedOfOthersOrSaidAnewDoesNotCount(t *testing.T) {
	t.Parallel()
	cases := notes("dislike", "too long", "too long", "too long")
	cases[0].Excluded = true
	cases[1].UserID = "other"
	if got := Derive(cases, nil, me); len(got) != 0 {
		t.Errorf("%s", digest(got))
	}
	again := notes("dislike", "too long", "too long", "too long")
	for i := range again {
		again[i].MessageID = "the same"
	}
	if got := Derive(again, nil, me); len(got) != 0 {
		t.Errorf("one answer, three times: %s", digest(got))
	}
}

func TestTheOrderOfEventsChangesNothing(t *testing.T) {
	t.Parallel()
	cases := append(notes("dislike", "too long", "use bullet points", "shorter", "please as a list", "in German please", "auf Deutsch bitte"), say(7, "like", "great table"))
	want := Derive(cases, nil, me)
	slices.Reverse(cases)
	if got := Derive(cases, nil, me); len(want) != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("%s, want %s", digest(got), digest(want))
	}
}

func TestWhatAPersonDidToALessonStays(t *testing.T) {
	t.Parallel()
	cases := notes("dislike", "too long", "too long", "too long")
	first := Derive(cases, nil, me)
	change := func(f func(l *learning.Lesson)) []learning.Lesson {
		had := slices.Clone(first)
		had[0].AdapterID, had[0].CreatedAt = "adapter", monday
		f(&had[0])
		return had
	}

	off := change(func(l *learning.Lesson) { l.State = learning.LessonOff })
	if got := Derive(cases, off, me); len(got) != 1 || got[0].State != learning.LessonOff || got[0].AdapterID != "adapter" || !got[0].CreatedAt.Equal(monday) {
		t.Errorf("switched off: %+v", got)
	}
	if got := Derive(nil, off, me); len(got) != 1 || got[0].State != learning.LessonOff {
		t.Errorf("switched off, and its events are gone: %+v", got)
	}
	if got := Derive(notes("dislike", "too short", "too short", "too short"), off, me); len(got) != 1 || got[0].State != learning.LessonActive || got[0].Directive.Value != "long" {
		t.Errorf("switched off, and now they want the opposite: %+v", got)
	}

	mine := change(func(l *learning.Lesson) { l.Text, l.MadeBy = "Answer me in at most two sentences.", learning.ByPerson })
	for _, cases := range [][]learning.Case{cases, notes("dislike", "too short", "too short"), nil} {
		got := Derive(cases, mine, me)
		if len(got) != 1 || got[0].Text != mine[0].Text || got[0].MadeBy != learning.ByPerson || got[0].Directive == nil || got[0].Directive.Value != "short" {
			t.Errorf("in their words: %+v", got)
		}
	}
	nothing := change(func(l *learning.Lesson) { l.Text, l.MadeBy = "Answer me like a pirate.", learning.ByPerson })
	if got := Derive(cases, nothing, me); got[0].Directive != nil {
		t.Errorf("a program would follow %+v of words that say otherwise", got[0].Directive)
	}

	rejected := change(func(l *learning.Lesson) { l.State = learning.LessonRejected })
	if got := Derive(cases, rejected, me); got[0].State != learning.LessonRejected {
		t.Errorf("rejected: %+v", got)
	}
	if got := Derive(notes("dislike", "too long", "too long", "too long", "too long", "too long", "zu lang"), rejected, me); got[0].State != learning.LessonActive {
		t.Errorf("rejected, and asked for three times more: %+v", got)
	}

	if gone := Gone(first, Derive(nil, first, me)); len(gone) != 1 || gone[0].ID != first[0].ID {
		t.Errorf("without events: %+v", gone)
	}
	if gone := Gone(mine, nil); len(gone) != 0 {
		t.Errorf("what a person worded is gone: %+v", gone)
	}
}

// Who floods, or says the same text over and over, is not followed sooner.
func TestAFloodCountsNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	var flood []learning.Case
	for i := range 300 {
		c := say(i+1, "dislike", "too long")
		c.CreatedAt = monday.Add(time.Duration(i) * time.Second)
		flood = append(flood, c)
	}
	list := weigh(flood, "me")
	sum := 0.0
	for _, w := range list {
		sum += w.weight
	}
	if sum > hourly+1e-6 {
		t.Errorf("300 events in five minutes count %.1f", sum)
	}
	// A week of notes stands against an hour of flood.
	var week []learning.Case
	for i := range 45 {
		c := say(1000+i, "dislike", "too short")
		c.CreatedAt = monday.Add(time.Duration(i) * 4 * time.Hour)
		week = append(week, c)
	}
	if got := digest(Derive(append(flood, week...), nil, me)); strings.Contains(got, "short") {
		t.Errorf("the flood won: %s", got)
	}

	same := notes("like", "", "", "", "", "", "", "", "")
	for i := range same {
		same[i].Answer = listAnswer
		if i%2 == 0 {
			same[i].Answer, same[i].Signal, same[i].Score = longAnswer, "dislike", -1
		}
	}
	if got := Derive(same, nil, me); len(got) != 0 {
		t.Errorf("two texts, judged again and again: %s", digest(got))
	}
}

func TestOneOfManyPeopleCountsForLittle(t *testing.T) {
	t.Parallel()
	var all []learning.Case
	for i := range 60 {
		c := say(i+1, "dislike", "too long")
		c.UserID = "loud"
		if i%3 == 0 {
			c.Meta["notes"], c.UserID = "too short", fmt.Sprint("person ", i)
		}
		all = append(all, c)
	}
	if got := digest(Derive(all, nil, Scope{})); got != "length=long" {
		t.Errorf("%q: 40 of 60 events are of one person", got)
	}
}

func TestOlderNotesCountLess(t *testing.T) {
	t.Parallel()
	cases := notes("dislike", "too long", "too long", "too short", "too short", "too short")
	for i := range cases[:2] {
		cases[i].CreatedAt = monday.AddDate(-1, 0, i)
	}
	if got := digest(Derive(cases, nil, me)); got != "length=long" {
		t.Errorf("%q", got)
	}
}

func TestEveryRuleMakesALessonThatPasses(t *testing.T) {
	t.Parallel()
	for _, w := range wishes {
		for _, locale := range []string{"de", "en"} {
			l := learning.Lesson{Text: w.text(locale), Directive: w.directive(), MadeBy: learning.ByRule, State: learning.LessonActive}
			if err := Check(l, nil, []string{"rag.search_v1", "web_search"}); err != nil {
				t.Errorf("%s: %v", l.Text, err)
			}
			if got, ok := said(l); !ok || got != w {
				t.Errorf("%s is read as %+v", l.Text, got)
			}
			if d := Read(l.Text); w.directive() != nil && !reflect.DeepEqual(d, w.directive()) {
				t.Errorf("%s: a program follows %+v", l.Text, d)
			}
			if w.opposite().opposite() != w || w.opposite().kind != w.kind {
				t.Errorf("the opposite of %s is %s", l.Text, w.opposite().en)
			}
		}
	}
}
