package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/redact"
	"liminal/internal/run"
)

// surfaced is the surface a turn is of; nil: of none. One of the person's own
// workflows may have the name of everybody's, and is none.
func surfaced(tx Tx, v identity.Viewer, t chat.NewTurn) (*chat.Surfaced, error) {
	if t.WorkflowID == "" {
		return nil, nil
	}
	for i := range t.Surfaces {
		s := &t.Surfaces[i]
		if t.WorkflowID != s.WorkflowID && t.WorkflowID != s.Name {
			continue
		}
		var own int
		if t.WorkflowID == s.Name {
			if _, err := first(tx, `SELECT count(*) FROM artifact WHERE type = 'workflow.chat' AND name = @name AND owner_user_id = @user`,
				Args{"name": s.Name, "user": v.UserID}, &own); err != nil {
				return nil, err
			}
		}
		switch {
		case own > 0:
			return nil, nil
		case s.Closed:
			return nil, fault.New(fault.NotFound, "There is no workflow %q that you may use.", t.WorkflowID)
		}
		return s, nil
	}
	return nil, nil
}

// countTurn finds the surface a turn is of, and counts the turn there or refuses
// it. A turn of no surface costs nothing.
func (s *Store) countTurn(tx Tx, v identity.Viewer, t chat.NewTurn) (*chat.Surfaced, *chat.Counted, error) {
	of, err := surfaced(tx, v, t)
	if err != nil || of == nil || of.Hourly == 0 && of.Global == 0 {
		return of, nil, err
	}
	c, err := s.count(tx, v, of)
	return of, c, err
}

// SpendTurn counts a run of a workflow that is no turn of a conversation as one of
// its surface, or refuses it, as Accept does with turns. Of no surface it costs
// nothing. A run that does not begin after all stays counted.
func (s *Store) SpendTurn(ctx context.Context, v identity.Viewer, workflow string, surfaces []chat.Surfaced) (kept *chat.TurnSurface, err error) {
	t := chat.NewTurn{WorkflowID: workflow, Surfaces: surfaces}
	err = s.write(ctx, v, func(tx Tx) error {
		of, counted, err := s.countTurn(tx, v, t)
		if kept = of.Kept(); kept != nil {
			kept.Model, kept.Lifted = of.Model, counted != nil && counted.Lifted
		}
		return err
	})
	if err != nil && fault.CodeOf(err) == fault.RateLimited {
		return nil, s.auditRefused(ctx, v, t, err)
	}
	return kept, err
}

// openRunAudit writes the row of a run by itself of a surface's workflow, in the
// transaction that keeps the run: so no model is asked without it, and no row is
// left of a run that never was (GRND-28).
func (s *Store) openRunAudit(tx Tx, v identity.Viewer, r run.Run) error {
	var in struct {
		Surface *chat.TurnSurface `json:"surface"`
		Input   json.RawMessage   `json:"input"`
	}
	if r.Kind != run.KindGraph || json.Unmarshal(r.Input, &in) != nil || in.Surface == nil || in.Surface.Audit == "" {
		return nil
	}
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(in.Input, &said) != nil || said.Message == "" {
		said.Message = string(in.Input)
	}
	of := chat.Surfaced{Path: in.Surface.Path, Audit: in.Surface.Audit, Model: in.Surface.Model}
	a := beginning(chat.NewTurn{Message: said.Message, Visit: chat.Visit{Session: r.ID}}, &of, r)
	a.UserID, a.KeyID, a.StartedAt, a.Lifted = v.UserID, v.KeyID(), r.CreatedAt, in.Surface.Lifted
	return insertAudit(tx, a)
}

// count counts a turn, or refuses it (GRND-32, SAFE-07): each of the two
// statements counts only what may be counted. An administrator goes beyond their
// own cap, not beyond everybody's.
func (s *Store) count(tx Tx, v identity.Viewer, of *chat.Surfaced) (*chat.Counted, error) {
	now := s.now()
	args := Args{"user": v.UserID, "surface": of.Path, "hour": chat.HourOf(now), "before": chat.HourOf(now).Add(-24 * time.Hour)}
	if of.Global > 0 {
		args["most"] = of.Global
		n := 0
		found, err := first(tx, `INSERT INTO surface_count (surface, hour_bucket, turn_count) VALUES (@surface, @hour, 1)
			ON CONFLICT (surface, hour_bucket) DO UPDATE SET turn_count = surface_count.turn_count + 1 WHERE surface_count.turn_count < @most
			RETURNING turn_count`, args, &n)
		if err == nil && !found {
			err = chat.ErrHour(*of, chat.ReasonGlobal, now)
		}
		if err == nil && n == 1 {
			_, err = tx.Exec(`DELETE FROM surface_count WHERE surface = @surface AND hour_bucket < @before`, args)
		}
		if err != nil {
			return nil, err
		}
	}
	args["most"] = of.Hourly
	if v.IsAdmin() || of.Hourly == 0 {
		args["most"] = 1 << 30
	}
	c := &chat.Counted{Hourly: of.Hourly, Hint: of.Hint}
	found, err := first(tx, `INSERT INTO turn_count (user_id, surface, hour_bucket, turn_count) VALUES (@user, @surface, @hour, 1)
		ON CONFLICT (user_id, surface, hour_bucket) DO UPDATE SET turn_count = turn_count.turn_count + 1 WHERE turn_count.turn_count < @most
		RETURNING turn_count`, args, &c.Used)
	if err == nil && !found {
		err = chat.ErrHour(*of, chat.ReasonHourly, now)
	}
	if err == nil && c.Used == 1 {
		_, err = tx.Exec(`DELETE FROM turn_count WHERE user_id = @user AND surface = @surface AND hour_bucket < @before`, args)
	}
	c.Lifted = of.Hourly > 0 && c.Used > of.Hourly
	return c, err
}

// TurnsOfHour is how many turns of a surface the viewer, and everybody, had in
// this hour.
func (s *Store) TurnsOfHour(ctx context.Context, v identity.Viewer, surface string) (used, global int, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		args := Args{"user": v.UserID, "surface": surface, "hour": chat.HourOf(s.now())}
		if _, err := first(tx, `SELECT turn_count FROM turn_count WHERE user_id = @user AND surface = @surface AND hour_bucket = @hour`, args, &used); err != nil {
			return err
		}
		_, err := first(tx, `SELECT turn_count FROM surface_count WHERE surface = @surface AND hour_bucket = @hour`, args, &global)
		return err
	})
	return used, global, err
}

// openAudit writes the row of a turn that begins, in the transaction that
// accepts it (GRND-28).
func (s *Store) openAudit(tx Tx, v identity.Viewer, t chat.NewTurn, of *chat.Surfaced, accepted *chat.Accepted) error {
	if of == nil || of.Audit == "" {
		return nil
	}
	a := beginning(t, of, accepted.Run)
	a.UserID, a.KeyID, a.StartedAt = v.UserID, v.KeyID(), s.now()
	a.Lifted = accepted.Counted != nil && accepted.Counted.Lifted
	return insertAudit(tx, a)
}

// beginning is what is known of a turn before any model is asked.
func beginning(t chat.NewTurn, of *chat.Surfaced, r run.Run) chat.TurnAudit {
	a := chat.TurnAudit{TurnID: r.ID, Surface: of.Path, Session: t.Visit.Session, TurnEnd: chat.TurnEnd{Model: of.Model, PromptHash: hashOf(redact.Text(t.Message))}}
	if a.Session == "" {
		a.Session = r.ConversationID
	}
	if of.Audit == chat.AuditFull {
		a.Message, a.Page = t.Message, t.Visit.Page
	}
	return a
}

// auditRefused writes that a turn was refused because its hour was used up.
// Whoever was refused is told so whether or not this can be written.
func (s *Store) auditRefused(ctx context.Context, v identity.Viewer, t chat.NewTurn, cause error) error {
	at := slices.IndexFunc(t.Surfaces, func(one chat.Surfaced) bool { return one.Audit != "" && chat.IsErrHour(cause, one) })
	if at < 0 {
		return cause
	}
	a := beginning(t, &t.Surfaces[at], run.Run{ID: id.New(), ConversationID: t.ConversationID})
	a.UserID, a.KeyID, a.StartedAt = v.UserID, v.KeyID(), s.now()
	a.FinishedAt, a.Error = a.StartedAt, chat.EndLimited
	return errors.Join(cause, s.write(ctx, v, func(tx Tx) error { return insertAudit(tx, a) }))
}

func insertAudit(tx Tx, a chat.TurnAudit) error {
	_, err := tx.Exec(`INSERT INTO turn_audit (turn_id, user_id, surface, session_id, started_at, finished_at, model, prompt_hash, error_code, cap_lifted, key_id, user_message, page_origin)
		VALUES (@id, @user, @surface, @session, @started, @finished, @model, @prompt, @error, @lifted, @key, @message, @page)`,
		Args{
			"id": a.TurnID, "user": a.UserID, "surface": a.Surface, "session": writable(a.Session), "started": a.StartedAt, "finished": moment(a.FinishedAt),
			"model": a.Model, "prompt": a.PromptHash, "error": optional(a.Error), "lifted": a.Lifted, "key": optional(a.KeyID),
			"message": optional(writable(a.Message)), "page": optional(writable(a.Page)),
		})
	return err
}

// closeAudit completes the row of a turn that ends, in the transaction that ends
// it. Who ends a run that nobody carries on any more knows no more than that.
func (s *Store) closeAudit(tx Tx, r run.Run, end run.End, a *chat.TurnEnd) error {
	var in chat.TurnInput
	if json.Unmarshal(r.Input, &in) != nil || in.Surface == nil || in.Surface.Audit == "" {
		return nil
	}
	if a == nil {
		a = &chat.TurnEnd{}
		if end.Status == run.Cancelled {
			a.Error = chat.EndAborted
		} else if end.Status != run.Done {
			a.Error = chat.EndUpstream
		}
	}
	calls, err := encoded(a.Calls, false)
	if err != nil {
		return err
	}
	if a.Calls == nil {
		calls = "[]"
	}
	args := Args{
		"id": r.ID, "user": r.UserID, "now": s.now(), "model": a.Model, "input": a.Input, "output": a.Output, "calls": calls,
		"answer": optional(a.ResponseHash), "chips": a.Chips, "error": optional(a.Error), "cost": nil, "tag": optional(a.Tag),
		"ms": max(0, s.now().Sub(r.CreatedAt).Milliseconds()), "response": nil, "words": nil, "tools": nil, "rows": nil, "abandoned": nil,
	}
	if a.CostUSD != nil {
		args["cost"] = *a.CostUSD
	}
	for name, n := range map[string]*int{"input": a.Input, "output": a.Output} {
		if args[name] = nil; n != nil {
			args[name] = *n
		}
	}
	if in.Surface.Audit == chat.AuditFull {
		if err := inFull(args, a); err != nil {
			return err
		}
	}
	_, err = tx.Exec(`UPDATE turn_audit SET finished_at = @now, model = CASE WHEN @model = '' THEN model ELSE @model END, input_tokens = @input,
		output_tokens = @output, tool_calls = @calls, response_hash = @answer, chip_count = @chips, error_code = @error, estimated_cost_usd = @cost,
		classifier_tag = @tag, duration_ms = @ms, response = @response, response_tokens = @words, used_tools = @tools, rows_seen = @rows,
		abandoned = @abandoned WHERE turn_id = @id AND user_id = @user AND finished_at IS NULL`, args)
	return err
}

// inFull adds what only the full mode keeps. Tokens nobody counted are told by
// the words (GRND-48).
func inFull(args Args, a *chat.TurnEnd) error {
	names := make([]string, 0, len(a.Calls))
	for _, c := range a.Calls {
		names = append(names, c.Name)
	}
	var err error
	if args["tools"], err = encoded(names, false); err != nil {
		return err
	}
	rows := a.Rows
	if rows == nil {
		rows = []int{}
	}
	if args["rows"], err = encoded(rows, false); err != nil {
		return err
	}
	args["response"], args["abandoned"] = optional(writable(a.Response)), a.Error == chat.EndAborted
	args["words"] = WordTokens(a.Response)
	if a.Output != nil && *a.Output > 0 {
		args["words"] = *a.Output
	}
	return nil
}

// WordTokens is about how many tokens a text has, by its words (GRND-48).
func WordTokens(text string) int { return len(strings.Fields(text)) * 13 / 10 }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

const turnAuditColumns = `a.turn_id, a.user_id, a.surface, a.session_id, a.started_at, a.finished_at, a.model, a.input_tokens, a.output_tokens, a.tool_calls,
	a.prompt_hash, a.response_hash, a.chip_count, a.error_code, a.estimated_cost_usd, a.cap_lifted, a.key_id, a.classifier_tag, a.duration_ms,
	a.user_message, a.response, a.response_tokens, a.page_origin, a.abandoned, a.rows_seen`

func scanTurnAudit(scan Scan) (a chat.TurnAudit, err error) {
	var ms *int64
	err = scan(&a.TurnID, &a.UserID, &a.Surface, &a.Session, when{&a.StartedAt}, when{&a.FinishedAt}, &a.Model, &a.Input, &a.Output, decode{&a.Calls},
		text{&a.PromptHash}, text{&a.ResponseHash}, &a.Chips, text{&a.Error}, &a.CostUSD, &a.Lifted, text{&a.KeyID}, text{&a.Tag}, &ms,
		text{&a.Message}, text{&a.Response}, &a.Words, text{&a.Page}, &a.Abandoned, decode{&a.Rows})
	if ms != nil {
		a.Took = time.Duration(*ms) * time.Millisecond
	}
	return a, err
}

// TurnAudits lists what turns of surfaces left, newest first: the viewer's own,
// and for an administrator everybody's of their tenant (GRND-31).
func (s *Store) TurnAudits(ctx context.Context, v identity.Viewer, f chat.AuditFilter) (list []chat.TurnAudit, next string, err error) {
	after, err := begin(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	size, as, everybody := pageSize(f.Limit), v, v.IsAdmin() && !f.Mine
	if everybody {
		as = identity.System()
	}
	err = s.read(ctx, as, func(tx Tx) error {
		list, err = all(tx, `SELECT `+turnAuditColumns+` FROM turn_audit a JOIN app_user u ON u.id = a.user_id
			WHERE (a.user_id = @user OR @everybody AND u.tenant_id = @tenant) AND (@surface = '' OR a.surface = @surface) AND (a.started_at, a.turn_id) < (@at, @id)
			ORDER BY a.started_at DESC, a.turn_id DESC LIMIT @limit`,
			Args{"user": v.UserID, "everybody": everybody, "tenant": v.TenantID, "surface": f.Surface, "at": after.at, "id": orNil(after.id), "limit": size + 1}, scanTurnAudit)
		return err
	})
	list, next = cut(list, size, func(a chat.TurnAudit) place { return place{a.StartedAt, a.TurnID} })
	return list, next, err
}
