package knowledge

import (
	"strings"

	"liminal/internal/redact"
)

// scrubbed takes what is personal out of a text (RAG-06): addresses, phone
// numbers, cards and accounts give way to their kind in brackets, and blocks
// move with the text, so that offsets still say where a quote stands.
func scrubbed(x Extract) Extract {
	_, found := redact.Personal(x.Text)
	x.Title, _ = redact.Personal(x.Title)
	if len(found) == 0 {
		return x
	}
	var b strings.Builder
	at := 0
	moves := make([]move, 0, len(found))
	for _, f := range found {
		b.WriteString(x.Text[at:f.Start])
		from := b.Len()
		b.WriteString("[" + string(f.Kind) + "]")
		moves = append(moves, move{f.Start, f.End, from, b.Len()})
		at = f.End
	}
	b.WriteString(x.Text[at:])
	x.Text = b.String()
	blocks := make([]Block, len(x.Blocks))
	for i, block := range x.Blocks {
		block.Start, block.End = moved(moves, block.Start), moved(moves, block.End)
		block.Heading, _ = redact.Personal(block.Heading)
		blocks[i] = block
	}
	x.Blocks = blocks
	return x
}

// move says that text[start:end] became the new text's [from:to].
type move struct{ start, end, from, to int }

// moved is where an offset of the old text stands in the new one; inside of
// what was replaced, behind the replacement.
func moved(moves []move, offset int) int {
	shift := 0
	for _, m := range moves {
		switch {
		case offset <= m.start:
			return offset + shift
		case offset < m.end:
			return m.to
		}
		shift = m.to - m.end
	}
	return offset + shift
}
