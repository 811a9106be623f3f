package extractive

import (
	"slices"
	"strings"
)

// Words that point at documents without naming them.
var (
	pointsTwo    = flatPattern("pointsTwo")
	pointsThree  = flatPattern("pointsThree")
	pointsOther  = flatPattern("pointsOther")
	pointsPlace  = flatPattern("pointsPlace")
	pointsOne    = flatPattern("pointsOne")
	pointsPart   = flatPattern("pointsPart")
	pointsNot    = flatPattern("pointsNot")
	pointsToNoun = pattern("pointsToNoun")
)

// pointers finds what the message points back to: the documents of the
// conversation, the latest first.
func (r *reading) pointers() {
	m := strings.ReplaceAll(r.text, "IT", "") // the department
	m = pointsNot.ReplaceAllString(flat.Replace(strings.ToLower(m)), " ")
	named := len(r.mentions) > 0 || len(r.unknown) > 0 || len(r.suggested) > 0
	switch {
	case pointsPlace.MatchString(m) && !named:
		r.place(firstOf(pointsPlace.FindStringSubmatch(m)[1:]))
	case pointsOther.MatchString(m):
		r.other()
	case len(r.Explicit) > 0:
		// what is tagged is what is pointed at
	case pointsTwo.MatchString(m) && !named:
		n := 2
		if pointsThree.MatchString(m) {
			n = 3
		}
		r.several(n, strings.Contains(m, "two") || strings.Contains(m, "beide") || strings.Contains(m, "both") || strings.Contains(m, "zwei"))
	case r.Action == doCompare && len(r.mentions) == 1 && len(r.open()) == 1 && r.since():
		r.point(r.open()[0])
	case pointsPart.MatchString(m) && !named && r.Action == doAnswer && len(r.used) > 0 && len(r.used) <= fewUsed:
		r.point(r.used...)
	case pointsPart.MatchString(m) && !named:
		r.one(false)
	case pointsOne.MatchString(m) && (!named || r.Action == doCompare && r.before(m)):
		r.one(pointsToNoun.MatchString(m))
	}
}

// since reports whether the one document a message names is what another is
// compared with: "what changed since 2023".
func (r *reading) since() bool {
	for i, t := range r.tokens {
		if t.start == r.mentions[0].at {
			return i > 0 && contentWords(r.text[:t.start]) < 4 && against[r.tokens[i-1].text] && r.tokens[i-1].text != "and" && r.tokens[i-1].text != "und"
		}
	}
	return false
}

// fewUsed is of how many documents of the conversation a section is looked up
// without asking which.
const fewUsed = 3

func firstOf(list []string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// before reports whether the message points before it names: "compare it with
// the handbook".
func (r *reading) before(m string) bool {
	if r.implicit {
		return false // the pointer was part of a name
	}
	at := pointsOne.FindStringIndex(m)
	return at != nil && len(r.mentions) > 0 && at[0] < r.mentions[0].at
}

// point takes a document as pointed at.
func (r *reading) point(ids ...string) {
	r.implicit = true
	for _, id := range ids {
		r.mentions = append(r.mentions, mention{id, 0})
	}
}

// open are the documents of the conversation the message does not name.
func (r *reading) open() []string {
	return slices.DeleteFunc(slices.Clone(r.used), func(id string) bool { return r.found(id) })
}

// doubt offers documents to choose from; with none of them, one that cannot be
// told is meant.
func (r *reading) doubt(ids []string) {
	r.implicit = true
	if len(ids) == 0 {
		r.lost = true
		return
	}
	r.suggested = union(r.suggested, ids)
}

// one is a single document that is pointed at: the only one, or the one last
// talked about.
func (r *reading) one(noun bool) {
	open := r.open()
	switch {
	case len(open) == 1:
		r.point(open[0])
		return
	case len(open) == 0 && len(r.all) == 1 && (noun || r.Action != doAnswer):
		r.point(r.all[0].id)
		return
	case len(open) == 0:
		if noun || r.Action == doCondense {
			r.doubt(nil)
		}
		return
	}
	for _, ids := range r.history {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(open, id) })
		if len(ids) == 1 {
			r.point(ids[0])
			return
		}
		if len(ids) > 1 {
			r.doubt(ids)
			return
		}
	}
	r.doubt(open)
}

// several are n documents that are pointed at; counted says that the message
// gives their number.
func (r *reading) several(n int, counted bool) {
	switch {
	case len(r.used) == n || len(r.used) > 1 && !counted:
		r.point(r.used...)
		return
	case len(r.used) == 0 && len(r.all) == n:
		ids := make([]string, len(r.all))
		for i, d := range r.all {
			ids[i] = d.id
		}
		r.point(ids...)
		return
	case len(r.used) < n:
		if len(r.used) > 0 {
			r.point(r.used...)
		}
		r.lost = true
		return
	}
	var latest []string
	for _, ids := range r.history {
		if len(ids) == n {
			r.point(ids...)
			return
		}
		latest = union(latest, ids)
		if len(latest) == n {
			r.point(latest...)
			return
		}
	}
	r.doubt(r.used)
}

// place is a document by its place among those last named together.
func (r *reading) place(word string) {
	for _, ids := range r.history {
		if len(ids) < 2 {
			continue
		}
		at := map[byte]int{'f': 0, 'e': 0, 's': 1, 'z': 1, 't': 2, 'd': 2, 'l': len(ids) - 1}[word[0]]
		if at < len(ids) {
			r.point(ids[at])
			return
		}
	}
	if len(r.used) > 0 {
		r.doubt(r.used)
		return
	}
	r.lost, r.implicit = true, true
}

// other is what is left of the documents of the conversation without the one
// last talked about.
func (r *reading) other() {
	last := slices.Clone(r.Explicit)
	for _, ids := range r.history {
		if len(last) == 0 && len(ids) == 1 {
			last = ids
		}
	}
	left := slices.DeleteFunc(r.open(), func(id string) bool { return slices.Contains(last, id) })
	if len(left) == 0 { // the conversation had no other, but there are
		for _, d := range r.all {
			if !slices.Contains(last, d.id) && !r.found(d.id) {
				left = append(left, d.id)
			}
		}
	}
	if kin := r.akin(left, last); len(kin) == 1 {
		left = kin
	}
	switch {
	case len(left) == 1:
		r.point(left[0])
	case len(left) > maxOthers:
		r.doubt(nil)
	default:
		r.doubt(left)
	}
}

// akin are those of some documents that are called like one of others: "GPL-2"
// like "GPL-3".
func (r *reading) akin(of, others []string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(id string) bool {
		return !slices.ContainsFunc(r.all, func(d titled) bool {
			return d.id == id && slices.ContainsFunc(r.all, func(o titled) bool { return slices.Contains(others, o.id) && d.like(o) })
		})
	})
}

// maxOthers is from how many documents "the other one" says nothing.
const maxOthers = 8
