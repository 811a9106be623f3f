package knowledge

import "liminal/internal/words"

// Around is a quote with the sentences next to it in its passage, as many as fit
// into size bytes together, nearest first: who reads a quote that was found by its
// meaning finds the answer in it or beside it. Rows of tables and code stay as they
// are, and headings and code end it.
func Around(q Quote, passages []Passage, size int) Quote {
	if q.Row || q.Columns != "" {
		return q
	}
	for i := range passages {
		p := &passages[i]
		if p.DocumentID == q.DocumentID && p.Start <= q.Start && q.End <= p.End {
			return around(q, p, size)
		}
	}
	return q
}

func around(q Quote, p *Passage, size int) Quote {
	start, end := q.Start-p.Start, q.End-p.Start
	list := words.Sentences(p.Text)
	first, last := -1, -1
	for i, s := range list {
		if s.Start < end && s.End > start {
			if s.Form == words.Code || s.Form == words.Row || s.Form == words.Fence {
				return q
			}
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return q
	}
	flows := func(i int) bool {
		return i >= 0 && i < len(list) && (list[i].Form == words.Prose || list[i].Form == words.Item)
	}
	for grown := true; grown; {
		grown = false
		if flows(first-1) && end-list[first-1].Start <= size {
			first, start, grown = first-1, list[first-1].Start, true
		}
		if flows(last+1) && list[last+1].End-start <= size {
			last, end, grown = last+1, list[last+1].End, true
		}
	}
	q.Source, q.Text = p.Part(start, end), p.Text[start:end]
	return q
}
