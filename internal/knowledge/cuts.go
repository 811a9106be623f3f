package knowledge

import (
	"strconv"
	"sync"
)

// maxCuts bounds the texts whose chunks are remembered: documents being taken
// in at once.
const maxCuts = 4

// cuts remembers how the texts of documents on their way in are cut, so that
// not every batch cuts a book anew. The zero value is ready.
type cuts struct {
	mu   sync.Mutex
	list []cutText // used last at the end
}

type cutText struct {
	document, key string
	chunks        []Chunk
}

// cutKey names what the chunks of a text depend on. Within a run the text
// changes in Extract, Accept and Clean only, which make it forgotten.
func cutKey(d Document, size int, encoder string) string {
	return d.RunID + "/" + d.Version + "/" + encoder + "/" + strconv.Itoa(size)
}

func (c *cuts) find(document, key string) ([]Chunk, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, one := range c.list {
		if one.document == document && one.key == key {
			c.list = append(append(c.list[:i:i], c.list[i+1:]...), one)
			return one.chunks, true
		}
	}
	return nil, false
}

func (c *cuts) remember(document, key string, chunks []Chunk) {
	c.forget(document)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) >= maxCuts {
		c.list = append([]cutText(nil), c.list[1:]...)
	}
	c.list = append(c.list, cutText{document, key, chunks})
}

func (c *cuts) forget(document string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, one := range c.list {
		if one.document == document {
			c.list = append(c.list[:i:i], c.list[i+1:]...)
			return
		}
	}
}
