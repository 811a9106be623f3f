package training

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
)

// Published is a version of weights that is there.
type Published struct {
	Version  int    `json:"version"`
	Checksum string `json:"checksum"`
	HandIn   bool   `json:"hand_in"` // it may be better than what serves
}

// Publish makes a version of what was trained: whole or not at all (TRAIN-14).
func (s *Steps) Publish(ctx context.Context, v identity.Viewer, c Claim) (Published, error) {
	j, done, err := s.at(ctx, v, c, learning.StagePublish)
	if err != nil {
		return Published{}, err
	}
	verdict, err := verdictOf(j)
	if err != nil {
		return Published{}, err
	}
	w, err := s.versionOf(ctx, v, j)
	if err != nil {
		return Published{}, err
	}
	handIn := verdict.Outcome != gate.None
	if done {
		return Published{w.Version, w.SHA256, handIn}, nil
	}
	if w.State == learning.WeightsMarked {
		return Published{}, errTakenBack()
	}
	dir, _ := s.dir(j)
	job, err := train.ReadJob(dir)
	if err != nil {
		return Published{}, s.failed("What was trained could not be read", err)
	}
	to := s.versionDir(j, w.Version)
	w.Rank = job.Rank
	notes := map[string]any{"job": j.ID, "events": len(j.Events), "report": verdict}
	if w.SHA256, w.Bytes, err = s.publish(dir, to, notes); err != nil {
		return Published{}, s.failed("The version could not be written", err)
	}
	if w, err = s.o.Store.FinishWeights(ctx, v, w); err != nil {
		// Marked while it was written: it is nobody's version.
		if fault.Reason(err) == TakenBack {
			err = errors.Join(errTakenBack(), s.o.Store.Erase(ctx, identity.System(), s.below(to), s.o.Now()))
		}
		return Published{}, err
	}
	next := learning.StagePropose
	if !handIn {
		next = learning.StageSettle
	}
	_, err = s.o.Store.StepJob(ctx, v, learning.JobStep{ID: j.ID, Fence: j.Fence, From: learning.StagePublish, To: next, Version: &w.Version})
	return Published{w.Version, w.SHA256, handIn}, err
}

// publish writes a version and says how large its weights are.
func (s *Steps) publish(dir, to string, notes any) (sum string, bytes int64, err error) {
	f, _, err := s.open()
	if err != nil {
		return "", 0, err
	}
	if sum, err = train.Publish(dir, to, f.Model, notes); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(filepath.Join(to, peft.WeightsFile))
	if err != nil {
		return "", 0, err
	}
	return sum, info.Size(), nil
}

// versionOf is the version that a job has reserved, or written.
func (s *Steps) versionOf(ctx context.Context, v identity.Viewer, j learning.Job) (learning.Weights, error) {
	list, err := s.o.Store.Weights(ctx, v, j.AdapterID)
	if err != nil {
		return learning.Weights{}, err
	}
	at := slices.IndexFunc(list, func(w learning.Weights) bool { return w.JobID == j.ID })
	if at < 0 {
		return learning.Weights{}, fault.New(fault.NotFound, "The training job %s has no version.", j.ID)
	}
	return list[at], nil
}

// HandIn is a version as it is handed in.
type HandIn struct {
	AdapterID string
	Version   int
	Checksum  string
	Base      string
	Dir       string // of all versions, below the shared folder
	Rank      int
	Alpha     float64
	Layers    []int
	Matrices  []string
	Replaces  string
	Outcome   string
	Why       learning.Remarks
}

// HandIn gives what a job is to hand in; false where that was done, or there is
// nothing to.
func (s *Steps) HandIn(ctx context.Context, v identity.Viewer, c Claim) (HandIn, bool, error) {
	j, done, err := s.at(ctx, v, c, learning.StagePropose)
	if err != nil || done {
		return HandIn{}, false, err
	}
	verdict, err := verdictOf(j)
	if err != nil {
		return HandIn{}, false, err
	}
	w, err := s.versionOf(ctx, v, j)
	if err != nil {
		return HandIn{}, false, err
	}
	if w.State == learning.WeightsMarked {
		return HandIn{}, false, errTakenBack()
	}
	dir, _ := s.dir(j)
	job, err := train.ReadJob(dir)
	if err != nil {
		return HandIn{}, false, s.failed("What was trained could not be read", err)
	}
	matrices, err := seedNames(job.Targets)
	if err != nil {
		return HandIn{}, false, err
	}
	why := learning.Say("trained", map[string]any{"answers": len(j.Events)}, "Trained with %s you liked or corrected.", plural(len(j.Events), "answer"))
	if j.From() != "" {
		why = learning.Say("trained_for_two", nil, "Trained to answer as two adapters of situations alike do, of which one is hardly used: that one is disabled, and this one answers for both.")
	}
	told := append(learning.Remarks{why}, found(verdict)...)
	if narrow, _ := j.Meta["narrow"].(string); narrow != "" {
		told = append(told, learning.Say("all_matrices", nil, "In its narrow shape it was not better, so all matrices were trained."))
	}
	return HandIn{
		AdapterID: j.AdapterID, Version: w.Version, Checksum: w.SHA256, Base: job.Base.Name, Dir: s.below(filepath.Dir(s.versionDir(j, w.Version))),
		Rank: job.Rank, Alpha: job.Alpha, Layers: job.Layers, Matrices: matrices, Replaces: j.From(), Outcome: string(verdict.Outcome), Why: told,
	}, true, nil
}

// seedNames are targets of a job under the names that documents have.
func seedNames(targets []string) ([]string, error) {
	_, err := train.Targets(targets...)
	return targets, err
}

// HandedIn notes the patch that a job's version was handed in with.
func (s *Steps) HandedIn(ctx context.Context, v identity.Viewer, c Claim, patch int64, status string) error {
	_, err := s.o.Store.StepJob(ctx, v, learning.JobStep{
		ID: c.Job, Fence: c.Fence, From: learning.StagePropose, To: learning.StageSettle, Meta: map[string]any{"patch": patch, "patch_status": status},
	})
	return err
}

// Settled is how a job ended.
type Settled struct {
	Status  string `json:"status"`
	Stage   string `json:"stage"`
	Version int    `json:"version"`
	Reason  string `json:"reason"`
}

// Settle ends a job that has a version (TRAIN-12).
func (s *Steps) Settle(ctx context.Context, v identity.Viewer, c Claim) (Settled, error) {
	j, done, err := s.at(ctx, v, c, learning.StageSettle)
	if err != nil {
		return Settled{}, err
	}
	if done {
		return settled(j), nil
	}
	verdict, err := verdictOf(j)
	if err != nil {
		return Settled{}, err
	}
	events, err := s.o.Store.Events(ctx, v, j.Events...)
	if err != nil {
		return Settled{}, err
	}
	if err := s.o.Store.AdapterTrained(ctx, identity.System(), j.AdapterID, middle(events), 2*verdict.Alignment.New-1); err != nil {
		return Settled{}, err
	}
	to, told := learning.StageDone, learning.Remarks{}
	if verdict.Outcome == gate.None {
		why := learning.Say("not_better", nil, "It is not better than what answers now, so it was kept and not handed in.")
		if j.From() != "" {
			why = learning.Say("worse_than_one", nil, "It answers worse than one of the two adapters it was to stand for, so it was kept and not handed in.")
		}
		to, told = learning.StageKept, append(learning.Remarks{why}, found(verdict)...)
	}
	if err := s.later(ctx, v, j); err != nil {
		return Settled{}, err
	}
	j, err = s.o.Store.StepJob(ctx, v, learning.JobStep{
		ID: j.ID, Fence: j.Fence, From: learning.StageSettle, To: to, Status: learning.JobSucceeded, Why: told, Meta: map[string]any{"curve": s.curve(j)},
	})
	return settled(j), err
}

func settled(j learning.Job) Settled {
	return Settled{Status: string(j.Status), Stage: string(j.Stage), Version: j.Version, Reason: j.Reason}
}

// middle is the mean of where events stood.
func middle(events map[int64]learning.Case) []float32 {
	var sum []float32
	for _, e := range events {
		if sum == nil {
			sum = make([]float32, len(e.Embedding))
		}
		for i, x := range e.Embedding {
			if i < len(sum) {
				sum[i] += x / float32(len(events))
			}
		}
	}
	return sum
}

// later has the folder of a job deleted in its time: it holds what people said.
func (s *Steps) later(ctx context.Context, v identity.Viewer, j learning.Job) error {
	if j.Dataset == "" {
		return nil
	}
	p, _, err := s.o.Adapters.Policy(ctx, v)
	if err != nil {
		return err
	}
	return s.o.Store.Erase(ctx, identity.System(), j.Dataset, s.o.Now().Add(time.Duration(p.Training.Keep)*24*time.Hour))
}

// curvePoints is how many steps of a curve outlive its folder.
const curvePoints = 240

// curve is what a job's loss was, thinned: the file goes with its folder.
func (s *Steps) curve(j learning.Job) []train.Metric {
	dir, _ := s.dir(j)
	list, err := train.ReadMetrics(filepath.Join(dir, train.MetricsFile))
	if err != nil {
		return nil
	}
	every := (len(list) + curvePoints - 1) / curvePoints
	var out []train.Metric
	for i, m := range list {
		if every <= 1 || i%every == 0 || i == len(list)-1 {
			out = append(out, m)
		}
	}
	return out
}
