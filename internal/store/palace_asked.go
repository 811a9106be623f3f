package store

import (
	"context"
	"maps"
	"slices"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/view"
)

const (
	// mostClassified bounds the answers that are kept of a person.
	mostClassified = 5000
	// mostInChannels bounds the channels of a block that models give.
	mostInChannels = 20
)

// PalaceWishes implements palace.Keeper.
func (s *Store) PalaceWishes(ctx context.Context, v identity.Viewer, lineage string) (wishes map[string]view.Do, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		wishes, err = wishesOf(tx, v, lineage)
		return err
	})
	return wishes, err
}

func wishesOf(tx Tx, v identity.Viewer, lineage string) (map[string]view.Do, error) {
	wishes := map[string]view.Do{}
	return wishes, tx.Query(`SELECT block_id, wish FROM palace_wish WHERE user_id = @user AND lineage_id = @lineage`, Args{"user": v.UserID, "lineage": orNil(id.Canonical(lineage))}, func(scan Scan) error {
		var block string
		var do view.Do
		err := scan(&block, &do)
		wishes[block] = do
		return err
	})
}

// PutPalaceClassified implements palace.Keeper.
func (s *Store) PutPalaceClassified(ctx context.Context, v identity.Viewer, c palace.Classified, w palace.Wishes) error {
	asked, err := encoded(c.Blocks, false)
	if err != nil {
		return err
	}
	return s.write(ctx, v, func(tx Tx) error {
		args := Args{
			"id": c.ID, "user": v.UserID, "lineage": c.Lineage, "who": c.Who, "model": writable(c.Model), "exchanges": c.Exchanges, "asked": asked, "shown": len(c.Blocks),
			"answer": writable(c.Answer), "outcome": string(c.Outcome), "refused": writable(c.Refused), "took": c.Took, "at": stamp(c.At), "most": mostClassified,
		}
		if _, err := tx.Exec(`INSERT INTO palace_classification (id, user_id, lineage_id, who, model, exchanges, asked, shown, answer, outcome, refused, took_us, made_at) VALUES (@id, @user, @lineage, @who, @model, @exchanges, @asked, @shown, @answer, @outcome, @refused, @took, @at)`, args); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM palace_classification WHERE user_id = @user AND id <= (SELECT c.id FROM palace_classification c WHERE c.user_id = @user ORDER BY c.id DESC LIMIT 1 OFFSET @most)`, args); err != nil {
			return err
		}
		if err := putWishes(tx, v, c, w.Do); err != nil {
			return err
		}
		return addChannels(tx, v, w)
	})
}

// putWishes notes what a model wishes now, and of each block of which it wished
// something else before what became of it.
func putWishes(tx Tx, v identity.Viewer, c palace.Classified, wishes map[string]view.Do) error {
	if len(wishes) == 0 {
		return nil
	}
	before, err := wishesOf(tx, v, c.Lineage)
	if err != nil {
		return err
	}
	for _, block := range slices.Sorted(maps.Keys(wishes)) {
		do := wishes[block]
		if before[block] == do {
			continue
		}
		if _, err := tx.Exec(`INSERT INTO palace_wish (lineage_id, block_id, user_id, wish, made_at) VALUES (@lineage, @block, @user, @wish, @at)
			ON CONFLICT (lineage_id, block_id) DO UPDATE SET wish = @wish, made_at = @at`,
			Args{"user": v.UserID, "lineage": c.Lineage, "block": block, "wish": string(do), "at": stamp(c.At)}); err != nil {
			return err
		}
		what := map[view.Do]string{view.Show: "kept", view.Aside: "dropped"}[do]
		if err := palaceEvent(tx, v, palace.Event{Who: c.Who, What: what, Why: c.Model, Block: block, Lineage: c.Lineage, At: c.At}); err != nil {
			return err
		}
	}
	return nil
}

// addChannels puts blocks into channels that they are not in yet.
func addChannels(tx Tx, v identity.Viewer, w palace.Wishes) error {
	if len(w.Channels) == 0 {
		return nil
	}
	for _, block := range w.In {
		var channels []string
		args := Args{"user": v.UserID, "id": block}
		found, err := first(tx, `SELECT channels FROM palace_block WHERE user_id = @user AND id = @id`, args, decode{&channels})
		if err != nil || !found {
			return err
		}
		before := len(channels)
		for _, c := range w.Channels {
			if len(channels) < mostInChannels && !slices.Contains(channels, c) {
				channels = append(channels, c)
			}
		}
		if len(channels) == before {
			continue
		}
		if args["channels"], err = encoded(channels, false); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE palace_block SET channels = @channels WHERE user_id = @user AND id = @id`, args); err != nil {
			return err
		}
	}
	return nil
}

// PalaceClassified implements palace.Keeper. Ids are ordered by time.
func (s *Store) PalaceClassified(ctx context.Context, v identity.Viewer, lineage, cursor string, limit int) (list []palace.Classified, next string, err error) {
	from, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	args, where := Args{"user": v.UserID, "most": size + 1}, ""
	if lineage != "" {
		args["lineage"] = orNil(id.Canonical(lineage))
		where += ` AND c.lineage_id = @lineage`
	}
	if from.id != "" {
		args["before"] = from.id
		where += ` AND c.id < @before`
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT c.id, c.lineage_id, c.who, c.model, c.exchanges, c.asked, c.answer, c.outcome, c.refused, c.took_us, c.made_at FROM palace_classification c WHERE c.user_id = @user`+where+` ORDER BY c.id DESC LIMIT @most`, args,
			func(scan Scan) (c palace.Classified, err error) {
				err = scan(&c.ID, text{&c.Lineage}, &c.Who, &c.Model, &c.Exchanges, decode{&c.Blocks}, &c.Answer, &c.Outcome, &c.Refused, &c.Took, when{&c.At})
				return c, err
			})
		return err
	})
	list, next = cut(list, size, func(c palace.Classified) place { return place{c.At, c.ID} })
	return list, next, err
}

// PalaceOutcomes implements palace.Keeper.
func (s *Store) PalaceOutcomes(ctx context.Context, v identity.Viewer) (outcomes map[palace.Outcome]int64, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		outcomes = map[palace.Outcome]int64{}
		return tx.Query(`SELECT outcome, count(*) FROM palace_classification WHERE user_id = @user GROUP BY outcome`, Args{"user": v.UserID}, func(scan Scan) error {
			var o palace.Outcome
			var n int64
			err := scan(&o, &n)
			outcomes[o] = n
			return err
		})
	})
	return outcomes, err
}

// PalaceAgentNumber implements palace.Keeper.
func (s *Store) PalaceAgentNumber(ctx context.Context, v identity.Viewer, agent string) (n int, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		found, err := first(tx, `SELECT number FROM palace_agent WHERE user_id = @user AND id = @agent`, Args{"user": v.UserID, "agent": orNil(id.Canonical(agent))}, &n)
		if err == nil && !found {
			err = missing("agent")
		}
		return err
	})
	return n, err
}
