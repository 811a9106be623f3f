package lesson

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"liminal/internal/id"
	"liminal/internal/learning"
	"liminal/internal/words"
)

// What an event says for a wish. Words count more than shapes, and what was
// written as it should have been more than a thumb, which may mean anything.
const (
	noteWeight       = 1.5  // its note asks for it
	standingWeight   = 3    // its note asks for it, and its signal is always or never
	correctionWeight = 1    // the answer lacks it, and the correction has it
	absence          = 0.5  // of that, where the correction lacks what the answer has: it may just be plainer
	thumbWeight      = 0.45 // liked and has it, or disliked and lacks it, where that tells liked from disliked ones

	enough     = 2.5 // that makes a lesson: one standing note, two notes, three corrections, six thumbs
	fewest     = 3   // events that make one without a note
	leastShare = 0.5 // of all that is said of a kind, for less against it counts

	halfLife    = 90 * 24 * time.Hour // after which an event counts half
	hourly      = 30                  // events of an hour that count in full; more of them count no more together
	personShare = 0.05                // of what several people said, the most that one of them counts for
	targetShare = 0.2                 // of all events, the most that one text counts for that is given again and again
)

// Derive reads lessons out of what one person said. cases are theirs, of one
// scope, in any order; had are their lessons of that scope, of every state. It
// returns the lessons that stand now, with their ids, sources and strengths: a
// lesson of had keeps its id and state, one that a person worded keeps its
// words, and one that rules made and nothing supports any more is left out
// (Gone). Times and AdapterID of new ones are left to who stores them.
//
// A wish becomes a lesson when what events say for it, less what they say
// against it, reaches 2.5: a note counts 1.5 (3 with always or never), a
// correction 1 (½ for what it leaves out), a thumb 0.45 where liked and disliked
// answers differ in it; older events count less. From shapes alone no
// fewer than three events make one, so three thumbs never do. Wishes that
// contradict each other cancel.
func Derive(cases []learning.Case, had []learning.Lesson, scope Scope) []learning.Lesson {
	list := weigh(cases, scope.UserID)
	locale := cmp.Or(scope.Locale, spoken(list))
	usual := usualShape(list)
	var out []learning.Lesson
	for _, k := range kinds {
		before := find(had, scope.idOf(k))
		now, stands := conclude(evidenceOf(k, list, usual))
		if l, ok := scope.lesson(k, now, stands, before, locale); ok {
			out = append(out, l)
		}
	}
	return append(out, reworded(had, out)...)
}

// idOf is the id of a lesson of a kind: one of each kind in a scope.
func (s Scope) idOf(k kind) string { return id.Derive("lesson", s.UserID, s.ClusterID, string(k)) }

func find(list []learning.Lesson, id string) *learning.Lesson {
	i := slices.IndexFunc(list, func(l learning.Lesson) bool { return l.ID == id })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// lesson is what a scope keeps of a kind; false for nothing.
func (s Scope) lesson(k kind, now conclusion, stands bool, before *learning.Lesson, locale string) (learning.Lesson, bool) {
	if before != nil && before.MadeBy == learning.ByPerson {
		l := *before
		l.Directive = Read(l.Text)
		return l, true // their words stand, whatever else they said
	}
	if !stands {
		if before != nil && before.State == learning.LessonOff {
			return *before, true // what they switched off is remembered, or it would come back
		}
		return learning.Lesson{}, false
	}
	w := wishOf(k, now.value)
	l := learning.Lesson{
		ID: s.idOf(k), UserID: s.UserID, ClusterID: s.ClusterID, Text: w.text(locale), Directive: w.directive(),
		Strength: now.strength, State: learning.LessonActive, MadeBy: learning.ByRule, Sources: now.sources,
	}
	if before != nil {
		l.AdapterID, l.CreatedAt, l.UpdatedAt = before.AdapterID, before.CreatedAt, before.UpdatedAt
		if was, ok := said(*before); ok && was == w {
			l.State = stateAgain(*before, now.sources)
		}
	}
	return l, true
}

// retry is how many events more bring a lesson before the gate again that it
// rejected.
const retry = 3

// stateAgain is the state of a lesson that is derived once more.
func stateAgain(before learning.Lesson, sources []int64) learning.LessonState {
	if before.State != learning.LessonRejected {
		return before.State
	}
	fresh := 0
	for _, s := range sources {
		if !slices.Contains(before.Sources, s) {
			fresh++
		}
	}
	if fresh >= retry {
		return learning.LessonActive
	}
	return before.State
}

// reworded are the lessons of had that a person worded and that are of no kind
// of the rules.
func reworded(had, out []learning.Lesson) []learning.Lesson {
	var more []learning.Lesson
	for _, l := range had {
		if l.MadeBy == learning.ByPerson && find(out, l.ID) == nil {
			l.Directive = Read(l.Text)
			more = append(more, l)
		}
	}
	return more
}

// Gone are the lessons of had that stand no longer: those that rules or a model
// made, are active and not among now.
func Gone(had, now []learning.Lesson) []learning.Lesson {
	var out []learning.Lesson
	for _, l := range had {
		if l.MadeBy != learning.ByPerson && l.State == learning.LessonActive && find(now, l.ID) == nil {
			out = append(out, l)
		}
	}
	return out
}

// weighed is a case with what it counts for.
type weighed struct {
	learning.Case
	weight float64 // of its words
	shape  float64 // of its shapes: less where one text is given again and again
	is     shape   // of the answer
	want   shape   // of the correction, where there is one
	wishes []wish  // of its note
}

// weigh reads cases: what was said last of each answer, by ascending id. Age
// counts from the newest of them, so that it needs no clock.
func weigh(cases []learning.Case, user string) []weighed {
	cases = slices.Clone(cases)
	slices.SortStableFunc(cases, func(a, b learning.Case) int { return cmp.Compare(a.ID, b.ID) })
	last, newest := map[string]int64{}, time.Time{}
	for _, c := range cases {
		if c.MessageID != "" {
			last[c.MessageID] = c.ID
		}
		if c.CreatedAt.After(newest) {
			newest = c.CreatedAt
		}
	}
	var out []weighed
	for _, c := range cases {
		if c.Excluded || user != "" && c.UserID != user || c.MessageID != "" && last[c.MessageID] != c.ID || c.Score == 0 ||
			len(out) > 0 && out[len(out)-1].ID == c.ID {
			continue
		}
		w := weighed{Case: c, weight: math.Abs(c.Score), is: shapeOf(c.Answer), wishes: heard(c.Notes(), c.Score > 0)}
		if !c.CreatedAt.IsZero() {
			w.weight *= math.Exp2(-float64(newest.Sub(c.CreatedAt)) / float64(halfLife))
		}
		if c.Corrected != "" {
			w.want = shapeOf(c.Corrected)
		}
		out = append(out, w)
	}
	damp(out)
	return out
}

// damp lessens what comes in a flood, and what is always the same (poison).
func damp(list []weighed) {
	hours, targets, people := map[int64]int{}, map[string]int{}, map[string]int{}
	for _, w := range list {
		people[w.UserID]++
		if !w.CreatedAt.IsZero() {
			hours[w.CreatedAt.Unix()/3600]++
		}
		targets[target(w.Case)]++
	}
	most, mostOfOne := max(1, targetShare*float64(len(list))), max(1, personShare*float64(len(list)))
	for i := range list {
		w := &list[i]
		if len(people) > 1 {
			w.weight *= min(1, mostOfOne/float64(people[w.UserID]))
		}
		if n := hours[w.CreatedAt.Unix()/3600]; n > hourly {
			w.weight *= hourly / float64(n)
		}
		w.shape = w.weight * min(1, most/float64(targets[target(w.Case)]))
	}
}

// target is the text that an event says is as it should be, or is not.
func target(c learning.Case) string {
	return strings.Join(strings.Fields(words.Fold(cmp.Or(c.Corrected, c.Answer))), " ")
}

// spoken is the language a person mostly writes, "de" or "en".
func spoken(list []weighed) string {
	german := 0
	for _, w := range list {
		text := cmp.Or(w.Notes(), w.Question)
		switch {
		case strings.TrimSpace(text) == "":
		case words.Detect(text) == words.German:
			german++
		default:
			german--
		}
	}
	if german > 0 {
		return string(words.German)
	}
	return string(words.English)
}

// usualShape is what the person's answers mostly look like, as far as a shape
// is compared with it.
func usualShape(list []weighed) shape {
	var sizes, sentences []float64
	for _, w := range list {
		if w.is.words > 0 {
			sizes, sentences = append(sizes, float64(w.is.words)), append(sentences, w.is.sentence)
		}
	}
	return shape{words: int(median(sizes)), sentence: median(sentences)}
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}
