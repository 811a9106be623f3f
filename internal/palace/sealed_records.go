package palace

import (
	"context"
	"errors"
	"sync"

	"liminal/internal/identity"
	"liminal/internal/vault"
)

// sealedRecords are Records whose contents are opened as they are read.
type sealedRecords struct {
	Records
	ring    *vault.Ring
	sealers sync.Map // by person
}

// of is the sealer of a person. Where neither side has keys there is nothing to ask.
func (r *sealedRecords) of(ctx context.Context, v identity.Viewer) (sealer, error) {
	if s, ok := r.sealers.Load(v.UserID); ok {
		return s.(sealer), nil
	}
	if r.ring == nil {
		return sealer{}, nil
	}
	s, err := sealerOf(ctx, r.Records, v, r.ring)
	if err == nil {
		r.sealers.Store(v.UserID, s)
	}
	return s, err
}

func (r *sealedRecords) block(ctx context.Context, v identity.Viewer, b Block, err error) (Block, error) {
	list, err := r.blocks(ctx, v, []Block{b}, err)
	return list[0], err
}

func (r *sealedRecords) blocks(ctx context.Context, v identity.Viewer, list []Block, err error) ([]Block, error) {
	if err != nil {
		return list, err
	}
	s, err := r.of(ctx, v)
	for i := range list {
		err = errors.Join(err, s.openBlock(&list[i]))
	}
	return list, err
}

func (r *sealedRecords) exchanges(ctx context.Context, v identity.Viewer, list []Exchange, err error) ([]Exchange, error) {
	if err != nil {
		return list, err
	}
	s, err := r.of(ctx, v)
	for i := range list {
		err = errors.Join(err, s.openExchange(&list[i]))
	}
	return list, err
}

// PalaceExchanges implements Records.
func (r *sealedRecords) PalaceExchanges(ctx context.Context, v identity.Viewer, f ExchangeFilter, cursor string, limit int) ([]Exchange, string, error) {
	list, next, err := r.Records.PalaceExchanges(ctx, v, f, cursor, limit)
	list, err = r.exchanges(ctx, v, list, err)
	return list, next, err
}

// PalaceExchange implements Records.
func (r *sealedRecords) PalaceExchange(ctx context.Context, v identity.Viewer, id string) (Exchange, error) {
	e, err := r.Records.PalaceExchange(ctx, v, id)
	list, err := r.exchanges(ctx, v, []Exchange{e}, err)
	return list[0], err
}

// PalaceChunks implements Records.
func (r *sealedRecords) PalaceChunks(ctx context.Context, v identity.Viewer, hashes []string) (map[string][]byte, error) {
	s, err := r.of(ctx, v)
	if err != nil {
		return nil, err
	}
	asked := map[string][]string{} // what was asked for, by what the database knows
	var ask []string
	for _, h := range hashes {
		k := s.keyed(h)
		if asked[k] == nil {
			ask = append(ask, k)
		}
		asked[k] = append(asked[k], h)
		if s.key != nil && k != h { // kept before there were keys
			asked[h] = append(asked[h], h)
			ask = append(ask, h)
		}
	}
	found, err := r.Records.PalaceChunks(ctx, v, ask)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for k, p := range found {
		if p, err = s.open("chunk/"+k, p); err != nil {
			return nil, err
		}
		for _, h := range asked[k] {
			if len(out[h]) == 0 {
				out[h] = p
			}
		}
	}
	return out, nil
}

// PalaceBlock implements Records.
func (r *sealedRecords) PalaceBlock(ctx context.Context, v identity.Viewer, uuid string) (Block, error) {
	b, err := r.Records.PalaceBlock(ctx, v, uuid)
	return r.block(ctx, v, b, err)
}

// PalaceBlockNumbered implements Records.
func (r *sealedRecords) PalaceBlockNumbered(ctx context.Context, v identity.Viewer, display int) (Block, error) {
	b, err := r.Records.PalaceBlockNumbered(ctx, v, display)
	return r.block(ctx, v, b, err)
}

// PalaceTimeline implements Records.
func (r *sealedRecords) PalaceTimeline(ctx context.Context, v identity.Viewer, lineage string) ([]Block, error) {
	list, err := r.Records.PalaceTimeline(ctx, v, lineage)
	return r.blocks(ctx, v, list, err)
}

// PalaceShared implements Records.
func (r *sealedRecords) PalaceShared(ctx context.Context, v identity.Viewer) ([]Block, error) {
	list, err := r.Records.PalaceShared(ctx, v)
	return r.blocks(ctx, v, list, err)
}

// PalaceSaid implements Eraser.
func (r *sealedRecords) PalaceSaid(ctx context.Context, v identity.Viewer, agent, lineage, after string, most int) ([]Exchange, error) {
	list, err := r.Records.PalaceSaid(ctx, v, agent, lineage, after, most)
	return r.exchanges(ctx, v, list, err)
}

// ErasePalace implements Eraser.
func (r *sealedRecords) ErasePalace(ctx context.Context, v identity.Viewer, what Erasing, move func(Chunk, Block) (Chunk, error)) (Erasure, error) {
	s, err := r.of(ctx, v)
	if err != nil {
		return Erasure{}, err
	}
	if s.key != nil { // with those that were kept before there were keys
		what.Chunks = append(s.keyedAll(what.Chunks), what.Chunks...)
	}
	out, err := r.Records.ErasePalace(ctx, v, what, func(from Chunk, b Block) (Chunk, error) {
		var err error
		if from.Packed, err = s.open("chunk/"+from.Hash, from.Packed); err != nil {
			return Chunk{}, err
		}
		to, err := move(from, b)
		return s.sealChunk(to), err
	})
	out.sealer = s
	return out, err
}

// sealedStore is a Store whose contents are sealed as they are written.
type sealedStore struct {
	Store
	sealer
}

// TakeIn implements Store.
func (s sealedStore) TakeIn(ctx context.Context, v identity.Viewer, f func(Tx) error) error {
	return s.Store.TakeIn(ctx, v, func(tx Tx) error { return f(sealedTx{tx, s.sealer}) })
}
