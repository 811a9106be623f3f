// Package dataset makes what an adapter is trained with out of what a person
// said of answers: rows to imitate, pairs to prefer one of, answers to avoid,
// and the rows that are held out to measure with.
//
// It is pure: the same cases at the same time give the same bytes, in whatever
// order they come (CLUS-07 asks this of what is learnt; a job that is made again
// after a crash relies on it). It may import learning, redact and words; it
// knows no database, no tokenizer and no disk.
package dataset

import (
	"math"
	"time"

	"liminal/internal/learning"
	"liminal/internal/words"
)

// Turn is what one side of a conversation said.
type Turn struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// Case is an event with all that training reads of its conversation.
type Case struct {
	learning.Case
	// Turns are the messages on the shown path before the answer, oldest first,
	// of at most 200 messages (TRAIN-02); the last is what it is an answer to.
	Turns []Turn
	// TurnID is the message that the answer answers: answers with the same are
	// versions of one turn, and make pairs. Empty: not known.
	TurnID string
	// Withheld says that the answer was not shown, or its turn was judged unsafe
	// or of a kind nothing is learnt from (TRAIN-13).
	Withheld bool
	// Untrusted says that the answer was made with text from the web: what stands
	// in it may be somebody else's wish. Its correction is the person's own.
	Untrusted bool
}

// Row is one answer to imitate, as dataset.jsonl keeps it (TRAIN-03).
type Row struct {
	Prompt         []Turn  `json:"prompt"`
	Target         string  `json:"target"`
	Weight         float64 `json:"weight"`  // above 0
	Context        string  `json:"context"` // what the answer was an answer to
	ConversationID string  `json:"conversation_id"`
	MessageID      string  `json:"message_id"`

	EventID int64  `json:"-"`
	UserID  string `json:"-"`
	Tokens  int    `json:"-"` // prompt and target together
	Teacher int    `json:"-"` // of a training by others' answers: whose, by number

	at    time.Time
	asked string // the last words of the person
}

// Pair is two answers to one question, one of them better, as pairs.jsonl keeps
// it.
type Pair struct {
	Prompt         []Turn  `json:"prompt"`
	Chosen         string  `json:"chosen"`
	Rejected       string  `json:"rejected"`
	Weight         float64 `json:"weight"`
	ConversationID string  `json:"conversation_id"`
	MessageID      string  `json:"message_id"` // of the better, or of what was corrected

	EventID  int64 `json:"-"`
	WorseID  int64 `json:"-"` // the event that rejected the other; 0: the same event
	Tokens   int   `json:"-"` // of both
	HeldBack bool  `json:"-"` // a measure of alignment: its conversation is held out
}

// Unpaired is an answer to avoid, with no better one known, as unpaired.jsonl
// keeps it.
type Unpaired struct {
	Prompt         []Turn  `json:"prompt"`
	Completion     string  `json:"completion"`
	Weight         float64 `json:"weight"`
	ConversationID string  `json:"conversation_id"`
	MessageID      string  `json:"message_id"`

	EventID  int64 `json:"-"`
	Tokens   int   `json:"-"`
	HeldBack bool  `json:"-"`
}

// Options are the numbers of policy.learning that a dataset is made with.
type Options struct {
	// Now is when the job was claimed: weights fall from it.
	Now time.Time
	// Tokens counts a prompt, written as the model reads it, and a target. nil:
	// words, as the fallback tokenizer counts them (TRAIN-05).
	Tokens func(prompt []Turn, target string) (ofPrompt, ofTarget int)
	// Shared says that the cases are of several people who allow it.
	Shared bool
	// Owner is whose adapter it is: what others said is left out, whoever handed it
	// in. Empty, or where Shared: nobody is looked for.
	Owner string

	Turns       int           // of a prompt at most, the last ones
	HalfLife    time.Duration // after which an event weighs half
	LeastTarget int           // tokens
	MostTarget  int
	MostRow     int // tokens of prompt and target (TRAIN-04)
	Budget      int // tokens of all rows, pairs and others together (TRAIN-04); 0: any

	Hourly      int     // events of a person in an hour, above which each weighs less
	TargetShare float64 // of the weight that one target may have
	PersonShare float64 // of the weight that one person may have, where Shared

	HeldShare float64 // of the rows, the newest (TRAIN-06)
	LeastHeld int
	Near      int // bits in which the hashes of near-duplicates differ at most
	LeastRows int // to train on, beside those that are held out
}

// DefaultOptions are the numbers a house begins with.
func DefaultOptions(now time.Time) Options {
	return Options{
		Now: now, Turns: 50, HalfLife: 90 * 24 * time.Hour, LeastTarget: 8, MostTarget: 1024, MostRow: 2048,
		Hourly: 30, TargetShare: 0.2, PersonShare: 0.05, HeldShare: 0.1, LeastHeld: 4, Near: 3, LeastRows: 8,
	}
}

// Dataset is what a job is trained and measured with.
type Dataset struct {
	Train    []Row
	Held     []Row
	Pairs    []Pair
	Unpaired []Unpaired
	Manifest Manifest
}

// Enough reports whether there is something to train on and to measure with.
func (d Dataset) Enough() bool { return d.Manifest.Missing == "" }

// Make makes a dataset of cases. What it leaves out is counted in the manifest,
// with the reason.
func Make(cases []Case, o Options) Dataset {
	if o.Tokens == nil {
		o.Tokens = countWords
	}
	m := &maker{o: o, left: map[Reason]int{}}
	kept := m.admit(cases)
	rows := m.rows(kept)
	m.pairs(kept)
	m.unpaired(kept)
	rows = m.distinct(rows)
	rows = m.bound(rows)
	rows = m.within(rows)
	m.split(rows)
	m.manifest(len(cases))
	return m.d
}

// maker is one dataset on its way.
type maker struct {
	o        Options
	left     map[Reason]int
	redacted int            // texts
	of       map[string]int // events of a person in an hour
	damped   int
	capped   int
	d        Dataset
}

// weight is how much an event counts: less when it is old, and when it is one of
// very many within an hour.
func (m *maker) weight(c Case) float64 {
	w := math.Abs(c.Score)
	if age := m.o.Now.Sub(c.CreatedAt); age > 0 && m.o.HalfLife > 0 {
		w *= math.Exp2(-age.Hours() / m.o.HalfLife.Hours())
	}
	if n := m.of[hourOf(c)]; m.o.Hourly > 0 && n > m.o.Hourly {
		w *= float64(m.o.Hourly) / float64(n)
	}
	return w
}

// countWords counts as the fallback tokenizer does.
func countWords(prompt []Turn, target string) (ofPrompt, ofTarget int) {
	for _, t := range prompt {
		ofPrompt += words.Tokens(t.Content) + 1
	}
	return ofPrompt, words.Tokens(target)
}
