package store

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

var _ palace.Store = (*Store)(nil)

// palaceOf is the lock of what one person's proxy kept: numbers of agents, display
// ids and what is taken in follow from what is there.
func palaceOf(userID string) string { return "palace:" + userID }

// PalaceOwner is whose a machine's proxy is: the account of an address; of none, the
// administrator who has been here longest. Without such an account it is nobody.
func (s *Store) PalaceOwner(ctx context.Context, email string) (v identity.Viewer, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err := all(tx, `SELECT `+userColumns+userTables+` WHERE u.is_active AND u.id <> @steward AND (@email = '' AND u.role = 'admin' OR lower(u.email) = lower(@email))
			ORDER BY u.created_at, u.id LIMIT 1`, Args{"steward": identity.SystemAccount, "email": email}, scanUser)
		if err != nil || len(list) == 0 {
			return err
		}
		v = list[0].Viewer("")
		return nil
	})
	return v, err
}

// TakenFrom implements palace.Store.
func (s *Store) TakenFrom(ctx context.Context, v identity.Viewer) (segment string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		_, err := first(tx, `SELECT segment FROM palace_spool WHERE user_id = @user`, Args{"user": v.UserID}, &segment)
		return err
	})
	return segment, err
}

// TakeIn implements palace.Store.
func (s *Store) TakeIn(ctx context.Context, v identity.Viewer, f func(palace.Tx) error) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock(palaceOf(v.UserID)); err != nil {
			return err
		}
		p := newPalaceTx(tx, v.UserID, s.now())
		if err := f(p); err != nil {
			return err
		}
		return p.flush()
	})
}

// Exchanges implements palace.Tx.
func (p *palaceTx) Exchanges(ids []string) (map[string]bool, error) {
	there := map[string]bool{}
	err := inSets(ids, func(set []string) error {
		args := Args{"user": p.user}
		return p.tx.Query(`SELECT id FROM palace_exchange WHERE user_id = @user AND id IN `+args.in("id", set), args, func(scan Scan) error {
			var id string
			err := scan(&id)
			there[id] = true
			return err
		})
	})
	return there, err
}

const exchangeColumns = `x.id, x.agent_id, x.lineage_id, x.number, x.kind, x.name, x.project, x.run, x.method, x.path, x.query, x.model, x.status, x.stop, x.request_id, x.started_at,
	x.ended_at, x.complete, x.cut_by, x.error, x.masked, x.asked_size, x.asked_hash, x.asked_lost, x.answered_size, x.answered_hash, x.answered_lost,
	x.input, x.cache_read, x.write_5m, x.write_1h, x.output`

func exchangeDest(e *palace.Exchange) []any {
	return []any{
		&e.ID, text{&e.AgentID}, text{&e.LineageID}, &e.Number, &e.Kind, &e.Name, &e.Project, &e.Run, &e.Method, &e.Path, &e.Query, &e.Model, &e.Status, &e.Stop, &e.RequestID, when{&e.StartedAt},
		momentOf{&e.EndedAt}, &e.Complete, &e.CutBy, &e.Error, &e.Masked, &e.Asked.Size, &e.Asked.Hash, &e.Asked.Lost, &e.Answered.Size, &e.Answered.Hash, &e.Answered.Lost,
		&e.Usage.Input, &e.Usage.Read, &e.Usage.Write5m, &e.Usage.Write1h, &e.Usage.Output,
	}
}

// PutExchange implements palace.Tx.
func (p *palaceTx) PutExchange(e palace.Exchange) error {
	_, err := p.tx.Exec(`INSERT INTO palace_exchange (user_id, id, agent_id, lineage_id, number, kind, name, project, run, method, path, query, model, status, stop, request_id, started_at,
		ended_at, complete, cut_by, error, masked, asked_size, asked_hash, asked_lost, answered_size, answered_hash, answered_lost, input, cache_read, write_5m, write_1h, output, recipe, wire)
		VALUES (@user, @id, @agent, @lineage, @number, @kind, @name, @project, @run, @method, @path, @query, @model, @status, @stop, @request, @started,
		@ended, @complete, @cut, @error, @masked, @asked_size, @asked_hash, @asked_lost, @answered_size, @answered_hash, @answered_lost, @input, @read, @write5, @write1, @output, @recipe, @wire)`,
		Args{
			"user": p.user, "id": e.ID, "agent": optional(e.AgentID), "lineage": optional(e.LineageID), "number": e.Number, "kind": string(e.Kind), "name": writable(e.Name), "project": writable(e.Project), "run": e.Run,
			"method": writable(e.Method), "path": writable(e.Path), "query": writable(e.Query), "model": writable(e.Model), "status": e.Status, "stop": writable(e.Stop), "request": writable(e.RequestID), "started": stamp(e.StartedAt),
			"ended": optionalMoment(e.EndedAt), "complete": e.Complete, "cut": e.CutBy, "error": writable(e.Error), "masked": e.Masked,
			"asked_size": e.Asked.Size, "asked_hash": e.Asked.Hash, "asked_lost": e.Asked.Lost, "answered_size": e.Answered.Size, "answered_hash": e.Answered.Hash, "answered_lost": e.Answered.Lost,
			"input": e.Usage.Input, "read": e.Usage.Read, "write5": e.Usage.Write5m, "write1": e.Usage.Write1h, "output": e.Usage.Output, "recipe": e.Recipe, "wire": e.Wire,
		})
	return err
}

// PutTakenFrom implements palace.Tx.
func (p *palaceTx) PutTakenFrom(segment string) error {
	_, err := p.tx.Exec(`INSERT INTO palace_spool (user_id, segment) VALUES (@user, @segment) ON CONFLICT (user_id) DO UPDATE SET segment = @segment`,
		Args{"user": p.user, "segment": segment})
	return err
}

const lineageColumns = `l.id, l.agent_id, l.key, l.run, l.supersedes, l.why, l.fork, l.length, l.sent, l.digest, l.input, l.output, l.open, l.summarised, l.model, l.exchanges, l.created_at, l.seen_at`

func scanLineage(scan Scan) (l palace.Lineage, err error) {
	err = scan(&l.ID, &l.AgentID, &l.Key, &l.Run, text{&l.Supersedes}, &l.Why, &l.Fork, &l.Length, &l.Sent, &l.Digest, &l.Input, &l.Output, &l.Open, &l.Summarised, &l.Model, &l.Exchanges, when{&l.CreatedAt}, when{&l.SeenAt})
	return l, err
}

// Lineages implements palace.Tx.
func (p *palaceTx) Lineages(key string, most int) ([]palace.Lineage, error) {
	if err := p.flushLineages(); err != nil {
		return nil, err
	}
	return all(p.tx, `SELECT `+lineageColumns+` FROM palace_lineage l WHERE l.user_id = @user AND l.key = @key ORDER BY l.seen_at DESC, l.id DESC LIMIT @most`,
		Args{"user": p.user, "key": writable(key), "most": most}, scanLineage)
}

// LineageOfRun implements palace.Tx.
func (p *palaceTx) LineageOfRun(run string) (palace.Lineage, bool, error) {
	if err := p.flushLineages(); err != nil {
		return palace.Lineage{}, false, err
	}
	list, err := all(p.tx, `SELECT `+lineageColumns+` FROM palace_lineage l JOIN palace_agent a ON a.id = l.agent_id
		WHERE l.user_id = @user AND l.run = @run AND a.kind = 'main' ORDER BY l.seen_at DESC, l.id DESC LIMIT 1`, Args{"user": p.user, "run": run}, scanLineage)
	if err != nil || len(list) == 0 {
		return palace.Lineage{}, false, err
	}
	return list[0], true, nil
}

// NewAgent implements palace.Tx.
func (p *palaceTx) NewAgent(a palace.Agent) (number int, err error) {
	if _, err := first(p.tx, `SELECT coalesce(max(number), 0) + 1 FROM palace_agent WHERE user_id = @user`, Args{"user": p.user}, &number); err != nil {
		return 0, err
	}
	_, err = p.tx.Exec(`INSERT INTO palace_agent (id, user_id, number, name, project, kind, parent_id, created_at, seen_at) VALUES (@id, @user, @number, @name, @project, @kind, @parent, @created, @seen)`,
		Args{"id": a.ID, "user": p.user, "number": number, "name": writable(a.Name), "project": writable(a.Project), "kind": string(a.Kind), "parent": optional(a.ParentID), "created": stamp(a.CreatedAt), "seen": stamp(a.SeenAt)})
	return number, err
}

const placeColumns = `b.id, b.key, b.hash, b.tool, b.type, b.label, b.erased_by`

func scanPlace(scan Scan) (at palace.Place, err error) {
	by := ""
	err = scan(&at.UUID, &at.Key, &at.Hash, &at.Tool, &at.Type, &at.Label, &by)
	at.Erased = by == palace.ByPerson
	return at, err
}

// Timeline implements palace.Tx.
func (p *palaceTx) Timeline(lineage string) ([]palace.Place, error) {
	if err := p.flush(); err != nil {
		return nil, err
	}
	return all(p.tx, `SELECT `+placeColumns+` FROM palace_timeline t JOIN palace_block b ON b.id = t.block_id
		WHERE t.user_id = @user AND t.lineage_id = @lineage ORDER BY t.position`, Args{"user": p.user, "lineage": lineage}, scanPlace)
}

// DropBlocks puts blocks away: they are in no view any more, and their display ids
// are free. What they say stays, and they come back when they come up again (003).
func (s *Store) DropBlocks(ctx context.Context, v identity.Viewer, blocks []string) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock(palaceOf(v.UserID)); err != nil {
			return err
		}
		for _, block := range blocks {
			args := Args{"user": v.UserID, "id": block, "now": s.now(), "no": false}
			n, err := tx.Exec(`UPDATE palace_block SET active = @no, deleted_at = @now, display_id = NULL WHERE user_id = @user AND id = @id AND active`, args)
			if err != nil {
				return err
			}
			if n == 0 {
				var there int
				if found, err := first(tx, `SELECT 1 FROM palace_block WHERE user_id = @user AND id = @id`, args, &there); err != nil || !found {
					return orMissing(err, "block")
				}
				continue
			}
			if _, err := tx.Exec(`UPDATE palace_display SET block_id = NULL WHERE user_id = @user AND block_id = @id`, args); err != nil {
				return err
			}
		}
		return nil
	})
}

func orMissing(err error, what string) error {
	if err != nil {
		return err
	}
	return missing(what)
}

func scanText(scan Scan) (s string, err error) {
	err = scan(&s)
	return s, err
}

// errTier refuses a tier that there is not.
func errTier(t palace.Tier) error {
	return fault.New(fault.Invalid, "%q is no retention tier; they are SHORT, MEDIUM and LONG.", t).With(map[string]any{"field": "tier"})
}

// momentOf scans a time that may be NULL, which is nil.
type momentOf struct{ t **time.Time }

// Scan implements sql.Scanner.
func (m momentOf) Scan(src any) error {
	if src == nil {
		*m.t = nil
		return nil
	}
	*m.t = new(time.Time)
	return when{*m.t}.Scan(src)
}

// optionalMoment binds a time; nil is NULL.
func optionalMoment(t *time.Time) any {
	if t == nil {
		return nil
	}
	return moment(*t)
}
