// Package grounding tells whether a text says only what stands in evidence: the
// results of the calls of a run, a person's own words, and the day it is. It
// finds the ids, dates, numbers, dockets and names in a text, and the markers a
// model writes for links; it calls no model itself, and knows no store and no
// assistant.
//
// It goes in this order:
//
//  1. Results are taken in (evidence.go; given.go: what the person said, and what
//     earlier answers cited) as rows: an object is a row, with its
//     numbers and what they are of (measures.go), its days, and its short texts,
//     which a sentence may mention it by (mentionable.go, phrases.go). What the
//     words of names and values mean is noted in both languages (concepts.go).
//  2. An answer is read block by block (topic.go), and a block sentence by
//     sentence (sentences.go), each with what those before it were about: "his
//     deposit" is that of one tenant.
//  3. A sentence is searched for claims (scan.go; ids.go, numbers.go, words.go,
//     dates.go, clock.go, names.go) and for markers (markers.go).
//  4. It is divided into clauses, and each is tied to the rows that it mentions or
//     goes on with (judge.go, mentions.go). The figure of a row that is of something
//     else supports nothing. A sentence with markers is of the records that these
//     name, and of what is tied to them (own.go).
//  5. Each claim must stand in such a row, in whatever form German and English
//     write it (support.go), or follow from such rows by one of a few
//     computations: a count of what the sentence says (tally.go, with filters.go and
//     windows.go; else count.go, things.go, sizes.go), a time between two days or times
//     of day (apart.go; spans.go, ages.go), a share (shares.go), a sum or a difference
//     (derived.go, computed.go). A small number is always one of something,
//     so it must be the number of what it is said of.
//  6. Names that no evidence holds are found by lists of given names and places,
//     by capitals in English, and by the names they change one word of (people.go,
//     gazetteer.go); two names that belong to different things are told apart.
//     What a result says is not so may not be said of it (polarity.go).
//  7. A model may be asked about the sentences of a block too (check.go, and
//     check.txt for what it is told). It may hold back what the rules let pass; what
//     they doubt it may let pass by values that stand in evidence.
//  8. What is supported is written with citations and chips (write.go).
//
// The rules understand no sentence: a wrong verb passes them, and so does most of
// what a sentence denies.
//
// It may import the standard library only.
package grounding

import (
	"time"
)

// Checks says which kinds of claims a text is checked for.
type Checks struct {
	IDs     bool // ids, dockets and addresses
	Dates   bool // days, months, times of day, weekdays
	Numbers bool // figures, in digits and words
	Refs    bool // markers, quoted names and parties
}

// Options are how a text is judged.
type Options struct {
	Checks Checks
	// Cite has sentences that hold no marker cited by the record they are
	// supported by.
	Cite bool
	// Markers are words that stand for an entity, in markers and in sentences:
	// frist for deadline. An entity stands for itself.
	Markers map[string]string
}

// Record is something a result holds that a text may cite and link to.
type Record struct {
	Entity string `json:"entity"`
	ID     string `json:"id"`
	Line   string `json:"line,omitempty"` // how it is told
	Title  string `json:"title,omitempty"`
	Href   string `json:"href,omitempty"` // where it opens; empty: nowhere
	Call   string `json:"call,omitempty"` // that returned it
	Source string `json:"source,omitempty"`
	// Earlier says that an answer before this one cited it: it may be cited again
	// and not be linked to, as nobody looked whether it is still there (GRND-18).
	Earlier bool `json:"earlier,omitempty"`
}

// Kind says which part of a result holds records, and of what entity.
type Kind struct {
	In     string // the member of the result; empty: the result itself
	Entity string
	ID     string                 // the member of a record that holds its id
	Page   func(id string) string // where one opens; nil: nowhere
	List   string                 // where all open; empty: nowhere
	Source string
	// Tell gives a record's line and title.
	Tell func(values map[string]any) (line, title string)
}

// Result is what a call returned.
type Result struct {
	Call  string // its id
	Tool  string
	Value any // as JSON has it
	Kinds []Kind
}

// Chip is a link that a text asks for.
type Chip struct {
	Kind   string `json:"kind"`   // the entity, or nav, or filter
	Action string `json:"action"` // open, go or filter
	ID     string `json:"id"`     // of the record; the path; the filter
	Href   string `json:"href"`
	Label  string `json:"label,omitempty"`
	Source string `json:"source,omitempty"`
}

// Piece is a part of a judged text. Text is what may be shown of it.
type Piece struct {
	Raw         int    // bytes of the judged text it stands for
	Text        string // with the numbers of citations; empty where nothing may be shown
	Chips       []Chip
	Unsupported []string // what stands in no evidence, as it was written; nil: all of it does
}

// day is a date without a time, as days since 1970.
type day int64

func dayOf(t time.Time) day {
	y, m, d := t.Date()
	return ymd(y, int(m), d)
}

func ymd(y, m, d int) day {
	return day(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func (d day) time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

func (d day) weekday() time.Weekday { return d.time().Weekday() }
