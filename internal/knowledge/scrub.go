package knowledge

import (
	"liminal/internal/knowledge/extract"
	"liminal/internal/redact"
)

// scrubbed takes what is personal out of a text (RAG-06): addresses, phone
// numbers, cards and accounts give way to their kind in brackets, in the text
// and in the headings above it. What was scrubbed once stays as it is.
func scrubbed(x extract.Document) extract.Document {
	_, found := redact.Personal(x.Text)
	x.Title, _ = redact.Personal(x.Title)
	if len(found) == 0 {
		return x
	}
	edits := make([]edit, len(found))
	for i, f := range found {
		edits[i] = edit{f.Start, f.End, "[" + string(f.Kind) + "]"}
	}
	x = rewritten(x, edits)
	for i, block := range x.Blocks {
		x.Blocks[i].Heading, _ = redact.Personal(block.Heading)
	}
	return x
}
