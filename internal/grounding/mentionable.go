package grounding

import (
	"slices"
	"strings"
	"unicode"
)

// mentionable notes a short value by the words a sentence would mention it with.
func (e *Evidence) mentionable(r int32, of, name, text string) {
	key := of + "/" + name
	if rec := e.rows[r].record; rec != nil {
		key = rec.Entity + "/" + name // whichever tool tells it
	}
	for _, end := range []string{"_label", "_name", "_title"} {
		if entity, ok := strings.CutSuffix(name, end); ok {
			key = entity + "/" + end[1:] // of another record
		}
	}
	f, ok := e.fields[key]
	if !ok {
		f = int32(len(e.values))
		e.fields[key] = f
		e.values = append(e.values, field{name: key, folded: map[string]int32{}})
	}
	folded := fold(text)
	v, ok := e.values[f].folded[folded]
	if !ok {
		v = int32(len(e.values[f].texts))
		e.values[f].folded[folded] = v
		e.values[f].texts = append(e.values[f].texts, text)
		e.values[f].words = append(e.values[f].words, 0)
		e.scanner.tokenise(text)
		tokens := e.scanner.tokens
		if rec := e.rows[r].record; sentenceLike(text, tokens) && (rec == nil || text != rec.Line && text != rec.Title) { // no name
			tokens = nil
		}
		if strings.Count(text, " ") < 3 && !strings.ContainsAny(text, "0123456789@/") {
			e.calls(text, func(c *called) { add(&c.values, mention{f, v}) })
		}
		e.pairs(f, text, tokens)
		for _, t := range tokens {
			w := nameWord(text, t)
			if short := fold(text[t.start:t.end]); w != "" || t.t == 'w' && t.end-t.start == 1 || (t.t == 'n' || t.t == 'w' && t.end-t.start < 3) && !salutations[short] && !legalForms[short] && !begins[short] {
				e.values[f].words[v]++ // LG Mannheim is no Mannheim
			}
			if w != "" {
				m := mention{f, v}
				if held := e.words[w]; !slices.Contains(held, m) {
					e.words[w] = append(held, m)
				}
			}
		}
	}
	e.rows[r].has = append(e.rows[r].has, mention{f, v})
	e.has[mention{f, v}] = append(e.has[mention{f, v}], r)
	e.line(r, mention{f, v}, text, folded)
}

// sentenceLike reports whether a value has words in small letters that are no
// articles or prepositions: it says something, and is not called so.
func sentenceLike(text string, tokens []token) bool {
	for _, t := range tokens {
		if t.t == 'w' && t.end-t.start >= 4 && small(text[t.start:t.end]) && !begins[strings.ToLower(text[t.start:t.end])] {
			return true
		}
	}
	return false
}

// small reports whether a word has small letters of ASCII at its beginning and no
// capital; eCitan has one.
func small(w string) bool {
	return w[0] >= 'a' && w[0] <= 'z' && !strings.ContainsFunc(w, unicode.IsUpper)
}

// nameWord is a word by which a value may be mentioned, folded: one of those
// that are written with a capital. Empty: none.
func nameWord(text string, t token) string {
	if t.t != 'w' && t.t != 'a' || t.end-t.start < 3 {
		return ""
	}
	if c := text[t.start]; c >= '0' && c <= '9' || small(text[t.start:t.end]) {
		return ""
	}
	w := fold(text[t.start:t.end])
	if w == "uhr" || w == "euro" || begins[w] || monthWords[w] > 0 || weekdayWords[w] > 0 || unitOf(w) != noUnit {
		return ""
	}
	return w
}
