package extract

import (
	"context"
	"strings"
)

// Document is what was read from a file.
type Document struct {
	Text   string
	Blocks []Block
	Pages  int    // 0 when the format has none
	Title  string // from the document itself; may be empty
}

// Block is a run of text under one heading and on one page:
// Text[Start:End], in bytes.
type Block struct {
	Start   int    `json:"s"`
	End     int    `json:"e"`
	Heading string `json:"h,omitempty"` // path of headings, joined by HeadingSeparator
	Page    int    `json:"p,omitempty"`
	Kind    string `json:"k,omitempty"` // "heading", "code", "table", "" for prose
}

// FromText is the document of a file that somebody else read: name is the
// file's, text what they found in it, plain or Markdown, whose headings become
// the document's (RAG-02). A title that is not empty goes before the text's
// own. A text longer than MaxText, or empty, is fault.Invalid.
func FromText(ctx context.Context, name, title, text string, markdown bool) (Document, error) {
	text = tidy(strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case len(text) > MaxText:
		return Document{}, named(ctx, name, tooLong())
	case strings.TrimSpace(text) == "":
		return Document{}, NoText(name)
	}
	x := parseText(text)
	if markdown {
		x = parseMarkdown(text)
	}
	if title != "" {
		x.Title = shorten(strings.Join(strings.Fields(tidy(title)), " "), MaxHeading)
	}
	return x, nil
}
