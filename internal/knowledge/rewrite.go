package knowledge

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"liminal/internal/knowledge/extract"
)

// edit says that text[start:end] is to become with.
type edit struct {
	start, end int
	with       string
}

// move says that text[start:end] became the new text's [from:to].
type move struct{ start, end, from, to int }

// rewritten carries edits out, which lie in order and apart. Blocks move with
// the text, so that offsets still say where a quote stands; one of which
// nothing is left goes.
func rewritten(x extract.Document, edits []edit) extract.Document {
	if len(edits) == 0 {
		return x
	}
	var b strings.Builder
	b.Grow(len(x.Text))
	at := 0
	moves := make([]move, 0, len(edits))
	for _, e := range edits {
		b.WriteString(x.Text[at:e.start])
		from := b.Len()
		b.WriteString(e.with)
		moves = append(moves, move{e.start, e.end, from, b.Len()})
		at = e.end
	}
	b.WriteString(x.Text[at:])
	x.Text = b.String()
	blocks := make([]extract.Block, 0, len(x.Blocks))
	for _, block := range x.Blocks {
		block.Start, block.End = moved(moves, block.Start), moved(moves, block.End)
		if block.End > block.Start {
			blocks = append(blocks, block)
		}
	}
	x.Blocks = blocks
	return x
}

// moved is where an offset of the old text stands in the new one; inside of
// what was replaced, behind the replacement.
func moved(moves []move, offset int) int {
	next := sort.Search(len(moves), func(i int) bool { return offset <= moves[i].start })
	if next == 0 {
		return offset
	}
	m := moves[next-1]
	if offset < m.end {
		return m.to
	}
	return offset + m.to - m.end
}

// What nobody searches for and nobody quotes, and what it becomes.
var clutter = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\n[ \t]*\n(?:[ \t]*\n)+`), "\n\n"},                   // a gap is one blank line
	{regexp.MustCompile(`[A-Za-z0-9+/_-]{100}[A-Za-z0-9+/_=-]{400,}`), "[…]"}, // encoded data
}

// tidied takes the clutter out of a text.
func tidied(x extract.Document) extract.Document {
	var edits []edit
	for _, c := range clutter {
		for _, m := range c.pattern.FindAllStringIndex(x.Text, -1) {
			edits = append(edits, edit{m[0], m[1], c.with})
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	kept := edits[:0]
	for _, e := range edits {
		if n := len(kept); n == 0 || kept[n-1].end <= e.start {
			kept = append(kept, e)
		}
	}
	return rewritten(x, kept)
}
