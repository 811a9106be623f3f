package store

import (
	"context"
	"slices"

	"liminal/internal/identity"
	"liminal/internal/learning"
)

// remembered is how many runs an adapter's row remembers, so that the end of a
// run that is told twice counts once.
const remembered = 32

// adapterMeta is what a row of adapter_router_state keeps beside its columns.
type adapterMeta struct {
	Runs  []string `json:"runs,omitempty"`  // the latest that used it
	Rated int      `json:"rated,omitempty"` // answers that success_score is the average of
}

// UsedAdapters counts a run's use of adapters (ROUTE-13), and keeps which version
// of each it was and how much of it. Telling it again changes nothing. An adapter
// that is gone is left out.
func (s *Store) UsedAdapters(ctx context.Context, runID string, list ...learning.Used) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		for _, u := range list {
			m, there, err := adapterState(tx, u.AdapterID)
			if err != nil {
				return err
			}
			if !there || slices.Contains(m.Runs, runID) {
				continue
			}
			m.Runs = append(m.Runs[max(0, len(m.Runs)-remembered+1):], runID)
			if err := s.countUse(tx, runID, u, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// countUse writes one use. A run that is gone meanwhile has no row of its own.
func (s *Store) countUse(tx Tx, runID string, u learning.Used, m adapterMeta) error {
	meta, err := encoded(m, false)
	if err != nil {
		return err
	}
	args := Args{"id": u.AdapterID, "run": runID, "version": u.Version, "weight": u.Weight, "now": s.now(), "meta": meta}
	if _, err := tx.Exec(`UPDATE adapter_router_state SET usage_count = usage_count + 1, last_used_at = @now, meta = @meta
		WHERE artifact_id = @id`, args); err != nil {
		return err
	}
	var user string
	found, err := first(tx, `SELECT user_id FROM run WHERE id = @run`, args, &user)
	if err != nil || !found {
		return err
	}
	_, err = tx.Exec(`INSERT INTO adapter_run (run_id, adapter_id, version, weight, at) VALUES (@run, @id, @version, @weight, @now)
		ON CONFLICT (run_id, adapter_id) DO NOTHING`, args)
	return err
}

// rateAdapters lets the adapters an answer was made with take their share of
// what a person says of it: success_score is the average of what stands of
// each answer (ROUTE-13). was is what stood before, now what stands; nil:
// nothing. It is a transaction of its own, in nobody's name: a program that
// dies right before it leaves the average as it was.
func (s *Store) rateAdapters(ctx context.Context, v identity.Viewer, messageID string, was, now *learning.Event) error {
	change, count := 0.0, 0
	if was != nil {
		change, count = -was.Score, -1
	}
	if now != nil {
		change, count = change+now.Score, count+1
	}
	if change == 0 && count == 0 {
		return nil
	}
	return s.write(ctx, identity.System(), func(tx Tx) error {
		var meta struct {
			Adapters []string `json:"adapters"`
		}
		if _, err := first(tx, `SELECT meta FROM message WHERE id = @id AND user_id = @user`,
			Args{"id": messageID, "user": v.UserID}, decode{&meta}); err != nil {
			return err
		}
		for _, id := range meta.Adapters {
			if err := rate(tx, id, change, count); err != nil {
				return err
			}
		}
		return nil
	})
}

// rate adds to the sum and to the count that an adapter's average is of.
func rate(tx Tx, id string, change float64, count int) error {
	m, there, err := adapterState(tx, id)
	if err != nil || !there {
		return err
	}
	var score float64
	if _, err := first(tx, `SELECT success_score FROM adapter_router_state WHERE artifact_id = @id`, Args{"id": id}, &score); err != nil {
		return err
	}
	sum := score*float64(m.Rated) + change
	m.Rated = max(0, m.Rated+count)
	score = 0
	if m.Rated > 0 {
		score = min(1, max(-1, sum/float64(m.Rated)))
	}
	kept, err := encoded(m, false)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE adapter_router_state SET success_score = @score, meta = @meta WHERE artifact_id = @id`,
		Args{"id": id, "score": score, "meta": kept})
	return err
}

// adapterState reads what an adapter's row keeps, behind a lock, and makes the
// row if there is none yet; false for an adapter that is gone.
func adapterState(tx Tx, id string) (m adapterMeta, there bool, err error) {
	if err := tx.Lock("adapter:" + id); err != nil {
		return m, false, err
	}
	var kind string
	if there, err = first(tx, `SELECT type FROM artifact WHERE id = @id`, Args{"id": id}, &kind); err != nil || !there {
		return m, false, err
	}
	if _, err := tx.Exec(`INSERT INTO adapter_router_state (artifact_id) VALUES (@id) ON CONFLICT (artifact_id) DO NOTHING`, Args{"id": id}); err != nil {
		return m, false, err
	}
	_, err = first(tx, `SELECT meta FROM adapter_router_state WHERE artifact_id = @id`, Args{"id": id}, decode{&m})
	return m, true, err
}

// AdapterUse tells how an adapter has been used and what people said of it;
// the zero value for one nobody used.
func (s *Store) AdapterUse(ctx context.Context, adapterID string) (u learning.Use, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		_, err := first(tx, `SELECT usage_count, success_score, last_used_at FROM adapter_router_state WHERE artifact_id = @id`,
			Args{"id": adapterID}, &u.Count, &u.Score, when{&u.Last})
		return err
	})
	return u, err
}

// AdapterMiddle is where the events an adapter was trained with lie, a unit
// vector; none for one that was not trained.
func (s *Store) AdapterMiddle(ctx context.Context, adapterID string) (middle []float32, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		var vec []byte
		if _, err := first(tx, `SELECT centroid_vec FROM adapter_router_state WHERE artifact_id = @id`, Args{"id": adapterID}, &vec); err != nil {
			return err
		}
		middle, err = unpacked(vec)
		return err
	})
	return middle, err
}
