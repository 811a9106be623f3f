package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"liminal/internal/identity"
	"liminal/internal/words"
)

// ReadAs is a word of a question that stands nowhere where it looked, and the
// word of the documents it was read as: one mistyped.
type ReadAs struct {
	Word string `json:"word"`
	As   string `json:"as"`
}

// What is taken for a mistyped word.
const (
	misspeltFrom  = 5  // letters
	misspeltTwice = 9  // letters, from which on two edits may be in it
	misspeltMost  = 2  // words of one question
	nearbyChunks  = 40 // that are looked through for one beginning
	firstLetters  = 3  // of the shortest beginning
)

// spelled is found, and where a word of the question stands nowhere, found once
// more with the word that is likely meant: the best of what is found has to hold it. A
// question whose words are all there costs nothing more.
func (l *Library) spelled(ctx context.Context, v identity.Viewer, q Question, s scope) (Found, error) {
	f, err := l.found(ctx, v, q, s)
	if err != nil || len(f.strange) == 0 {
		return f, err
	}
	text, read, err := l.respell(ctx, v, q, s, f.strange)
	if err != nil || len(read) == 0 {
		return f, err
	}
	q.Text = text
	again, err := l.found(ctx, v, q, s)
	if err != nil {
		return Found{}, err
	}
	if again.Clarity == Nothing || again.top() <= f.top() || !again.isAbout(read) {
		return f, nil // what it was taken for is not what is asked about either
	}
	again.ReadAs, again.Question = read, text
	return again, nil
}

// top is how well the best passage fits.
func (f Found) top() float64 {
	if len(f.Passages) == 0 {
		return 0
	}
	return f.Passages[0].Score
}

// isAbout reports whether the best passage, or what stands above it, holds the
// words.
func (f Found) isAbout(read []ReadAs) bool {
	if len(f.Passages) == 0 {
		return false
	}
	best := f.Passages[0]
	text := best.Title + "\n" + best.Heading + "\n" + best.Text
	return !slices.ContainsFunc(read, func(r ReadAs) bool { return !strings.Contains(text, r.As) })
}

// see notes how well readings hold each word of the inquiry, at best.
func (in *inquiry) see(readings []*reading) {
	for t := range in.terms {
		for _, r := range readings {
			in.terms[t].seen = max(in.terms[t].seen, r.anywhere[t], r.heading[t], r.title[t])
		}
	}
}

// strange lists the words of a rated inquiry that stand in nothing that was read,
// unless as a part of another, and that are not known to be words.
func (in *inquiry) strange() []string {
	var out []string
	for _, t := range in.terms {
		if !t.weak && t.seen <= inCompound && len(t.parts) == 0 && len(t.others) == 0 && len(t.like) == 0 && utf8.RuneCountInString(t.word) >= misspeltFrom && lettersOnly(t.word) {
			out = append(out, t.word)
		}
	}
	return out
}

func lettersOnly(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// respell is a question with its strange words as the documents spell them.
func (l *Library) respell(ctx context.Context, v identity.Viewer, q Question, s scope, strange []string) (string, []ReadAs, error) {
	var b strings.Builder
	var read []ReadAs
	from := 0
	for _, w := range words.Split(q.Text) {
		raw := q.Text[w.Start:w.End]
		if len(read) == misspeltMost || !slices.Contains(strange, w.Text) || isName(q.Text, w) {
			continue
		}
		as, err := l.meant(ctx, v, q, s, w.Text)
		if err != nil {
			return "", nil, err
		}
		if as != "" {
			b.WriteString(q.Text[from:w.Start] + as)
			from = w.End
			read = append(read, ReadAs{Word: raw, As: as})
		}
	}
	return b.String() + q.Text[from:], read, nil
}

// isName reports whether a word is written as a name. One that the documents do
// not know is told to be unknown; in German, where every noun is written so, it
// may be a slip.
func isName(question string, w words.Word) bool {
	first, _ := utf8.DecodeRuneInString(question[w.Start:])
	return shouted(question, w) || w.Start > 0 && unicode.IsUpper(first) && words.Detect(question) != words.German
}

// meant is the word of the documents that a word nobody wrote there is likely to
// be, as it stands there, or "". It is looked for by its beginnings, the longest
// first: a slip of the keyboard leaves one of them.
func (l *Library) meant(ctx context.Context, v identity.Viewer, q Question, s scope, word string) (string, error) {
	look := Query{DocumentIDs: q.DocumentIDs, Limit: 1}
	for _, c := range s.contexts {
		look.ContextIDs = append(look.ContextIDs, c.ID)
	}
	look.Text = word
	if hits, err := l.o.Index.Search(ctx, v, look); err != nil || len(hits) > 0 {
		return "", err // it is there, in what was not read for rating
	}
	look.Text, look.Limit = "", nearbyChunks
	for _, start := range beginnings(word) {
		look.Begins = start
		hits, err := l.o.Index.Search(ctx, v, look)
		if err != nil {
			return "", err
		}
		if as := nearest(word, hits); as != "" {
			return as, nil
		}
	}
	return "", nil
}

// beginnings are what the word that is meant may begin with: as the mistyped one
// does, or, where the slip is among the first letters, without one of them or
// with two of them changed about.
func beginnings(word string) []string {
	letters := []rune(word)
	half := max(firstLetters, len(letters)/2)
	out := []string{string(letters[:max(half, 2*len(letters)/3)]), string(letters[:half]), string(letters[:firstLetters])}
	for i := range firstLetters {
		changed := slices.Clone(letters)
		changed[i], changed[i+1] = changed[i+1], changed[i]
		out = append(out, string(changed[:half+1]), string(slices.Delete(slices.Clone(letters), i, i+1)[:half]))
	}
	return slices.Compact(out)
}

// nearest is the word of chunks that is a few edits from another, as it stands
// there. Of several that are as near none is, unless they are forms of one word.
func nearest(word string, hits []Hit) string {
	bound := 1
	if utf8.RuneCountInString(word) >= misspeltTwice {
		bound = 2
	}
	type near struct {
		word, raw string
		edits     int
	}
	var list []near
	seen := map[string]bool{}
	for _, h := range hits {
		text := h.Chunk.Heading + "\n" + h.Chunk.Content
		for _, w := range words.Split(text) {
			if seen[w.Text] || len(w.Parts) > 0 || !lettersOnly(w.Text) {
				continue
			}
			seen[w.Text] = true
			if n := edits([]rune(word), []rune(w.Text), bound); n <= bound && mistyped(word, w.Text) {
				list = append(list, near{w.Text, text[w.Start:w.End], n})
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Or(cmp.Compare(a.edits, b.edits), strings.Compare(a.word, b.word)) })
	for _, other := range list[1:] {
		if other.edits == list[0].edits && !akin(list[0].word, other.word) {
			return ""
		}
	}
	return list[0].raw
}

// mistyped reports whether one word may be a slip for another. Words that differ
// in their last letter alone, or in what stands before them, are words of their
// own as a rule: employer and employee, available and unavailable.
func mistyped(word, as string) bool {
	if strings.HasSuffix(word, as) || strings.HasSuffix(as, word) {
		return false
	}
	a, b := []rune(word), []rune(as)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return same < max(len(a), len(b))-1
}

// edits counts the letters that have to be changed, put in, left out or changed
// about with their neighbour to make one word of another; more than bound where
// these are more.
func edits(a, b []rune, bound int) int {
	if len(a)-len(b) > bound || len(b)-len(a) > bound {
		return bound + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > bound {
			return bound + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
