package extractive

import (
	"slices"
	"strings"
	"unicode"

	"liminal/internal/words"
)

// kind is what a word says a document is.
type kind struct {
	class  string // words of one class may stand for each other
	plural bool
	any    bool // "document": says nothing about which
	ok     bool
}

// kinds are the words for documents, by class.
var kinds = rules.kinds()

// plurals are the words of kinds that mean more than one.
var plurals = wordSet("plurals")

func kindOf(t token) kind {
	class, ok := kinds[t.text]
	return kind{class: class, plural: plurals[t.text], any: class == anyKind, ok: ok}
}

// isOf reports whether a title says the document is of a kind.
func (d titled) isOf(noun token) bool {
	k := kindOf(noun)
	return k.any || slices.ContainsFunc(d.words(), func(t token) bool {
		return t.is(noun) || t.endsIn(noun) || kinds[t.text] == k.class
	})
}

// What stands around the kind of a document in a phrase.
var (
	links   = wordSet("links")
	sources = wordSet("sources")
	blank   = wordSet("blank")
	verbs   = wordSet("verbs")
	point   = wordSet("point")
)

// phrase is a noun for a document with what narrows it down.
type phrase struct {
	noun      int
	modifiers []int
	pointed   bool // "the", "this", "our" …
	foreign   int  // a name after it that no title holds: "the licence from Oracle"; 0: none
	several   bool // "both", "two"
}

// phrases finds documents by what they are and what they are about: "the leave
// policies", "the Acme contract", "the policy on travel".
func (r *reading) phrases() {
	for i, t := range r.tokens {
		if r.taken[i] || !kindOf(t).ok || r.period(i) {
			continue
		}
		r.phrase(r.around(i))
	}
}

// period reports whether a noun only belongs to the next: "notice period".
func (r *reading) period(i int) bool {
	return i+1 < len(r.tokens) && slices.Contains([]string{"period", "periods", "number", "holder", "maker", "fee", "fees", "key", "keys"}, r.tokens[i+1].text)
}

// around reads the phrase a noun ends.
func (r *reading) around(noun int) phrase {
	p := phrase{noun: noun}
	r.leads(&p)
	r.follows(&p)
	return p
}

// leads reads what stands in front of the noun: "the old leave policy".
func (r *reading) leads(p *phrase) {
	noun, lang := p.noun, words.Detect(r.text)
	for i := noun - 1; i >= 0 && noun-i <= 6; i-- {
		t := r.tokens[i]
		if r.listed(i) {
			p.several = true
			continue
		}
		joins := (t.text == "and" || t.text == "und" || t.text == "or") && kindOf(r.tokens[noun]).plural && len(p.modifiers) > 0
		if joins {
			continue
		}
		if p.pointed = p.pointed || point[t.text]; blank[t.text] || t.text == "both" {
			p.several = p.several || slices.Contains([]string{"two", "both", "three", "beide", "beiden", "zwei", "drei"}, t.text)
			continue
		}
		if r.taken[i] || words.Stop(lang, t.text) || point[t.text] || verbs[t.text] || r.broken(i, i+1) {
			break
		}
		p.modifiers = append(p.modifiers, i)
	}
}

// follows reads what follows the noun: "the policy for leave", "from Oracle".
func (r *reading) follows(p *phrase) {
	noun := p.noun
	for i := noun + 1; i+1 < len(r.tokens) && i <= noun+4; i++ {
		of := r.unglued(i + 1)
		if of == len(r.tokens) || r.taken[of] {
			continue
		}
		near := of == i+1 || glue[r.tokens[i].text] // "with the" begins another name, "of the" does not
		if near && links[r.tokens[i].text] && r.inTitles(r.tokens[of]) && !kindOf(r.tokens[of]).ok && !slices.Contains(p.modifiers, of) {
			p.modifiers = append(p.modifiers, of)
		}
		if sources[r.tokens[i].text] && r.tokens[of].upper && !r.inTitles(r.tokens[of]) && r.Action != doAnswer {
			p.foreign = of
		}
	}
}

// unglued is the first token from i on that is no article or the like.
func (r *reading) unglued(i int) int {
	for i < len(r.tokens) && glue[r.tokens[i].text] {
		i++
	}
	return i
}

// listed reports whether a token joins two numbers of names: "the 2023 and the
// 2024 policy".
func (r *reading) listed(i int) bool {
	number := func(at int) bool {
		return at >= 0 && at < len(r.tokens) && unicode.IsDigit(rune(r.tokens[at].text[0]))
	}
	joint := func(at int) bool {
		return at >= 0 && slices.Contains([]string{"and", "or", "und", "oder"}, r.tokens[at].text)
	}
	switch {
	case joint(i):
		return number(i-1) && (number(i+1) || point[r.tokens[min(i+1, len(r.tokens)-1)].text] && number(i+2))
	case point[r.tokens[i].text]:
		return joint(i-1) && number(i-2) && number(i+1)
	}
	return false
}

// broken reports whether a comma or the like stands between two tokens.
func (r *reading) broken(a, b int) bool {
	return strings.ContainsAny(r.text[r.tokens[a].end:r.tokens[b].start], ",.;:!?()\n")
}

func (r *reading) inTitles(t token) bool {
	return slices.ContainsFunc(r.all, func(d titled) bool { return d.has(t) })
}

// phrase decides what a phrase means. Without modifiers that single a document
// out it points somewhere, which is for pointers to tell.
func (r *reading) phrase(p phrase) {
	noun := r.tokens[p.noun]
	plural := kindOf(noun).plural || p.several
	if p.foreign > 0 && words.Detect(r.text) != words.German {
		r.settle(nil, []int{p.noun, p.foreign}, r.text[noun.start:r.tokens[p.foreign].end], false)
		return
	}
	if len(p.modifiers) == 0 {
		r.bare(p, plural)
		return
	}
	fits := r.narrowed(p, plural)
	span := append(slices.Clone(p.modifiers), p.noun)
	slices.Sort(span)
	if len(fits) == 0 && !r.namelike(p) {
		return // spoken of in passing
	}
	fits = slices.DeleteFunc(fits, func(d titled) bool { return r.found(d.id) && len(fits) > 1 })
	from, to := r.tokens[span[0]].start, r.tokens[span[len(span)-1]].end
	r.settle(fits, span, r.text[from:to], plural)
}

// narrowed are the documents whose titles hold a modifier: all of them for a
// plural, else those that hold most.
func (r *reading) narrowed(p phrase, plural bool) []titled {
	best, fits := 0, []titled(nil)
	for _, d := range r.all {
		score := 0
		for _, i := range p.modifiers {
			if d.has(r.tokens[i]) {
				score += 2
			}
		}
		if score > 0 && d.isOf(r.tokens[p.noun]) {
			score++
		}
		if score > best && !plural {
			fits = nil
		}
		if score > 0 && (score >= best || plural) {
			best, fits = max(best, score), append(fits, d)
		}
	}
	return fits
}

// namelike reports whether a phrase names a document: by a capital, or because
// something is to be done with it.
func (r *reading) namelike(p phrase) bool {
	return slices.ContainsFunc(p.modifiers, func(i int) bool { return r.tokens[i].upper }) || p.pointed && r.Action != doAnswer
}

// bare is a noun alone: the documents of that kind, where the conversation
// has none of them.
func (r *reading) bare(p phrase, plural bool) {
	noun := r.tokens[p.noun]
	if kindOf(noun).any || !p.pointed {
		return
	}
	fits := slices.DeleteFunc(slices.Clone(r.all), func(d titled) bool { return !d.isOf(noun) })
	known := r.ofConversation(fits)
	switch {
	case len(r.Explicit) > 0, len(fits) == 0:
		return
	case len(known) > 0:
		fits, r.implicit = known, true
	}
	r.settle(fits, []int{p.noun}, noun.text, plural)
}
