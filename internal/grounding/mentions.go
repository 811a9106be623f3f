package grounding

import (
	"slices"
	"strings"
)

// seenAt is values a sentence mentions at a place: any of them, of one field.
type seenAt struct {
	at, end int
	words   int
	field   int32
	values  []int32
}

// mentions finds the values that a sentence mentions by their words. Words in a
// row mention the values that hold all of them.
func (s *sentence) mentions(blank string) []seenAt {
	var out []seenAt
	type run struct{ i, word int }
	open := map[int32]run{} // the mention of a field that may go on
	word := 0
	for i, t := range s.scanner.tokens {
		if t.t == 's' || t.t == 'p' {
			continue
		}
		word++
		out = append(out, s.phrased(blank, i)...)
		w := nameWord(blank, t)
		if w == "" && t.t == 'w' && t.end-t.start >= 4 {
			w = s.plainName(blank, t)
		}
		if w == "" || s.noun(w) != "" {
			continue
		}
		held := s.words[w]
		if len(held) == 0 {
			held = s.lower[w]
		}
		if len(held) == 0 {
			held = s.inflected(w)
		}
		by := map[int32][]int32{}
		var fields []int32
		for _, m := range held {
			if by[m.field] == nil {
				fields = append(fields, m.field)
			}
			by[m.field] = append(by[m.field], m.value)
		}
		for _, f := range fields {
			if o, ok := open[f]; ok && word-o.word <= 2 { // with a word between, as der
				if both := common(out[o.i].values, by[f]); len(both) > 0 {
					out[o.i].values, out[o.i].end = both, t.end
					out[o.i].words++
					open[f] = run{o.i, word}
					continue
				}
			}
			open[f] = run{len(out), word}
			out = append(out, seenAt{t.start, t.end, 1, f, by[f]})
		}
	}
	out = s.preferWhole(out)
	return slices.DeleteFunc(out, func(m seenAt) bool { return len(m.values) >= len(s.Evidence.values[m.field].texts) })
}

// preferWhole prefers values that are mentioned with all their words to those of which
// the same words are a part.
func (s *sentence) preferWhole(list []seenAt) []seenAt {
	var full []seenAt
	for i := range list {
		m := &list[i]
		all := slices.DeleteFunc(slices.Clone(m.values), func(v int32) bool { return s.Evidence.values[m.field].words[v] != m.words })
		if len(all) > 0 {
			m.values = all
			full = append(full, *m)
		}
	}
	return slices.DeleteFunc(list, func(m seenAt) bool {
		return slices.ContainsFunc(full, func(f seenAt) bool {
			covers := f.at <= m.at && m.end <= f.end
			partial := !slices.ContainsFunc(m.values, func(v int32) bool { return s.Evidence.values[m.field].words[v] == m.words })
			return covers && partial
		})
	})
}

// inflected finds a word without the ending of a case or a plural.
func (e *Evidence) inflected(w string) []mention {
	var held []mention
	for _, end := range []string{"s", "es", "en", "n", "e"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= 4 {
			held = append(held, e.words[stem]...)
		}
	}
	if len(w) >= 6 {
		held = append(append(held, e.words[w+"e"]...), e.words[w+"s"]...)
	}
	return held
}

func common(a, b []int32) (both []int32) {
	for _, v := range a {
		if slices.Contains(b, v) {
			both = append(both, v)
		}
	}
	return both
}
