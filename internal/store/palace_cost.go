package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/view"
)

const (
	insertCost = `INSERT INTO palace_cost (user_id, exchange_id, agent_id, lineage_id, kind, model, at, day, input, cache_read, write_5m, write_1h, output, usd, list_price, predicted_read,
		predicted_write, off, cause, place, reason, missed, missed_usd)
		VALUES (@user, @exchange, @agent, @lineage, @kind, @model, @at, @day, @input, @read, @write5, @write1, @output, @usd, @list, @predicted_read, @predicted_write, @off, @cause, @place, @reason, @missed, @missed_usd)`
	insertPrompt = `INSERT INTO palace_prompt (lineage_id, user_id, state) VALUES (@lineage, @user, @state) ON CONFLICT (lineage_id) DO UPDATE SET state = excluded.state`
)

// day is that of a time, in UTC.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func valueOf[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// PutCosts implements palace.Tx.
func (p *palaceTx) PutCosts(list []palace.Cost) error {
	for _, c := range list {
		m := palace.Miss{}
		var cause any
		if c.Miss != nil {
			m, cause = *c.Miss, string(c.Miss.Cause)
		}
		p.costs.rows = append(p.costs.rows, Args{
			"user": p.user, "exchange": c.ExchangeID, "agent": optional(c.AgentID), "lineage": optional(c.LineageID), "kind": string(c.Kind), "model": writable(c.Model), "at": stamp(c.At), "day": day(c.At),
			"input": c.Usage.Input, "read": c.Usage.Read, "write5": c.Usage.Write5m, "write1": c.Usage.Write1h, "output": c.Usage.Output, "usd": valueOf(c.USD), "list": c.ListPrice,
			"predicted_read": valueOf(c.PredictedRead), "predicted_write": valueOf(c.PredictedWrite), "off": valueOf(c.Off),
			"cause": cause, "place": writable(m.Where), "reason": writable(m.Reason), "missed": m.Tokens, "missed_usd": valueOf(m.USD),
		})
	}
	return nil
}

// CacheState implements palace.Tx.
func (p *palaceTx) CacheState() (state []byte, err error) {
	_, err = first(p.tx, `SELECT state FROM palace_cache WHERE user_id = @user`, Args{"user": p.user}, &state)
	return slices.Clone(state), err
}

// PutCacheState implements palace.Tx.
func (p *palaceTx) PutCacheState(state []byte) error {
	_, err := p.tx.Exec(`INSERT INTO palace_cache (user_id, state) VALUES (@user, @state) ON CONFLICT (user_id) DO UPDATE SET state = @state`, Args{"user": p.user, "state": state})
	return err
}

// LastPrompt implements palace.Tx.
func (p *palaceTx) LastPrompt(lineage string) (state []byte, err error) {
	_, err = first(p.tx, `SELECT state FROM palace_prompt WHERE user_id = @user AND lineage_id = @lineage`, Args{"user": p.user, "lineage": lineage}, &state)
	return slices.Clone(state), err
}

// PutLastPrompt implements palace.Tx.
func (p *palaceTx) PutLastPrompt(lineage string, state []byte) error {
	p.prompts.rows = append(p.prompts.rows, Args{"user": p.user, "lineage": lineage, "state": state})
	return nil
}

// charged fills in what exchanges cost.
func charged(tx Tx, v identity.Viewer, list []palace.Exchange) error {
	ids, at := make([]string, len(list)), map[string]*palace.Exchange{}
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, &list[i]
	}
	if len(list) == 0 {
		return nil
	}
	args := Args{"user": v.UserID}
	return tx.Query(`SELECT c.exchange_id, c.usd, c.list_price, c.predicted_read, c.predicted_write, c.cause, c.place, c.reason, c.missed, c.missed_usd FROM palace_cost c
		WHERE c.user_id = @user AND c.exchange_id IN `+args.in("id", ids), args, func(scan Scan) error {
		var exchange, cause string
		var c palace.Charge
		var m palace.Miss
		if err := scan(&exchange, &c.USD, &c.ListPrice, &c.PredictedRead, &c.PredictedWrite, text{&cause}, &m.Where, &m.Reason, &m.Tokens, &m.USD); err != nil {
			return err
		}
		if cause != "" {
			m.Cause = view.Cause(cause)
			c.Miss = &m
		}
		if e := at[exchange]; e != nil {
			e.Charge = c
		}
		return nil
	})
}

const costSums = `count(*), CAST(coalesce(sum(CASE WHEN c.usd IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT), CAST(coalesce(sum(c.input), 0) AS BIGINT), CAST(coalesce(sum(c.cache_read), 0) AS BIGINT),
	CAST(coalesce(sum(c.write_5m), 0) AS BIGINT), CAST(coalesce(sum(c.write_1h), 0) AS BIGINT), CAST(coalesce(sum(c.output), 0) AS BIGINT), sum(c.usd),
	CAST(coalesce(sum(CASE WHEN c.list_price THEN 1 ELSE 0 END), 0) AS BIGINT)`

// sums are those of costSums.
type sums struct {
	n, unpriced, listed int
	usage               palace.Usage
	usd                 *float64
}

func (s *sums) dest() []any {
	return []any{&s.n, &s.unpriced, &s.usage.Input, &s.usage.Read, &s.usage.Write5m, &s.usage.Write1h, &s.usage.Output, &s.usd, &s.listed}
}

func (s *sums) spent() palace.Spent {
	out := palace.Spent{USD: s.usd, Unpriced: s.unpriced, ListPrice: s.listed > 0}
	if total := s.usage.Total(); total > 0 {
		share := float64(s.usage.Read) / float64(total)
		out.CacheShare = &share
	}
	return out
}

// spent are the sums of exchanges by one of the columns agent_id and lineage_id.
func spent(tx Tx, v identity.Viewer, column, where string, args Args) (map[string]palace.Spent, error) {
	out := map[string]palace.Spent{}
	args["user"] = v.UserID
	return out, tx.Query(`SELECT c.`+column+`, `+costSums+` FROM palace_cost c WHERE c.user_id = @user AND c.`+column+` IS NOT NULL`+where+` GROUP BY c.`+column, args, func(scan Scan) error {
		var of string
		var s sums
		if err := scan(append([]any{&of}, s.dest()...)...); err != nil {
			return err
		}
		out[of] = s.spent()
		return nil
	})
}

// spentByLineages fills in what lineages cost.
func spentByLineages(tx Tx, v identity.Viewer, list []palace.Lineage) error {
	ids := make([]string, len(list))
	for i, l := range list {
		ids[i] = l.ID
	}
	args := Args{}
	by, err := spent(tx, v, "lineage_id", ` AND c.lineage_id IN `+args.in("id", ids), args)
	for i := range list {
		l := &list[i]
		l.Spent = by[l.ID]
		l.Context = l.Input + l.Output
	}
	return err
}

// spentByAgents fills in what agents cost, and the context of their newest lineage.
func spentByAgents(tx Tx, v identity.Viewer, list []palace.Agent) error {
	ids, at := make([]string, len(list)), map[string]*palace.Agent{}
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, &list[i]
	}
	args := Args{}
	among := args.in("id", ids)
	by, err := spent(tx, v, "agent_id", ` AND c.agent_id IN `+among, args)
	if err != nil {
		return err
	}
	for of, a := range at {
		a.Spent = by[of]
	}
	return tx.Query(`SELECT l.agent_id, l.input + l.output FROM palace_lineage l WHERE l.user_id = @user AND l.agent_id IN `+among+`
		AND NOT EXISTS (SELECT 1 FROM palace_lineage n WHERE n.agent_id = l.agent_id AND (n.seen_at > l.seen_at OR n.seen_at = l.seen_at AND n.id > l.id))`, args, func(scan Scan) error {
		var agent string
		var context int64
		if err := scan(&agent, &context); err != nil {
			return err
		}
		at[agent].Context = context
		return nil
	})
}

// costWhere narrows what is read of the ledger.
func costWhere(v identity.Viewer, f palace.CostFilter) (where string, args Args) {
	args = Args{"user": v.UserID}
	if !f.Since.IsZero() {
		where += ` AND c.day >= @since`
		args["since"] = day(f.Since)
	}
	if f.AgentID != "" {
		where += ` AND c.agent_id = @agent`
		args["agent"] = orNil(id.Canonical(f.AgentID))
	}
	if f.LineageID != "" {
		where += ` AND c.lineage_id = @lineage`
		args["lineage"] = orNil(id.Canonical(f.LineageID))
	}
	return where, args
}

// PalaceCosts implements palace.Ledger.
func (s *Store) PalaceCosts(ctx context.Context, v identity.Viewer, f palace.CostFilter) (c palace.Costs, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		c = palace.Costs{Days: []palace.Day{}, Misses: []palace.MissFigure{}}
		where, args := costWhere(v, f)
		err := tx.Query(`SELECT c.day, c.model, `+costSums+` FROM palace_cost c WHERE c.user_id = @user`+where+` GROUP BY c.day, c.model ORDER BY c.day DESC, c.model`, args, func(scan Scan) error {
			var d palace.Day
			var n sums
			if err := scan(append([]any{&d.Day, &d.Model}, n.dest()...)...); err != nil {
				return err
			}
			d.Exchanges, d.Unpriced, d.Usage, d.USD, d.ListPrice = n.n, n.unpriced, n.usage, n.usd, n.listed > 0
			c.Add(d)
			return nil
		})
		if err != nil {
			return err
		}
		err = tx.Query(`SELECT c.cause, count(*), CAST(coalesce(sum(c.missed), 0) AS BIGINT), sum(c.missed_usd) FROM palace_cost c WHERE c.user_id = @user`+where+` AND c.cause IS NOT NULL GROUP BY c.cause`, args, func(scan Scan) error {
			var cause string
			var m palace.MissFigure
			if err := scan(&cause, &m.Count, &m.Tokens, &m.USD); err != nil {
				return err
			}
			m.Cause = view.Cause(cause)
			c.Misses = append(c.Misses, m)
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortFunc(c.Misses, func(a, b palace.MissFigure) int {
			return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Cause, b.Cause))
		})
		off, err := all(tx, `SELECT c.off FROM palace_cost c WHERE c.user_id = @user`+where+` AND c.off IS NOT NULL`, args, func(scan Scan) (off float64, err error) {
			err = scan(&off)
			return off, err
		})
		if err != nil {
			return err
		}
		c.Ruler = palace.RulerOf(off)
		c.Saved, err = saved(tx, where, args, off)
		return err
	})
	return c, err
}

// saved is what requests in views cost, of those that where and args say, and what they
// would have. off is how far forecasts of them were off.
func saved(tx Tx, where string, args Args, off []float64) (palace.Saved, error) {
	var n int
	var paid, raw *float64
	_, err := first(tx, `SELECT count(*), sum(c.usd), sum(n.raw_usd) FROM palace_sent n JOIN palace_cost c ON c.user_id = n.user_id AND c.exchange_id = n.exchange_id
		WHERE n.user_id = @user`+where+` AND n.raw_usd IS NOT NULL AND c.usd IS NOT NULL`, args, &n, &paid, &raw)
	return palace.SavedOf(n, paid, raw, off), err
}

// PalaceMisses implements palace.Ledger. Ids are ordered by time.
func (s *Store) PalaceMisses(ctx context.Context, v identity.Viewer, f palace.CostFilter, cursor string, limit int) (list []palace.Missed, next string, err error) {
	from, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	where, args := costWhere(v, f)
	args["before"], args["most"] = from.id, size+1
	if from.id != "" {
		where += ` AND c.exchange_id < @before`
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT c.exchange_id, c.lineage_id, c.agent_id, c.at, c.model, c.predicted_read, c.cache_read, c.cause, c.place, c.reason, c.missed, c.missed_usd FROM palace_cost c WHERE c.user_id = @user`+where+
			` AND c.cause IS NOT NULL ORDER BY c.exchange_id DESC LIMIT @most`, args, func(scan Scan) (m palace.Missed, err error) {
			var cause string
			err = scan(&m.ExchangeID, text{&m.LineageID}, text{&m.AgentID}, when{&m.At}, &m.Model, &m.PredictedRead, &m.Read, &cause, &m.Where, &m.Reason, &m.Tokens, &m.USD)
			m.Cause = view.Cause(cause)
			return m, err
		})
		return err
	})
	list, next = cut(list, size, func(m palace.Missed) place { return place{m.At, m.ExchangeID} })
	return list, next, err
}

// PalaceExchangeBefore implements palace.Ledger.
func (s *Store) PalaceExchangeBefore(ctx context.Context, v identity.Viewer, e palace.Exchange) (before palace.Exchange, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+exchangeColumns+`, `+sentColumns+` FROM palace_exchange x`+sentTable+` WHERE x.user_id = @user AND x.lineage_id = @lineage AND x.id < @id AND x.input + x.cache_read + x.write_5m + x.write_1h > 0 ORDER BY x.id DESC LIMIT 1`,
			Args{"user": v.UserID, "lineage": orNil(e.LineageID), "id": e.ID}, scanExchange)
		before, err = only(list, err, "exchange")
		return err
	})
	return before, err
}
