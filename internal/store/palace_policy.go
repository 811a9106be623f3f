package store

import (
	"context"
	"time"

	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// event writes what became of a block or a lineage.
func palaceEvent(tx Tx, v identity.Viewer, e palace.Event) error {
	_, err := tx.Exec(`INSERT INTO palace_event (id, user_id, who, what, why, block_id, lineage_id, made_at) VALUES (@id, @user, @who, @what, @why, @block, @lineage, @at)`, Args{
		"id": id.New(), "user": v.UserID, "who": e.Who, "what": e.What, "why": writable(e.Why), "block": optional(e.Block), "lineage": optional(e.Lineage), "at": stamp(e.At),
	})
	return err
}

// changeBlock changes a block of a person's and says so; a block that is not there is
// fault.NotFound.
func (s *Store) changeBlock(ctx context.Context, v identity.Viewer, block, set string, args Args, e palace.Event) error {
	args["user"], args["id"] = v.UserID, orNil(id.Canonical(block))
	e.Who, e.Block, e.At = view.ByPerson, id.Canonical(block), s.clock()
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE palace_block SET `+set+` WHERE user_id = @user AND id = @id`, args)
		if err != nil || n == 0 {
			return orMissing(err, "block")
		}
		return palaceEvent(tx, v, e)
	})
}

// SetPalaceStar implements palace.Keeper.
func (s *Store) SetPalaceStar(ctx context.Context, v identity.Viewer, block string, starred bool, tier palace.Tier) error {
	what := "starred"
	if !starred {
		what = "unstarred"
	}
	return s.changeBlock(ctx, v, block, `starred = @starred, tier = CASE WHEN tier_by = 'person' THEN tier ELSE @tier END`, Args{"starred": starred, "tier": string(tier)}, palace.Event{What: what})
}

// SetPalaceWish implements palace.Keeper.
func (s *Store) SetPalaceWish(ctx context.Context, v identity.Viewer, block string, do view.Do) error {
	what := map[view.Do]string{view.Show: "kept", view.Aside: "dropped", "": "unwished"}[do]
	return s.changeBlock(ctx, v, block, `wish = @wish`, Args{"wish": string(do)}, palace.Event{What: what})
}

// MarkPalace implements palace.Keeper.
func (s *Store) MarkPalace(ctx context.Context, v identity.Viewer, list []palace.Marked) error {
	return s.write(ctx, v, func(tx Tx) error {
		for _, m := range list {
			channels, err := encoded(m.Channels, false)
			if err != nil {
				return err
			}
			was, err := encoded(m.Was, false)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(`UPDATE palace_block SET channels = CASE WHEN channels = @was THEN @channels ELSE channels END, tier = CASE WHEN tier_by = 'person' THEN tier ELSE @tier END WHERE user_id = @user AND id = @id`,
				Args{"user": v.UserID, "id": m.UUID, "was": was, "channels": channels, "tier": string(m.Tier)}); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	// announcedEnd is behind the keys of all announcements.
	announcedEnd = "announcement;"
	// mostAnnounced bounds what all agents are told.
	mostAnnounced = 100
)

// PutAnnouncement implements palace.Keeper.
func (s *Store) PutAnnouncement(ctx context.Context, v identity.Viewer, b palace.Block, chunk palace.Chunk) (palace.Block, error) {
	err := s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock(palaceOf(v.UserID)); err != nil {
			return err
		}
		var n int
		if _, err := first(tx, `SELECT count(*) FROM palace_block WHERE user_id = @user AND key >= @from AND key < @to AND active`, Args{"user": v.UserID, "from": palace.Announced, "to": announcedEnd}, &n); err != nil {
			return err
		}
		if n >= mostAnnounced {
			return fault.New(fault.Conflict, "There are %d announcements already, which all agents see; drop one first.", n)
		}
		p := newPalaceTx(tx, v.UserID, s.now())
		if err := p.PutChunk(chunk); err != nil {
			return err
		}
		if err := p.NewBlock(b); err != nil {
			return err
		}
		if err := p.flush(); err != nil {
			return err
		}
		return palaceEvent(tx, v, palace.Event{Who: view.ByPerson, What: "announced", Block: b.UUID, At: b.CreatedAt})
	})
	if err != nil {
		return b, err
	}
	return s.PalaceBlock(ctx, v, b.UUID)
}

// PalaceAnnouncements implements palace.Keeper.
func (s *Store) PalaceAnnouncements(ctx context.Context, v identity.Viewer) (list []palace.Block, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+blockColumns+` FROM palace_block b WHERE b.user_id = @user AND b.key >= @from AND b.key < @to AND b.active ORDER BY b.id DESC`,
			Args{"user": v.UserID, "from": palace.Announced, "to": announcedEnd}, scanBlock)
		return err
	})
	return list, err
}

// PalacePlan implements palace.Keeper.
func (s *Store) PalacePlan(ctx context.Context, v identity.Viewer, lineage string) (p palace.Planned, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		found, err := first(tx, `SELECT lineage_id, policy_id, policy_version, exchanges, plan, asked_at, made_at FROM palace_plan WHERE user_id = @user AND lineage_id = @lineage`,
			Args{"user": v.UserID, "lineage": orNil(id.Canonical(lineage))}, &p.Lineage, text{&p.Pin.PolicyID}, &p.Pin.Version, &p.Exchanges, decode{&p.Plan}, momentOf{&p.Asked}, when{&p.MadeAt})
		if err == nil && !found {
			err = missing("plan")
		}
		return err
	})
	return p, err
}

// PutPalacePlan implements palace.Keeper.
func (s *Store) PutPalacePlan(ctx context.Context, v identity.Viewer, p palace.Planned) error {
	plan, err := encoded(p.Plan, false)
	if err != nil {
		return err
	}
	return s.write(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO palace_plan (lineage_id, user_id, policy_id, policy_version, exchanges, plan, made_at) VALUES (@lineage, @user, @policy, @version, @exchanges, @plan, @made)
			ON CONFLICT (lineage_id) DO UPDATE SET exchanges = @exchanges, plan = @plan, made_at = @made,
				asked_at = CASE WHEN palace_plan.asked_at < @opened THEN NULL ELSE palace_plan.asked_at END`, Args{
			"lineage": p.Lineage, "user": v.UserID, "policy": optional(p.Pin.PolicyID), "version": p.Pin.Version, "exchanges": p.Exchanges, "plan": plan, "made": stamp(p.MadeAt), "opened": optionalMoment(p.Opened),
		})
		return err
	})
}

// AskPalaceEpoch implements palace.Keeper.
func (s *Store) AskPalaceEpoch(ctx context.Context, v identity.Viewer, lineage string, asked bool) error {
	args := Args{"user": v.UserID, "lineage": orNil(id.Canonical(lineage)), "at": nil}
	what := "epoch"
	if asked {
		args["at"] = s.now()
	} else {
		what = "no_epoch"
	}
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`UPDATE palace_plan SET asked_at = @at WHERE user_id = @user AND lineage_id = @lineage`, args)
		if err != nil || n == 0 {
			return orMissing(err, "plan")
		}
		return palaceEvent(tx, v, palace.Event{Who: view.ByPerson, What: what, Lineage: id.Canonical(lineage), At: s.clock()})
	})
}

// mostUnplanned bounds what is planned again after a restart.
const mostUnplanned = 1000

// PalaceUnplanned implements palace.Keeper.
func (s *Store) PalaceUnplanned(ctx context.Context, v identity.Viewer, since time.Time) (list []string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT l.id FROM palace_lineage l LEFT JOIN palace_plan p ON p.lineage_id = l.id
			WHERE l.user_id = @user AND l.seen_at >= @since AND (p.exchanges IS NULL OR p.exchanges < l.exchanges) ORDER BY l.seen_at DESC LIMIT @most`,
			Args{"user": v.UserID, "since": stamp(since), "most": mostUnplanned}, scanText)
		return err
	})
	return list, err
}

const (
	// endedAfter is how long a lineage has been silent that has ended.
	endedAfter = 24 * time.Hour
	// mostTotals is how many lineages what is to come is expected from, the newest.
	mostTotals = 1000
)

// PalaceTotals implements palace.Keeper.
func (s *Store) PalaceTotals(ctx context.Context, v identity.Viewer) (list []int, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT exchanges FROM palace_lineage WHERE user_id = @user AND seen_at < @before ORDER BY seen_at DESC LIMIT @most`,
			Args{"user": v.UserID, "before": stamp(s.clock().Add(-endedAfter)), "most": mostTotals}, func(scan Scan) (n int, err error) { err = scan(&n); return n, err })
		return err
	})
	return list, err
}

// mostHolders bounds the histories that are planned again when one of their blocks
// changes.
const mostHolders = 100

// PalaceHolders implements palace.Keeper.
func (s *Store) PalaceHolders(ctx context.Context, v identity.Viewer, block string) (list []string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT l.id FROM palace_lineage l WHERE l.user_id = @user AND l.id IN (SELECT t.lineage_id FROM palace_timeline t WHERE t.block_id = @block) ORDER BY l.seen_at DESC LIMIT @most`,
			Args{"user": v.UserID, "block": orNil(id.Canonical(block)), "most": mostHolders}, scanText)
		return err
	})
	return list, err
}

// PalaceRecent implements palace.Keeper.
func (s *Store) PalaceRecent(ctx context.Context, v identity.Viewer, most int) (list []palace.Lineage, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+lineageColumns+` FROM palace_lineage l WHERE l.user_id = @user ORDER BY l.seen_at DESC, l.id DESC LIMIT @most`, Args{"user": v.UserID, "most": most}, scanLineage)
		return err
	})
	return list, err
}

// mostFollowed bounds the histories that a policy is judged by, the newest.
const mostFollowed = 10_000

// PalaceFollowed implements changes.Store. Costs are those of main and subagents' requests:
// what is asked beside a history is in none.
func (s *Store) PalaceFollowed(ctx context.Context, policyID string, version int, since, until time.Time) (f changes.PalaceFollowed, err error) {
	args := Args{"policy": orNil(id.Canonical(policyID)), "version": version, "since": stamp(since), "until": stamp(until), "most": mostFollowed}
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		f = changes.PalaceFollowed{}
		return tx.Query(`SELECT (SELECT count(*) FROM palace_exchange x WHERE x.lineage_id = l.id AND x.stop = 'end_turn'),
			(SELECT sum(c.usd) FROM palace_cost c WHERE c.lineage_id = l.id), (SELECT count(*) FROM palace_cost c WHERE c.lineage_id = l.id AND c.usd IS NULL)
			FROM palace_plan p JOIN palace_lineage l ON l.id = p.lineage_id WHERE p.policy_id = @policy AND p.policy_version = @version AND l.created_at >= @since AND l.created_at < @until
			ORDER BY l.created_at DESC, l.id LIMIT @most`, args, func(scan Scan) error {
			var turns, unpriced int
			var usd *float64
			err := scan(&turns, &usd, &unpriced)
			f.Histories++
			if turns > 0 && usd != nil && unpriced == 0 {
				f.TurnUSD = append(f.TurnUSD, *usd/float64(turns))
			}
			return err
		})
	})
	return f, err
}

// PalaceOwners implements palace.Keeper.
func (s *Store) PalaceOwners(ctx context.Context, limit int) (list []string, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT u.id FROM app_user u WHERE u.is_active AND EXISTS (SELECT 1 FROM palace_spool p WHERE p.user_id = u.id) ORDER BY u.id LIMIT @most`, Args{"most": limit}, scanText)
		return err
	})
	return list, err
}

// unseen is what no history had since a time.
const unseen = ` AND b.created_at < @before AND NOT EXISTS (SELECT 1 FROM palace_timeline t JOIN palace_lineage l ON l.id = t.lineage_id WHERE t.block_id = b.id AND l.seen_at >= @before)`

// PalaceDue implements palace.Keeper. What all agents see is not of any history, and
// stays.
func (s *Store) PalaceDue(ctx context.Context, v identity.Viewer, before time.Time, after string, limit int) (list []palace.Due, err error) {
	if after == "" {
		after = nobody
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+blockColumns+`, coalesce((SELECT max(l.seen_at) FROM palace_timeline t JOIN palace_lineage l ON l.id = t.lineage_id WHERE t.block_id = b.id), b.created_at)
			FROM palace_block b WHERE b.user_id = @user AND b.id > @after AND b.active AND NOT b.starred AND b.tier <> 'LONG' AND b.scope <> 'global'`+unseen+` ORDER BY b.id LIMIT @most`,
			Args{"user": v.UserID, "after": after, "before": stamp(before), "most": limit}, func(scan Scan) (d palace.Due, err error) {
				d.Block, err = scanBlock(func(dest ...any) error { return scan(append(dest, when{&d.SeenAt})...) })
				return d, err
			})
		return err
	})
	return list, err
}

// RetirePalace implements palace.Keeper.
func (s *Store) RetirePalace(ctx context.Context, v identity.Viewer, blocks []string, what view.Action, before time.Time, why string) (n int, err error) {
	set, done := `deleted_at = @now`, "deleted"
	if what == view.Archive {
		set, done = `archived_at = @now`, "archived"
	}
	err = s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock(palaceOf(v.UserID)); err != nil {
			return err
		}
		n = 0
		for _, block := range blocks {
			args := Args{"user": v.UserID, "id": orNil(id.Canonical(block)), "now": s.now(), "no": false, "before": stamp(before)}
			changed, err := tx.Exec(`UPDATE palace_block AS b SET active = @no, display_id = NULL, `+set+` WHERE b.user_id = @user AND b.id = @id AND b.active AND NOT b.starred AND b.tier <> 'LONG'`+unseen, args)
			if err != nil || changed == 0 {
				if err != nil {
					return err
				}
				continue // it came up again, or somebody keeps it
			}
			if _, err := tx.Exec(`UPDATE palace_display SET block_id = NULL WHERE user_id = @user AND block_id = @id`, args); err != nil {
				return err
			}
			if err := palaceEvent(tx, v, palace.Event{Who: view.ByRules, What: done, Why: why, Block: id.Canonical(block), At: s.clock()}); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// PalaceEvents implements palace.Keeper. Ids are ordered by time.
func (s *Store) PalaceEvents(ctx context.Context, v identity.Viewer, block, cursor string, limit int) (list []palace.Event, next string, err error) {
	from, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	args, where := Args{"user": v.UserID, "most": size + 1}, ""
	if block != "" {
		args["block"] = orNil(id.Canonical(block))
		where += ` AND e.block_id = @block`
	}
	if from.id != "" {
		args["before"] = from.id
		where += ` AND e.id < @before`
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT e.id, e.who, e.what, e.why, e.block_id, e.lineage_id, e.made_at FROM palace_event e WHERE e.user_id = @user`+where+` ORDER BY e.id DESC LIMIT @most`, args,
			func(scan Scan) (e palace.Event, err error) {
				err = scan(&e.ID, &e.Who, &e.What, &e.Why, text{&e.Block}, text{&e.Lineage}, when{&e.At})
				return e, err
			})
		return err
	})
	list, next = cut(list, size, func(e palace.Event) place { return place{e.At, e.ID} })
	return list, next, err
}
