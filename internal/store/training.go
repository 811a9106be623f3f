package store

import (
	"context"
	"errors"
	"maps"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

var _ learning.Training = (*Store)(nil)

const jobColumns = `j.id, j.user_id, j.adapter_id, j.cluster_id, j.kind, j.status, j.stage, j.fence, j.attempts, j.run_id, j.process, j.priority,
	j.base_sha, j.preference_event_ids, j.num_events, j.tokens, j.dataset_path, j.loss, j.new_version, j.reason, j.report, j.meta,
	j.not_before, j.created_at, j.updated_at, j.started_at, j.ended_at`

func scanJob(scan Scan) (j learning.Job, err error) {
	var events, version *int
	err = scan(&j.ID, &j.UserID, &j.AdapterID, text{&j.ClusterID}, &j.Kind, &j.Status, &j.Stage, &j.Fence, &j.Attempts, text{&j.RunID}, &j.Process,
		&j.Priority, &j.BaseSHA, decode{&j.Events}, &events, &j.Tokens, text{&j.Dataset}, &j.Loss, &version, &j.Reason, decode{&j.Report},
		decode{&j.Meta}, when{&j.NotBefore}, when{&j.CreatedAt}, when{&j.UpdatedAt}, when{&j.StartedAt}, when{&j.EndedAt})
	if events != nil {
		j.NumEvents = *events
	}
	if version != nil {
		j.Version = *version
	}
	return j, err
}

// jobOwned are the jobs that a viewer's are: their own, and everybody's for the
// system.
const jobOwned = `(j.user_id = @user OR @system)`

func jobArgs(v identity.Viewer) Args { return Args{"user": orNil(v.UserID), "system": v.IsSystem()} }

func job(tx Tx, v identity.Viewer, id string) (learning.Job, error) {
	args := jobArgs(v)
	args["id"] = id
	list, err := all(tx, `SELECT `+jobColumns+` FROM training_job j WHERE j.id = @id AND `+jobOwned, args, scanJob)
	return only(list, err, "training job")
}

// lockTraining holds the queue: what is decided by it is decided once.
func lockTraining(tx Tx) error { return tx.Lock("training") }

// QueueJob implements learning.Training.
func (s *Store) QueueJob(ctx context.Context, v identity.Viewer, j learning.Job) (out learning.Job, made bool, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		made = false
		if err := tx.Lock("adapter:" + j.AdapterID); err != nil {
			return err
		}
		var kind string
		found, err := first(tx, `SELECT type FROM artifact WHERE id = @id AND owner_user_id = @user`, Args{"id": j.AdapterID, "user": v.UserID}, &kind)
		if err != nil {
			return err
		}
		if !found || kind != artifacts.KindAdapter {
			return missing("adapter")
		}
		list, err := all(tx, `SELECT `+jobColumns+` FROM training_job j WHERE j.adapter_id = @adapter AND j.user_id = @user AND j.status = 'queued'`,
			Args{"adapter": j.AdapterID, "user": v.UserID}, scanJob)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			out = list[0]
			return nil
		}
		if j.ID == "" {
			j.ID = id.New()
		}
		if j.Kind == "" {
			j.Kind = learning.JobTrain
		}
		meta, err := encoded(j.Meta, len(j.Meta) == 0)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO training_job (id, adapter_id, user_id, cluster_id, kind, status, stage, reason, meta, created_at, updated_at)
			VALUES (@id, @adapter, @user, @cluster, @kind, 'queued', @stage, @reason, @meta, @now, @now)`, Args{
			"id": j.ID, "adapter": j.AdapterID, "user": v.UserID, "cluster": optional(j.ClusterID), "kind": string(j.Kind), "stage": string(learning.StageQueue),
			"reason": j.Reason, "meta": meta, "now": s.now(),
		}); err != nil {
			return err
		}
		made = true
		out, err = job(tx, v, j.ID)
		return err
	})
	return out, made, err
}

// TrainingJob implements learning.Training.
func (s *Store) TrainingJob(ctx context.Context, v identity.Viewer, id string) (j learning.Job, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		j, err = job(tx, v, id)
		return err
	})
	return j, err
}

// TrainingJobs implements learning.Training.
func (s *Store) TrainingJobs(ctx context.Context, v identity.Viewer, f learning.JobFilter) (list []learning.Job, next string, err error) {
	from, err := begin(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(f.Limit)
	args := jobArgs(v)
	args["at"], args["id"], args["limit"] = from.at, orNil(from.id), size+1
	condition := ""
	if f.AdapterID != "" {
		condition, args["adapter"] = ` AND j.adapter_id = @adapter`, f.AdapterID
	}
	if f.Status != "" {
		condition, args["status"] = condition+` AND j.status = @status`, string(f.Status)
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+jobColumns+` FROM training_job j WHERE `+jobOwned+condition+`
			AND (j.created_at, j.id) < (@at, @id) ORDER BY j.created_at DESC, j.id DESC LIMIT @limit`, args, scanJob)
		return err
	})
	list, next = cut(list, size, func(j learning.Job) place { return place{j.CreatedAt, j.ID} })
	return list, next, err
}

// StepJob implements learning.Training.
func (s *Store) StepJob(ctx context.Context, v identity.Viewer, step learning.JobStep) (j learning.Job, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		if err := lockTraining(tx); err != nil {
			return err
		}
		was, err := job(tx, v, step.ID)
		if err != nil {
			return err
		}
		if err := mayStep(was, step); err != nil {
			return err
		}
		if err := s.writeStep(tx, was, step); err != nil {
			return err
		}
		j, err = job(tx, v, step.ID)
		return err
	})
	return j, waitsAlready(err)
}

// waitsAlready says that a job cannot wait again as another one of its adapter
// does.
func waitsAlready(err error) error {
	if broken := asViolation(err); broken != nil && broken.Unique {
		return fault.Wrap(fault.Conflict, err, "Another training of this adapter waits already.")
	}
	return err
}

func asViolation(err error) *Violation {
	v, _ := errors.AsType[*Violation](err)
	return v
}

func mayStep(j learning.Job, step learning.JobStep) error {
	switch {
	case j.Status != learning.JobRunning:
		return fault.New(fault.Conflict, "The training job %s does not run: it is %s.", j.ID, j.Stage).With(map[string]any{"stage": string(j.Stage)})
	case j.Fence != step.Fence:
		return fault.New(fault.Conflict, "The training job %s was given to somebody else.", j.ID)
	case step.From != "" && j.Stage != step.From:
		return fault.New(fault.Conflict, "The training job %s is at %s, not at %s.", j.ID, j.Stage, step.From).With(map[string]any{"stage": string(j.Stage)})
	}
	return nil
}

func (s *Store) writeStep(tx Tx, j learning.Job, step learning.JobStep) error {
	j.Stage = step.To
	set(&j.BaseSHA, step.BaseSHA)
	set(&j.Tokens, step.Tokens)
	set(&j.Dataset, step.Dataset)
	set(&j.Version, step.Version)
	if step.Loss != nil {
		j.Loss = step.Loss
	}
	if step.Report != nil {
		j.Report = step.Report
	}
	if step.Events != nil {
		j.Events, j.NumEvents = step.Events, len(step.Events)
	}
	if len(step.Meta) > 0 {
		j.Meta = maps.Clone(j.Meta)
		if j.Meta == nil {
			j.Meta = map[string]any{}
		}
		maps.Copy(j.Meta, step.Meta)
	}
	if step.Why != nil {
		j.Because(legible(step.Why))
	}
	if step.Status != "" {
		j.Status, j.NotBefore, j.Process = step.Status, step.NotBefore, ""
		if j.Ended() {
			j.EndedAt = s.now()
		}
	}
	return s.writeJob(tx, j)
}

// legible is remarks as a database keeps their texts: a trainer says what it likes.
func legible(why learning.Remarks) learning.Remarks {
	out := make(learning.Remarks, len(why))
	for i, r := range why {
		r.Text = writable(r.Text)
		out[i] = r
	}
	return out
}

// writeJob stores what changes of a job.
func (s *Store) writeJob(tx Tx, j learning.Job) error {
	events, err := encoded(append([]int64{}, j.Events...), false)
	if err != nil {
		return err
	}
	meta, err := encoded(j.Meta, len(j.Meta) == 0)
	if err != nil {
		return err
	}
	var loss any
	if j.Loss != nil {
		loss = *j.Loss
	}
	var version any
	if j.Version > 0 {
		version = j.Version
	}
	_, err = tx.Exec(`UPDATE training_job SET status = @status, stage = @stage, fence = @fence, attempts = @attempts, run_id = @run, process = @process,
		priority = @priority, base_sha = @base, preference_event_ids = @events, num_events = @count, tokens = @tokens, dataset_path = @dataset,
		loss = @loss, new_version = @version, reason = @reason, report = @report, meta = @meta, not_before = @before, started_at = @started,
		ended_at = @ended, updated_at = @now WHERE id = @id`, Args{
		"id": j.ID, "status": string(j.Status), "stage": string(j.Stage), "fence": j.Fence, "attempts": j.Attempts, "run": optional(j.RunID),
		"process": j.Process, "priority": j.Priority, "base": j.BaseSHA, "events": events, "count": j.NumEvents, "tokens": j.Tokens,
		"dataset": optional(j.Dataset), "loss": loss, "version": version, "reason": j.Reason, "report": rawJSON(j.Report), "meta": meta,
		"before": moment(j.NotBefore), "started": moment(j.StartedAt), "ended": moment(j.EndedAt), "now": s.now(),
	})
	return err
}

// CancelJob implements learning.Training. The fence rises, so that who trains it
// writes nothing more.
func (s *Store) CancelJob(ctx context.Context, v identity.Viewer, id string, why learning.Remark) (j learning.Job, err error) {
	err = s.write(ctx, v, func(tx Tx) error {
		if err := lockTraining(tx); err != nil {
			return err
		}
		if j, err = job(tx, v, id); err != nil || j.Ended() {
			return err
		}
		j.Fence++
		j.Status, j.Stage, j.EndedAt = learning.JobFailed, learning.StageCancelled, s.now()
		j.Because(legible(learning.Remarks{why}))
		return s.writeJob(tx, j)
	})
	return j, err
}
