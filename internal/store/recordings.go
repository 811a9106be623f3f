package store

import (
	"context"
	"math"
	"time"

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
