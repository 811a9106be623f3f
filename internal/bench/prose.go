package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// prose writes text that looks like text to an index: a vocabulary whose words
// are as unequally frequent as a language's, the same at every run.
type prose struct {
	words []string
	draw  *rand.Zipf
	dice  *rand.Rand
}

const vocabulary = 20_000

func newProse(seed uint64) *prose {
	dice := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same text at every run is what it is for
	p := &prose{dice: dice, draw: rand.NewZipf(dice, 1.1, 4, vocabulary-1)}
	syllables := []string{"ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "xu", "ha"}
	for n := range vocabulary {
		var word strings.Builder
		for left := n + len(syllables); left > 0; left /= len(syllables) {
			word.WriteString(syllables[left%len(syllables)])
		}
		p.words = append(p.words, word.String())
	}
	return p
}

// sentence of eight to twenty words.
func (p *prose) sentence() string {
	words := make([]string, 8+p.dice.IntN(13))
	for i := range words {
		words[i] = p.words[p.draw.Uint64()]
	}
	return strings.Join(words, " ") + "."
}

// passage of at least so many bytes.
func (p *prose) passage(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(p.sentence())
		b.WriteByte(' ')
	}
	return b.String()
}

// book is a Markdown document of exactly so many bytes.
func book(size int) string {
	p := newProse(7)
	var b strings.Builder
	b.Grow(size + 1024)
	for n := 1; b.Len() < size; n++ {
		fmt.Fprintf(&b, "## Chapter %d\n\n%s\n\n", n, p.passage(4000))
	}
	return b.String()[:size]
}
