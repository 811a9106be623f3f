package knowledge

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/knowledge/extract"
	"liminal/internal/words"
)

// Sizes of chunks, in tokens as words.Tokens estimates them (RAG-03, FILE-10).
// DefaultChunk is that of prose; SizeFor tells that of each type.
const (
	DefaultChunk = 400
	MinChunk     = 64
	MaxChunk     = 4000
	Overlap      = 50 // of two neighbouring chunks of the default size; an eighth of others
)

// SizeFor is how many tokens a chunk of a file has when nobody chose a size:
// what is dense, such as rows, slides and code, is cut finer than prose, and the
// chapters of a book are not (RAG-03). It lies within 300 and 500.
func SizeFor(name, mime string) int {
	switch extract.TypeOf(name, mime) {
	case "table", "Excel", "PowerPoint", "source code":
		return 300
	case "EPUB":
		return 500
	case "OpenDocument":
		if ext := strings.ToLower(path.Ext(name)); ext == ".ods" || ext == ".odp" {
			return 300
		}
	}
	return DefaultChunk
}

// CheckChunkSize refuses a chunk size outside its bounds; 0 means the default
// (FILE-10).
func CheckChunkSize(tokens int) error {
	if tokens != 0 && (tokens < MinChunk || tokens > MaxChunk) {
		return fault.New(fault.Invalid, "The chunk size must lie between %d and %d tokens; %d does not.", MinChunk, MaxChunk, tokens)
	}
	return nil
}

// Cut cuts a text into overlapping chunks of about size tokens (0: the
// default; sizes out of bounds are brought to the nearest bound). Chunks end
// at the end of a sentence where there is one and prefer the borders of
// paragraphs. None runs over a heading or the end of a page: a quote's heading
// and page are those of its chunk, and are therefore exact. For each chunk
// Content == x.Text[Start:End]; the chunks are in the order of the text and
// between them leave out nothing but white space (RAG-03).
func Cut(x extract.Document, size int) []Chunk {
	if size == 0 {
		size = DefaultChunk
	}
	c := cutter{size: min(max(size, MinChunk), MaxChunk), text: x.Text}
	c.pieces = dissect(x, c.size)
	return c.cut()
}

// crowded reports whether a text falls into many more chunks than its length
// explains: each is rows and a vector, a hundred times what an empty section
// takes in a file.
func crowded(chunks int, text string) bool { return chunks > max(5_000, len(text)/MinChunk) }

// ChunkID is the id of a document's chunk at an index under an encoder
// version: the same for every attempt, so that writing twice is writing once
// (RAG-19).
func ChunkID(documentID string, index int, version string) string {
	return id.Derive(documentID, strconv.Itoa(index), version)
}

// piece is the smallest piece a chunk is made of: a sentence or less.
type piece struct {
	start, end int
	tokens     int
	heading    string
	page       int
	opens      bool // begins a block
	title      bool // is a heading
	fresh      bool // begins a section or a page: no chunk runs over it
}

// dissect cuts every block at its sentences, and sentences too long for a
// chunk at their words.
func dissect(x extract.Document, size int) []piece {
	var out []piece
	for _, b := range covering(x) {
		first := true
		for _, s := range words.Sentences(x.Text[b.Start:b.End]) {
			for _, p := range fitting(x.Text, b.Start+s.Start, b.Start+s.End, size) {
				next := piece{
					start: p[0], end: p[1], tokens: words.Tokens(x.Text[p[0]:p[1]]),
					heading: b.Heading, page: b.Page, opens: first, title: b.Kind == "heading",
				}
				if len(out) > 0 {
					next.fresh = next.parts(out[len(out)-1])
				}
				out = append(out, next)
				first = false
			}
		}
	}
	return out
}

// parts reports whether p begins a section or a page of its own after prev. A
// heading directly under another one does not.
func (p piece) parts(prev piece) bool {
	if p.page != prev.page {
		return true
	}
	return p.opens && !prev.title && (p.title || p.heading != prev.heading)
}

// covering is the blocks of x in order, or one block over all of the text
// when there are none. Blocks out of bounds or out of order are left out.
func covering(x extract.Document) []extract.Block {
	if len(x.Blocks) == 0 {
		return []extract.Block{{Start: 0, End: len(x.Text)}}
	}
	var out []extract.Block
	last := 0
	for _, b := range x.Blocks {
		if b.Start >= last && b.End > b.Start && b.End <= len(x.Text) {
			out = append(out, b)
			last = b.End
		}
	}
	return out
}

// fitting cuts text[start:end] into pieces of at most size tokens, at word
// borders where there are any.
func fitting(text string, start, end, size int) [][2]int {
	if end-start <= size || words.Tokens(text[start:end]) <= size {
		return [][2]int{{start, end}}
	}
	var out [][2]int
	from, used, last := start, 0, start
	for _, w := range words.Split(text[start:end]) {
		stop := start + w.End
		n := words.Tokens(text[last:stop])
		if used+n > size && last > from {
			out = append(out, halved(text, from, last, size)...)
			from, used = skipSpace(text, last, stop), 0
			n = words.Tokens(text[from:stop])
		}
		used, last = used+n, stop
	}
	return append(out, halved(text, from, end, size)...)
}

// halved cuts what has no words to cut at, such as a line of signs.
func halved(text string, start, end, size int) [][2]int {
	middle := start + (end-start)/2
	for middle > start && !utf8.RuneStart(text[middle]) {
		middle--
	}
	if middle == start || words.Tokens(text[start:end]) <= size {
		return [][2]int{{start, end}}
	}
	var out [][2]int
	for _, half := range [][2]int{{start, middle}, {middle, end}} {
		if from, to := words.Trim(text, half[0], half[1]); from < to {
			out = append(out, halved(text, from, to, size)...)
		}
	}
	return out
}

func skipSpace(text string, at, end int) int {
	start, _ := words.Trim(text, at, end)
	return start
}

// cutter gathers pieces into chunks.
type cutter struct {
	size   int
	text   string
	pieces []piece
}

func (c *cutter) cut() []Chunk {
	var out []Chunk
	for from := 0; from < len(c.pieces); {
		to := c.window(from)
		first, last := c.pieces[from], c.pieces[to-1]
		out = append(out, Chunk{
			Index: len(out), Start: first.start, End: last.end, Content: c.text[first.start:last.end],
			Heading: last.heading, Page: first.page,
		})
		if to == len(c.pieces) {
			break
		}
		from = c.back(from, to)
	}
	return out
}

// window returns the end of the chunk that begins at from: as many pieces as
// fit, ended at the best border in its last third.
func (c *cutter) window(from int) int {
	used, to := 0, from
	for to < len(c.pieces) && (to == from || used+c.pieces[to].tokens <= c.size) {
		if to > from && c.pieces[to].fresh {
			return to
		}
		used += c.pieces[to].tokens
		to++
	}
	if to == len(c.pieces) {
		return to
	}
	best, tail := to, used
	for at := to; at > from+1 && tail > c.size*2/3; at-- {
		if c.border(at) > c.border(best) {
			best = at
		}
		tail -= c.pieces[at-1].tokens
	}
	for best > from+1 && c.pieces[best-1].title {
		best-- // a heading belongs to what follows it
	}
	return best
}

// border rates ending a chunk before piece at.
func (c *cutter) border(at int) int {
	switch a := c.pieces[at]; {
	case a.title && a.opens:
		return 3
	case a.opens:
		return 2
	case a.start > 0 && c.text[a.start-1] == '\n':
		return 1
	}
	return 0
}

func (c *cutter) overlap() int { return c.size * Overlap / DefaultChunk }

// back returns where the next chunk begins: some pieces before to, unless a
// section begins there.
func (c *cutter) back(from, to int) int {
	if c.pieces[to].fresh {
		return to
	}
	used, at := 0, to
	for at-1 > from && used+c.pieces[at-1].tokens <= c.overlap() && !c.pieces[at].fresh {
		at--
		used += c.pieces[at].tokens
	}
	return at
}
