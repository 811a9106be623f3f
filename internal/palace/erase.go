package palace

import (
	"context"
	"fmt"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Erasing names what is to be erased: some blocks, or all that exchanges said.
type Erasing struct {
	Blocks []string // UUIDs
	// Exchanges lose their bodies and heads, and Chunks of theirs the bytes.
	Exchanges, Chunks []string
}

// Erasure is what was erased.
type Erasure struct {
	Blocks    int   `json:"blocks"`
	Chunks    int   `json:"chunks"`
	Exchanges int   `json:"exchanges"`
	Bytes     int64 `json:"bytes"` // of the store
	// Spool is how many records of the spool were overwritten.
	Spool int `json:"spool_records"`

	hashes map[string]bool // of the chunks, as the database knows them
	sealer sealer
}

// Gone reports whether a chunk is among them.
func (e Erasure) Gone(hash string) bool { return e.hashes[e.sealer.keyed(hash)] }

// WithChunks is an erasure of chunks.
func (e Erasure) WithChunks(hashes []string) Erasure {
	e.Chunks, e.hashes = len(hashes), map[string]bool{}
	for _, h := range hashes {
		e.hashes[h] = true
	}
	return e
}

// Eraser is a Store that forgets.
type Eraser interface {
	// ErasePalace takes the content away for good; the rows, their hashes and the time
	// stay. Of a chunk that another block lies in, move gives that block's bytes a
	// chunk of their own.
	ErasePalace(ctx context.Context, v identity.Viewer, what Erasing, move func(from Chunk, b Block) (Chunk, error)) (Erasure, error)
	// PalaceSaid are the exchanges of an agent, or of a lineage, with their recipes, by
	// pages in the order of their ids, and the blocks that came with them.
	PalaceSaid(ctx context.Context, v identity.Viewer, agent, lineage, after string, most int) ([]Exchange, error)
	PalaceBlocksOf(ctx context.Context, v identity.Viewer, agent, lineage string) ([]string, error)
}

// saidAtOnce is how many exchanges are looked at at once.
const saidAtOnce = 200

// EraseBlock erases one block, wherever it was sent.
func (l *Library) EraseBlock(ctx context.Context, v identity.Viewer, uuid string) (Erasure, error) {
	return l.erase(ctx, v, Erasing{Blocks: []string{uuid}})
}

// EraseLineage erases everything that one history said.
func (l *Library) EraseLineage(ctx context.Context, v identity.Viewer, lineage string) (Erasure, error) {
	found, err := l.PalaceLineage(ctx, v, lineage)
	if err != nil {
		return Erasure{}, err
	}
	out, err := l.eraseSaid(ctx, v, "", found.ID)
	return out, l.unplan(ctx, v, []Lineage{found}, err)
}

// EraseAgent erases everything that an agent said, beside its histories too.
func (l *Library) EraseAgent(ctx context.Context, v identity.Viewer, number int) (Erasure, error) {
	a, err := l.PalaceAgent(ctx, v, number)
	if err != nil {
		return Erasure{}, err
	}
	list, err := l.PalaceLineages(ctx, v, a.ID)
	if err != nil {
		return Erasure{}, err
	}
	out, err := l.eraseSaid(ctx, v, a.ID, "")
	return out, l.unplan(ctx, v, list, err)
}

// unplan removes what is planned for histories that were erased.
func (l *Library) unplan(ctx context.Context, v identity.Viewer, list []Lineage, err error) error {
	for _, g := range list {
		if err == nil && l.Folder != nil {
			err = l.Folder.drop(ctx, v, g.Key)
		}
	}
	return err
}

func (l *Library) eraseSaid(ctx context.Context, v identity.Viewer, agent, lineage string) (_ Erasure, err error) {
	var what Erasing
	if what.Blocks, err = l.PalaceBlocksOf(ctx, v, agent, lineage); err != nil {
		return Erasure{}, err
	}
	for after := ""; ; {
		list, err := l.PalaceSaid(ctx, v, agent, lineage, after, saidAtOnce)
		if err != nil {
			return Erasure{}, err
		}
		for _, e := range list {
			after = e.ID
			what.Exchanges = append(what.Exchanges, e.ID)
			if e.Answered.Hash != "" {
				what.Chunks = append(what.Chunks, e.Answered.Hash)
			}
			r, err := openRecipe(e.Recipe)
			if err != nil {
				return Erasure{}, fmt.Errorf("the request of %s: %w", e.ID, err)
			}
			what.Chunks = append(what.Chunks, r.chunks()...)
		}
		if len(list) < saidAtOnce {
			return l.erase(ctx, v, what)
		}
	}
}

// erase takes contents out of the store, and then out of the spool.
func (l *Library) erase(ctx context.Context, v identity.Viewer, what Erasing) (out Erasure, err error) {
	out, err = l.ErasePalace(ctx, v, what, func(from Chunk, b Block) (Chunk, error) {
		body, err := unpacked(from.Packed)
		if err != nil {
			return Chunk{}, err
		}
		c, err := contentOf(b, body)
		if err != nil {
			return Chunk{}, err
		}
		p, err := packed(c.Raw)
		return Chunk{Hash: hashOf(c.Raw), Size: len(c.Raw), Packed: p}, err
	})
	if err != nil || l.Folder == nil {
		return out, err
	}
	if out.Spool, err = l.Folder.erase(ctx, v, out.Gone); err != nil {
		err = fmt.Errorf("the content is erased in the store, and not everywhere in the spool; erase it again: %w", err)
	}
	return out, err
}

// erased is the answer where contents were kept and are not any more.
func erased(what string) error {
	return fault.New(fault.NotFound, "The %s was kept, and was erased since, all of it or a part.", what).With(map[string]any{"reason": "erased"})
}
