package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

var _ palace.Eraser = (*Store)(nil)

// Settler is a DB whose file or log may hold on to what was deleted, until that is
// settled.
type Settler interface {
	Settle(ctx context.Context) error
}

func (s *Store) settle(ctx context.Context) error {
	if d, ok := s.db.(Settler); ok {
		return convert(d.Settle(ctx))
	}
	return nil
}

// ErasePalace implements palace.Eraser.
func (s *Store) ErasePalace(ctx context.Context, v identity.Viewer, what palace.Erasing, move func(palace.Chunk, palace.Block) (palace.Chunk, error)) (out palace.Erasure, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock(palaceOf(v.UserID)); err != nil {
			return err
		}
		e := erasing{tx: tx, user: v.UserID, now: s.now(), blocks: map[string]bool{}, chunks: map[string]bool{}}
		if err := e.find(what); err != nil {
			return err
		}
		if len(e.blocks) == 0 && len(what.Exchanges) == 0 {
			return missing("block")
		}
		if err := e.move(move); err != nil {
			return err
		}
		out, err = e.erase(what.Exchanges)
		return err
	})
	if err != nil {
		return out, err
	}
	return out, s.settle(ctx)
}

// erasing is one erasure under way.
type erasing struct {
	tx     Tx
	user   string
	now    time.Time
	blocks map[string]bool // by UUID
	chunks map[string]bool // by hash
}

// find is which blocks and chunks there are to erase.
func (e *erasing) find(what palace.Erasing) error {
	ids := make([]string, 0, len(what.Blocks))
	for _, b := range what.Blocks {
		if b = id.Canonical(b); b != "" {
			ids = append(ids, b)
		}
	}
	pair := func(scan Scan) error {
		var block, chunk string
		err := scan(&block, &chunk)
		e.blocks[block], e.chunks[chunk] = true, true
		return err
	}
	err := inSets(ids, func(set []string) error {
		args := Args{"user": e.user}
		if err := e.tx.Query(`SELECT id, chunk FROM palace_block WHERE user_id = @user AND id IN `+args.in("id", set), args, pair); err != nil {
			return err
		}
		return e.tx.Query(`SELECT block_id, chunk FROM palace_part WHERE user_id = @user AND block_id IN `+args.in("id", set), args, pair)
	})
	if err != nil {
		return err
	}
	// What all agents see is not one agent's to erase; by itself it is.
	shared := map[string]bool{}
	err = inSets(what.Chunks, func(set []string) error {
		args := Args{"user": e.user}
		return e.tx.Query(`SELECT p.chunk FROM palace_part p JOIN palace_block b ON b.id = p.block_id WHERE p.user_id = @user AND b.scope = 'global' AND p.chunk IN `+args.in("hash", set), args, func(scan Scan) error {
			var chunk string
			err := scan(&chunk)
			shared[chunk] = true
			return err
		})
	})
	for _, c := range what.Chunks {
		if !shared[c] {
			e.chunks[c] = true
		}
	}
	return err
}

func (e *erasing) hashes() []string { return slices.Sorted(maps.Keys(e.chunks)) }

// move gives blocks that stay chunks of their own.
func (e *erasing) move(move func(palace.Chunk, palace.Block) (palace.Chunk, error)) error {
	var stay []palace.Block
	err := inSets(e.hashes(), func(set []string) error {
		args := Args{"user": e.user}
		list, err := all(e.tx, `SELECT `+blockColumns+` FROM palace_block b WHERE b.user_id = @user AND b.erased_at IS NULL AND b.chunk IN `+args.in("hash", set), args, scanBlock)
		for _, b := range list {
			if !e.blocks[b.UUID] {
				stay = append(stay, b)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	p := newPalaceTx(e.tx, e.user, e.now)
	moved := map[string]bool{}
	for _, b := range stay {
		if moved[b.UUID] { // the last set is filled up
			continue
		}
		moved[b.UUID] = true
		from := palace.Chunk{Hash: b.Chunk}
		found, err := first(e.tx, `SELECT size, body FROM palace_chunk WHERE user_id = @user AND hash = @hash AND erased_at IS NULL`, Args{"user": e.user, "hash": b.Chunk}, &from.Size, &from.Packed)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		to, err := move(from, b)
		if err != nil {
			return err
		}
		if err := p.PutChunk(to); err != nil {
			return err
		}
		if err := p.PutParts(to.Hash, []string{b.UUID}); err != nil {
			return err
		}
		if _, err := e.tx.Exec(`UPDATE palace_block SET chunk = @chunk, start = 0 WHERE user_id = @user AND id = @id`, Args{"user": e.user, "id": b.UUID, "chunk": to.Hash}); err != nil {
			return err
		}
	}
	return p.flush()
}

// erase takes the contents away.
func (e *erasing) erase(exchanges []string) (out palace.Erasure, err error) {
	err = inSets(e.hashes(), func(set []string) error {
		args := Args{"user": e.user, "now": e.now, "none": []byte{}}
		hashes := args.in("hash", set)
		var bytes int64
		if _, err := first(e.tx, `SELECT CAST(coalesce(sum(length(body)), 0) AS BIGINT) FROM palace_chunk WHERE user_id = @user AND hash IN `+hashes, args, &bytes); err != nil {
			return err
		}
		out.Bytes += bytes
		_, err := e.tx.Exec(`UPDATE palace_chunk SET body = @none, erased_at = @now WHERE user_id = @user AND erased_at IS NULL AND hash IN `+hashes, args)
		return err
	})
	if err != nil {
		return out, err
	}
	blocks := slices.Sorted(maps.Keys(e.blocks))
	err = inSets(blocks, func(set []string) error {
		args := Args{"user": e.user, "now": e.now, "by": palace.ByPerson}
		_, err := e.tx.Exec(`UPDATE palace_block SET erased_at = coalesce(erased_at, @now), erased_by = @by, label = '' WHERE user_id = @user AND id IN `+args.in("id", set), args)
		return err
	})
	if err != nil {
		return out, err
	}
	// What a model said of a history may repeat it.
	err = inSets(blocks, func(set []string) error {
		args := Args{"user": e.user, "none": ""}
		ids := args.in("id", set)
		if _, err := e.tx.Exec(`UPDATE palace_classification SET answer = @none, refused = @none WHERE user_id = @user AND lineage_id IN (SELECT t.lineage_id FROM palace_timeline t WHERE t.user_id = @user AND t.block_id IN `+ids+`)`, args); err != nil {
			return err
		}
		_, err := e.tx.Exec(`DELETE FROM palace_note WHERE user_id = @user AND id IN (SELECT n.note_id FROM palace_note_block n WHERE n.user_id = @user AND n.block_id IN `+ids+`)`, args)
		return err
	})
	if err != nil {
		return out, err
	}
	err = inSets(exchanges, func(set []string) error {
		args := Args{"user": e.user, "lost": palace.LostErased}
		_, err := e.tx.Exec(`UPDATE palace_exchange SET recipe = NULL, wire = NULL, asked_lost = @lost, answered_lost = @lost WHERE user_id = @user AND id IN `+args.in("id", set), args)
		return err
	})
	if err != nil {
		return out, err
	}
	if err := countErasure(e.tx, e.user); err != nil {
		return out, err
	}
	out.Blocks, out.Exchanges = len(blocks), len(exchanges)
	return out.WithChunks(e.hashes()), nil
}

// countErasure tells who takes in that contents have gone.
func countErasure(tx Tx, user string) error {
	_, err := tx.Exec(`INSERT INTO palace_spool (user_id, segment, erasures) VALUES (@user, '', 1) ON CONFLICT (user_id) DO UPDATE SET erasures = palace_spool.erasures + 1`, Args{"user": user})
	return err
}

// Erasures implements palace.Tx.
func (p *palaceTx) Erasures() (n int64, err error) {
	_, err = first(p.tx, `SELECT erasures FROM palace_spool WHERE user_id = @user`, Args{"user": p.user}, &n)
	return n, err
}

// Erased implements palace.Tx.
func (p *palaceTx) Erased() ([]palace.Place, error) {
	return all(p.tx, `SELECT `+placeColumns+` FROM palace_block b WHERE b.user_id = @user AND b.erased_by = @by`, Args{"user": p.user, "by": palace.ByPerson}, scanPlace)
}

// PalaceKey implements palace.KeyKeeper.
func (s *Store) PalaceKey(ctx context.Context, v identity.Viewer, f func(sealed []byte) ([]byte, error)) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock(palaceOf(v.UserID)); err != nil {
			return err
		}
		var sealed []byte
		err := tx.Query(`SELECT sealed FROM palace_key WHERE user_id = @user`, Args{"user": v.UserID}, func(scan Scan) error {
			var row []byte
			err := scan(&row)
			sealed = slices.Clone(row)
			return err
		})
		if err != nil {
			return err
		}
		next, err := f(sealed)
		if err != nil || next == nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO palace_key (user_id, sealed) VALUES (@user, @sealed) ON CONFLICT (user_id) DO UPDATE SET sealed = excluded.sealed`, Args{"user": v.UserID, "sealed": next})
		return err
	})
}

// PalaceSaid implements palace.Eraser.
func (s *Store) PalaceSaid(ctx context.Context, v identity.Viewer, agent, lineage, after string, most int) (list []palace.Exchange, err error) {
	where, args := ofWhom(v, agent, lineage)
	args["most"] = most
	if after != "" {
		args["after"] = after
		where += ` AND x.id > @after`
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+exchangeColumns+`, x.recipe FROM palace_exchange x WHERE x.user_id = @user AND `+where+` ORDER BY x.id LIMIT @most`, args, func(scan Scan) (e palace.Exchange, err error) {
			var recipe []byte
			err = scan(append(exchangeDest(&e), &recipe)...)
			e.Recipe = slices.Clone(recipe)
			return e, err
		})
		return err
	})
	return list, err
}

// ofWhom is the condition on exchanges of an agent, or of a lineage.
func ofWhom(v identity.Viewer, agent, lineage string) (where string, args Args) {
	args = Args{"user": v.UserID, "agent": orNil(id.Canonical(agent)), "lineage": orNil(id.Canonical(lineage))}
	if lineage != "" {
		return `x.lineage_id = @lineage`, args
	}
	return `x.agent_id = @agent`, args
}

// PalaceBlocksOf implements palace.Eraser.
func (s *Store) PalaceBlocksOf(ctx context.Context, v identity.Viewer, agent, lineage string) (list []string, err error) {
	where, args := ofWhom(v, agent, lineage)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT b.id FROM palace_block b JOIN palace_exchange x ON x.user_id = b.user_id AND x.id = b.exchange_id WHERE b.user_id = @user AND b.scope <> 'global' AND `+where, args, scanText)
		if err != nil || lineage == "" {
			return err
		}
		// Those that it has in common with the one before.
		more, err := all(tx, `SELECT t.block_id FROM palace_timeline t WHERE t.user_id = @user AND t.lineage_id = @lineage`, args, scanText)
		list = append(list, more...)
		return err
	})
	return list, err
}

// roomAtOnce is how many blocks make room in one transaction.
const roomAtOnce = 500

// MakePalaceRoom erases the contents of blocks that are put away, those first that were
// longest ago, until so many bytes are free or there are none. Rows and hashes stay.
func (s *Store) MakePalaceRoom(ctx context.Context, v identity.Viewer, bytes int64) (freed int64, err error) {
	for freed < bytes {
		n, got := 0, int64(0)
		err = s.write(ctx, v, func(tx Tx) error {
			if err := tx.Lock(palaceOf(v.UserID)); err != nil {
				return err
			}
			n, got, err = freePalace(tx, v.UserID, s.now())
			return err
		})
		if freed += got; err != nil || n == 0 {
			return freed, err
		}
	}
	return freed, nil
}

func freePalace(tx Tx, user string, now time.Time) (blocks int, freed int64, err error) {
	e := erasing{tx: tx, user: user, blocks: map[string]bool{}, chunks: map[string]bool{}}
	ids, err := all(tx, `SELECT id FROM palace_block WHERE user_id = @user AND NOT active AND erased_at IS NULL
		ORDER BY CASE WHEN deleted_at IS NULL THEN 1 ELSE 0 END, coalesce(deleted_at, created_at), id LIMIT @most`, Args{"user": user, "most": roomAtOnce}, scanText)
	if err != nil || len(ids) == 0 {
		return 0, 0, err
	}
	if err := e.find(palace.Erasing{Blocks: ids}); err != nil {
		return 0, 0, err
	}
	// What a block that is still seen lies in stays.
	err = inSets(e.hashes(), func(set []string) error {
		args := Args{"user": user}
		return tx.Query(`SELECT p.chunk FROM palace_part p JOIN palace_block b ON b.id = p.block_id WHERE p.user_id = @user AND b.active AND p.chunk IN `+args.in("hash", set), args, func(scan Scan) error {
			var chunk string
			err := scan(&chunk)
			delete(e.chunks, chunk)
			return err
		})
	})
	if err != nil {
		return 0, 0, err
	}
	err = inSets(e.hashes(), func(set []string) error {
		args := Args{"user": user}
		hashes := args.in("hash", set)
		var bytes int64
		if _, err := first(tx, `SELECT CAST(coalesce(sum(length(body)), 0) AS BIGINT) FROM palace_chunk WHERE user_id = @user AND erased_at IS NULL AND hash IN `+hashes, args, &bytes); err != nil {
			return err
		}
		freed += bytes
		_, err := tx.Exec(`DELETE FROM palace_chunk WHERE user_id = @user AND erased_at IS NULL AND hash IN `+hashes, args)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	err = inSets(ids, func(set []string) error {
		args := Args{"user": user, "now": now, "by": palace.ByRoom}
		_, err := tx.Exec(`UPDATE palace_block SET erased_at = @now, erased_by = @by WHERE user_id = @user AND erased_at IS NULL AND id IN `+args.in("id", set), args)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return len(ids), freed, countErasure(tx, user)
}

// PalaceBytes is what the contents take.
func (s *Store) PalaceBytes(ctx context.Context, v identity.Viewer) (n int64, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		n = 0
		for _, text := range []string{
			`SELECT CAST(coalesce(sum(length(body)), 0) AS BIGINT) FROM palace_chunk WHERE user_id = @user`,
			`SELECT CAST(coalesce(sum(length(recipe)), 0) + coalesce(sum(length(wire)), 0) AS BIGINT) FROM palace_exchange WHERE user_id = @user`,
		} {
			var part int64
			if _, err := first(tx, text, Args{"user": v.UserID}, &part); err != nil {
				return err
			}
			n += part
		}
		return nil
	})
	return n, err
}

// PutSegments implements palace.Tx.
func (p *palaceTx) PutSegments(names []string) error {
	b := bulk{text: `INSERT INTO palace_segment (user_id, name, taken_at) VALUES (@user, @name, @now) ON CONFLICT (user_id, name) DO NOTHING`}
	for _, name := range names {
		b.rows = append(b.rows, Args{"user": p.user, "name": name, "now": p.now})
	}
	return b.flush(p.tx)
}

// SegmentsTaken implements palace.Store.
func (s *Store) SegmentsTaken(ctx context.Context, v identity.Viewer, before time.Time) (names []string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		names, err = all(tx, `SELECT name FROM palace_segment WHERE user_id = @user AND taken_at <= @before ORDER BY name`, Args{"user": v.UserID, "before": stamp(before)}, scanText)
		return err
	})
	return names, err
}

// ForgetSegments implements palace.Store.
func (s *Store) ForgetSegments(ctx context.Context, v identity.Viewer, names []string) error {
	return s.write(ctx, v, func(tx Tx) error {
		return inSets(names, func(set []string) error {
			args := Args{"user": v.UserID}
			_, err := tx.Exec(`DELETE FROM palace_segment WHERE user_id = @user AND name IN `+args.in("name", set), args)
			return err
		})
	})
}
