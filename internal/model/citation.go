package model

// Source says where a passage stands. Start and End are byte offsets into the
// document's stored UTF-8 text; the passage is exactly text[Start:End].
type Source struct {
	DocumentID string  `json:"document_id"`
	ContextID  string  `json:"context_id,omitempty"`
	ChunkID    string  `json:"chunk_id,omitempty"`
	Title      string  `json:"title"`
	Path       string  `json:"path,omitempty"`
	Heading    string  `json:"heading,omitempty"` // "Chapter › Section"
	Page       int     `json:"page,omitempty"`    // 1-based; 0 when the format has none
	Start      int     `json:"start"`
	End        int     `json:"end"`
	Score      float64 `json:"score"` // 0 to 1
	// Columns is of rows of a table the line that names its columns, as it
	// stands in the document above the passage; else empty.
	Columns string `json:"columns,omitempty" doc:"of rows of a table: the line that names its columns, as it stands in the document above them"`
}

// Part is the source of a piece of the passage that s is the source of: its
// bytes from up to to, counted in the passage. The names of columns are not
// the piece's, which may be of another table.
func (s Source) Part(from, to int) Source {
	s.Start, s.End, s.Columns = s.Start+from, s.Start+to, ""
	return s
}

// Cite is the Citation of the bytes from up to to of a passage, which has a
// Source and that many bytes.
func (b Block) Cite(from, to int) Event {
	source := b.Source.Part(from, to)
	return Event{Type: Citation, Source: &source, Quote: b.Text[from:to]}
}
