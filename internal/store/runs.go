package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ run.Runs = (*Store)(nil)

const runColumns = `id, workflow_id, kind, user_id, conversation_id, request_id, status,
	input, pins, result, error, trace, created_at, started_at, ended_at, key_id`

func scanRun(scan Scan) (r run.Run, err error) {
	err = scan(&r.ID, &r.WorkflowID, &r.Kind, &r.UserID, text{&r.ConversationID}, text{&r.RequestID}, &r.Status,
		decode{&r.Input}, decode{&r.Pins}, decode{&r.Result}, decode{&r.Error}, decode{&r.Trace},
		when{&r.CreatedAt}, when{&r.StartedAt}, when{&r.EndedAt}, text{&r.KeyID})
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

// runFor finds a run that the viewer may read: one of their own, and, for an
// administrator, one of the system's own (CFG-15).
func runFor(tx Tx, v identity.Viewer, id string) (run.Run, error) {
	r, found, err := firstRun(tx, `SELECT `+runColumns+` FROM run WHERE id = @id AND (user_id = @user OR user_id = @steward OR @system)`,
		Args{"id": id, "user": v.UserID, "steward": stewardOf(v), "system": v.IsSystem()})
	if err == nil && !found {
		err = missing("run")
	}
	return r, err
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
	err = s.look(ctx, v, func(tx Tx) error {
		r, err = runFor(tx, v, id)
		return err
	})
	return r, err
}

// RunByRequest implements run.Runs.
func (s *Store) RunByRequest(ctx context.Context, v identity.Viewer, requestID string) (r run.Run, err error) {
	err = s.look(ctx, v, func(tx Tx) error {
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
	r.CreatedAt, r.KeyID = s.now(), v.KeyID()
	if r.Status == "" {
		r.Status = run.Running
	}
	if r.Status == run.Running {
		r.StartedAt = r.CreatedAt
	}
	return s.write(ctx, v, func(tx Tx) error {
		if err := mayBegin(tx, v, r); err != nil {
			return err
		}
		if err := insertRun(tx, r); err != nil {
			return err
		}
		return s.openRunAudit(tx, v, r)
	})
}

// mayBegin refuses a run by itself to a person who has enough of them at work.
func mayBegin(tx Tx, v identity.Viewer, r run.Run) error {
	if v.IsSystem() || r.Kind != run.KindTool && r.Kind != run.KindGraph {
		return nil
	}
	if err := tx.Lock("runs:" + v.UserID); err != nil {
		return err
	}
	var atWork int
	_, err := first(tx, `SELECT count(*) FROM run WHERE user_id = @user AND kind IN ('tool', 'graph') AND status = 'running'`,
		Args{"user": v.UserID}, &atWork)
	if err == nil && atWork >= run.MaxAtWork {
		err = fault.New(fault.RateLimited, "You have %d runs of tools and workflows at work, which is the most at once. Wait for one to end, or cancel one.", atWork)
	}
	return err
}

func insertRun(tx Tx, r run.Run) error {
	pins, err := encoded(r.Pins, r.Pins == nil)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO run (`+runColumns+`) VALUES (@id, @workflow, @kind, @user, @conversation, @request, @status,
		@input, @pins, @result, @error, @trace, @created, @started, @ended, @key)`,
		Args{
			"id": r.ID, "workflow": r.WorkflowID, "kind": string(r.Kind), "user": r.UserID,
			"conversation": optional(r.ConversationID), "request": optional(r.RequestID), "status": string(r.Status),
			"input": rawJSON(r.Input), "pins": pins, "result": rawJSON(r.Result), "error": rawJSON(r.Error),
			"trace": rawJSON(r.Trace), "created": r.CreatedAt, "started": moment(r.StartedAt), "ended": moment(r.EndedAt), "key": optional(r.KeyID),
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
		if r.Kind == run.KindGraph {
			var a *chat.TurnEnd
			if e.Audit != nil {
				if err := json.Unmarshal(e.Audit, &a); err != nil {
					return fault.Wrap(fault.Internal, err, "What the run %s leaves for its audit cannot be read.", id)
				}
			}
			if err := s.closeAudit(tx, r.Run, e, a); err != nil {
				return err
			}
		}
		return s.endRun(tx, r, e, "")
	})
}

// endRun writes the end of a run and settles the questions nobody answered.
func (s *Store) endRun(tx Tx, of lockedRun, e run.End, next string) error {
	r, now := of.Run, s.now()
	e = withoutWords(r, e)
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
	if err := insertRecording(tx, r, e, now); err != nil {
		return err
	}
	if err := dueKey(tx, r, now); err != nil {
		return err
	}
	if err := s.ended(tx, of, e, now); err != nil {
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

// ListRuns implements run.Runs. What an administrator sees of other people's
// runs is how they went: not what was asked, said or found (ISO-01).
func (s *Store) ListRuns(ctx context.Context, v identity.Viewer, f run.Filter) (list []run.Run, next string, err error) {
	after, err := begin(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	if f.Artifact != "" && !id.Valid(f.Artifact) {
		return nil, "", fault.New(fault.Invalid, "artifact_id is not a UUID.").With(map[string]any{"field": "artifact_id"})
	}
	size := pageSize(f.Limit)
	args := Args{
		"user": v.UserID, "at": after.at, "id": orNil(after.id), "kind": string(f.Kind), "status": string(f.Status), "limit": size + 1,
	}
	narrow := `(created_at, id) < (@at, @id)
			AND (@kind = '' OR kind = @kind) AND (@status = '' OR status = @status)`
	if f.Artifact != "" {
		narrow += ` AND CAST(pins AS text) LIKE @pinned`
		args["pinned"] = pinnedFirst(f.Artifact)
	}
	if f.Conversation != "" {
		narrow += ` AND conversation_id = @conversation`
		args["conversation"] = f.Conversation
	}
	query, as := `SELECT `+runColumns+` FROM run WHERE user_id = @user AND `, v
	if f.All {
		if !v.IsAdmin() {
			return nil, "", fault.New(fault.Forbidden, "Only an administrator lists the runs of everybody.")
		}
		query, as = `SELECT `+runHead+` FROM run WHERE `, identity.System()
	}
	err = s.read(ctx, as, func(tx Tx) error {
		list, err = all(tx, query+narrow+` ORDER BY created_at DESC, id DESC LIMIT @limit`, args, scanRun)
		return err
	})
	if f.All {
		for i := range list {
			list[i].Error = withoutMessage(list[i].Error)
		}
	}
	list, next = cut(list, size, func(r run.Run) place { return place{r.CreatedAt, r.ID} })
	return list, next, err
}

// runHead is a run without what its person said and got.
const runHead = `id, workflow_id, kind, user_id, conversation_id, request_id, status,
	NULL, pins, NULL, error, NULL, created_at, started_at, ended_at, NULL`

// pinnedFirst is the pattern of the pins of runs that follow a graph: it is the
// first of them, and insertRun writes its id first.
func pinnedFirst(graphID string) string { return `[{"artifact_id":"` + strings.ToLower(graphID) + `"%` }

// withoutMessage keeps where and why a run failed. The sentence may quote what
// its person wrote.
func withoutMessage(failure json.RawMessage) json.RawMessage {
	var kept struct {
		Code string `json:"code"`
		Node string `json:"node,omitempty"`
	}
	if failure == nil || json.Unmarshal(failure, &kept) != nil {
		return nil
	}
	doc, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return doc
}
