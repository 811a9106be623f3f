// Package lesson makes sentences about how a person wants to be answered out of
// what they said of answers, and puts them in front of a model.
//
// Rules read what notes ask for and compare the shapes of answers that were
// liked, disliked and corrected; a language model may add sentences. A gate
// compares answers with and without them. It is pure: no clock, no map order,
// no model, no database. It may import learning, model, words, id and fault.
package lesson

// Scope is whose lessons are derived, and of which situation.
type Scope struct {
	UserID    string
	ClusterID string // empty: of all answers (persona)
	// Locale is the language that lessons are written in, "de" or "en"; empty:
	// that of most of what the person wrote.
	Locale string
}

// MaxLessons is how many lessons an adapter lists at most.
const MaxLessons = 12
