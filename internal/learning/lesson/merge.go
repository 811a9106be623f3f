package lesson

import (
	"cmp"
	"slices"
	"strings"

	"liminal/internal/id"
	"liminal/internal/learning"
	"liminal/internal/words"
)

// Made is a sentence that a language model made of events.
type Made struct {
	Text   string
	Events []int64
}

// Merge adds sentences of a language model to the lessons that Derive returned:
// those it made before, as long as an event of theirs is among cases, and new
// ones. Left out is what a lesson says already, also one that is switched off,
// and what names no event among cases. It returns at most MaxLessons that are
// active, those of rules and of the person first.
func Merge(derived []learning.Lesson, made []Made, cases []learning.Case, had []learning.Lesson, scope Scope) []learning.Lesson {
	known := map[int64]bool{}
	for _, c := range cases {
		if !c.Excluded && (scope.UserID == "" || c.UserID == scope.UserID) {
			known[c.ID] = true
		}
	}
	out := slices.Clone(derived)
	for _, l := range had {
		if l.MadeBy != learning.ByModel || find(out, l.ID) != nil {
			continue
		}
		if l.Sources = among(l.Sources, known); len(l.Sources) > 0 || l.State == learning.LessonOff {
			out = append(out, l)
		}
	}
	var fresh []learning.Lesson
	for _, m := range made {
		text, sources := sentence(m.Text), among(m.Events, known)
		if text == "" || len(sources) == 0 || repeats(text, out) || repeats(text, fresh) {
			continue
		}
		fresh = append(fresh, learning.Lesson{
			ID: id.Derive("lesson", scope.UserID, scope.ClusterID, "made", words.Fold(text)), UserID: scope.UserID, ClusterID: scope.ClusterID,
			Text: text, Directive: Read(text), MadeBy: learning.ByModel, State: learning.LessonActive, Sources: sources,
			Strength: float64(len(sources)) / float64(len(sources)+fewest),
		})
	}
	slices.SortStableFunc(fresh, func(a, b learning.Lesson) int { return cmp.Compare(b.Strength, a.Strength) })
	active := 0
	return slices.DeleteFunc(append(out, fresh...), func(l learning.Lesson) bool {
		if l.State == learning.LessonActive {
			active++
		}
		return l.State == learning.LessonActive && active > MaxLessons
	})
}

// among are the events that are known, each once.
func among(events []int64, known map[int64]bool) []int64 {
	var out []int64
	for _, e := range events {
		if known[e] && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	slices.Sort(out)
	return out
}

// sentence is a text on one line, with a mark at its end.
func sentence(text string) string {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), "-*• \"")
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".!") {
		text += "."
	}
	return text
}

// sameWords is the share of words in common from which one lesson repeats
// another.
const sameWords = 0.6

// repeats reports whether a lesson of list says what text says, or the opposite
// of it: rules and the person come first.
func repeats(text string, list []learning.Lesson) bool {
	stems := stemSet(text)
	about := heard(text, true)
	for _, l := range list {
		if strings.EqualFold(text, l.Text) || overlap(stems, stemSet(l.Text)) >= sameWords {
			return true
		}
		was, ok := said(l)
		if ok && slices.ContainsFunc(about, func(w wish) bool { return w.kind == was.kind }) {
			return true
		}
	}
	return false
}

func stemSet(text string) []string {
	stems := words.Stems(words.Detect(text), text)
	slices.Sort(stems)
	return slices.Compact(stems)
}

// overlap is the share of two sorted lists that is in both.
func overlap(a, b []string) float64 {
	both := 0
	for _, s := range a {
		if _, in := slices.BinarySearch(b, s); in {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}
