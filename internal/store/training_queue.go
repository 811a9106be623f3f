package store

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/queue"
	"liminal/internal/quota"
)

// likedFor is how far back what was liked counts for the order of the queue.
const likedFor = 30 * 24 * time.Hour

// ClaimJob implements learning.Training. The decision and the row are one
// transaction behind one lock, and a second running job of a person is refused
// by an index besides.
func (s *Store) ClaimJob(ctx context.Context, v identity.Viewer, process, runID string) (j learning.Job, ok bool, err error) {
	if !v.IsSystem() {
		return j, false, fault.New(fault.Forbidden, "Only the system gives out training jobs.")
	}
	err = s.write(ctx, v, func(tx Tx) error {
		j, ok = learning.Job{}, false
		if err := lockTraining(tx); err != nil {
			return err
		}
		state, err := s.queueOf(tx)
		if err != nil {
			return err
		}
		next, _, found := queue.Next(state, queue.DefaultLimits(), process)
		if !found {
			return nil
		}
		if j, err = job(tx, v, next.ID); err != nil {
			return err
		}
		j.Status, j.Stage, j.Process, j.RunID = learning.JobRunning, learning.StageDataset, process, runID
		j.Priority, j.StartedAt, j.NotBefore, j.Reason = int(next.Class), s.now(), time.Time{}, ""
		j.Fence++
		j.Attempts++
		if err := s.writeJob(tx, j); err != nil {
			return err
		}
		ok = true
		j, err = job(tx, v, next.ID)
		return err
	})
	return j, ok, err
}

// JobPlaces implements learning.Training.
func (s *Store) JobPlaces(ctx context.Context, v identity.Viewer) (places map[string]learning.JobPlace, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		places = map[string]learning.JobPlace{}
		state, err := s.queueOf(tx)
		if err != nil {
			return err
		}
		for i, p := range queue.Order(state, queue.DefaultLimits()) {
			if p.Job.UserID == v.UserID || v.IsSystem() {
				places[p.Job.ID] = learning.JobPlace{Ahead: i, Reason: string(p.Reason), Until: p.Until}
			}
		}
		return nil
	})
	return places, err
}

// queueOf reads what the queue decides by. Jobs of people whose account is
// closed, or who want nothing learnt, wait.
func (s *Store) queueOf(tx Tx) (state queue.State, err error) {
	state.Now = s.now()
	if state.Waiting, err = waitingJobs(tx, state.Now); err != nil {
		return state, err
	}
	state.Running, err = all(tx, `SELECT user_id, process FROM training_job WHERE status = 'running'`, nil, func(scan Scan) (r queue.Running, err error) {
		return r, scan(&r.UserID, &r.Process)
	})
	if err != nil {
		return state, err
	}
	since := state.Now.Add(-queue.DefaultLimits().Window)
	state.Ended, err = all(tx, `SELECT user_id, ended_at, tokens FROM training_job WHERE ended_at >= @since AND started_at IS NOT NULL`,
		Args{"since": since}, func(scan Scan) (e queue.Ended, err error) {
			return e, scan(&e.UserID, when{&e.At}, &e.Tokens)
		})
	return state, err
}

func waitingJobs(tx Tx, now time.Time) ([]queue.Job, error) {
	list, err := all(tx, `SELECT j.id, j.user_id, j.created_at, j.not_before, u.role, u.plan_tier, r.last_trained_at FROM training_job j
		JOIN app_user u ON u.id = j.user_id AND u.is_active
		LEFT JOIN learning_settings l ON l.user_id = j.user_id
		LEFT JOIN adapter_router_state r ON r.artifact_id = j.adapter_id
		WHERE j.status = 'queued' AND coalesce(l.personal, @yes)`, Args{"yes": true}, func(scan Scan) (j queue.Job, err error) {
		var role, plan string
		err = scan(&j.ID, &j.UserID, when{&j.QueuedAt}, when{&j.NotBefore}, &role, &plan, when{&j.Trained})
		j.Class = classOf(identity.Role(role), plan)
		return j, err
	})
	if err != nil || len(list) == 0 {
		return list, err
	}
	liked := map[string][]queue.Liked{}
	err = tx.Query(`SELECT j.id, e.created_at, e.score FROM training_job j JOIN preference_event e ON e.user_id = j.user_id
		WHERE j.status = 'queued' AND e.score > 0 AND NOT e.excluded AND e.created_at >= @since
		AND (j.cluster_id IS NULL OR e.cluster_id = j.cluster_id)`, Args{"since": now.Add(-likedFor)}, func(scan Scan) error {
		var id string
		var l queue.Liked
		err := scan(&id, when{&l.At}, &l.Score)
		liked[id] = append(liked[id], l)
		return err
	})
	for i := range list {
		list[i].Density = queue.Density(liked[list[i].ID], now)
	}
	return list, err
}

// classOf is what a person's place in the queue is by (TRAIN-09).
func classOf(role identity.Role, plan string) queue.Class {
	switch {
	case role == identity.RoleAdmin:
		return queue.Admin
	case plan == quota.Paid:
		return queue.Paid
	}
	return queue.Free
}
