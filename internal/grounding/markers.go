package grounding

import (
	"slices"
	"strings"
)

// marker is [#deadline-c47bd2], [#deadline-OPEN:c47bd2], [court: Munich],
// [chip:nav:/path], [chip:filter:k=v], or a link of Markdown.
type marker struct {
	start, end int
	kind       markerKind
	entity     string
	value      string // the id, the name, the path, the filter
	text       string // of a link
}

type markerKind byte

const (
	cites    markerKind = iota // by id
	names                      // by name
	opens                      // a record
	goes                       // to a path
	filters                    // a list
	numbered                   // [1]: a citation's number, which the model cannot know
	links                      // [text](address)
)

// isMarker reports whether what stands in brackets may be one.
func isMarker(text string) bool {
	return strings.HasPrefix(text, "[#") || strings.HasPrefix(text, "[chip:") || strings.Contains(text, ": ") && len(text) < maxName
}

// entity is what a word in a marker stands for; empty: nothing.
func (e *Evidence) entity(word string) string {
	word = strings.ToLower(word)
	if is, ok := e.options.Markers[word]; ok {
		return is
	}
	for _, is := range e.options.Markers {
		if is == word {
			return word
		}
	}
	if e.kinds[word] {
		return word
	}
	return ""
}

// markers finds the markers of a text.
func (e *Evidence) markers(text string) []marker {
	var out []marker
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '[')
		if n < 0 {
			break
		}
		i += n
		m, ok := e.marker(text, i)
		if !ok {
			i++
			continue
		}
		out = append(out, m)
		i = m.end
	}
	return out
}

func (e *Evidence) marker(text string, i int) (marker, bool) {
	n := strings.IndexByte(text[i:], ']')
	if n < 0 || n > 4*maxName {
		return marker{}, false
	}
	m := marker{start: i, end: i + n + 1}
	inner := text[i+1 : i+n]
	if strings.ContainsAny(inner, "\n[") {
		return marker{}, false
	}
	if rest := text[m.end:]; strings.HasPrefix(rest, "(") {
		if close := strings.IndexByte(rest, ')'); close > 0 && !strings.ContainsAny(rest[:close], "\n") {
			m.kind, m.text, m.value = links, inner, rest[1:close]
			m.end += close + 1
			return m, true
		}
	}
	if digits, ok := atoi(inner); ok && digits < 1000 {
		m.kind = numbered
		return m, true
	}
	switch {
	case strings.HasPrefix(inner, "#"):
		word, id, ok := strings.Cut(inner[1:], "-")
		if !ok || word == "" {
			return m, strings.TrimSpace(inner) != "#" // of no known form: it vanishes as one without a record
		}
		m.entity = e.entity(word)
		if open, is := strings.CutPrefix(id, "OPEN:"); is {
			m.kind, m.value = opens, strings.TrimSpace(open)
		} else {
			m.kind, m.value = cites, strings.TrimSpace(id)
		}
		if m.entity == "" {
			m.entity = word // of nothing a call returned
		}
		return m, true
	case strings.HasPrefix(inner, "chip:nav:"):
		m.kind, m.value = goes, strings.TrimSpace(inner[len("chip:nav:"):])
		return m, true
	case strings.HasPrefix(inner, "chip:filter:"):
		m.kind, m.value = filters, strings.TrimSpace(inner[len("chip:filter:"):])
		return m, true
	case strings.HasPrefix(inner, "chip:"):
		m.kind, m.value = goes, ""
		return m, true
	}
	word, name, ok := strings.Cut(inner, ":")
	if !ok || strings.ContainsAny(word, " \t") {
		return marker{}, false
	}
	if m.entity = e.entity(word); m.entity == "" || strings.TrimSpace(name) == "" {
		return marker{}, false
	}
	m.kind, m.value = names, strings.TrimSpace(name)
	return m, true
}

// named finds the record of an entity that is called so; -1: none is.
func (e *Evidence) named(entity, name string) int32 {
	folded := fold(name)
	if r := e.find(entity, name); r >= 0 {
		return r
	}
	best, parts := int32(-1), strings.Fields(folded)
	for i := range e.rows {
		rec := e.rows[i].record
		if rec == nil || rec.Entity != entity || len(parts) == 0 {
			continue
		}
		all := " "
		for _, text := range e.rows[i].names {
			all += fold(text) + " "
		}
		if best < 0 && !slices.ContainsFunc(parts, func(w string) bool { return !strings.Contains(all, " "+w+" ") }) {
			best = int32(i) // Munich LD, of the Local Division Munich that is a UPC LD
		}
		for _, m := range e.rows[i].has {
			text := e.values[m.field].texts[m.value]
			switch value := fold(text); {
			case value == folded:
				return int32(i)
			case best < 0 && strings.Contains(" "+value+" ", " "+folded+" "):
				best = int32(i)
			}
		}
	}
	return best
}

// path finds the record or the list that opens at a path.
func (e *Evidence) path(path string) (Chip, bool) {
	if c, ok := e.paths[path]; ok {
		return c, true
	}
	for _, r := range e.rows {
		if r.record != nil && r.record.Href != "" && r.record.Href == path && !r.record.Earlier {
			return Chip{Kind: "nav", Action: "go", ID: path, Href: path, Label: r.record.label(), Source: r.record.Source}, true
		}
	}
	return Chip{}, false
}

func (r *Record) label() string {
	if r.Title != "" {
		return r.Title
	}
	if r.Line != "" {
		return r.Line
	}
	return r.ID
}

// addressed reports whether a link's address stands in the evidence.
func (e *Evidence) addressed(address string) bool {
	if _, ok := e.path(address); ok {
		return true
	}
	return len(e.index[tokenKey(address)]) > 0 && address != ""
}
