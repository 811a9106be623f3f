package grounding

import (
	"iter"
	"slices"
	"strings"
)

// Reading is an answer as it is read, block by block: what a sentence was about
// is what the next one may go on with.
type Reading struct {
	evidence *Evidence
	topic    topic
	ask      Checker // nil: nobody is asked
	shown    string  // the end of what may be shown
	checked  Checked
}

// topic is what the sentences before one were about.
type topic struct {
	rows    []int32   // the things the last of them that named any was about
	days    []day     // that the last sentence said
	numbers []float64 // that it said
	earlier []float64 // that those before it said
	shares  []float64 // in percent, that it said
	english bool      // the last of which it can be told was English
}

// Read begins an answer.
func (e *Evidence) Read() *Reading {
	return &Reading{evidence: e}
}

// Judge goes through a block, sentence by sentence: each piece is what may be
// shown of one. cite gives the number of a record's citation; it is called for
// what is shown only, and a caller that stops at what is unsupported is told no
// more. A sentence that may not be shown is nothing the next one goes on with.
func (r *Reading) Judge(block string, cite func(Record) int) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		ends := sentences(block)
		verdicts, from := r.verdicts(block, ends), 0
		for i, end := range ends {
			s := r.evidence.read(block[from:end], r.topic)
			p := Piece{Raw: end - from, Unsupported: s.unsupported()}
			if verdicts != nil {
				p.Unsupported = r.decide(s, p.Unsupported, verdicts[i])
			}
			if p.Unsupported == nil {
				s.write(&p, cite)
				r.topic = s.next()
				r.show(s.text)
			}
			if !yield(p) {
				return
			}
			from = end
		}
	}
}

// Shown takes in what was shown of the answer before.
func (r *Reading) Shown(text string) {
	ask := r.ask
	r.ask = nil
	defer func() { r.ask = ask }()
	for range r.Judge(text, func(Record) int { return 1 }) {
	}
}

// Judge reads a block that is the whole of an answer.
func (e *Evidence) Judge(block string, cite func(Record) int) iter.Seq[Piece] {
	return e.Read().Judge(block, cite)
}

// mostTopics is how many things a sentence may be about for the next one to go on
// with them: more are a list, and a pronoun stands for none of it.
const mostTopics = 3

// mostEarlier is how many numbers of before the last sentence one may reckon with.
const mostEarlier = 6

// next is what the sentence after this one may go on with.
func (s *sentence) next() topic {
	t := topic{rows: s.topic.rows, days: s.saidDays(), earlier: append(slices.Clip(s.topic.numbers), s.topic.earlier[:min(mostEarlier, len(s.topic.earlier))]...), english: s.english()}
	for i := range s.claims {
		if c := &s.claims[i]; c.sort == sortNumber && c.unit == percent {
			t.shares = append(t.shares, c.value)
		} else if c.sort == sortNumber {
			t.numbers = append(t.numbers, c.value)
		}
	}
	if rows := s.about(); len(rows) > 0 {
		t.rows = rows
	}
	return t
}

// about are the things a sentence names, or says something of that only they
// have; nil: of none, or of many.
func (s *sentence) about() []int32 {
	var all []int32
	for i := range s.clauses {
		c := &s.clauses[i]
		if c.marked {
			all = merge(all, c.rows)
			continue
		}
		all = merge(all, s.likeliest(c))
	}
	if len(all) > mostTopics {
		return nil
	}
	return all
}

func merge(a, b []int32) []int32 {
	for _, r := range b {
		if !slices.Contains(a, r) {
			a = append(a, r)
		}
	}
	return a
}

// likeliest are the rows that hold most of what a clause says.
func (s *sentence) likeliest(c *clause) []int32 {
	score := map[int32]int{}
	for f, values := range c.mentions {
		for _, v := range values {
			for _, r := range s.has[mention{f, v}] {
				if s.fits(r, c) {
					score[r] += 3
				}
			}
		}
	}
	for i := range s.claims {
		x := &s.claims[i]
		if x.sort == sortName || s.clauseOf(x) != c || s.counted(x) || x.sort == sortNumber && x.value < 10 {
			continue
		}
		for _, k := range x.keys {
			for _, r := range s.index[k.resolve(s.today)] {
				if r > now && s.Evidence.rows[r].list >= 0 && s.fits(r, c) {
					score[r] += 2
				}
			}
		}
	}
	most := 0
	for _, n := range score {
		most = max(most, n)
	}
	var rows []int32
	for r, n := range score {
		if n == most {
			rows = merge(rows, []int32{s.wholeOf(r)})
		}
	}
	if len(rows) > mostTopics {
		return nil
	}
	slices.Sort(rows)
	return rows
}

// saidDays are the days that a sentence says of what it is about.
func (s *sentence) saidDays() (said []day) {
	for i := range s.claims {
		x := &s.claims[i]
		if x.sort != sortDate {
			continue
		}
		for _, d := range s.daysOf(x) {
			if !slices.Contains(said, d) {
				said = append(said, d)
			}
		}
	}
	return said
}

// pronouns stand for what was spoken of.
var pronouns = words(`er sie es ihm ihr ihn ihnen sein seine seiner seinem seinen seines ihre ihrer ihrem ihren ihres dessen deren dieser diese dieses diesem diesen
	dort darin dafür dazu danach davor damit davon daran dabei it its he she his her him hers they them their this that there these`)

// others are words by which a sentence turns to something else than was spoken of,
// or to all of it.
var others = words(`nächste nächster nächstes nächsten andere anderer anderes anderen weitere weiterer weiteres weiteren letzte letzter letzten
	insgesamt zusammen gesamt alle allen aller beide beiden jede jeder jedes jeweils je keine kein sonst außerdem durchschnittlich
	next other others another last further total together all both each every none no otherwise average altogether overall`)

// mostBeforePronoun is how many words may stand before one that goes on with what
// was spoken of: further on it is of the sentence itself.
const mostBeforePronoun = 8

// goesOn gives the clauses that name nothing what was spoken of before.
func (s *sentence) goesOn() {
	if len(s.topic.rows) == 0 || s.lenient || s.hasWord(adding) {
		return
	}
	for i := range s.clauses {
		c := &s.clauses[i]
		if c.marked || len(c.mentions) > 0 {
			return
		}
	}
	stands, words := s.refersToAll(), 0
	for i, t := range s.scanner.tokens {
		w := s.scanner.lower(i)
		if others[w] && !s.refersToAll() {
			return
		}
		if t.t != 's' && t.t != 'p' {
			words++
		}
		stands = stands || words <= mostBeforePronoun && t.start < s.parts[0].end && pronouns[w] && !s.pointsAtTime(i) && (w != "there" || !toBe[s.scanner.lower(i+2)]) && (w != "es" || s.scanner.lower(i+2) != "gibt" && s.scanner.lower(i-2) != "gibt")
	}
	if !stands {
		return
	}
	for i := range s.clauses {
		s.clauses[i].marked, s.clauses[i].goesOn, s.clauses[i].rows = true, true, s.topic.rows
	}
}

// refersToAll reports whether a sentence begins with both, of what was spoken of.
func (s *sentence) refersToAll() bool {
	first := strings.ToLower(firstWord(strings.TrimLeft(s.blank, "-* ")))
	return (first == "beide" || first == "both") && len(s.topic.rows) > 1 && len(s.whole.seen) == 0
}

// toBe follows a there that points nowhere.
var toBe = words("is are was were will")

// pointsAtTime reports whether a word points at a time and at nothing that was
// spoken of: this week.
func (s *sentence) pointsAtTime(i int) bool {
	next := s.scanner.lower(i + 2)
	return unitOf(next) != noUnit || weekdayWords[next] > 0 || monthWords[next] > 0
}

// whole is the thing that a row is a part of.
func (e *Evidence) wholeOf(r int32) int32 {
	for e.rows[r].record == nil && e.rows[r].parent >= 0 && e.rows[e.rows[r].parent].list >= 0 {
		r = e.rows[r].parent
	}
	return r
}
