package grounding

import (
	"slices"
	"strings"
)

// before are words that a name follows.
var beforeNames = words("by von with mit durch bei is ist sind are")

// abstract are endings of nouns that are no names.
var abstract = []string{"ung", "heit", "keit", "schaft", "tion", "tät", "ment", "ismus", "ing", "ness", "ungen", "tionen", "en", "er"}

// strangers finds names without quotes that no evidence holds: two words with
// capitals of which the first goes with another one in evidence, or both of which
// are unknown and stand where a name does.
func (s *sentence) strangers(blank string, say func(string)) {
	tokens := s.scanner.tokens
	for i := 0; i+2 < len(tokens); i++ {
		a, b := tokens[i], tokens[i+2]
		if a.t != 'w' || b.t != 'w' || tokens[i+1].t != 's' || tokens[i+1].end-tokens[i+1].start != 1 || blank[tokens[i+1].start] != ' ' {
			continue
		}
		first, last := nameWord(blank, a), nameWord(blank, b)
		if first == "" || last == "" || len(last) < 4 || s.noun(last) != "" || s.noun(first) != "" || shouted(blank[b.start:b.end]) || shouted(blank[a.start:a.end]) ||
			numberWords[last] > 0 || s.heard(last) || s.withinName(a.start, b.end) {
			continue
		}
		follow := s.follow[first]
		unknown := !s.heard(first) && i >= 2 && beforeNames[s.scanner.lower(i-2)] && !ends(first) && !ends(last) && len(first) > 3
		if len(follow) > 0 || unknown {
			say(s.text[a.start:b.end])
		}
	}
}

func ends(w string) bool {
	return slices.ContainsFunc(abstract, func(end string) bool { return len(end) > 2 && strings.HasSuffix(w, end) })
}

// shouted reports whether a word is all capitals, as short forms are.
func shouted(w string) bool { return w == strings.ToUpper(w) }

// heard reports whether a word stands in evidence, with another ending perhaps.
func (s *sentence) heard(w string) bool {
	if len(s.words[w]) > 0 || len(s.inflected(w)) > 0 || strings.Contains(s.haystack(), " "+w) {
		return true
	}
	for _, end := range []string{"s", "es", "en", "n", "e"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= 4 && strings.Contains(s.haystack(), " "+stem+" ") {
			return true
		}
	}
	return false
}

// withinName reports whether a name that is judged by itself holds a place.
func (s *sentence) withinName(start, end int) bool {
	return slices.ContainsFunc(s.claims, func(c claim) bool { return c.sort == sortName && c.start < end && start < c.end })
}
