package store

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/telemetry"
)

// Figures is what /metrics tells of the rows (OBS-01, RAG-17): counts and ages
// of everybody's, and nobody's contents. Its statements read indexes and small
// tables only.
func (s *Store) Figures(ctx context.Context) (f telemetry.Figures, err error) {
	since, err := s.OldestWaiting(ctx)
	if err != nil {
		return f, err
	}
	if !since.IsZero() {
		f.IngestLag = max(0, s.now().Sub(since))
	}
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		if f.Open, err = figures[int64](tx, `SELECT status, count(*) FROM run WHERE status IN ('queued', 'running', 'waiting') GROUP BY status`); err != nil {
			return err
		}
		if f.Training, err = figures[int64](tx, `SELECT `+jobFigure+`, count(*) FROM training_job GROUP BY `+jobFigure); err != nil {
			return err
		}
		// Of jobs that ended at the same moment the later id counts: one is as good.
		if f.Loss, err = figures[float64](tx, `SELECT adapter_id, loss FROM training_job WHERE loss IS NOT NULL ORDER BY updated_at, id`); err != nil {
			return err
		}
		f.Scores, err = figures[float64](tx, `SELECT artifact_id, success_score FROM adapter_router_state WHERE usage_count > 0`)
		return err
	})
	return f, err
}

// jobFigure is a job as /metrics counts it: one that a person ended, or that had
// too little to train with, has not failed.
const jobFigure = `CASE WHEN status = 'failed' AND stage IN ('few', 'cancelled') THEN stage ELSE status END`

// figures reads rows of a name and a number; of several with one name the last
// counts.
func figures[V int64 | float64](tx Tx, query string) (map[string]V, error) {
	all := map[string]V{}
	err := tx.Query(query, nil, func(scan Scan) error {
		var name string
		var v V
		if err := scan(&name, &v); err != nil {
			return err
		}
		all[name] = v
		return nil
	})
	return all, err
}
