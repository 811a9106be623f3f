package bench

import (
	"context"
	"fmt"
	"time"

	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
)

const (
	chunksAtOnce    = 500 // written in one transaction
	chunksADocument = 200
	chunkBytes      = 600
	hitsAsked       = 40 // of each list, as the library asks
)

// corpus is a context of its own in the platform's index.
type corpus struct {
	index   knowledge.Index
	store   *store.Store
	embed   embed.Embedder
	viewer  identity.Viewer
	context string
	prose   *prose
}

// searches measures hybrid searches over so many chunks.
func (h *house) searches(ctx context.Context, chunks, count int) (s spread, err error) {
	c := &corpus{index: h.platform.Index(), store: h.platform.Store(), embed: embed.Hash{}, viewer: h.person(0), prose: newProse(11)}
	k, err := c.store.CreateContext(ctx, c.viewer, knowledge.Context{Name: "bench", Visibility: "private"})
	if err != nil {
		return s, err
	}
	c.context = k.ID
	if err := c.fill(ctx, chunks); err != nil {
		return s, err
	}
	s, _, err = alone(ctx, 5, count, func(ctx context.Context, _ int) error {
		question := c.prose.sentence()
		vectors, err := c.embed.Embed(ctx, []string{question})
		if err != nil {
			return err
		}
		hits, err := c.index.Search(ctx, c.viewer, knowledge.Query{
			ContextIDs: []string{c.context}, Text: question, Vector: vectors[0], Limit: hitsAsked,
		})
		if err == nil && len(hits) == 0 {
			err = fmt.Errorf("a search found nothing")
		}
		return err
	})
	return s, err
}

// fill writes so many chunks, in documents of some hundred.
func (c *corpus) fill(ctx context.Context, chunks int) error {
	var batch []knowledge.Chunk
	var document string
	for n := range chunks {
		if n%chunksADocument == 0 {
			d, err := c.store.PutDocument(ctx, c.viewer, knowledge.Document{
				ID: id.New(), ContextID: c.context, UserID: c.viewer.UserID,
				Path: fmt.Sprintf("files/%d.md", n), Title: fmt.Sprintf("Document %d", n), MIME: "text/markdown", Status: knowledge.Ready,
				CreatedAt: time.Now(), UpdatedAt: time.Now(),
			})
			if err != nil {
				return err
			}
			document = d.ID
		}
		batch = append(batch, c.chunk(document, n))
		if len(batch) == chunksAtOnce || n == chunks-1 {
			if err := c.put(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return nil
}

func (c *corpus) chunk(document string, n int) knowledge.Chunk {
	text := c.prose.passage(chunkBytes)
	return knowledge.Chunk{
		ID: id.New(), DocumentID: document, ContextID: c.context, Index: n % chunksADocument,
		Content: text, Heading: "Chapter", End: len(text),
	}
}

func (c *corpus) put(ctx context.Context, batch []knowledge.Chunk) error {
	texts := make([]string, len(batch))
	for i, chunk := range batch {
		texts[i] = chunk.Content
	}
	vectors, err := c.embed.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i := range batch {
		batch[i].Vector = vectors[i]
	}
	return c.index.Upsert(ctx, c.viewer, batch)
}
