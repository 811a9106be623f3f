package store

import (
	"context"
	"math"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

var (
	_ learning.WeightsStore = (*Store)(nil)
	_ learning.Erasures     = (*Store)(nil)
)

const weightsColumns = `w.adapter_id, w.version, w.user_id, w.sha256, w.base_sha, w.rank, w.bytes, w.job_id, w.state, w.path, w.dataset_path,
	w.created_at, w.updated_at`

func scanWeights(scan Scan) (w learning.Weights, err error) {
	err = scan(&w.AdapterID, &w.Version, &w.UserID, &w.SHA256, &w.BaseSHA, &w.Rank, &w.Bytes, text{&w.JobID}, &w.State, &w.Path, &w.Dataset,
		when{&w.CreatedAt}, when{&w.UpdatedAt})
	return w, err
}

func weightsOf(tx Tx, v identity.Viewer, adapterID string) ([]learning.Weights, error) {
	return all(tx, `SELECT `+weightsColumns+` FROM adapter_weights w WHERE w.adapter_id = @adapter AND (w.user_id = @user OR @system)
		ORDER BY w.version DESC`, Args{"adapter": adapterID, "user": orNil(v.UserID), "system": v.IsSystem()}, scanWeights)
}

// Weights implements learning.WeightsStore.
func (s *Store) Weights(ctx context.Context, v identity.Viewer, adapterID string) (list []learning.Weights, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = weightsOf(tx, v, adapterID)
		return err
	})
	return list, err
}

// errSourceGone ends a version of which something was taken back.
func errSourceGone() error {
	return fault.New(fault.Conflict, "Something of what the adapter is trained with was taken back meanwhile; it is trained again without it.").
		With(map[string]any{"reason": "source_gone"})
}

// ReserveWeights implements learning.WeightsStore.
func (s *Store) ReserveWeights(ctx context.Context, v identity.Viewer, w learning.Weights, path func(version int) string, sources []learning.Source) (out learning.Weights, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("adapter:" + w.AdapterID); err != nil {
			return err
		}
		var kind string
		found, err := first(tx, `SELECT type FROM artifact WHERE id = @id AND owner_user_id = @user`, Args{"id": w.AdapterID, "user": v.UserID}, &kind)
		if err != nil {
			return err
		}
		if !found || kind != artifacts.KindAdapter {
			return missing("adapter")
		}
		list, err := weightsOf(tx, v, w.AdapterID)
		if err != nil {
			return err
		}
		if w.Version, err = reserved(tx, list, w, sources); err != nil {
			return err
		}
		w.UserID, w.State, w.Path = v.UserID, learning.WeightsWriting, path(w.Version)
		if _, err := tx.Exec(`INSERT INTO adapter_weights (adapter_id, version, user_id, base_sha, rank, job_id, state, path, dataset_path, created_at, updated_at)
			VALUES (@adapter, @version, @user, @base, @rank, @job, @state, @path, @dataset, @now, @now)
			ON CONFLICT (adapter_id, version) DO UPDATE SET base_sha = @base, rank = @rank, dataset_path = @dataset, updated_at = @now`, Args{
			"adapter": w.AdapterID, "version": w.Version, "user": v.UserID, "base": w.BaseSHA, "rank": w.Rank, "job": optional(w.JobID),
			"state": string(w.State), "path": w.Path, "dataset": w.Dataset, "now": s.now(),
		}); err != nil {
			return err
		}
		if err := putLineage(tx, v, w, sources); err != nil {
			return err
		}
		out, err = weights(tx, v, w.AdapterID, w.Version)
		return err
	})
	if broken := asViolation(err); broken != nil && !broken.Unique {
		err = errSourceGone()
	}
	return out, err
}

// reserved is the version a job writes: the one it has reserved for the same
// sources, else the next one. One that it gave up is gone.
func reserved(tx Tx, list []learning.Weights, w learning.Weights, sources []learning.Source) (int, error) {
	next := 1
	for _, had := range list {
		next = max(next, had.Version+1)
	}
	want := make([]int64, len(sources))
	for i, src := range sources {
		want[i] = src.EventID
	}
	slices.Sort(want)
	for _, had := range list {
		if had.JobID == "" || had.JobID != w.JobID || had.SHA256 != "" {
			continue
		}
		of, err := all(tx, `SELECT event_id FROM adapter_lineage WHERE adapter_id = @adapter AND version = @version ORDER BY event_id`,
			Args{"adapter": w.AdapterID, "version": had.Version}, func(scan Scan) (id int64, err error) { return id, scan(&id) })
		if err != nil {
			return 0, err
		}
		if had.State == learning.WeightsWriting && slices.Equal(of, want) {
			return had.Version, nil
		}
		if _, err := tx.Exec(`DELETE FROM adapter_weights WHERE adapter_id = @adapter AND version = @version`,
			Args{"adapter": w.AdapterID, "version": had.Version}); err != nil {
			return 0, err
		}
	}
	return next, nil
}

func weights(tx Tx, v identity.Viewer, adapterID string, version int) (learning.Weights, error) {
	list, err := weightsOf(tx, v, adapterID)
	list = slices.DeleteFunc(list, func(w learning.Weights) bool { return w.Version != version })
	return only(list, err, "version of the adapter")
}

// putLineage makes a version's sources those it has. An event that goes
// meanwhile is referred to, and so not overlooked.
func putLineage(tx Tx, v identity.Viewer, w learning.Weights, sources []learning.Source) error {
	keep := make([]int64, len(sources))
	for i, src := range sources {
		keep[i] = src.EventID
	}
	for some := range slices.Chunk(keep, idsAtOnce) {
		args, n := Args{"user": v.UserID}, 0
		if _, err := first(tx, `SELECT count(*) FROM preference_event WHERE user_id = @user AND NOT excluded AND id IN `+args.numbers("id", some), args, &n); err != nil {
			return err
		}
		if n != len(some) {
			return errSourceGone()
		}
	}
	for _, src := range sources {
		side := "train"
		if src.HeldOut {
			side = "held_out"
		}
		if _, err := tx.Exec(`INSERT INTO adapter_lineage (adapter_id, version, event_id, user_id, side) VALUES (@adapter, @version, @event, @user, @side)
			ON CONFLICT (adapter_id, version, event_id) DO UPDATE SET side = @side`,
			Args{"adapter": w.AdapterID, "version": w.Version, "event": src.EventID, "user": v.UserID, "side": side}); err != nil {
			return err
		}
	}
	return nil
}

// FinishWeights implements learning.WeightsStore.
func (s *Store) FinishWeights(ctx context.Context, v identity.Viewer, w learning.Weights) (out learning.Weights, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("adapter:" + w.AdapterID); err != nil {
			return err
		}
		was, err := weights(tx, v, w.AdapterID, w.Version)
		if err != nil {
			return err
		}
		switch {
		case was.State == learning.WeightsWriting:
		case was.State == learning.WeightsMarked && was.SHA256 == "":
			return errSourceGone()
		case was.SHA256 == w.SHA256:
			out = was
			return nil
		default:
			return fault.New(fault.Conflict, "There is another version %d of the adapter.", w.Version)
		}
		if _, err := tx.Exec(`UPDATE adapter_weights SET state = 'ready', sha256 = @sum, bytes = @bytes, rank = @rank, updated_at = @now
			WHERE adapter_id = @adapter AND version = @version AND user_id = @user`, Args{
			"adapter": w.AdapterID, "version": w.Version, "user": v.UserID, "sum": w.SHA256, "bytes": w.Bytes, "rank": max(w.Rank, 1), "now": s.now(),
		}); err != nil {
			return err
		}
		out, err = weights(tx, v, w.AdapterID, w.Version)
		return err
	})
	return out, err
}

// ApplyWeights implements learning.WeightsStore. A version that is marked stays
// so; a later one than is applied now was rolled back (TRAIN-07).
func (s *Store) ApplyWeights(ctx context.Context, v identity.Viewer, adapterID string, version int) error {
	return s.houseWrites(ctx, v, func(tx Tx) error {
		if err := tx.Lock("adapter:" + adapterID); err != nil {
			return err
		}
		args := Args{"adapter": adapterID, "version": version, "now": s.now()}
		if _, err := tx.Exec(`UPDATE adapter_weights SET state = CASE WHEN version > @version THEN 'rolled_back' ELSE 'ready' END, updated_at = @now
			WHERE adapter_id = @adapter AND version <> @version AND state = 'applied'`, args); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE adapter_weights SET state = 'applied', updated_at = @now
			WHERE adapter_id = @adapter AND version = @version AND state IN ('ready', 'rolled_back')`, args)
		return err
	})
}

// houseWrites runs f as the system, and for nobody else.
func (s *Store) houseWrites(ctx context.Context, v identity.Viewer, f func(tx Tx) error) error {
	if !v.IsSystem() {
		return fault.New(fault.Forbidden, "Only the system writes this.")
	}
	return s.write(ctx, v, f)
}

// trainedShare is what events an adapter was trained with count for in its
// middle (TRAIN-12).
const trainedShare = 0.2

// AdapterTrained implements learning.WeightsStore.
func (s *Store) AdapterTrained(ctx context.Context, v identity.Viewer, adapterID string, middle []float32, score float64) error {
	return s.houseWrites(ctx, v, func(tx Tx) error {
		m, there, err := adapterState(tx, adapterID)
		if err != nil || !there {
			return err
		}
		var vec []byte
		if _, err := first(tx, `SELECT centroid_vec FROM adapter_router_state WHERE artifact_id = @id`, Args{"id": adapterID}, &vec); err != nil {
			return err
		}
		had, err := unpacked(vec)
		if err != nil {
			return err
		}
		args := Args{"id": adapterID, "now": s.now(), "centroid": nil, "score": min(1, max(-1, score)), "unrated": m.Rated == 0}
		if c := towards(had, middle); len(c) > 0 {
			args["centroid"] = packed(c)
		}
		_, err = tx.Exec(`UPDATE adapter_router_state SET last_trained_at = @now, centroid_vec = coalesce(@centroid, centroid_vec),
			success_score = CASE WHEN @unrated THEN @score ELSE success_score END WHERE artifact_id = @id`, args)
		return err
	})
}

// towards is a unit vector moved to another; of other lengths, or none, it is
// the other.
func towards(had, to []float32) []float32 {
	if len(to) == 0 {
		return nil
	}
	out := slices.Clone(to)
	if len(had) == len(to) {
		for i := range out {
			out[i] = (1-trainedShare)*had[i] + trainedShare*to[i]
		}
	}
	sum := 0.0
	for _, x := range out {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return nil
	}
	for i := range out {
		out[i] = float32(float64(out[i]) / math.Sqrt(sum))
	}
	return out
}

// Erase implements learning.Erasures.
func (s *Store) Erase(ctx context.Context, v identity.Viewer, path string, from time.Time) error {
	return s.houseWrites(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO erasure (path, due_at) VALUES (@path, @due)
			ON CONFLICT (path) DO UPDATE SET due_at = CASE WHEN erasure.due_at < excluded.due_at THEN erasure.due_at ELSE excluded.due_at END`,
			Args{"path": path, "due": stamp(from)})
		return err
	})
}

// Erasures implements learning.Erasures.
func (s *Store) Erasures(ctx context.Context, v identity.Viewer, limit int) (paths []string, err error) {
	err = s.everybodys(ctx, v, func(tx Tx) error {
		paths, err = all(tx, `SELECT path FROM erasure WHERE due_at <= @now ORDER BY due_at, path LIMIT @limit`,
			Args{"now": s.now(), "limit": limit}, func(scan Scan) (p string, err error) { return p, scan(&p) })
		return err
	})
	return paths, err
}

// Erased implements learning.Erasures.
func (s *Store) Erased(ctx context.Context, v identity.Viewer, path string) error {
	return s.houseWrites(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`DELETE FROM erasure WHERE path = @path AND due_at <= @now`, Args{"path": path, "now": s.now()})
		return err
	})
}
