package builtin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"liminal/internal/tool"
	wordlist "liminal/internal/words"
)

// scan looks through a text for terms, and for what it holds beside them,
// without a model.
type scan struct{}

func (scan) Name() string { return "text.scan_v1" }

func (scan) Run(_ context.Context, c *tool.Call) (map[string]any, error) {
	text := words(c, "text")
	low, found := folded(text), []any{}
	for _, term := range terms(c.Inputs["terms"]) {
		if at, _ := findFolded(text, low, folded(term)); at >= 0 {
			found = append(found, term)
		}
	}
	rest, beside := text, text
	for _, term := range longestFirst(flat(c.Inputs["remove"])) {
		rest, beside = without(rest, term, false), without(beside, term, true)
	}
	ignored := map[string]bool{}
	for _, w := range flat(c.Inputs["ignore"]) {
		ignored[strings.ToLower(w)] = true
	}
	rest = strings.TrimSpace(rest)
	body := quotedPart(rest)
	return map[string]any{
		"hit": len(found) > 0, "found": found, "rest": rest, "beside": strings.TrimSpace(beside), "words": float64(counted(rest, ignored)),
		"body": body, "body_words": float64(counted(body, nil)),
	}, nil
}

// terms are the texts of a list, or the keys of an object in order.
func terms(v any) []string {
	if m, ok := v.(map[string]any); ok {
		return slices.Sorted(maps.Keys(m))
	}
	return flat(v)
}

// flat are the texts of a list, of lists in it, and of the titles or labels of
// objects in it.
func flat(v any) []string {
	switch x := v.(type) {
	case string:
		if x = strings.TrimSpace(x); x != "" {
			return []string{x}
		}
	case []any:
		var out []string
		for _, e := range x {
			out = append(out, flat(e)...)
		}
		return out
	case map[string]any:
		for _, key := range []string{"title", "label", "name"} {
			if s, ok := x[key].(string); ok {
				return flat(s)
			}
		}
	}
	return nil
}

func longestFirst(list []string) []string {
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}

// find gives where a term stands in a text as words of their own, whatever the
// case (LG-07, LG-14); -1 where it does not.
func find(text, term string) (from, to int) { return findFolded(text, folded(text), folded(term)) }

// findFolded is find for a text and a term whose lower case is known.
func findFolded(text, low, want string) (from, to int) {
	for at := 0; want != ""; {
		i := strings.Index(low[at:], want)
		if i < 0 {
			break
		}
		from, to = at+i, at+i+len(want)
		if bounded(text, from, to) {
			return from, to
		}
		_, size := utf8.DecodeRuneInString(low[from:])
		at = from + size
	}
	return -1, -1
}

// folded is a text in lower case, each character in as many bytes as before:
// places in it are places in the text.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		if low := unicode.ToLower(r); utf8.RuneLen(low) == utf8.RuneLen(r) {
			return low
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// bounded reports whether no word goes on at either end.
func bounded(text string, from, to int) bool {
	first, _ := utf8.DecodeRuneInString(text[from:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return (!inWord(first) || !inWord(before)) && (!inWord(last) || !inWord(after))
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// without takes every place of a term out of a text, with an @ before it; or
// those places only that have one.
func without(text, term string, mentioned bool) string {
	var out strings.Builder
	low, want := folded(text), folded(term)
	for {
		from, to := findFolded(text, low, want)
		if from < 0 {
			out.WriteString(text)
			return out.String()
		}
		if before, found := strings.CutSuffix(text[:from], "@"); found || !mentioned {
			out.WriteString(before + " ")
		} else {
			out.WriteString(text[:to])
		}
		text, low = text[to:], low[to:]
	}
}

// counted is how many words there are that are not ignored.
func counted(text string, ignored map[string]bool) int {
	n := 0
	for _, w := range wordlist.Split(text) {
		if !ignored[strings.ToLower(text[w.Start:w.End])] {
			n++
		}
	}
	return n
}

// quotedPart is what a text hands over: what stands in quotation marks, after a
// line break, or after a colon; the longest of them.
func quotedPart(text string) string {
	best := ""
	keep := func(s string) {
		if s = strings.TrimSpace(s); len(s) > len(best) {
			best = s
		}
	}
	for _, q := range [...][2]string{{"\"", "\""}, {"“", "”"}, {"„", "“"}, {"«", "»"}} {
		if from := strings.Index(text, q[0]); from >= 0 {
			if to := strings.LastIndex(text, q[1]); to > from {
				keep(text[from+len(q[0]) : to])
			}
		}
	}
	if best != "" {
		return best
	}
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		keep(text[at:])
	}
	if _, after, ok := strings.Cut(text, ": "); ok {
		keep(after)
	}
	return best
}
