package builtin

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"liminal/internal/knowledge"
)

// alikeWord is from where on two words count as forms or misspellings of one,
// and alikeName from where on a whole name does.
const (
	alikeWord = 0.75
	alikeName = 0.5
)

// tellClosest adds the documents whose names come closest to names that no
// document has, so that a person who is told so can go on from there. Where none
// is like any, they are the first there are.
func (s titleIndex) tellClosest(out map[string]any, names []string, n int) {
	found, alike := s.closest(names, n)
	documents, quoted := []any{}, make([]string, len(names))
	for _, d := range found {
		documents = append(documents, calledData(d))
	}
	for i, name := range names {
		quoted[i] = "“" + inMarkdown.Replace(strings.Join(strings.Fields(name), " ")) + "”"
	}
	out["closest"], out["closest_alike"] = documents, alike
	out["closest_list"], out["unmatched_words"] = bullets(found), strings.Join(quoted, ", ")
}

// closest are at most n documents by how near their names come to any of some,
// the nearest first, and whether that is near at all.
func (s titleIndex) closest(names []string, n int) (found []knowledge.Titled, alike bool) {
	type rated struct {
		at   int
		near float64
	}
	var list []rated
	for i := range s.documents {
		near := 0.0
		for _, name := range names {
			near = max(near, nearness(bareTitle(plainTitle(name)), s.bare[i]))
		}
		if near > 0 {
			list = append(list, rated{i, near})
		}
	}
	slices.SortStableFunc(list, func(a, b rated) int { return cmp.Compare(b.near, a.near) })
	add := func(d knowledge.Titled) {
		if len(found) < n && !slices.ContainsFunc(found, func(o knowledge.Titled) bool { return o.ID == d.ID }) {
			found = append(found, d)
		}
	}
	for _, r := range list {
		add(s.documents[r.at])
	}
	if len(found) > 0 {
		return found, true
	}
	for _, d := range s.documents {
		add(d)
	}
	return found, false
}

// nearness is how near two bare names come, 0 to 1: the share of words they have
// in common, or how alike they are written as a whole.
func nearness(a, b string) float64 {
	common := 0.0
	first, second := strings.Fields(a), strings.Fields(b)
	for _, w := range first {
		best := 0.0
		for _, o := range second {
			best = max(best, wordLikeness(w, o))
		}
		common += best
	}
	near := 0.0
	if longer := max(len(first), len(second)); longer > 0 {
		near = common / float64(longer)
	}
	if whole := similarity(a, b, alikeName); whole >= alikeName {
		near = max(near, whole)
	}
	return near
}

// wordLikeness is how alike two words are, 0 where they are two words. The end
// of a compound is nearly the word: "Vertrag" of "Mietvertrag".
func wordLikeness(a, b string) float64 {
	if utf8.RuneCountInString(a) >= 5 && strings.HasSuffix(b, a) || utf8.RuneCountInString(b) >= 5 && strings.HasSuffix(a, b) {
		return max(alikeWord, similarity(a, b, 0))
	}
	if like := similarity(a, b, alikeWord); like >= alikeWord {
		return like
	}
	return 0
}
