package lesson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"liminal/internal/learning"
)

func TestEventsAreHeldOutWithTheirKin(t *testing.T) {
	t.Parallel()
	var cases []learning.Case
	for i := range 60 {
		c := say(i+1, "like", "")
		c.Question = fmt.Sprintf("What about %s and %s?", unlike[i%len(unlike)], unlike[(i+1+i/len(unlike))%len(unlike)])
		c.ConversationID = fmt.Sprint("conversation ", i/2)
		cases = append(cases, c)
	}
	cases[10].Question = cases[58].Question // nearly the same, in another conversation
	cases[59].Meta["notes"], cases[57].Meta["notes"], cases[3].Meta["notes"] = "too long", "too long", "too long"
	train, held := HeldOut(cases)
	if len(train)+len(held) != len(cases) || len(held) < 8 || len(held) > 15 {
		t.Fatalf("%d and %d", len(train), len(held))
	}
	side := map[string]bool{}
	for _, c := range held {
		side[c.ConversationID], side[c.Question] = true, true
	}
	told := 0
	for _, c := range train {
		if side[c.ConversationID] || side[c.Question] {
			t.Errorf("%s is on both sides", c.Question)
		}
		told += tells(c)
	}
	if told < 2 {
		t.Errorf("%d of three notes are left to learn from", told)
	}
	slices.Reverse(cases)
	again, _ := HeldOut(cases)
	if !reflect.DeepEqual(again, train) {
		t.Error("the order of events changes what is held out")
	}
	if train, held := HeldOut(cases[:11]); len(train) != 11 || held != nil {
		t.Errorf("of 11: %d and %d", len(train), len(held))
	}
}

var unlike = strings.Fields("lighthouses volcanoes contracts bicycles mushrooms telescopes orchids harbours invoices violins glaciers bakeries batteries spiders cathedrals")

// pairs are held-out events of somebody who wants short answers.
func pairs(n int, with func(i int) string) []Compared {
	var out []Compared
	for i := range n {
		c := say(i+1, "dislike", "too long")
		c.Corrected = shortAnswer
		out = append(out, Compared{Case: c, Without: c.Answer, With: with(i)})
	}
	return out
}

func TestTheGateTellsBetterFromChance(t *testing.T) {
	t.Parallel()
	better := func(int) string { return shortAnswer }
	worse := func(i int) string { return longAnswer + longAnswer + fmt.Sprint(i) }
	same := func(i int) string { return say(i+1, "dislike", "").Answer }
	mixed := func(i int) string {
		if i%2 == 0 {
			return worse(i)
		}
		return better(i)
	}
	for name, c := range map[string]struct {
		list []Compared
		want Outcome
	}{
		"all better":        {pairs(8, better), OutcomeRule},
		"three, all better": {pairs(3, better), OutcomePerson},
		"none at all":       {nil, OutcomePerson},
		"three, all worse":  {pairs(3, worse), OutcomeNone},
		"all worse":         {pairs(8, worse), OutcomeNone},
		"all the same":      {pairs(8, same), OutcomeNone},
		"half and half":     {pairs(8, mixed), OutcomeNone},
	} {
		v := Judge(c.list, 7)
		if v.Outcome != c.want || v.Better+v.Worse+v.Alike != len(c.list) || !reflect.DeepEqual(v, Judge(c.list, 7)) {
			t.Errorf("%s: %+v, want %s", name, v, c.want)
		}
	}
	v := Judge(pairs(8, better), 1)
	if v.Better != 8 || v.Fit <= 0.3 || v.Alignment != 1 || v.P != 1 {
		t.Errorf("%+v", v)
	}
	unsure := []Scored{{1, 0.5, 0.6, 1}, {2, 0.5, 0.4, 0}, {3, 0.5, 0.62, 1}, {4, 0.5, 0.5, 0.5}, {5, 0.5, 0.45, 0.5}, {6, 0.5, 0.55, 1}}
	if v := JudgeScores(unsure, 3); v.Outcome != OutcomePerson || v.P >= surely || v.P < 0.5 {
		t.Errorf("a little better: %+v", v)
	}
	objects := slices.Repeat([]Compared{{Case: pairs(1, better)[0].Case, Without: longAnswer, With: longAnswer, Preference: -1, Judged: true}}, 5)
	if s := Score(objects[0]); s.Nearer != 0.25 || Judge(objects, 1).Outcome != OutcomeNone {
		t.Errorf("a judging model that objects: %+v", s)
	}
}

func TestAnAnswerFitsWhatWasLikedAndAskedFor(t *testing.T) {
	t.Parallel()
	liked := say(1, "like", "great table")
	disliked := say(2, "dislike", "")
	for name, c := range map[string]struct {
		better, worse string
		of            learning.Case
	}{
		"the liked answer itself":      {liked.Answer, listAnswer, say(3, "like", "")},
		"what a note asks for":         {shortAnswer, longAnswer, say(3, "dislike", "too long")},
		"with a table":                 {"| a | b |\n|---|---|\n| 1 | 2 |", "It is one and two.", liked},
		"unlike what was disliked":     {listAnswer, disliked.Answer, disliked},
		"German for who asked for it":  {"Die Frist beträgt drei Monate zum Ende des Quartals.", shortAnswer, say(3, "dislike", "auf Deutsch bitte")},
		"without a list for who hates": {longAnswer, listAnswer, say(3, "dislike", "no lists")},
	} {
		if b, w := fit(c.better, c.of), fit(c.worse, c.of); b <= w || b > 1 || w < 0 {
			t.Errorf("%s: %.2f, the other %.2f", name, b, w)
		}
	}
	if r := rouge("one two three four", "one three four five"); r != 0.75 {
		t.Errorf("ROUGE-L %.3f", r)
	}
	if r := rouge("", "a"); r != 0 {
		t.Errorf("of nothing %.3f", r)
	}
}
