package knowledge

import (
	"cmp"
	"slices"
)

const (
	runs       = 3    // neighbouring chunks joined into one passage, at most
	supporting = 3    // passages the average is taken over
	tieMargin  = 0.06 // in score, within which documents answer equally well
	rare       = 1.05 // weight, relative to its base, of a word few passages hold
)

// judge makes a verdict of the rated passages; found tells at which place fusion
// found the chunk of each, from 1.
func (l *Library) judge(in *inquiry, rated []Passage, found map[string]int, k int) Found {
	if len(rated) == 0 {
		return nothing()
	}
	top := rated[0].Score
	docs := candidates(rated)
	if id := l.named(in, docs); id != "" {
		rated = slices.DeleteFunc(slices.Clone(rated), func(p Passage) bool { return p.DocumentID != id })
		top, docs = rated[0].Score, candidates(rated)
	}
	f := Found{Clarity: Clear, Confidence: l.confidence(top), Asked: k}
	kept := foremost(rated, found, k)
	near := kept
	if at := slices.IndexFunc(kept, func(p Passage) bool { return p.Score < top/2 }); at > 0 {
		near = kept[:at]
	}
	if top >= l.o.High {
		kept = near // what answers is found, and the rest is beside the point
	}
	f.AverageSimilarity = average(near[:min(len(near), supporting)])
	f.Documents, f.Passages = candidates(near), joined(kept)
	switch tied := l.tied(in, docs); {
	case top < l.o.Medium:
		f.Clarity = Nothing
	case len(tied) > 1:
		f.Clarity, f.Documents = Several, tied
	}
	return f
}

// Of the two orders that choose passages: how little a place counts less than the
// one before it, and how much fusion's order counts beside the rating's.
const (
	placeOffset = 10
	foundShare  = 0.5
)

// foremost is the best rated passage and those, k in all, that stand first by
// rating and by fusion together, best rated first. A rating looks for the words of
// a question in one sentence: an answer in long sentences or in other words is
// rated low, and is among those that the index found first.
func foremost(rated []Passage, found map[string]int, k int) []Passage {
	if len(rated) <= k || k < 1 {
		return rated[:min(len(rated), max(k, 0))]
	}
	both := make(map[string]float64, len(rated))
	for i, p := range rated {
		both[p.ChunkID] = 1/float64(placeOffset+i+1) + foundShare/float64(placeOffset+found[p.ChunkID])
	}
	out := slices.Clone(rated)
	slices.SortStableFunc(out[1:], func(a, b Passage) int { return cmp.Compare(both[b.ChunkID], both[a.ChunkID]) })
	out = out[:k]
	slices.SortStableFunc(out, byScore)
	return out
}

// wider is how many times the passages that are asked for are given to who
// orders them again.
const wider = 3

// wide is what a reranker chooses from: more passages than are asked for, and
// of the named document alone where one is named, as in the verdict.
func (l *Library) wide(in *inquiry, rated []Passage, k int) []Passage {
	if id := l.named(in, candidates(rated)); id != "" {
		rated = slices.DeleteFunc(slices.Clone(rated), func(p Passage) bool { return p.DocumentID != id })
	}
	return joined(rated[:min(len(rated), wider*k)])
}

func (l *Library) confidence(score float64) Confidence {
	switch {
	case score >= l.o.High:
		return High
	case score >= l.o.Medium:
		return Medium
	}
	return Low
}

func average(list []Passage) float64 {
	sum := 0.0
	for _, p := range list {
		sum += p.Score
	}
	return sum / float64(max(len(list), 1))
}

// candidates lists the documents of passages by their best passage.
func candidates(list []Passage) []Candidate {
	out := []Candidate{}
	paths := map[string]string{}
	titles := map[string]int{}
	for _, p := range list {
		if _, known := paths[p.DocumentID]; !known {
			paths[p.DocumentID] = p.Path
			titles[p.Title]++
			out = append(out, Candidate{ID: p.DocumentID, Title: p.Title, Score: p.Score})
		}
	}
	for i, c := range out {
		if titles[c.Title] > 1 { // a person has to tell them apart
			out[i].Title += " (" + paths[c.ID] + ")"
		}
	}
	return out
}

// tied lists the documents that answer well, and about as well as the best. A
// question of one word says less about which is meant than its score tells.
func (l *Library) tied(in *inquiry, docs []Candidate) []Candidate {
	margin := tieMargin
	if in.strong() == 1 {
		margin = 2 * tieMargin
	}
	var out []Candidate
	for _, d := range docs {
		if d.Score >= docs[0].Score-margin && d.Score >= l.o.High {
			out = append(out, d)
		}
	}
	return out
}

// named is the document the question names by its title, or "": one whose
// title holds a rare word of the question, or two, that no other title holds.
func (l *Library) named(in *inquiry, docs []Candidate) string {
	id, most, times := "", 1, 0
	for _, d := range docs {
		if d.Score < l.o.Medium {
			continue
		}
		switch n := in.names(d.Title, docs); {
		case n > most:
			id, most, times = d.ID, n, 1
		case n == most:
			times++
		}
	}
	if times > 1 {
		return ""
	}
	return id
}

// names counts the words of the question that stand in this title and in no
// other: two for a rare word, one for another.
func (in *inquiry) names(title string, others []Candidate) int {
	n := 0
	for _, t := range in.terms {
		if t.weak || !in.within(t, title) {
			continue
		}
		shared := 0
		for _, o := range others {
			if in.within(t, o.Title) {
				shared++
			}
		}
		switch {
		case shared > 1:
		case t.weight >= rare*t.base:
			n += 2
		default:
			n++
		}
	}
	return n
}

func (in *inquiry) within(t term, title string) bool {
	return in.match(t, in.bag(in.stems.lang, title)) > 0
}

// joined merges neighbouring chunks of one document that overlap or touch
// into one passage, and keeps the order by score.
func joined(list []Passage) []Passage {
	byPlace := slices.Clone(list)
	slices.SortStableFunc(byPlace, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.Start, b.Start))
	})
	out := []Passage{}
	run := 0
	for _, p := range byPlace {
		if last := len(out) - 1; last >= 0 && run < runs && touches(out[last], p) {
			out[last] = join(out[last], p)
			run++
			continue
		}
		out = append(out, p)
		run = 1
	}
	slices.SortStableFunc(out, byScore)
	return out
}

func touches(a, b Passage) bool {
	return a.DocumentID == b.DocumentID && a.Heading == b.Heading && b.Start <= a.End && b.End > a.End
}

func join(a, b Passage) Passage {
	text := a.Text + b.Text[a.End-b.Start:]
	if b.Score > a.Score {
		a.ChunkID, a.Score = b.ChunkID, b.Score
	}
	a.End, a.Text = b.End, text
	return a
}
