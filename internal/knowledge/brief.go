package knowledge

import "liminal/internal/words"

// briefSentences are how many sentences a brief quote has at most. With fewer the
// sentence that answers was cut away too often: of 124 questions of eval/manuals
// the first quote holds the answer of 55 with three as without cutting, of 51
// with two, of 48 with one.
const briefSentences = 3

// Brief is a quote cut to the sentence of it that holds most of what is asked,
// and those beside it, three in all: for who wants answers short. What is no
// running text, such as a list, a table or code, stays whole, since a part of it
// would pass for all of it.
func Brief(question string, quote Quote) Quote {
	inq := inquire(question)
	r := inq.read(&quote.Passage)
	for _, s := range r.sentences {
		if s.Form != words.Prose {
			return quote
		}
	}
	if len(r.sentences) <= briefSentences {
		return quote
	}
	inq.weighReadings([]*reading{r})
	best, most := 0, -1.0
	for i := range r.sentences {
		if rating := inq.rate(r, i); rating > most {
			best, most = i, rating
		}
	}
	from := max(0, min(best-1, len(r.sentences)-briefSentences))
	start, end := r.sentences[from].Start, r.sentences[from+briefSentences-1].End
	cut := quote
	cut.Source, cut.Text = quote.Part(start, end), quote.Text[start:end]
	cut.Columns = quote.ColumnsOf(start, end)
	return cut
}
