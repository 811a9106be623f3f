package store

import (
	"context"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// sentColumns are those of palace_sent beside an exchange, of which most have none.
const (
	sentColumns = `coalesce(n.epoch, 0), coalesce(n.why, ''), coalesce(n.refused, ''), coalesce(n.size, 0), coalesce(n.hash, ''), n.raw_input, coalesce(n.raw_read, 0), coalesce(n.raw_5m, 0), coalesce(n.raw_1h, 0), n.raw_usd`
	sentTable   = ` LEFT JOIN palace_sent n ON n.user_id = x.user_id AND n.exchange_id = x.id`
)

// sentRow is what is read of it.
type sentRow struct {
	palace.Sent
	input *int64
	raw   palace.Usage
}

func sentDest(s *sentRow) []any {
	return []any{&s.Epoch, &s.Why, &s.Refused, &s.Size, &s.Hash, &s.input, &s.raw.Read, &s.raw.Write5m, &s.raw.Write1h, &s.RawUSD}
}

// sent is what was read of an exchange with so many tokens of output; nil: it was sent
// as it was.
func (s sentRow) sent(output int64) *palace.Sent {
	if s.Why == "" {
		return nil
	}
	if s.input != nil {
		s.raw.Input, s.raw.Output = *s.input, output
		s.Raw = &s.raw
	}
	return &s.Sent
}

// PutSent implements palace.Tx.
func (p *palaceTx) PutSent(exchange string, s palace.Sent) error {
	_, err := p.tx.Exec(`INSERT INTO palace_sent (user_id, exchange_id, epoch, client, why, refused, size, hash, edits, raw_input, raw_read, raw_5m, raw_1h, raw_usd)
		VALUES (@user, @exchange, @epoch, @client, @why, @refused, @size, @hash, @edits, @input, @read, @write5, @write1, @usd)`,
		Args{
			"user": p.user, "exchange": exchange, "epoch": s.Epoch, "client": writable(s.Client), "why": s.Why, "refused": writable(s.Refused), "size": s.Size, "hash": s.Hash, "edits": s.Edits,
			"input": rawOf(s, func(u palace.Usage) int64 { return u.Input }), "read": rawOf(s, func(u palace.Usage) int64 { return u.Read }),
			"write5": rawOf(s, func(u palace.Usage) int64 { return u.Write5m }), "write1": rawOf(s, func(u palace.Usage) int64 { return u.Write1h }), "usd": valueOf(s.RawUSD),
		})
	return err
}

// rawOf is a class of tokens of the client's own body; nil: that cannot be told.
func rawOf(s palace.Sent, class func(palace.Usage) int64) any {
	if s.Raw == nil {
		return nil
	}
	return class(*s.Raw)
}

// PalaceSaved implements palace.Records.
func (s *Store) PalaceSaved(ctx context.Context, v identity.Viewer, lineage string) (out palace.Saved, err error) {
	args := Args{"user": v.UserID, "lineage": orNil(id.Canonical(lineage)), "most": mostOff}
	err = s.read(ctx, v, func(tx Tx) error {
		off, err := all(tx, `SELECT c.off FROM palace_cost c WHERE c.user_id = @user AND c.lineage_id = @lineage AND c.off IS NOT NULL ORDER BY c.exchange_id DESC LIMIT @most`, args,
			func(scan Scan) (f float64, err error) { err = scan(&f); return f, err })
		if err == nil {
			out, err = saved(tx, ` AND c.lineage_id = @lineage`, args, off)
		}
		return err
	})
	return out, err
}

// mostOff is how many forecasts of a lineage are looked at.
const mostOff = 1000

// PutEpoch implements palace.Tx.
func (p *palaceTx) PutEpoch(e view.Epoch) error {
	doc, err := encoded(e, false)
	if err != nil {
		return err
	}
	lineage := ""
	if id.Valid(e.Lineage) {
		lineage = e.Lineage
	}
	_, err = p.tx.Exec(`INSERT INTO palace_epoch (user_id, client, number, lineage_id, why, doc, opened_at) VALUES (@user, @client, @number, @lineage, @why, @doc, @opened)
		ON CONFLICT (user_id, client, number) DO UPDATE SET doc = @doc`,
		Args{"user": p.user, "client": writable(e.Client), "number": e.Number, "lineage": optional(lineage), "why": e.Why, "doc": doc, "opened": stamp(e.OpenedAt)})
	return err
}

// PalaceEpochs implements palace.Records.
func (s *Store) PalaceEpochs(ctx context.Context, v identity.Viewer, lineage string) (list []palace.Epoch, err error) {
	args := Args{"user": v.UserID, "lineage": orNil(id.Canonical(lineage)), "most": mostAgents}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT e.doc, (SELECT count(*) FROM palace_sent n WHERE n.user_id = @user AND n.client = e.client AND n.epoch = e.number AND n.why = 'view'),
			(SELECT count(*) FROM palace_sent n WHERE n.user_id = @user AND n.client = e.client AND n.epoch = e.number AND n.refused <> ''),
			(SELECT coalesce(sum(x.asked_size - n.size), 0) FROM palace_sent n JOIN palace_exchange x ON x.user_id = n.user_id AND x.id = n.exchange_id
				WHERE n.user_id = @user AND n.client = e.client AND n.epoch = e.number AND n.why = 'view' AND n.hash <> ''),
			(SELECT n.exchange_id FROM palace_sent n JOIN palace_exchange x ON x.user_id = n.user_id AND x.id = n.exchange_id
				WHERE n.user_id = @user AND n.client = e.client AND n.epoch = e.number AND n.why = 'view' AND x.lineage_id = e.lineage_id AND x.input + x.cache_read + x.write_5m + x.write_1h > 0 ORDER BY n.exchange_id LIMIT 1)
			FROM palace_epoch e WHERE e.user_id = @user AND e.lineage_id = @lineage ORDER BY e.number LIMIT @most`, args,
			func(scan Scan) (e palace.Epoch, err error) {
				err = scan(decode{&e.Epoch}, &e.Exchanges, &e.Refused, &e.Bytes, text{&e.First})
				return e, err
			})
		return err
	})
	return list, err
}

// PalaceEdits implements palace.Records.
func (s *Store) PalaceEdits(ctx context.Context, v identity.Viewer, exchange string) (edits []byte, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		found, err := first(tx, `SELECT n.edits FROM palace_sent n WHERE n.user_id = @user AND n.exchange_id = @id`, Args{"user": v.UserID, "id": orNil(id.Canonical(exchange))}, &edits)
		if err == nil && !found {
			err = missing("exchange")
		}
		return err
	})
	return edits, err
}
