package knowledge

import "liminal/internal/words"

// Brief is a quote cut to the sentence of it that holds most of what is asked,
// with the one beside it where it cannot be understood alone: for who wants
// answers short. What is no running text, such as a list, a table or code,
// stays whole, since a part of it would pass for all of it.
func Brief(question string, quote Quote) Quote {
	inq := inquire(question)
	r := inq.read(&quote.Passage)
	prose := 0
	for _, s := range r.sentences {
		if s.Form != words.Prose {
			return quote
		}
		prose++
	}
	if prose < 2 {
		return quote
	}
	inq.weighReadings([]*reading{r})
	best, most := 0, -1.0
	for i := range r.sentences {
		if rating := inq.rate(r, i); rating > most {
			best, most = i, rating
		}
	}
	from, to := best, best
	if text := r.text(best); leans(text) || len(text) < shortQuote {
		from, to = r.paired(best)
	}
	cut := quote
	start, end := r.sentences[from].Start, r.sentences[to].End
	cut.Source, cut.Text = quote.Part(start, end), quote.Text[start:end]
	cut.Columns = quote.ColumnsOf(start, end)
	return cut
}
