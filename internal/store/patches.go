package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ changes.Store = (*Store)(nil)

// patchWorkflow begins the workflow id of a patch; its number follows.
const patchWorkflow = "patch:"

const patchColumns = `p.id, p.run_id, p.proposer, p.user_id, p.justification, p.status, p.stage, p.checks, p.script, p.unknowns,
	p.verdict, p.needs, p.trial, p.rebased_from, p.rebased_to, p.created_at, p.decided_at, p.applied_at, p.expires_at,
	(SELECT e.data FROM config_patch_event e WHERE e.patch_id = p.id AND e.what = 'proposed' ORDER BY e.id LIMIT 1)`

func scanPatch(scan Scan) (p changes.Patch, err error) {
	err = scan(&p.ID, text{&p.RunID}, &p.Proposer, text{&p.UserID}, &p.Justification, &p.Status, &p.Stage, decode{&p.Checks},
		decode{&p.Script}, &p.Unknowns, &p.Verdict, &p.Needs, decode{&p.RolloutPlan}, number{&p.RebasedFrom}, number{&p.RebasedTo},
		when{&p.CreatedAt}, when{&p.DecidedAt}, when{&p.AppliedAt}, when{&p.ExpiresAt}, decode{&p.Found})
	return p, err
}

// number scans a number that may be NULL, which is 0.
type number struct{ n *int64 }

// Scan implements sql.Scanner.
func (n number) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*n.n = 0
	case int64:
		*n.n = v
	default:
		return fmt.Errorf("a %T is no number", src)
	}
	return nil
}

// numbered binds a number; 0 is NULL.
func numbered(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// CreatePatch implements changes.Store. It writes as the system: a proposal
// belongs to who made it, and its steps to nobody.
func (s *Store) CreatePatch(ctx context.Context, v identity.Viewer, asked changes.Patch, drafts []artifacts.Artifact, opening changes.Event) (p changes.Patch, r run.Run, err error) {
	err = s.write(ctx, identity.Steward(), func(tx Tx) error {
		r = run.Run{}
		if p, err = changes.Begin(v, asked); err != nil {
			return err
		}
		if err := s.insertDrafts(tx, v, p.Changes, drafts); err != nil {
			return err
		}
		if err := s.insertPatch(tx, &p); err != nil {
			return err
		}
		if err := insertEvent(tx, p.ID, opening, p.CreatedAt); err != nil {
			return err
		}
		r = patchRun(p)
		return insertRun(tx, r)
	})
	return p, r, err
}

// patchRun is the run that carries a proposal through.
func patchRun(p changes.Patch) run.Run {
	number := strconv.FormatInt(p.ID, 10)
	return run.Run{
		ID: p.RunID, WorkflowID: patchWorkflow + number, Kind: run.KindPatch, UserID: identity.SystemAccount, Status: run.Running,
		Input: json.RawMessage(`{"patch_id":` + number + `}`), CreatedAt: p.CreatedAt, StartedAt: p.CreatedAt,
	}
}

func (s *Store) insertPatch(tx Tx, p *changes.Patch) error {
	p.CreatedAt, p.RunID = s.now(), id.New()
	checks, err := encoded(p.Checks, false)
	if err != nil {
		return err
	}
	if p.Checks == nil {
		checks = "[]"
	}
	script, err := encoded(p.Script, p.Script == nil)
	if err != nil {
		return err
	}
	trial, err := encoded(p.RolloutPlan, false)
	if err != nil {
		return err
	}
	err = tx.Query(`INSERT INTO config_patch (artifact_id, proposer, user_id, patch, justification, status, stage, run_id, checks, script,
		unknowns, verdict, needs, trial, rebased_from, created_at, expires_at)
		VALUES (@artifact, @proposer, @by, @patch, @why, @status, @stage, @run, @checks, @script,
		@unknowns, @verdict, @needs, @trial, @rebased, @now, @expires) RETURNING id`,
		Args{
			"artifact": p.Changes[0].ArtifactID, "proposer": p.Proposer, "by": optional(p.UserID), "patch": ops(p.Changes[0]),
			"why": p.Justification, "status": string(p.Status), "stage": string(p.Stage), "run": p.RunID, "checks": checks,
			"script": script, "unknowns": string(p.Unknowns), "verdict": string(p.Verdict), "needs": p.Needs, "trial": trial,
			"rebased": numbered(p.RebasedFrom), "now": p.CreatedAt, "expires": moment(p.ExpiresAt),
		}, func(scan Scan) error { return scan(&p.ID) })
	if err != nil {
		return err
	}
	for i, c := range p.Changes {
		if err := insertChange(tx, p.ID, i, c); err != nil {
			return err
		}
	}
	return nil
}

// ops binds the operations of a change; none is an empty list.
func ops(c changes.Change) any {
	if c.Ops == nil {
		return "[]"
	}
	return rawJSON(c.Ops)
}

func insertChange(tx Tx, patchID int64, position int, c changes.Change) error {
	report, err := encoded(c.Report, c.Report == nil)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO config_patch_change (patch_id, position, artifact_id, kind, name, base_version, patch, creates, report)
		VALUES (@patch, @position, @artifact, @kind, @name, @base, @ops, @creates, @report)`,
		Args{
			"patch": patchID, "position": position, "artifact": c.ArtifactID, "kind": c.Kind, "name": c.Name, "base": c.Base,
			"ops": ops(c), "creates": c.Creates, "report": report,
		})
	return err
}

func insertEvent(tx Tx, patchID int64, e changes.Event, now time.Time) error {
	_, err := tx.Exec(`INSERT INTO config_patch_event (patch_id, at, user_id, name, what, reason, data)
		VALUES (@patch, @now, @by, @name, @what, @reason, @data)`,
		Args{
			"patch": patchID, "now": now, "by": optional(e.UserID), "name": e.Name, "what": e.What,
			"reason": e.Reason, "data": rawJSON(e.Data),
		})
	return err
}

// patchFor finds a proposal the viewer may see: an administrator all, others
// their own.
func patchFor(tx Tx, v identity.Viewer, patchID int64) (changes.Patch, error) {
	list, err := all(tx, `SELECT `+patchColumns+` FROM config_patch p WHERE p.id = @id AND (p.user_id = @user OR @admin)`,
		Args{"id": patchID, "user": v.UserID, "admin": v.IsAdmin()}, scanPatch)
	return only(list, err, "proposal")
}

// whole completes proposals with their changes and approvals.
func whole(tx Tx, reports bool, list ...*changes.Patch) error {
	at := make(map[int64]*changes.Patch, len(list))
	ids := make([]int64, len(list))
	for i, p := range list {
		at[p.ID], ids[i] = p, p.ID
	}
	args := Args{}
	among := args.inNumbers("patch", ids)
	report := `NULL`
	if reports {
		report = `report`
	}
	if err := tx.Query(`SELECT patch_id, artifact_id, kind, name, base_version, patch, creates, applied_version, `+report+`
		FROM config_patch_change WHERE patch_id IN `+among+` ORDER BY patch_id, position`, args, func(scan Scan) error {
		var patchID, applied int64
		var c changes.Change
		err := scan(&patchID, &c.ArtifactID, &c.Kind, &c.Name, &c.Base, decode{&c.Ops}, &c.Creates, number{&applied}, decode{&c.Report})
		c.Applied = int(applied)
		at[patchID].Changes = append(at[patchID].Changes, c)
		return err
	}); err != nil {
		return err
	}
	return tx.Query(`SELECT patch_id, user_id, name, at, reason FROM config_patch_approval WHERE patch_id IN `+among+` ORDER BY patch_id, at, user_id`,
		args, func(scan Scan) error {
			var patchID int64
			var a changes.Approval
			err := scan(&patchID, &a.UserID, &a.Name, when{&a.At}, &a.Reason)
			at[patchID].Approvals = append(at[patchID].Approvals, a)
			return err
		})
}

// inNumbers is in for numbers.
func (a Args) inNumbers(name string, values []int64) string {
	list := a.in(name, make([]string, len(values)))
	for i, v := range values {
		a[fmt.Sprintf("%s%d", name, i)] = v
	}
	return list
}

// Patch implements changes.Store.
func (s *Store) Patch(ctx context.Context, v identity.Viewer, patchID int64) (p changes.Patch, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		if p, err = patchFor(tx, v, patchID); err != nil {
			return err
		}
		return whole(tx, true, &p)
	})
	return p, err
}

// ListPatches implements changes.Store.
func (s *Store) ListPatches(ctx context.Context, v identity.Viewer, f changes.Filter) (list []changes.Patch, next string, err error) {
	last := int64(0)
	after, err := beginOf(f.Cursor, func(key string) bool {
		last, err = strconv.ParseInt(key, 10, 64)
		return err == nil
	})
	if err != nil {
		return nil, "", err
	}
	size := pageSize(f.Limit)
	args := Args{
		"user": v.UserID, "admin": v.IsAdmin(), "at": after.at, "id": last, "status": string(f.Status), "limit": size + 1,
		"artifact": f.ArtifactID, "by": f.UserID,
	}
	query := `SELECT ` + patchColumns + ` FROM config_patch p WHERE (p.user_id = @user OR @admin)
		AND (p.created_at, p.id) < (@at, @id) AND (@status = '' OR p.status = @status)` + narrowedPatches(f) + `
		ORDER BY p.created_at DESC, p.id DESC LIMIT @limit`
	err = s.read(ctx, v, func(tx Tx) error {
		if list, err = all(tx, query, args, scanPatch); err != nil || len(list) == 0 {
			return err
		}
		each := make([]*changes.Patch, len(list))
		for i := range list {
			each[i] = &list[i]
		}
		return whole(tx, false, each...)
	})
	list, next = cut(list, size, func(p changes.Patch) place { return place{p.CreatedAt, strconv.FormatInt(p.ID, 10)} })
	return list, next, err
}

// narrowedPatches is the part of the WHERE that not every list has.
func narrowedPatches(f changes.Filter) (where string) {
	if f.ArtifactID != "" {
		where += ` AND EXISTS (SELECT 1 FROM config_patch_change c WHERE c.artifact_id = @artifact AND c.patch_id = p.id)`
	}
	if f.UserID != "" {
		where += ` AND p.user_id = @by`
	}
	if f.Lost {
		where += ` AND p.stage <> 'settled' AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = p.run_id AND r.status IN ('queued', 'running', 'waiting'))`
	}
	return where
}

// PatchEvents implements changes.Store: the first first.
func (s *Store) PatchEvents(ctx context.Context, v identity.Viewer, patchID int64) (list []changes.Event, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		if _, err := patchFor(tx, v, patchID); err != nil {
			return err
		}
		list, err = all(tx, `SELECT id, at, user_id, name, what, reason, data FROM config_patch_event WHERE patch_id = @patch ORDER BY id`,
			Args{"patch": patchID}, func(scan Scan) (e changes.Event, err error) {
				err = scan(&e.ID, when{&e.At}, text{&e.UserID}, &e.Name, &e.What, &e.Reason, decode{&e.Data})
				return e, err
			})
		return err
	})
	return list, err
}
