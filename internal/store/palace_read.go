package store

import (
	"context"
	"slices"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

var _ palace.Records = (*Store)(nil)

const agentColumns = `a.id, a.number, a.name, a.project, a.kind, a.parent_id, a.created_at, a.seen_at`

func scanAgent(scan Scan) (a palace.Agent, err error) {
	err = scan(&a.ID, &a.Number, &a.Name, &a.Project, &a.Kind, text{&a.ParentID}, when{&a.CreatedAt}, when{&a.SeenAt})
	return a, err
}

// mostAgents bounds a list of agents, and of lineages of one.
const mostAgents = 1000

// PalaceAgent implements palace.Records.
func (s *Store) PalaceAgent(ctx context.Context, v identity.Viewer, number int) (a palace.Agent, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+agentColumns+` FROM palace_agent a WHERE a.user_id = @user AND a.number = @number`, Args{"user": v.UserID, "number": number}, scanAgent)
		if err == nil {
			err = spentByAgents(tx, v, list)
		}
		a, err = only(list, err, "agent")
		return err
	})
	return a, err
}

// PalaceLineages implements palace.Records.
func (s *Store) PalaceLineages(ctx context.Context, v identity.Viewer, agent string) (list []palace.Lineage, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+lineageColumns+` FROM palace_lineage l WHERE l.user_id = @user AND l.agent_id = @agent ORDER BY l.seen_at DESC, l.id DESC LIMIT @most`,
			Args{"user": v.UserID, "agent": orNil(id.Canonical(agent)), "most": mostAgents}, scanLineage)
		if err == nil {
			err = spentByLineages(tx, v, list)
		}
		return err
	})
	return list, err
}

// PalaceLineage implements palace.Records.
func (s *Store) PalaceLineage(ctx context.Context, v identity.Viewer, lineage string) (l palace.Lineage, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+lineageColumns+` FROM palace_lineage l WHERE l.user_id = @user AND l.id = @id`, Args{"user": v.UserID, "id": orNil(id.Canonical(lineage))}, scanLineage)
		if err == nil {
			err = spentByLineages(tx, v, list)
		}
		l, err = only(list, err, "lineage")
		return err
	})
	return l, err
}

func scanExchange(scan Scan) (e palace.Exchange, err error) {
	var s sentRow
	err = scan(append(exchangeDest(&e), sentDest(&s)...)...)
	e.Sent = s.sent(e.Usage.Output)
	return e, err
}

// PalaceExchanges implements palace.Records. Ids are ordered by time.
func (s *Store) PalaceExchanges(ctx context.Context, v identity.Viewer, f palace.ExchangeFilter, cursor string, limit int) (list []palace.Exchange, next string, err error) {
	from, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	args := Args{"user": v.UserID, "before": from.id, "most": size + 1, "agent": f.AgentID, "lineage": f.LineageID, "kind": string(f.Kind)}
	where := ""
	for column, value := range map[string]string{"agent": f.AgentID, "lineage": f.LineageID} {
		if value != "" {
			args[column] = orNil(id.Canonical(value))
			where += ` AND x.` + column + `_id = @` + column
		}
	}
	if f.Kind != "" {
		where += ` AND x.kind = @kind`
	}
	if from.id != "" {
		where += ` AND x.id < @before`
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+exchangeColumns+`, `+sentColumns+` FROM palace_exchange x`+sentTable+` WHERE x.user_id = @user`+where+` ORDER BY x.id DESC LIMIT @most`, args, scanExchange)
		if err == nil {
			err = charged(tx, v, list)
		}
		return err
	})
	list, next = cut(list, size, func(e palace.Exchange) place { return place{e.StartedAt, e.ID} })
	return list, next, err
}

// PalaceExchange implements palace.Records.
func (s *Store) PalaceExchange(ctx context.Context, v identity.Viewer, exchange string) (e palace.Exchange, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		var s sentRow
		found, err := first(tx, `SELECT `+exchangeColumns+`, `+sentColumns+`, x.recipe, x.wire FROM palace_exchange x`+sentTable+` WHERE x.user_id = @user AND x.id = @id`,
			Args{"user": v.UserID, "id": orNil(id.Canonical(exchange))}, slices.Concat(exchangeDest(&e), sentDest(&s), []any{&e.Recipe, &e.Wire})...)
		e.Sent = s.sent(e.Usage.Output)
		if err == nil && !found {
			err = missing("exchange")
		}
		if err == nil {
			list := []palace.Exchange{e}
			err = charged(tx, v, list)
			e = list[0]
		}
		return err
	})
	return e, err
}

// PalaceChunks implements palace.Records.
func (s *Store) PalaceChunks(ctx context.Context, v identity.Viewer, hashes []string) (chunks map[string][]byte, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		chunks = map[string][]byte{}
		args := Args{"user": v.UserID}
		return tx.Query(`SELECT hash, body FROM palace_chunk WHERE user_id = @user AND hash IN `+args.in("hash", hashes), args, func(scan Scan) error {
			var hash string
			var body []byte
			if err := scan(&hash, &body); err != nil {
				return err
			}
			chunks[hash] = append([]byte{}, body...)
			return nil
		})
	})
	return chunks, err
}

const blockColumns = `b.id, b.display_id, b.generation, b.type, b.role, b.tool, b.scope, b.project, b.agent_id, b.channels, b.tier, b.tier_by, b.starred, b.wish, b.active, b.tokens, b.size, b.label, b.exchange_id, b.form, b.chunk, b.start, b.created_at, b.deleted_at, b.archived_at, b.erased_at, b.erased_by, b.key, b.hash, b.sum`

func scanBlock(scan Scan) (b palace.Block, err error) {
	err = scan(&b.UUID, &b.DisplayID, &b.Generation, &b.Type, &b.Role, &b.Tool, &b.Scope, &b.Project, text{&b.AgentID}, decode{&b.Channels}, &b.Tier, &b.TierBy, &b.Starred, &b.Wish, &b.Active, &b.Tokens, &b.Size, &b.Label,
		&b.ExchangeID, &b.Form, &b.Chunk, &b.Start, when{&b.CreatedAt}, momentOf{&b.DeletedAt}, momentOf{&b.ArchivedAt}, momentOf{&b.ErasedAt}, &b.ErasedBy, &b.Key, &b.Hash, &b.Sum)
	return b, err
}

func (s *Store) palaceBlock(ctx context.Context, v identity.Viewer, where string, args Args) (b palace.Block, err error) {
	args["user"] = v.UserID
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+blockColumns+` FROM palace_block b WHERE b.user_id = @user AND `+where, args, scanBlock)
		b, err = only(list, err, "block")
		return err
	})
	return b, err
}

// PalaceBlock implements palace.Records.
func (s *Store) PalaceBlock(ctx context.Context, v identity.Viewer, uuid string) (palace.Block, error) {
	return s.palaceBlock(ctx, v, `b.id = @id`, Args{"id": orNil(id.Canonical(uuid))})
}

// PalaceBlockNumbered implements palace.Records.
func (s *Store) PalaceBlockNumbered(ctx context.Context, v identity.Viewer, display int) (palace.Block, error) {
	return s.palaceBlock(ctx, v, `b.id = (SELECT d.block_id FROM palace_display d WHERE d.user_id = @user AND d.display_id = @n)`, Args{"n": display})
}

// PalaceTimeline implements palace.Records.
func (s *Store) PalaceTimeline(ctx context.Context, v identity.Viewer, lineage string) (list []palace.Block, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+blockColumns+` FROM palace_timeline t JOIN palace_block b ON b.id = t.block_id WHERE t.user_id = @user AND t.lineage_id = @lineage ORDER BY t.position`,
			Args{"user": v.UserID, "lineage": orNil(id.Canonical(lineage))}, scanBlock)
		return err
	})
	return list, err
}

// PalaceShared implements palace.Records.
func (s *Store) PalaceShared(ctx context.Context, v identity.Viewer) (list []palace.Block, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+blockColumns+` FROM palace_block b WHERE b.user_id = @user AND b.scope = 'global' AND b.active ORDER BY b.id`, Args{"user": v.UserID}, scanBlock)
		return err
	})
	return list, err
}

// PalaceFigures implements palace.Records.
func (s *Store) PalaceFigures(ctx context.Context, v identity.Viewer) (f palace.Figures, err error) {
	args := Args{"user": v.UserID}
	err = s.read(ctx, v, func(tx Tx) error {
		f = palace.Figures{ByType: map[palace.Type]int{}, ByTier: map[palace.Tier]int{}}
		f.Display.Most = mostDisplayIDs
		for _, q := range []struct {
			text string
			into []any
		}{
			{`SELECT count(*) FROM palace_agent WHERE user_id = @user`, []any{&f.Agents}},
			{`SELECT count(*) FROM palace_lineage WHERE user_id = @user`, []any{&f.Lineages}},
			{`SELECT count(*), coalesce(sum(CASE WHEN asked_size > 0 THEN asked_size ELSE 0 END + answered_size), 0) FROM palace_exchange WHERE user_id = @user`, []any{&f.Exchanges, &f.Passed}},
			{`SELECT coalesce(sum(length(body)), 0) FROM palace_chunk WHERE user_id = @user`, []any{&f.Bytes}},
			{`SELECT count(*) FROM palace_display WHERE user_id = @user AND block_id IS NOT NULL`, []any{&f.Display.Used}},
		} {
			if _, err := first(tx, q.text, args, q.into...); err != nil {
				return err
			}
		}
		return tx.Query(`SELECT type, tier, active, count(*) FROM palace_block WHERE user_id = @user GROUP BY type, tier, active`, args, func(scan Scan) error {
			var t palace.Type
			var tier palace.Tier
			var active bool
			var n int
			if err := scan(&t, &tier, &active, &n); err != nil {
				return err
			}
			f.Blocks += n
			if active {
				f.Active += n
				f.ByType[t] += n
				f.ByTier[tier] += n
			}
			return nil
		})
	})
	return f, err
}

// SetPalaceTier implements palace.Records.
func (s *Store) SetPalaceTier(ctx context.Context, v identity.Viewer, blocks []string, t palace.Tier) error {
	if t != palace.Short && t != palace.Medium && t != palace.Long {
		return errTier(t)
	}
	return s.write(ctx, v, func(tx Tx) error {
		for _, block := range blocks {
			n, err := tx.Exec(`UPDATE palace_block SET tier = @tier, tier_by = 'person' WHERE user_id = @user AND id = @id`, Args{"user": v.UserID, "id": orNil(id.Canonical(block)), "tier": string(t)})
			if err != nil || n == 0 {
				return orMissing(err, "block")
			}
		}
		return nil
	})
}
