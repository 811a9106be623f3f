package store

import (
	"context"
	"errors"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

// PalaceAgents implements palace.Records.
func (s *Store) PalaceAgents(ctx context.Context, v identity.Viewer) (list []palace.AgentState, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		agents, err := all(tx, `SELECT `+agentColumns+` FROM palace_agent a WHERE a.user_id = @user ORDER BY a.number DESC LIMIT @most`, Args{"user": v.UserID, "most": mostAgents}, scanAgent)
		if err == nil {
			err = spentByAgents(tx, v, agents)
		}
		if err != nil {
			return err
		}
		list = make([]palace.AgentState, len(agents))
		byAgent, byLineage := map[string]*palace.AgentState{}, map[string]*palace.AgentState{}
		for i, a := range agents {
			list[i] = palace.AgentState{Agent: a, Tokens: map[palace.Type]int64{}}
			byAgent[a.ID] = &list[i]
		}
		newest, err := all(tx, `SELECT `+lineageColumns+` FROM palace_lineage l WHERE l.user_id = @user AND NOT EXISTS (
			SELECT 1 FROM palace_lineage m WHERE m.agent_id = l.agent_id AND m.user_id = @user AND (m.seen_at > l.seen_at OR m.seen_at = l.seen_at AND m.id > l.id))`, Args{"user": v.UserID}, scanLineage)
		if err != nil {
			return err
		}
		ids := []string{}
		for _, l := range newest {
			if a := byAgent[l.AgentID]; a != nil {
				a.Lineage, byLineage[l.ID] = &l, a
				ids = append(ids, l.ID)
			}
		}
		return errors.Join(palaceLineageCounts(tx, v, byAgent), palaceTokens(tx, v, ids, byLineage))
	})
	return list, err
}

func palaceLineageCounts(tx Tx, v identity.Viewer, of map[string]*palace.AgentState) error {
	return tx.Query(`SELECT agent_id, count(*), sum(exchanges) FROM palace_lineage WHERE user_id = @user GROUP BY agent_id`, Args{"user": v.UserID}, func(scan Scan) error {
		var agent string
		var lineages, exchanges int
		err := scan(&agent, &lineages, &exchanges)
		if a := of[agent]; a != nil {
			a.Lineages, a.Exchanges = lineages, exchanges
		}
		return err
	})
}

func palaceTokens(tx Tx, v identity.Viewer, lineages []string, of map[string]*palace.AgentState) error {
	args := Args{"user": v.UserID}
	return tx.Query(`SELECT t.lineage_id, b.type, sum(b.tokens) FROM palace_timeline t JOIN palace_block b ON b.id = t.block_id
		WHERE t.user_id = @user AND b.active AND t.lineage_id IN `+args.in("lineage", lineages)+` GROUP BY t.lineage_id, b.type`, args, func(scan Scan) error {
		var lineage string
		var t palace.Type
		var n int64
		err := scan(&lineage, &t, &n)
		if a := of[lineage]; a != nil {
			a.Tokens[t] = n
		}
		return err
	})
}

// mostAppearances bounds where a block is told to stand.
const mostAppearances = 200

// PalaceAppearances implements palace.Records.
func (s *Store) PalaceAppearances(ctx context.Context, v identity.Viewer, uuid string) (list []palace.Appearance, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT t.lineage_id, l.agent_id, a.number, t.position, l.length
			FROM palace_timeline t JOIN palace_lineage l ON l.id = t.lineage_id JOIN palace_agent a ON a.id = l.agent_id
			WHERE t.user_id = @user AND t.block_id = @block ORDER BY l.seen_at DESC, l.id DESC LIMIT @most`,
			Args{"user": v.UserID, "block": orNil(id.Canonical(uuid)), "most": mostAppearances}, func(scan Scan) (a palace.Appearance, err error) {
				err = scan(&a.Lineage, &a.Agent, &a.Number, &a.Position, &a.Length)
				return a, err
			})
		return err
	})
	return list, err
}
