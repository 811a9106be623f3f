package knowledge

import "regexp"

// closing begins the end of a letter; who is written below it says nothing.
var closing = regexp.MustCompile(`(?im)^[ \t]*(?:(?:kind|best|warm|kindest|many) (?:regards|wishes)|regards|yours (?:sincerely|faithfully|truly)|sincerely|mit (?:freundlichen|besten|herzlichen|vielen) grüßen|(?:viele|beste|liebe|freundliche|herzliche) grüße|hochachtungsvoll|mfg)\b[ \t,.!]*$`)

// maxSignature is how long what stands below that may be, in bytes; where more
// does, another letter follows.
const maxSignature = 400

// signature is where the end of a letter begins in a text, or its length.
func signature(text string) int {
	if at := closing.FindAllStringIndex(text, -1); len(at) > 0 {
		if last := at[len(at)-1]; len(text)-last[1] <= maxSignature {
			return last[0]
		}
	}
	return len(text)
}

// asksPerson is a question that the head or the end of a letter may answer.
var asksPerson = regexp.MustCompile(`(?i)\b(?:who|whose|whom|wer|wem|wen|wessen|phone|telephone|call|contact|address|signed|wrote|sent|telefon\pL*|nummer|adresse|kontakt\pL*|anrufen|e-?mail|unterschrieb\pL*|absender)\b`)

// head begins the lines above a letter: who wrote it, to whom and when.
var head = regexp.MustCompile(`^(?:From|Von): .*\n?(?s:.*)\b(?:To|An|Date|Datum|Sent|Gesendet): `)

// frames reports whether sentence i is of the head or the end of a letter, and not
// of what it says. Names there have words of many questions in them.
func (r *reading) frames(i int) bool {
	return r.sentences[i].Start >= r.ends || head.MatchString(r.text(i))
}

// framed is how much the head and the end of a letter hold each term, nil where
// the passage is none: they say of all between them who writes it to whom.
func (r *reading) framed() []float64 {
	var out []float64
	for i, m := range r.matches {
		if !r.frames(i) {
			continue
		}
		if out == nil {
			out = make([]float64, len(m))
		}
		for t, x := range m {
			out[t] = max(out[t], x)
		}
	}
	return out
}
