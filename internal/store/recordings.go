package store

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ run.Recordings = (*Store)(nil)

// Bounds of what is read and removed at once.
const (
	recordingsDefault = 5000
	recordingsMost    = 20_000
	bodiesMost        = 5000
	bodiesAtOnce      = 500 // ids in one statement
	forgottenAtOnce   = 1000

	spareChanges    = 64   // under way, for which recordings are spared: those that are watched first
	sparedOfVersion = 1000 // the newest of each of their versions
)

const recordingColumns = `run_id, user_id, kind, graph_id, graph_name, graph_version, policy_id, policy_name, policy_version,
	status, branch, node, code, asked, skipped, model_calls, tool_calls, cost_usd, ms, at`

func recordingDest(r *run.Recording) []any {
	return []any{
		&r.RunID, &r.UserID, &r.Kind,
		text{&r.Graph.ArtifactID},
		&r.Graph.Name, &r.Graph.Version,
		text{&r.Policy.ArtifactID},
		&r.Policy.Name, &r.Policy.Version, &r.Status, &r.Branch, &r.Node, &r.Code,
		&r.Asked, &r.Skipped, &r.ModelCalls, &r.ToolCalls, &r.CostUSD, &r.MS,
		when{&r.At},
	}
}

func scanRecording(scan Scan) (r run.Recording, err error) {
	err = scan(recordingDest(&r)...)
	return r, err
}

// insertRecording keeps what a run leaves with its end. Whose it is and how it
// ended is what the run says, and no oddity of the rest keeps a run from
// ending.
func insertRecording(tx Tx, r run.Run, e run.End, now time.Time) error {
	if e.Recording == nil {
		return nil
	}
	rec := *e.Recording
	if rec.Body == nil {
		rec.Body = []byte{} // nil would be NULL
	}
	_, err := tx.Exec(`INSERT INTO recording (`+recordingColumns+`, body) VALUES (@run, @user, @kind, @graph, @graph_name, @graph_version,
		@policy, @policy_name, @policy_version, @status, @branch, @node, @code, @asked, @skipped, @models, @tools, @cost, @ms, @now, @body)
		ON CONFLICT (run_id) DO NOTHING`,
		Args{
			"run": r.ID, "user": r.UserID, "kind": string(r.Kind), "status": string(e.Status), "now": now,
			"graph": artifactID(rec.Graph), "graph_name": writable(rec.Graph.Name), "graph_version": rec.Graph.Version,
			"policy": artifactID(rec.Policy), "policy_name": writable(rec.Policy.Name), "policy_version": rec.Policy.Version,
			"branch": writable(rec.Branch), "node": writable(rec.Node), "code": writable(rec.Code), "asked": rec.Asked, "skipped": rec.Skipped,
			"models": rec.ModelCalls, "tools": rec.ToolCalls, "cost": finite(rec.CostUSD), "ms": rec.MS, "body": rec.Body,
		})
	return err
}

// artifactID binds the id of a pin; what is none is NULL.
func artifactID(p run.Pin) any {
	if !id.Valid(p.ArtifactID) {
		return nil
	}
	return p.ArtifactID
}

// finite is a number as every database holds it; what is none counts nothing.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

func onlySystem(v identity.Viewer) error {
	if v.IsSystem() {
		return nil
	}
	return fault.New(fault.Forbidden, "Only the system reads what the runs of everybody left.")
}

// Recordings implements run.Recordings.
func (s *Store) Recordings(ctx context.Context, v identity.Viewer, f run.RecordingFilter) (list []run.Recording, err error) {
	if err := onlySystem(v); err != nil {
		return nil, err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = recordingsDefault
	}
	args := Args{"limit": min(limit, recordingsMost)}
	query := `SELECT ` + recordingColumns + ` FROM recording WHERE at >= @since AND at < @until` + narrowed(f, args) + ` ORDER BY at DESC, run_id DESC LIMIT @limit`
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, query, args, scanRecording)
		return err
	})
	return list, err
}

// narrowed is the rest of a WHERE for a filter, and its parameters.
func narrowed(f run.RecordingFilter, args Args) string {
	args["since"], args["until"] = stamp(time.Unix(0, 0)), far
	if !f.Since.IsZero() {
		args["since"] = stamp(f.Since)
	}
	if !f.Until.IsZero() {
		args["until"] = stamp(f.Until)
	}
	var where string
	version := ` AND graph_version = @version`
	if f.GraphID != "" {
		where += ` AND graph_id = @graph`
		args["graph"] = f.GraphID
	}
	if f.PolicyID != "" {
		where += ` AND policy_id = @policy`
		args["policy"] = f.PolicyID
		version = ` AND policy_version = @version`
	}
	if f.Version != 0 {
		where += version
		args["version"] = f.Version
	}
	if f.UserID != "" {
		where += ` AND user_id = @person`
		args["person"] = f.UserID
	}
	if f.Kind != "" {
		where += ` AND kind = @kind`
		args["kind"] = string(f.Kind)
	}
	return where
}

// RecordingBodies implements run.Recordings.
func (s *Store) RecordingBodies(ctx context.Context, v identity.Viewer, ids ...string) (map[string][]byte, error) {
	if err := onlySystem(v); err != nil {
		return nil, err
	}
	if len(ids) > bodiesMost {
		return nil, fault.New(fault.Invalid, "The records of %d runs are too many at once; at most %d are read.", len(ids), bodiesMost)
	}
	bodies := make(map[string][]byte, len(ids))
	err := s.read(ctx, v, func(tx Tx) error {
		clear(bodies)
		for rest := ids; len(rest) > 0; {
			n := min(len(rest), bodiesAtOnce)
			if err := readBodies(tx, rest[:n], bodies); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
	return bodies, err
}

func readBodies(tx Tx, ids []string, bodies map[string][]byte) error {
	args := Args{}
	return tx.Query(`SELECT run_id, body FROM recording WHERE run_id IN `+args.in("id", ids), args, func(scan Scan) error {
		var id string
		var body []byte
		if err := scan(&id, &body); err != nil {
			return err
		}
		bodies[id] = body
		return nil
	})
}

// Recording implements run.Recordings.
func (s *Store) Recording(ctx context.Context, v identity.Viewer, runID string) (r run.Recording, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		found, err := first(tx, `SELECT `+recordingColumns+`, body FROM recording WHERE run_id = @id AND (user_id = @user OR @system)`,
			Args{"id": runID, "user": v.UserID, "system": v.IsSystem()}, append(recordingDest(&r), &r.Body)...)
		if err == nil && !found {
			err = missing("recording")
		}
		return err
	})
	return r, err
}

// ForgetRecordings implements run.Recordings.
func (s *Store) ForgetRecordings(ctx context.Context, v identity.Viewer, before time.Time) (n int, err error) {
	if err := onlySystem(v); err != nil {
		return 0, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		gone, err := tx.Exec(`DELETE FROM recording WHERE run_id IN (SELECT run_id FROM recording WHERE at < @before ORDER BY at LIMIT @most)`,
			Args{"before": stamp(before), "most": forgottenAtOnce})
		n = int(gone)
		return err
	})
	return n, err
}

// Excess is the recordings beyond a bound by count; the zero one is none.
type Excess struct {
	before time.Time
	spared []spared
}

// spared are the recordings of one version since a time.
type spared struct {
	column   string // graph or policy
	artifact string
	version  int
	since    time.Time
}

// ExcessRecordings finds what is beyond the newest so many recordings of those
// that ended since a time; 0 is no bound. A change is judged by what runs of the
// version before and of its own left, and beside nothing every version looks
// worse: so while it is under way the newest thousand of each are spared. Of
// runs that ended in the same microsecond all recordings stay or all go.
func (s *Store) ExcessRecordings(ctx context.Context, v identity.Viewer, since time.Time, most int) (e Excess, err error) {
	if err := onlySystem(v); err != nil || most <= 0 {
		return e, err
	}
	err = s.read(ctx, v, func(tx Tx) error {
		e = Excess{}
		found, err := first(tx, `SELECT at FROM recording WHERE at >= @since ORDER BY at DESC LIMIT 1 OFFSET @skipped`,
			Args{"since": stamp(since), "skipped": most - 1}, when{&e.before})
		if err != nil || !found {
			return err
		}
		if e.spared, err = spare(tx); err != nil {
			return err
		}
		for i := range e.spared {
			if err := sparedSince(tx, &e.spared[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return e, err
}

// spare are the versions of the changes that are under way: the one before, and
// once it is applied its own.
func spare(tx Tx) (list []spared, err error) {
	err = tx.Query(`SELECT c.kind, c.artifact_id, c.base_version, coalesce(c.applied_version, 0) FROM config_patch p JOIN config_patch_change c ON c.patch_id = p.id
		WHERE p.created_at < @far AND p.stage <> 'settled' AND c.kind IN (@workflow, @policy)
		ORDER BY CASE p.stage WHEN @watching THEN 0 ELSE 1 END, p.created_at DESC, p.id DESC, c.position LIMIT @most`,
		Args{"far": far, "watching": string(changes.Watching), "workflow": artifacts.KindWorkflow, "policy": artifacts.KindPolicy, "most": spareChanges},
		func(scan Scan) error {
			var kind string
			var applied int
			x := spared{column: "graph"}
			if err := scan(&kind, &x.artifact, &x.version, &applied); err != nil {
				return err
			}
			if kind == artifacts.KindPolicy {
				x.column = "policy"
			}
			list = append(list, x)
			if x.version = applied; applied > 0 {
				list = append(list, x)
			}
			return nil
		})
	return list, err
}

// sparedSince finds from when on the recordings of a version are spared: always,
// where it has fewer than are.
func sparedSince(tx Tx, x *spared) error {
	_, err := first(tx, `SELECT at FROM recording WHERE `+x.column+`_id = @artifact AND `+x.column+`_version = @version ORDER BY at DESC LIMIT 1 OFFSET @skipped`,
		Args{"artifact": x.artifact, "version": x.version, "skipped": sparedOfVersion - 1}, when{&x.since})
	return err
}

// ForgetExcess removes recordings of an excess, the oldest first, and tells how
// many; at most a thousand in one call.
func (s *Store) ForgetExcess(ctx context.Context, v identity.Viewer, e Excess) (n int, err error) {
	if err := onlySystem(v); err != nil || e.before.IsZero() {
		return 0, err
	}
	args := Args{"before": stamp(e.before), "most": forgottenAtOnce}
	var but strings.Builder
	for i, x := range e.spared {
		fmt.Fprintf(&but, ` AND (%[1]s_id IS NULL OR %[1]s_id <> @artifact%[2]d OR %[1]s_version <> @version%[2]d OR at < @since%[2]d)`, x.column, i)
		number := strconv.Itoa(i)
		args["artifact"+number], args["version"+number], args["since"+number] = x.artifact, x.version, stamp(x.since)
	}
	err = s.write(ctx, v, func(tx Tx) error {
		gone, err := tx.Exec(`DELETE FROM recording WHERE run_id IN (SELECT run_id FROM recording WHERE at < @before`+but.String()+` ORDER BY at LIMIT @most)`, args)
		n = int(gone)
		return err
	})
	return n, err
}
