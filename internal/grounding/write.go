package grounding

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// write makes what is shown of a sentence: markers become numbers and chips, and
// a sentence without one is cited by the record that supports it.
func (s *sentence) write(p *Piece, cite func(Record) int) {
	var b strings.Builder
	at, cited, last := 0, false, 0
	drop := func(m marker) {
		kept := s.text[at:m.start]
		if next := m.end; next >= len(s.text) || strings.IndexByte(" \n.,;:!?)", s.text[next]) >= 0 {
			kept = strings.TrimRight(kept, " ")
		}
		b.WriteString(kept)
		at = m.end
	}
	put := func(m marker, r int32) {
		n := cite(*s.Evidence.rows[r].record)
		if n == last && strings.TrimSpace(s.text[at:m.start]) == "" {
			drop(m)
			return
		}
		b.WriteString(s.text[at:m.start])
		b.WriteString("[" + strconv.Itoa(n) + "]")
		at, cited, last = m.end, true, n
	}
	for _, m := range s.markers {
		switch m.kind {
		case cites:
			if r := s.find(m.entity, m.value); r >= 0 {
				put(m, r)
				continue
			}
			drop(m)
		case names:
			if r := s.named(m.entity, m.value); r >= 0 {
				put(m, r)
				continue
			}
			drop(m)
		case opens, goes, filters:
			if c, ok := s.chip(m); ok && !slices.Contains(p.Chips, c) {
				p.Chips = append(p.Chips, c)
			}
			drop(m)
		case numbered:
			drop(m)
		case links:
			if s.addressed(m.value) {
				continue
			}
			b.WriteString(s.text[at:m.start] + m.text)
			at = m.end
		}
	}
	b.WriteString(s.text[at:])
	p.Text = b.String()
	if !cited && s.options.Cite {
		p.Text = s.citedBy(p.Text, cite)
	}
}

// chip is the link a marker asks for; false: it would lead nowhere.
func (s *sentence) chip(m marker) (Chip, bool) {
	switch m.kind {
	case opens:
		r := s.find(m.entity, m.value)
		if r < 0 {
			return Chip{}, false
		}
		rec := s.Evidence.rows[r].record
		if rec.Earlier || rec.Href == "" {
			return Chip{}, false
		}
		return Chip{Kind: rec.Entity, Action: "open", ID: rec.ID, Href: rec.Href, Label: rec.label(), Source: rec.Source}, true
	case goes:
		return s.path(m.value)
	case filters:
		list, ok := s.paths[s.last]
		if !ok || !s.filterable(m.value) {
			return Chip{}, false
		}
		return Chip{Kind: "filter", Action: "filter", ID: m.value, Href: list.Href + "?" + m.value, Label: list.Label, Source: list.Source}, true
	}
	return Chip{}, false
}

// filterable: key=value, joined by &, and nothing in a value that no evidence
// holds.
func (s *sentence) filterable(filter string) bool {
	for _, pair := range strings.Split(filter, "&") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" || value == "" || strings.ContainsFunc(pair, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.=:", r)
		}) {
			return false
		}
		var scan scanner
		for _, c := range scan.values(strings.ReplaceAll(value, "_", " ")) {
			if !slices.ContainsFunc(c.keys, func(k key) bool { return len(s.index[k.resolve(s.today)]) > 0 }) {
				return false
			}
		}
	}
	return filter != ""
}

// most records a sentence is cited by.
const mostCited = 3

// citedBy puts the numbers of the records that support a sentence before its
// end. Where many do, none is put there: it is of the result.
func (s *sentence) citedBy(text string, cite func(Record) int) string {
	var found []int32
	for i := range s.clauses {
		for _, r := range s.best(&s.clauses[i]) {
			if !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	if len(found) == 0 || len(found) > mostCited {
		return text
	}
	slices.Sort(found)
	var marks strings.Builder
	for _, r := range found {
		marks.WriteString("[" + strconv.Itoa(cite(*s.Evidence.rows[r].record)) + "]")
	}
	body := strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!?:*_\"“”|", r) })
	if body == "" {
		return text
	}
	if n := len(body); n > 4 && body[n-3] == '.' && isNumber(body[n-2:]) && n < len(text) && text[n] == '.' {
		body = text[:n+1] // the dot of a date
	}
	return body + " " + marks.String() + text[len(body):]
}

func isNumber(digits string) bool { _, ok := atoi(digits); return ok }

// best are the rows with a record that support most of what a clause says; nil
// where more than a few do.
func (s *sentence) best(c *clause) []int32 {
	score := map[int32]int{}
	for i := range s.claims {
		x := &s.claims[i]
		if x.sort == sortName || s.clauseOf(x) != c || s.counted(x) {
			continue
		}
		for _, k := range x.keys {
			for _, r := range s.index[k.resolve(s.today)] {
				if s.Evidence.rows[r].record != nil && s.fits(r, c) {
					score[r] += 2
				}
			}
		}
	}
	for f, values := range c.mentions {
		if len(values) > mostCited {
			continue
		}
		for r := range s.Evidence.rows {
			row := &s.Evidence.rows[r]
			if row.record != nil && slices.ContainsFunc(row.has, func(m mention) bool { return m.field == f && slices.Contains(values, m.value) }) && s.fits(int32(r), c) {
				score[int32(r)]++
			}
		}
	}
	most := 0
	for _, n := range score {
		most = max(most, n)
	}
	var best []int32
	for r, n := range score {
		if n == most {
			best = append(best, r)
		}
	}
	if len(best) > mostCited {
		return nil
	}
	// One record may be in several results.
	slices.Sort(best)
	seen := map[string]bool{}
	return slices.DeleteFunc(best, func(r int32) bool {
		rec := s.Evidence.rows[r].record
		id := rec.Entity + "\x00" + rec.ID
		was := seen[id]
		seen[id] = true
		return was
	})
}
