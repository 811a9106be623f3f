package knowledge

import (
	"slices"
	"strconv"
	"sync"
)

const (
	// cutBytes bounds the texts whose chunks are remembered: those of documents
	// being taken in at once.
	cutBytes = 192 << 20
	// cutIdle is after how many questions for others a text is given up: its
	// run was broken off.
	cutIdle = 2000
)

// cuts remembers how the texts of documents on their way in are cut, so that
// not every batch cuts a book anew. Documents take turns, so one that is
// remembered stays until it is done, and does not make room for the next one:
// it would be asked for again before any other. The zero value is ready.
type cuts struct {
	mu    sync.Mutex
	list  []cutText
	asked int
}

type cutText struct {
	document, key string
	chunks        []Chunk
	size, asked   int
}

// cutKey names what the chunks of a text depend on. Within a run the text
// changes in Extract, Accept and Clean only, which make it forgotten.
func cutKey(d Document, size int, encoder string) string {
	return d.RunID + "/" + d.Version + "/" + encoder + "/" + strconv.Itoa(size)
}

func (c *cuts) find(document, key string) ([]Chunk, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	for i := range c.list {
		if one := &c.list[i]; one.document == document && one.key == key {
			one.asked = c.asked
			return one.chunks, true
		}
	}
	return nil, false
}

func (c *cuts) remember(document, key string, chunks []Chunk) {
	size := 0
	for _, chunk := range chunks {
		size += len(chunk.Content) + len(chunk.Heading) + 256 // the rest of it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	total := size
	c.list = slices.DeleteFunc(c.list, func(one cutText) bool { return one.document == document || c.asked-one.asked > cutIdle })
	for _, one := range c.list {
		total += one.size
	}
	if total <= cutBytes || len(c.list) == 0 {
		c.list = append(c.list, cutText{document, key, chunks, size, c.asked})
	}
}

func (c *cuts) forget(document string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(one cutText) bool { return one.document == document })
}
