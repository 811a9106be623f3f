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

// UsedAdapters counts a run's use of adapters (ROUTE-13). Telling it again
// changes nothing. An adapter that is gone is left out.
func (s *Store) UsedAdapters(ctx context.Context, runID string, adapterIDs ...string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		for _, id := range adapterIDs {
			m, there, err := adapterState(tx, id)
			if err != nil || !there || slices.Contains(m.Runs, runID) {
				if err != nil {
					return err
				}
				continue
			}
			m.Runs = append(m.Runs[max(0, len(m.Runs)-remembered+1):], runID)
			meta, err := encoded(m, false)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(`UPDATE adapter_router_state SET usage_count = usage_count + 1, last_used_at = @now, meta = @meta
				WHERE artifact_id = @id`, Args{"id": id, "now": s.now(), "meta": meta}); err != nil {
				return err
			}
		}
		return nil
	})
}

// rateAdapters lets the adapters an answer was made with take their share of
// what a person says of it: success_score is the average of all of it
// (ROUTE-13).
func (s *Store) rateAdapters(ctx context.Context, e learning.Event) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		var meta struct {
			Adapters []string `json:"adapters"`
		}
		if _, err := first(tx, `SELECT meta FROM message WHERE id = @id AND user_id = @user`,
			Args{"id": e.MessageID, "user": e.UserID}, decode{&meta}); err != nil {
			return err
		}
		for _, id := range meta.Adapters {
			m, there, err := adapterState(tx, id)
			if err != nil {
				return err
			}
			if !there {
				continue
			}
			m.Rated++
			kept, err := encoded(m, false)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(`UPDATE adapter_router_state SET success_score = success_score + (@score - success_score) / @rated, meta = @meta
				WHERE artifact_id = @id`, Args{"id": id, "score": e.Score, "rated": float64(m.Rated), "meta": kept}); err != nil {
				return err
			}
		}
		return nil
	})
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
