package knowledge

import (
	"math"
	"regexp"
	"strings"

	"liminal/internal/words"
)

// inquiry is a question as retrieval reads it: its content words, how much
// each weighs, and what an answer to it would have to hold.
type inquiry struct {
	text   string
	terms  []term
	answer *regexp.Regexp // what a likely answer contains; nil when anything
	part   string         // the number of a section it asks for, or ""
	lang   words.Language
	stems  *stems
}

// term is one content word of the question.
type term struct {
	word   string // folded
	parts  []string
	base   float64 // before it is known how rare the word is
	weight float64
	weak   bool
	seen   float64        // how well what was read holds it, at best
	others []string       // what it is called in the other language
	like   []string       // stems of what may be said for it in its own
	path   *regexp.Regexp // finds it where it was written as a path from the root; else nil
	// follows says that nothing but a space separates it from the term before.
	follows bool
	without bool // the question asks for what has none of it: "no gluten"
}

// lacking are words that ask for what has none of what the next word says. So does
// "noch" after "weder"; by itself it is "still".
var lacking = map[string]bool{"no": true, "without": true, "kein": true, "keine": true, "keinen": true, "keinem": true, "keiner": true, "ohne": true, "weder": true, "nor": true, "neither": true}

// The base weights of words. An identifier or a number is meant as it is
// written; a weak word ("use", "describe") only helps to decide.
const (
	plainWeight = 1.0
	exactWeight = 1.5
	weakWeight  = 0.3
)

func inquire(question string) *inquiry {
	lang := words.Detect(question)
	q := &inquiry{text: question, lang: lang, stems: newStems()}
	seen := map[string]bool{}
	last := -2 // where the term before ended
	before, neither := "", false
	for _, w := range words.Split(question) {
		without := lacking[before] || neither && before == "noch"
		before, neither = w.Text, neither || w.Text == "weder"
		shouted := shouted(question, w)
		if words.Stop(lang, w.Text) && !shouted || seen[w.Text] {
			continue
		}
		seen[w.Text] = true
		t := term{word: w.Text, parts: w.Parts, base: plainWeight, without: without}
		switch {
		case shouted:
			t.base = exactWeight
		case words.Weak(w.Text), modal[w.Text]:
			t.base, t.weak = weakWeight, true
		case exact(w):
			t.base = exactWeight
		}
		t.weight = t.base
		if w.Start > 0 && question[w.Start-1] == '/' && (w.Start == 1 || !wordOrSlash(question[w.Start-2])) {
			t.path = regexp.MustCompile(`(?i)(?:^|[^\w/.~-])/` + regexp.QuoteMeta(question[w.Start:w.End]) + `(?:$|[^\w/-]|/\W|/$)`)
		}
		t.others, t.like = words.Translations(lang, w.Text), words.Synonyms(lang, w.Text)
		t.follows, last = w.Start == last+1, w.End
		q.terms = append(q.terms, t)
	}
	q.answer = expected(strings.ToLower(question))
	for i, t := range q.terms {
		if q.answer == spanAnswer && spans[t.word] {
			q.terms[i].weak, q.terms[i].base, q.terms[i].weight = true, weakWeight, weakWeight
		}
	}
	if m := partAsked.FindStringSubmatch(question); m != nil {
		q.part = m[1]
	}
	return q
}

// modal are German words that say how something is, and not what; those of
// English carry no meaning at all.
var modal = map[string]bool{"oft": true, "muss": true, "musst": true, "müssen": true, "müsst": true, "soll": true, "sollen": true, "kann": true, "kannst": true, "können": true, "könnt": true}

// bothLanguages is the question with what its words are called in the other
// language, for an index that knows words alone.
func (q *inquiry) bothLanguages() string {
	text := q.text
	for _, t := range q.terms {
		if !t.weak && len(t.others) > 0 {
			text += " " + strings.Join(t.others, " ")
		}
	}
	return text
}

// spans are words for a length of time, which an answer gives and need not name.
var spans = map[string]bool{"period": true, "duration": true, "deadline": true, "frist": true, "dauer": true}

// partAsked is a section a question asks for by its number.
var partAsked = regexp.MustCompile(`(?i)(?:\b(?:section|clause|article|chapter|abschnitt|artikel|kapitel|ziffer)|§)\s*(\d{1,3}(?:\.\d{1,3})*)\b`)

func exact(w words.Word) bool {
	return len(w.Parts) > 0 || strings.ContainsAny(w.Text, "0123456789")
}

// shouted reports whether a word is written in capitals in a question that is
// not: a name, an acronym, a constant.
func shouted(question string, w words.Word) bool {
	raw := question[w.Start:w.End]
	return len(raw) > 1 && raw == strings.ToUpper(raw) && raw != strings.ToLower(raw) && question != strings.ToUpper(question)
}

// vague reports whether the question names nothing to look for.
func (q *inquiry) vague() bool { return q.strong() == 0 }

// strong is how many words the question really looks for.
func (q *inquiry) strong() int {
	n := 0
	for _, t := range q.terms {
		if !t.weak {
			n++
		}
	}
	return n
}

// What answers to kinds of questions hold.
var (
	numberAnswer = regexp.MustCompile(`\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|daily|weekly|täglich|wöchentlich)\b`)
	pathAnswer   = regexp.MustCompile(`(?:^|[\s"'(` + "`" + `])/[\w{]|\b(?:GET|POST|PUT|PATCH|DELETE)\b`)

	spanAnswer   = regexp.MustCompile(`(?i)(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty|half an|ein(?:en?|er|em|es)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|fünfzehn|zwanzig|dreißig)[ -])\s?(?:ms|[smhdwy]|secs?|mins?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|jahren?|quartale?)\b|\b(?:daily|hourly|weekly|nightly|monthly|forever|täglich|wöchentlich|jährlich|fortnight)\b`)
	spanQuestion = regexp.MustCompile(`\bhow (?:long|soon)\b|\bwie lange\b|\b(?:frist|interval|timeout|ttl|notice period|\pL*frist)\b`)

	// How often something is done is not how long it takes.
	oftenAnswer   = regexp.MustCompile(`(?i)\b(?:every|each|per|once|twice|times|daily|hourly|weekly|nightly|monthly|quarterly|yearly|annually|never|always|interval|frequently|regularly|alle|jede[nrsm]?|pro|einmal|zweimal|\pL+mal|mal|täglich|stündlich|wöchentlich|monatlich|vierteljährlich|jährlich|nie|immer|regelmäßig)\b`)
	oftenQuestion = regexp.MustCompile(`\bhow (?:often|frequently)\b|\bwie (?:oft|häufig)\b`)

	// Whoever asks for a default is told what is so unless something else is said.
	defaultAnswer   = regexp.MustCompile(`(?i)\b(?:default\w*|unless|unspecified|usually|normally|initially|not (?:set|specified|given)|unset|normalerweise|vorgabe\w*|voreingestellt\w*|voreinstellung\w*)|\bstandard(?:mäßig|wert|einstellung)`)
	defaultQuestion = regexp.MustCompile(`\b(?:defaults?|normally|standardmäßig|voreinstellung|voreingestellt|vorgabe|standardwert|normalerweise)\b|\b(?:if|when) (?:i|nothing|no\w*)\b.*\b(?:say|set|specif|given|nothing)`)

	numberQuestion = regexp.MustCompile(`\bhow (?:many|much|long|often|large|big|fast|soon|old|far|wide|high|deep)\b|\b(?:limit|maximum|minimum|timeout|port|version|size|cap|threshold|percentage|budget|width|interval|share|percent|fraction|proportion|ratio|uid|gid|price|cost|costs|fee|exit (?:code|status))\b|\b(?:preis|kostet|kosten|gebühr|nummer|uid)\b|\bwie (?:viele?|lange|oft|groß|hoch|schnell)\b|\b(?:höchstens|grenze|frist)\b|\bwhen\b|\bwann\b`)
	pathQuestion   = regexp.MustCompile(`\b(?:endpoint|endpunkt|route|url|path|pfad|directory|folder|ordner)s?\b`)
)

func expected(question string) *regexp.Regexp {
	switch {
	case defaultQuestion.MatchString(question):
		return defaultAnswer
	case oftenQuestion.MatchString(question):
		return oftenAnswer
	case spanQuestion.MatchString(question):
		return spanAnswer
	case pathQuestion.MatchString(question):
		return pathAnswer
	case numberQuestion.MatchString(question):
		return numberAnswer
	}
	return nil
}

// absent is the weight of a word that stands nowhere: what is asked about may
// not be in the documents at all.
const absent = 1.8

// foreignWeight is the most a word weighs, relative to its base, for a passage in the
// other language: the list of what words are called there knows few of them, so
// that one is missing says less.
const foreignWeight = 1.2

// weight is how much a term weighs for a passage.
func (q *inquiry) weight(t term, r *reading) float64 {
	if r.lang != q.lang {
		return min(t.weight, foreignWeight*t.base)
	}
	return t.weight
}

// fewTexts is how many texts it takes to tell that a word is common.
const fewTexts = 20

// weigh makes rare words heavier, given how many of n texts hold each.
func (q *inquiry) weigh(n int, holds func(term, text int) bool) {
	for i := range q.terms {
		found := 0
		for text := range n {
			if holds(i, text) {
				found++
			}
		}
		common := math.Log1p(float64(found)) / math.Log1p(float64(max(n, fewTexts)))
		rarity := 1.5 - 0.9*common
		switch {
		case q.terms[i].weak:
			rarity = min(rarity, 0.7) // being rare does not make it say more
		case found == 0:
			rarity = absent
		}
		q.terms[i].weight = q.terms[i].base * rarity
	}
}

// stems remembers the stems of words, per language, for one inquiry.
type stems struct {
	lang  words.Language
	known map[string]string
}

func newStems() *stems { return &stems{lang: words.English, known: map[string]string{}} }

func (s *stems) of(l words.Language, word string) string {
	if l != s.lang {
		s.lang, s.known = l, map[string]string{}
	}
	stem, ok := s.known[word]
	if !ok {
		stem = words.Stem(l, word)
		s.known[word] = stem
	}
	return stem
}

// bag is the stems of a text in their order, and at which places each stands.
type bag struct {
	lang  words.Language
	at    map[string]int // first place, from 1
	order []string
}

func (q *inquiry) bag(l words.Language, text string) bag {
	b := bag{lang: l, at: map[string]int{}}
	for _, w := range words.Split(text) {
		if words.Stop(l, w.Text) {
			b.at[w.Text] = max(len(b.order), 1) // found when asked for, but no part of the order
			continue
		}
		b.put(q.stems.of(l, w.Text))
		for _, p := range w.Parts {
			b.put(q.stems.of(l, p))
		}
	}
	return b
}

func (b *bag) put(stem string) {
	b.order = append(b.order, stem)
	if b.at[stem] == 0 {
		b.at[stem] = len(b.order)
	}
}

// inPieces is what an identifier's pieces count when they stand apart.
const inPieces = 0.5

// match tells how well a text holds a term, from 0 to 1.
func (q *inquiry) match(t term, b bag) float64 {
	if len(b.at) == 0 {
		return 0
	}
	stem := q.stems.of(b.lang, t.word)
	if b.at[stem] > 0 || b.at[t.word] > 0 {
		return 1
	}
	if len(t.parts) > 1 {
		found := 0
		for _, p := range t.parts {
			if b.at[q.stems.of(b.lang, p)] > 0 {
				found++
			}
		}
		return inPieces * float64(found) / float64(len(t.parts))
	}
	best := 0.0
	if b.lang != q.lang {
		if b.lang == words.German && len(t.word) > 4 && b.compounds(t.word) {
			best = inCompound // "master" of "masterarbeit"
		}
		for _, other := range t.others {
			other = q.stems.of(b.lang, other)
			if b.at[other] > 0 {
				return translated
			}
			if b.lang == words.German && best < translated*inCompound && b.compounds(other) {
				best = translated * inCompound
			}
		}
	}
	for have := range b.at {
		if akin(stem, have) {
			return 0.85
		}
		if b.lang == words.German && compound(stem, have) {
			best = max(best, inCompound)
		}
	}
	return best
}

const (
	synonym    = 0.9  // a word that is said for it, in the name of a column
	translated = 0.8  // a word of the other language that means the same
	inCompound = 0.55 // a German word that is part of another, or has it as its part
)

// compounds reports whether a stem is part of a longer word of a text: "arbeit"
// of "masterarbeit".
func (b bag) compounds(stem string) bool {
	for have := range b.at {
		if len(have) > len(stem) && compound(stem, have) {
			return true
		}
	}
	return false
}

// compound reports whether one stem is the beginning or the end of the other,
// which has another word besides: "speicher" and "speicherbedarf".
func compound(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 5 && len(b)-len(a) >= 3 && (strings.HasPrefix(b, a) || strings.HasSuffix(b, a))
}

// matches is match of every term in a text. A path is meant as it is written:
// "/bin" is not what "/usr/bin" is about.
func (q *inquiry) matches(b bag, text string) []float64 {
	out := make([]float64, len(q.terms))
	for i, t := range q.terms {
		out[i] = q.match(t, b)
		if t.path != nil && out[i] > 0 && !t.path.MatchString(text) {
			out[i] *= otherPath
		}
	}
	return out
}

// otherPath is how much of a match is left where a path of the question is only
// a part of another.
const otherPath = 0.4

func wordOrSlash(c byte) bool {
	return c == '/' || c == '_' || c == '.' || c == '~' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// akin reports whether one stem extends the other by little: "config" and
// "configur", "classif" and "classifi".
func akin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 5 && len(b)-len(a) <= 3 && strings.HasPrefix(b, a)
}

// pairs is the share of the question's word pairs ("rate limit") that stand
// next to each other in a text too, in the same order; 1 when it has none.
func (q *inquiry) pairs(b bag) float64 {
	total, found := 0, 0
	for i := 1; i < len(q.terms); i++ {
		if !q.terms[i].follows {
			continue
		}
		total++
		first, second := q.stems.of(b.lang, q.terms[i-1].word), q.stems.of(b.lang, q.terms[i].word)
		if adjacent(b.order, first, second) {
			found++
		}
	}
	if total == 0 {
		return 1
	}
	return float64(found) / float64(total)
}

// adjacent reports whether second stands right after first, or one word later.
func adjacent(order []string, first, second string) bool {
	for at := 0; at+1 < len(order); at++ {
		if order[at] == first && (order[at+1] == second || at+2 < len(order) && order[at+2] == second) {
			return true
		}
	}
	return false
}

// density is how much of a text is about the question: 1 when half of its
// words or more are the question's.
func (q *inquiry) density(b bag) float64 {
	found := 0
	for _, t := range q.terms {
		if b.at[q.stems.of(b.lang, t.word)] > 0 {
			found++
		}
	}
	return min(1, 2*float64(found)/float64(max(len(b.order), 1)))
}
