package extractive

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"liminal/internal/words"
)

// everything means all of a person's documents.
var everything = flatPattern("everything")

// find takes a document as named by tokens of the message.
func (r *reading) find(d titled, at int, tokens ...int) {
	r.mentions = append(r.mentions, mention{d.id, at})
	for _, i := range tokens {
		r.taken[i] = true
	}
}

func (r *reading) found(id string) bool {
	return slices.ContainsFunc(r.mentions, func(m mention) bool { return m.id == id })
}

// called is one name of a document.
type called struct {
	titled
	name []token
}

// called are all names of all documents, the longest first: "Leave Policy 2024"
// is not "Leave Policy" as well.
func (r *reading) called() []called {
	var out []called
	for _, d := range r.all {
		for _, name := range d.names() {
			out = append(out, called{d, name})
		}
	}
	slices.SortStableFunc(out, func(a, b called) int { return cmp.Compare(len(b.name), len(a.name)) })
	return out
}

// wholeTitles finds the names that stand in the message word for word, whatever
// articles stand between.
func (r *reading) wholeTitles() {
	for _, d := range r.called() {
		for at := 0; len(d.name) > 0 && at+len(d.name) <= len(r.tokens); at++ {
			if span := r.standsAt(d.name, at); span != nil && !(d.common && len(span) == 1 && r.spokenOf(at)) {
				r.find(d.titled, r.tokens[at].start, span...)
			}
		}
	}
}

// standsAt are the tokens of the message that are a name, from one of them on;
// nil where the name does not stand there.
func (r *reading) standsAt(name []token, at int) []int {
	var span []int
	for _, t := range name {
		for len(span) > 0 && at < len(r.tokens) && glue[r.tokens[at].text] {
			at++
		}
		if at == len(r.tokens) || r.taken[at] || !t.is(r.tokens[at]) {
			return nil
		}
		span = append(span, at)
		at++
	}
	return span
}

// spokenOf reports whether a word that is a whole title only tells what a
// question is about: "What does a lease cost?"
func (r *reading) spokenOf(i int) bool {
	return r.Action == doAnswer && !r.nameLike(i) && !(i > 0 && point[r.tokens[i-1].text])
}

// scattered finds names of several words that all stand somewhere in the
// message, at least a distinctive one of them in no other name: the second of
// "Leave Policy 2023 and 2024".
func (r *reading) scattered() {
	for _, d := range r.called() {
		if len(d.name) < 2 || r.found(d.id) {
			continue
		}
		var span []int
		fresh, first := false, len(r.text)
		for _, t := range d.name {
			at := r.free(t)
			if at < 0 {
				span = nil
				break
			}
			span = append(span, at)
			fresh = fresh || !r.taken[at] && !kindOf(r.tokens[at]).ok
			first = min(first, r.tokens[at].start)
		}
		if span != nil && fresh {
			r.find(d.titled, first, span...)
		}
	}
}

// free is where a word stands, preferably outside of names; -1 when nowhere.
func (r *reading) free(t token) int {
	at := slices.IndexFunc(r.tokens, t.is)
	for i, o := range r.tokens {
		if t.is(o) && !r.taken[i] {
			return i
		}
	}
	return at
}

// Names that are marked as names.
var (
	handle = regexp.MustCompile(`@([\pL\pN][\pL\pN_.-]*[\pL\pN])`)
	paper  = regexp.MustCompile(`(?i)[\pL\pN][\pL\pN_-]*\.(?:pdf|docx?|pptx?|xlsx?|md|txt|html?|csv|rtf|odt)\b`)
	quoted = regexp.MustCompile(`["“„«]([^"“”„«»]{3,80})["”“»]`)
)

// handles finds what is marked as a name: @handles, names of files, and quotes.
func (r *reading) handles() {
	for i, mark := range []*regexp.Regexp{handle, paper, quoted} {
		for _, loc := range mark.FindAllStringSubmatchIndex(r.text, -1) {
			start, end := loc[len(loc)-2], loc[len(loc)-1]
			span := r.within(start, end)
			if len(span) == 0 || slices.ContainsFunc(span, func(i int) bool { return r.taken[i] }) {
				continue
			}
			fits := r.fitting(span)
			if len(fits) == 0 && mark == quoted {
				continue // a quote may be anything
			}
			r.settle(fits, span, r.text[start:end], i == 0)
		}
	}
}

// within are the tokens between two bytes.
func (r *reading) within(start, end int) []int {
	var out []int
	for i, t := range r.tokens {
		if t.start >= start && t.end <= end {
			out = append(out, i)
		}
	}
	return out
}

// fitting are the documents whose titles hold every one of some words.
func (r *reading) fitting(span []int) []titled {
	var out []titled
	for _, d := range r.all {
		if !slices.ContainsFunc(span, func(i int) bool { return !d.has(r.tokens[i]) }) {
			out = append(out, d)
		}
	}
	return out
}

// settle takes what fits a name: one document is meant, several are to choose
// from, none makes the name unknown.
func (r *reading) settle(fits []titled, span []int, name string, plural bool) {
	for _, i := range span {
		r.taken[i] = true
	}
	at := r.tokens[span[0]].start
	if known := r.ofConversation(fits); len(fits) > 1 && len(known) == 1 {
		fits = known
	}
	if len(fits) > 1 && !plural {
		if beside := r.beside(fits, span); len(beside) == 1 {
			fits = beside
		}
	}
	switch {
	case len(fits) == 0:
		r.unknown = append(r.unknown, strings.TrimSpace(name))
	case len(fits) == 1 || plural:
		for _, d := range fits {
			r.find(d, at)
		}
	default:
		for _, d := range fits {
			if !r.found(d.id) {
				r.suggested = union(r.suggested, []string{d.id})
			}
		}
	}
}

// beside are those of some documents whose title holds the word that stands right
// before or after their name: "the statutes draft", "the 2019 statutes".
func (r *reading) beside(fits []titled, span []int) []titled {
	return slices.DeleteFunc(slices.Clone(fits), func(d titled) bool {
		return !slices.ContainsFunc([]int{span[0] - 1, span[len(span)-1] + 1}, func(i int) bool {
			return i >= 0 && i < len(r.tokens) && !glue[r.tokens[i].text] && !r.broken(min(i, span[0]), max(i, span[len(span)-1])) &&
				slices.ContainsFunc(d.words(), r.tokens[i].is)
		})
	})
}

// ofConversation are those the conversation has used.
func (r *reading) ofConversation(docs []titled) []titled {
	return slices.DeleteFunc(slices.Clone(docs), func(d titled) bool { return !slices.Contains(r.used, d.id) })
}

// names finds what only one title holds, where the message writes it like a
// name; and what is written like a name, after what is to be done with it, and
// fits nothing.
func (r *reading) names() {
	for i, t := range r.tokens {
		isObject := r.object(i) && len(t.text) > 3 && !blank[t.text] && !verbs[t.text]
		if r.taken[i] || t.idle() && !t.upper || !r.nameLike(i) && !r.comparedTo(i) && !isObject {
			continue
		}
		if d, ok := r.only(t); ok && !kindOf(t).ok && !r.found(d.id) {
			r.find(d, t.start, i)
		}
	}
	r.shared()
	if words.Detect(r.text) == words.German {
		r.compounds() // every noun is written like a name
		return
	}
	for _, loc := range objects.FindAllStringSubmatchIndex(r.text, -1) {
		span := r.within(loc[2], loc[3])
		if len(span) == 0 || slices.ContainsFunc(span, func(i int) bool { return r.taken[i] }) {
			continue
		}
		r.settle(nil, span, r.text[loc[2]:loc[3]], false)
	}
}

// compounds finds German names that say what kind of document is meant, and fit
// no title: "den Prüfbericht".
func (r *reading) compounds() {
	for i, t := range r.tokens {
		if r.taken[i] || r.Action == doAnswer || i == 0 || !point[r.tokens[i-1].text] || r.inTitles(t) {
			continue
		}
		for w := range kinds {
			if len(w) >= 5 && len(t.text) > len(w)+2 && strings.HasSuffix(t.text, w) {
				r.settle(nil, []int{i}, r.text[t.start:t.end], false)
				break
			}
		}
	}
}

// shared finds what several names hold, where the message writes it like a
// name or says what is to be done with it: "the GPLs" are to choose from.
func (r *reading) shared() {
	for i, t := range r.tokens {
		if r.taken[i] || len(t.text) < 3 || t.idle() && !t.upper || kindOf(t).ok || blank[t.text] || verbs[t.text] || !r.meant(i) {
			continue
		}
		fits := slices.DeleteFunc(slices.Clone(r.all), func(d titled) bool { return !d.abbreviates(t) })
		if len(fits) < 2 || slices.ContainsFunc(fits, func(d titled) bool { return r.found(d.id) }) {
			continue
		}
		exact := slices.ContainsFunc(fits, func(d titled) bool {
			return slices.ContainsFunc(d.words(), func(o token) bool { return o.text == t.text })
		})
		switch n := r.counted(i); {
		case n == len(fits):
			r.settle(fits, []int{i}, t.text, true)
		case exact && r.Action != doCompare:
			r.settle(fits, []int{i}, t.text, false)
		default: // several are meant
			r.taken[i] = true
			for _, d := range fits {
				r.suggested = union(r.suggested, []string{d.id})
			}
		}
	}
}

// counted is how many documents are meant before a name: "both GPLs".
func (r *reading) counted(i int) int {
	for at := max(i-2, 0); at < i; at++ {
		switch r.tokens[at].text {
		case "both", "two", "beide", "beiden", "zwei":
			return 2
		case "three", "drei":
			return 3
		}
	}
	return 0
}

// comparedTo reports whether a token is a number that something is compared
// with: "what changed since 2023".
func (r *reading) comparedTo(i int) bool {
	if r.Action != doCompare || i == 0 || !unicode.IsDigit(rune(r.tokens[i].text[0])) {
		return false
	}
	return against[r.tokens[i-1].text]
}

var against = wordSet("against")

// meant reports whether a word stands for documents: what is asked may hold a
// word of their titles and be about anything.
func (r *reading) meant(i int) bool {
	pointed := i > 0 && point[r.tokens[i-1].text]
	return r.object(i) || r.nameLike(i) && (pointed || r.Action != doAnswer)
}

// object reports whether a token is what something is to be done with.
func (r *reading) object(i int) bool {
	if i > 0 && point[r.tokens[i-1].text] {
		i--
	}
	return i > 0 && deeds[r.tokens[i-1].text]
}

// deeds are words for what is done with documents, before their names.
var deeds = wordSet("deeds")

// objects are capitalised words after what is to be done with them.
var objects = pattern("objects")

// nameLike reports whether a token is written like a name: a capital that does
// not merely begin a sentence, or digits in one word with letters.
func (r *reading) nameLike(i int) bool {
	t := r.tokens[i]
	piece := func(j int) bool {
		return j >= 0 && j < len(r.tokens) && r.tokens[j].word == t.word && r.tokens[j].text != "s"
	}
	if t.text != "s" && (piece(i-1) || piece(i+1)) {
		return true
	}
	if !t.upper || len(t.text) < 3 {
		return false
	}
	before := strings.TrimRight(r.text[:t.start], " \n\t\"“„(")
	return before != "" && !strings.ContainsAny(before[len(before)-1:], ".!?")
}

// only is the one document whose title holds a word.
func (r *reading) only(t token) (titled, bool) {
	var one titled
	n := 0
	for _, d := range r.all {
		if slices.ContainsFunc(d.words(), t.is) {
			one = d
			n++
		}
	}
	return one, n == 1
}
