package cluster

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"liminal/internal/learning"
	"liminal/internal/words"
)

const (
	telling    = 3  // words of a label
	longestTag = 24 // characters of one of them
	leastUsers = 3  // people who use a word before it names what is everybody's
	leastShare = 4  // one of so many events uses a word that stands beside the first
)

// Label names a group of events by the words that most of them share, three at
// most, in the language of most of them, and describes it in one sentence. It
// is what a cluster is called where no language model is configured. Words of a
// cluster of several people are those that three of them use, so that nobody's
// own names come out. Empty for events without any such word.
func Label(cases []learning.Case) (label, description string) {
	german := 0
	for _, c := range cases {
		if words.Detect(c.Question) == words.German {
			german++
		}
	}
	language, joint, frame := words.English, " or ", "Questions that speak of %."
	if 2*german > len(cases) {
		language, joint, frame = words.German, " oder ", "Fragen, in denen es um % geht."
	}
	tags := tagsOf(cases, language)
	if len(tags) == 0 {
		return "", ""
	}
	list := tags[len(tags)-1]
	if len(tags) > 1 {
		list = strings.Join(tags[:len(tags)-1], ", ") + joint + list
	}
	return strings.Join(tags, ", "), strings.Replace(frame, "%", list, 1)
}

// used is a word as it is used in a group.
type used struct {
	stem   string
	noun   bool // German: written with a capital letter within a sentence
	events int
	people map[string]bool
	forms  []string // as it is written, in the order of first use
	counts []int
}

// tagsOf are the words that most events share, as they are mostly written.
func tagsOf(cases []learning.Case, language words.Language) []string {
	var list []*used
	at, people := map[string]*used{}, map[string]bool{}
	for _, c := range cases {
		people[c.UserID] = true
		seen := map[string]bool{}
		text := c.Situation + "\n" + c.Question
		start := len(c.Situation) + 1
		for _, w := range words.Split(text) {
			if !tells(language, w) {
				continue
			}
			stem := words.Stem(language, w.Text)
			u := at[stem]
			if u == nil {
				u = &used{stem: stem, people: map[string]bool{}}
				at[stem], list = u, append(list, u)
			}
			u.count(text[w.Start:w.End], language)
			u.noun = u.noun || language == words.German && w.Start > start && unicode.IsUpper(firstRune(text[w.Start:]))
			if !seen[stem] {
				seen[stem] = true
				u.events++
				u.people[c.UserID] = true
			}
		}
	}
	nouns := slices.ContainsFunc(list, func(u *used) bool { return u.noun })
	list = slices.DeleteFunc(list, func(u *used) bool {
		return u.events < 2 && len(cases) > 1 || len(people) > 1 && len(u.people) < min(leastUsers, len(people)) || nouns && !u.noun
	})
	slices.SortStableFunc(list, func(a, b *used) int { return cmp.Or(cmp.Compare(b.events, a.events), cmp.Compare(a.stem, b.stem)) })
	var out []string
	for i, u := range list[:min(telling, len(list))] {
		if i > 0 && leastShare*u.events < len(cases) {
			break
		}
		out = append(out, u.forms[slices.Index(u.counts, slices.Max(u.counts))])
	}
	return out
}

// tells reports whether a word says what a text is about, and may be shown.
func tells(language words.Language, w words.Word) bool {
	return len(w.Text) > 2 && len([]rune(w.Text)) <= longestTag && !words.Stop(language, w.Text) && !words.Weak(w.Text) &&
		!strings.ContainsFunc(w.Text, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
}

// count adds a use; an English word is shown in small letters unless it is
// never written so.
func (u *used) count(form string, language words.Language) {
	if rest := form[len(string(firstRune(form))):]; language == words.English && rest == strings.ToLower(rest) {
		form = strings.ToLower(form)
	}
	i := slices.Index(u.forms, form)
	if i < 0 {
		i = len(u.forms)
		u.forms, u.counts = append(u.forms, form), append(u.counts, 0)
	}
	u.counts[i]++
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
