package model

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"liminal/internal/words"
)

// Quote is the Citation of the part of a passage that a claim of the answer
// rests on. It is, in this order:
//
//   - the sentences of the passage that the claim repeats word for word;
//   - what the claim puts in quotation marks, where the passage says it;
//   - the sentence of the passage that shares the most words with the claim.
//
// It is false only for a passage without a source or without words.
func Quote(passage Block, claim string) (Event, bool) {
	if passage.Source == nil {
		return Event{}, false
	}
	sentences := speaking(passage.Text)
	if len(sentences) == 0 {
		return Event{}, false
	}
	start, end, ok := repeated(passage.Text, sentences, claim)
	if !ok {
		start, end, ok = quotedPart(passage.Text, claim)
	}
	if !ok {
		best := nearest(passage.Text, sentences, claim)
		start, end = best.Start, best.End
	}
	return passage.Cite(start, end), true
}

// speaking are the sentences of a text worth quoting: all but its headings,
// unless it has nothing else.
func speaking(text string) []words.Sentence {
	var out []words.Sentence
	all := words.Sentences(text)
	for _, s := range all {
		if s.Form != words.Heading && s.Form != words.Fence {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// minRepeated is how long a sentence must be for its repetition to mean
// something, in bytes.
const minRepeated = 12

// repeated finds the first run of sentences that the claim contains, however
// its lines are broken.
func repeated(text string, sentences []words.Sentence, claim string) (start, end int, ok bool) {
	claim = oneLine(claim)
	for i, first := range sentences {
		if first.End-first.Start < minRepeated || !strings.Contains(claim, oneLine(text[first.Start:first.End])) {
			continue
		}
		end = first.End
		for _, next := range sentences[i+1:] {
			if !strings.Contains(claim, oneLine(text[first.Start:next.End])) {
				break
			}
			end = next.End
		}
		return first.Start, end, true
	}
	return 0, 0, false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

var marked = regexp.MustCompile(`"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|»([^«]+)«`)

// quotedPart finds what the claim puts in quotation marks, the last first.
func quotedPart(text, claim string) (start, end int, ok bool) {
	for _, quote := range slices.Backward(marked.FindAllStringSubmatch(claim, -1)) {
		said := strings.Trim(strings.Join(quote[1:], ""), " .,;:…")
		if len(said) < minRepeated {
			continue
		}
		fields := strings.Fields(said)
		for j, f := range fields {
			fields[j] = regexp.QuoteMeta(f)
		}
		pattern, err := regexp.Compile(strings.Join(fields, `\s+`))
		if err != nil {
			continue
		}
		if at := pattern.FindStringIndex(text); at != nil {
			return at[0], at[1], true
		}
	}
	return 0, 0, false
}

// nearest is the sentence that shares the most words with the end of the
// claim; the first where none shares any.
func nearest(text string, sentences []words.Sentence, claim string) words.Sentence {
	l := words.Detect(text)
	wanted := map[string]bool{}
	for _, stem := range words.Stems(l, lastSentence(claim)) {
		wanted[stem] = true
	}
	best, most := sentences[0], 0.0
	for _, s := range sentences {
		shared, seen := 0, map[string]bool{}
		for _, stem := range words.Stems(l, text[s.Start:s.End]) {
			if wanted[stem] && !seen[stem] {
				shared++
			}
			seen[stem] = true
		}
		// A long sentence has more of every word; half of that is taken off.
		if score := float64(shared) / math.Sqrt(float64(max(len(seen), 4))); score > most {
			best, most = s, score
		}
	}
	return best
}

// lastSentence is the sentence a marker stands behind: the last of the claim
// that says something.
func lastSentence(claim string) string {
	for _, s := range slices.Backward(words.Sentences(claim)) {
		if part := claim[s.Start:s.End]; len(words.Split(part)) > 2 {
			return part
		}
	}
	return claim
}
