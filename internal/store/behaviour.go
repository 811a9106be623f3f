package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// This file is what the behaviour of versions is judged by: counts over what
// everybody's runs left, and nobody's words.

// AppliedSince implements changes.Store.
func (s *Store) AppliedSince(ctx context.Context, artifactID string, since time.Time) (n int, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		_, err := first(tx, `SELECT count(*) FROM config_patch_change c JOIN config_patch p ON p.id = c.patch_id
			WHERE c.artifact_id = @artifact AND c.applied_version IS NOT NULL AND p.proposer = @model AND p.applied_at >= @since`,
			Args{"artifact": artifactID, "model": changes.ByModel, "since": stamp(since)}, &n)
		return err
	})
	return n, err
}

// Standing implements changes.Store: of runs that follow the workflow
// themselves, by node and version.
func (s *Store) Standing(ctx context.Context, artifactID string) (list []changes.Standing, err error) {
	if !id.Valid(artifactID) {
		return nil, fault.New(fault.Invalid, "artifact_id is not a UUID.").With(map[string]any{"field": "artifact_id"})
	}
	var runs map[changes.Standing]map[string]bool
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		runs = map[changes.Standing]map[string]bool{}
		return tx.Query(`SELECT i.run_id, i.effect_id, r.pins FROM interrupt i JOIN run r ON r.id = i.run_id
			WHERE i.status = 'pending' AND CAST(r.pins AS text) LIKE @pinned`,
			Args{"pinned": pinnedFirst(artifactID)}, func(scan Scan) error {
				var runID, effect string
				var pins []run.Pin
				if err := scan(&runID, &effect, decode{&pins}); err != nil {
					return err
				}
				at := changes.Standing{Node: nodeOf(effect), Version: pins[0].Version}
				if runs[at] == nil {
					runs[at] = map[string]bool{}
				}
				runs[at][runID] = true
				return nil
			})
	})
	for at, those := range runs {
		at.Runs = len(those)
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b changes.Standing) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), cmp.Compare(a.Version, b.Version))
	})
	return list, err
}

// nodeOf is the node of the run's own graph that an effect belongs to: those of
// a child have the effect that began it in front.
func nodeOf(effect string) string {
	outermost, _, _ := strings.Cut(effect, "/")
	node, _, _ := strings.Cut(outermost, "#")
	return node
}

// ratedMost is how many runs RatedRuns gives.
const ratedMost = 20_000

// rated are the last words said of the answers of recorded runs since a time.
// Feedback comes after the end of its run, so it is found by its own time. An
// answer that branches have copied is one answer, whichever of them is rated.
func rated(more string) string {
	const of = ` FROM preference_event e JOIN message m ON m.id = e.message_id JOIN recording r ON r.run_id = m.run_id WHERE `
	return of + `e.id IN (SELECT max(e.id)` + of + `e.created_at >= @since AND r.at >= @since` + more + ` GROUP BY r.run_id)`
}

const upAndDown = `count(CASE WHEN e.score > 0 THEN 1 END), count(CASE WHEN e.score < 0 THEN 1 END)`

// Rated implements changes.Store.
func (s *Store) Rated(ctx context.Context, graphID string, version int, since, until time.Time) (up, down int, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		_, err := first(tx, `SELECT `+upAndDown+rated(` AND r.graph_id = @graph AND r.graph_version = @version AND r.at < @until`),
			Args{"graph": graphID, "version": version, "since": stamp(since), "until": stamp(until)}, &up, &down)
		return err
	})
	return up, down, err
}

// AdapterRuns implements changes.Store.
func (s *Store) AdapterRuns(ctx context.Context, adapterID string, version int, since, until time.Time) (n changes.AdapterRuns, err error) {
	const (
		of    = ` FROM preference_event e JOIN message m ON m.id = e.message_id JOIN adapter_run u ON u.run_id = m.run_id WHERE e.created_at >= @since AND `
		which = `u.adapter_id = @id AND u.version = @version AND u.at >= @since AND u.at < @until`
	)
	args := Args{"id": adapterID, "version": version, "since": stamp(since), "until": stamp(until)}
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		if _, err := first(tx, `SELECT count(*), count(CASE WHEN r.status = 'failed' THEN 1 END), count(CASE WHEN r.status = 'cancelled' THEN 1 END)
			FROM adapter_run u JOIN run r ON r.id = u.run_id WHERE `+which, args, &n.Runs, &n.Failed, &n.Cancelled); err != nil {
			return err
		}
		_, err := first(tx, `SELECT `+upAndDown+of+which+` AND e.id IN (SELECT max(e.id)`+of+which+` GROUP BY u.run_id)`, args, &n.Up, &n.Down)
		return err
	})
	return n, err
}

// RatedRuns is what people said of the answers of recorded runs that ended
// since a time, by run: thumbs up less thumbs down. Runs of which nothing was
// said are left out; of many, it is the latest 20,000.
func (s *Store) RatedRuns(ctx context.Context, since time.Time) (by map[string]int, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		by = map[string]int{}
		return tx.Query(`SELECT r.run_id, `+upAndDown+rated("")+` GROUP BY r.run_id, r.at ORDER BY r.at DESC, r.run_id DESC LIMIT @most`,
			Args{"since": stamp(since), "most": ratedMost}, func(scan Scan) error {
				var runID string
				var up, down int
				if err := scan(&runID, &up, &down); err != nil {
					return err
				}
				by[runID] = up - down
				return nil
			})
	})
	return by, err
}
