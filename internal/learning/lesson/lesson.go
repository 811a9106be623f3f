// Package lesson makes sentences about how a person wants to be answered out of
// what they said of answers, and puts them in front of a model.
//
// Rules read what notes ask for and compare the shapes of answers that were
// liked, disliked and corrected; a language model may add sentences. A gate
// compares answers with and without them. It is pure: no clock, no map order,
// no model, no database. It may import learning, model, words, id and fault.
package lesson

import "liminal/internal/learning"

// Scope is whose lessons are derived, and of which situation.
type Scope struct {
	UserID    string
	ClusterID string // empty: of all answers (persona)
	// Locale is the language that lessons are written in, "de" or "en"; empty:
	// that of most of what the person wrote.
	Locale string
}

// Derive reads lessons out of what one person said. cases are theirs, of one
// scope, in any order; had are their lessons of that scope, of every state. It
// returns the lessons that stand now, with their ids, sources and strengths: a
// lesson of had keeps its id and state, one that a person worded keeps its
// words, and one that rules made and nothing supports any more is left out
// (Gone). Times and AdapterID of new ones are left to who stores them.
func Derive(cases []learning.Case, had []learning.Lesson, scope Scope) []learning.Lesson {
	return nil
}

// Made is a sentence that a language model made of events.
type Made struct {
	Text   string
	Events []int64
}

// Merge adds sentences of a language model to derived lessons: those that say
// what a lesson says already, or whose events are not among cases, are left
// out. It returns at most MaxLessons, the derived ones first.
func Merge(derived []learning.Lesson, made []Made, cases []learning.Case, had []learning.Lesson, scope Scope) []learning.Lesson {
	return derived
}

// MaxLessons is how many lessons an adapter lists at most.
const MaxLessons = 12

// Gone are the lessons of had that stand no longer: those that rules or a model
// made, are active and not among now.
func Gone(had, now []learning.Lesson) []learning.Lesson { return nil }

// Read is what a program can follow of a lesson's words, nil for nothing: for
// lessons that a person reworded.
func Read(text string) *learning.Directive { return nil }

// Check refuses a lesson that is no sentence about manner: an error of
// fault.Invalid with the reason. cases are those it was derived from; toolNames
// are the tools of the platform.
func Check(l learning.Lesson, cases []learning.Case, toolNames []string) error { return nil }

// Compose is what a model is told: the lessons that stand, in their order, and
// the answers a person liked. locale is the language of its frame. Empty when
// there is nothing to tell.
func Compose(lessons []learning.Lesson, examples []learning.Case, locale string) string { return "" }

// HeldOut splits cases into those that lessons are derived from and those that
// a gate is asked with: none of them when there are too few.
func HeldOut(cases []learning.Case) (train, held []learning.Case) { return cases, nil }

// Outcome is what a gate decides.
type Outcome string

// The outcomes of a gate.
const (
	OutcomeRule   Outcome = "rule"   // better, and not by chance: may be applied by rule
	OutcomePerson Outcome = "person" // perhaps better: a person decides
	OutcomeNone   Outcome = "none"   // not better: not applied
)

// Compared is one held-out event, answered without and with the lessons.
type Compared struct {
	Case    learning.Case
	Without string
	With    string
	// Preference is what a judging model says in both orders: from -1 (without)
	// to 1 (with); it counts only where Judged is true.
	Preference float64
	Judged     bool
}

// Verdict is what trials say.
type Verdict struct {
	Outcome   Outcome
	Fit       float64 // what the lessons add to how well answers fit, -1 to 1
	Alignment float64 // share of trials in which the answer with them is nearer to what was liked, 0 to 1
	P         float64 // share of resamples in which both are better
	Better    int
	Worse     int
	Alike     int
}

// Judge compares answers with and without lessons. The same trials and seed give
// the same verdict.
func Judge(trials []Compared, seed uint64) Verdict {
	return Verdict{Outcome: OutcomePerson, Alike: len(trials)}
}
