package store

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ run.Runs = (*Store)(nil)

const runColumns = `id, workflow_id, kind, user_id, conversation_id, request_id, status,
	input, pins, result, error, trace, created_at, started_at, ended_at`

func scanRun(scan Scan) (r run.Run, err error) {
	err = scan(&r.ID, &r.WorkflowID, &r.Kind, &r.UserID, text{&r.ConversationID}, text{&r.RequestID}, &r.Status,
		decode{&r.Input}, decode{&r.Pins}, decode{&r.Result}, decode{&r.Error}, decode{&r.Trace},
		when{&r.CreatedAt}, when{&r.StartedAt}, when{&r.EndedAt})
	return r, err
}

// firstRun reads the first run a query of runColumns finds.
func firstRun(tx Tx, query string, args Args) (r run.Run, found bool, err error) {
	list, err := all(tx, query+` LIMIT 1`, args, scanRun)
	if err != nil || len(list) == 0 {
		return run.Run{}, false, err
	}
	return list[0], true, nil
}

// visible finds a run of the viewer; the system, which reconciles, sees all.
func visible(tx Tx, v identity.Viewer, id string) (run.Run, error) {
	r, found, err := firstRun(tx, `SELECT `+runColumns+` FROM run WHERE id = @id AND (user_id = @user OR @system)`,
		Args{"id": id, "user": v.UserID, "system": v.IsSystem()})
	if err == nil && !found {
		err = missing("run")
	}
	return r, err
}

// Run implements run.Runs.
func (s *Store) Run(ctx context.Context, v identity.Viewer, id string) (r run.Run, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		r, err = visible(tx, v, id)
		return err
	})
	return r, err
}

// RunByRequest implements run.Runs.
func (s *Store) RunByRequest(ctx context.Context, v identity.Viewer, requestID string) (r run.Run, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		var found bool
		r, found, err = byRequest(tx, v, requestID)
		if err == nil && !found {
			err = missing("run")
		}
		return err
	})
	return r, err
}

func byRequest(tx Tx, v identity.Viewer, requestID string) (run.Run, bool, error) {
	return firstRun(tx, `SELECT `+runColumns+` FROM run WHERE user_id = @user AND request_id = @request`,
		Args{"user": v.UserID, "request": requestID})
}

// CreateRun implements run.Runs.
func (s *Store) CreateRun(ctx context.Context, v identity.Viewer, r run.Run) error {
	if r.UserID != v.UserID {
		return fault.New(fault.Forbidden, "A run belongs to the person who starts it.")
	}
	r.CreatedAt = s.now()
	if r.Status == "" {
		r.Status = run.Running
	}
	if r.Status == run.Running {
		r.StartedAt = r.CreatedAt
	}
	return s.write(ctx, v, func(tx Tx) error { return insertRun(tx, r) })
}

func insertRun(tx Tx, r run.Run) error {
	pins, err := encoded(r.Pins, r.Pins == nil)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO run (`+runColumns+`) VALUES (@id, @workflow, @kind, @user, @conversation, @request, @status,
		@input, @pins, @result, @error, @trace, @created, @started, @ended)`,
		Args{
			"id": r.ID, "workflow": r.WorkflowID, "kind": string(r.Kind), "user": r.UserID,
			"conversation": optional(r.ConversationID), "request": optional(r.RequestID), "status": string(r.Status),
			"input": rawJSON(r.Input), "pins": pins, "result": rawJSON(r.Result), "error": rawJSON(r.Error),
			"trace": rawJSON(r.Trace), "created": r.CreatedAt, "started": moment(r.StartedAt), "ended": moment(r.EndedAt),
		})
	return err
}

// OpenRun implements run.Runs: the first pins stay (PLAT-08).
func (s *Store) OpenRun(ctx context.Context, v identity.Viewer, id string, pins []run.Pin) error {
	return s.write(ctx, v, func(tx Tx) error {
		r, err := visible(tx, v, id)
		if err != nil || r.Pins != nil {
			return err
		}
		doc, err := encoded(pins, false)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE run SET pins = @pins WHERE id = @id AND user_id = @user AND pins IS NULL`,
			Args{"id": id, "user": r.UserID, "pins": doc})
		return err
	})
}

// EndRun implements run.Runs.
func (s *Store) EndRun(ctx context.Context, v identity.Viewer, id string, e run.End) error {
	if !e.Status.Ended() {
		return fault.New(fault.Invalid, "A run cannot end as %q; it ends as done, failed or cancelled.", e.Status)
	}
	return s.write(ctx, v, func(tx Tx) error {
		r, err := lockRun(tx, v, id)
		switch {
		case err != nil || r.Status.Ended():
			return err
		case r.Kind == run.KindChat:
			return fault.New(fault.Conflict, "Run %s is a chat turn; it is closed with its message.", id)
		}
		return s.endRun(tx, r, e, "")
	})
}

// endRun writes the end of a run and settles the questions nobody answered.
func (s *Store) endRun(tx Tx, r run.Run, e run.End, next string) error {
	now := s.now()
	pins, err := encoded(e.Pins, e.Pins == nil)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE run SET status = @status, result = @result, error = @error, trace = @trace,
		pins = coalesce(pins, @pins), ended_at = @now, next_run_id = @next WHERE id = @id AND user_id = @user`,
		Args{
			"id": r.ID, "user": r.UserID, "status": string(e.Status), "result": rawJSON(e.Result), "error": rawJSON(e.Error),
			"trace": rawJSON(e.Trace), "pins": pins, "now": now, "next": optional(next),
		}); err != nil {
		return err
	}
	return settle(tx, r, now)
}

// Unfinished implements run.Runs.
func (s *Store) Unfinished(ctx context.Context, v identity.Viewer, age time.Duration) (list []run.Run, err error) {
	if !v.IsSystem() {
		return nil, fault.New(fault.Forbidden, "Only the system may list the runs of everybody.")
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+runColumns+` FROM run
			WHERE status IN ('running', 'waiting') AND started_at <= @before ORDER BY started_at, id`,
			Args{"before": s.now().Add(-age)}, scanRun)
		return err
	})
	return list, err
}

// ListRuns implements run.Runs.
func (s *Store) ListRuns(ctx context.Context, v identity.Viewer, f run.Filter) (list []run.Run, next string, err error) {
	after, err := begin(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(f.Limit)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+runColumns+` FROM run
			WHERE user_id = @user AND (created_at, id) < (@at, @id)
			AND (@kind = '' OR kind = @kind) AND (@status = '' OR status = @status)
			ORDER BY created_at DESC, id DESC LIMIT @limit`,
			Args{"user": v.UserID, "at": after.at, "id": orNil(after.id), "kind": string(f.Kind), "status": string(f.Status), "limit": size + 1}, scanRun)
		return err
	})
	list, next = cut(list, size, func(r run.Run) place { return place{r.CreatedAt, r.ID} })
	return list, next, err
}
