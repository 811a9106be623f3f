package learning

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/identity"
)

// JobKind is how an adapter is trained.
type JobKind string

// The kinds of job.
const (
	JobTrain  JobKind = "sft"    // with what its person said of answers
	JobDistil JobKind = "distil" // with what other adapters answer
)

// JobStatus is where a job stands.
type JobStatus string

// The states of a job. One that was cancelled has failed, with that as its stage.
const (
	JobQueued    JobStatus = "queued"
	JobRunning   JobStatus = "running"
	JobSucceeded JobStatus = "succeeded"
	JobFailed    JobStatus = "failed"
)

// JobStage is what is done next for a job, or how it ended.
type JobStage string

// The stages of a job, in their order, and its ends.
const (
	StageQueue   JobStage = "queue"
	StageDataset JobStage = "dataset"
	StageFit     JobStage = "fit"
	StageJudge   JobStage = "judge"
	StagePublish JobStage = "publish"
	StagePropose JobStage = "propose"
	StageSettle  JobStage = "settle"

	StageDone      JobStage = "done"      // there is a version, which was handed in
	StageKept      JobStage = "kept"      // there is a version, which is not better and was not handed in
	StageFew       JobStage = "few"       // too little was said to train with
	StageFailed    JobStage = "failed"    // Job.Reason says why
	StageCancelled JobStage = "cancelled" // by its person, or with what it was of
)

// Job is a training of an adapter (TRAIN-08).
type Job struct {
	ID        string
	UserID    string
	AdapterID string
	ClusterID string // the situation it is of; empty: all answers
	Kind      JobKind
	Status    JobStatus
	Stage     JobStage
	Fence     int64 // rises with each claim: who began with a lower one writes nothing more
	Attempts  int
	RunID     string // of the latest claim
	Process   string // that has it
	Priority  int    // the class of its person's plan when it was claimed
	BaseSHA   string // of the model it is trained on
	Events    []int64
	NumEvents int
	Tokens    int // trained with
	Dataset   string
	Loss      *float64 // of what is held out
	Version   int      // of the weights; 0: none yet
	Reason    string   // why it waits again, or ended as it did; for people
	Report    json.RawMessage
	Meta      map[string]any
	NotBefore time.Time // one that failed is tried again from then on
	CreatedAt time.Time
	UpdatedAt time.Time
	StartedAt time.Time // of the latest claim
	EndedAt   time.Time
}

// MetaFrom is the member of a JobDistil's meta that names the other adapter that
// teaches it, which it is to answer for.
const MetaFrom = "from"

// From is the adapter that a JobDistil is to answer for as well; empty for others.
func (j Job) From() string {
	id, _ := j.Meta[MetaFrom].(string)
	if j.Kind != JobDistil {
		return ""
	}
	return id
}

// Ended reports whether nothing more will be done for it.
func (j Job) Ended() bool { return j.Status == JobSucceeded || j.Status == JobFailed }

// JobStep moves a job on. What is nil, or empty, stays as it is.
type JobStep struct {
	ID    string
	Fence int64    // the job must have it
	From  JobStage // and be at this stage; empty: at any, while it runs
	To    JobStage

	// Status ends the job, or, JobQueued, has it wait again until NotBefore.
	Status    JobStatus
	NotBefore time.Time

	BaseSHA *string
	Events  []int64
	Tokens  *int
	Dataset *string
	Loss    *float64
	Version *int
	Why     Remarks // empty and not nil: there is nothing to say any more
	Report  json.RawMessage
	Meta    map[string]any // members that are set
}

// JobFilter says which jobs are listed.
type JobFilter struct {
	AdapterID string    // empty: any
	Status    JobStatus // empty: any
	Cursor    string
	Limit     int
}

// JobPlace is where a job stands in the queue.
type JobPlace struct {
	Ahead  int       // jobs that are trained before it, as it looks now
	Reason string    // why it cannot run now, as learning/queue has it; empty: it is next when a trainer is free
	Until  time.Time // when that ends, where it is known
}

// Training keeps training jobs.
type Training interface {
	// QueueJob queues a job for an adapter of the viewer's own. One that waits for
	// the same adapter already is returned in its place, and made is false.
	// NotFound for an adapter that is not theirs.
	QueueJob(ctx context.Context, v identity.Viewer, j Job) (_ Job, made bool, err error)
	// ClaimJob gives process the next job, as learning/queue orders them, which is
	// then running at StageDataset with a higher fence and runID (TRAIN-08); false
	// when none can run now. Of two processes that ask at once one gets it. For
	// the system only.
	ClaimJob(ctx context.Context, v identity.Viewer, process, runID string) (_ Job, ok bool, err error)
	// TrainingJob returns one of the viewer's, for the system anybody's; NotFound
	// otherwise.
	TrainingJob(ctx context.Context, v identity.Viewer, id string) (Job, error)
	// TrainingJobs pages through the viewer's, for the system everybody's, latest
	// first.
	TrainingJobs(ctx context.Context, v identity.Viewer, f JobFilter) ([]Job, string, error)
	// StepJob moves a job of the viewer's on, for the system anybody's; Conflict
	// when it runs no longer, or another stage or fence has come. NotFound when it
	// is gone.
	StepJob(ctx context.Context, v identity.Viewer, s JobStep) (Job, error)
	// CancelJob ends a job of the viewer's that waits or runs; one that has ended
	// stays as it is.
	CancelJob(ctx context.Context, v identity.Viewer, id string, why Remark) (Job, error)
	// JobPlaces says where jobs of the viewer's that wait, for the system anybody's,
	// stand in the queue of everybody, by id.
	JobPlaces(ctx context.Context, v identity.Viewer) (map[string]JobPlace, error)
}

// Trainable is an adapter of a person's own, as training reads its document.
type Trainable struct {
	ID        string
	ClusterID string // the situation it is of; empty: all answers
	Weights   int    // version its document names; 0: none
	Checksum  string // of that
	Rank      int
	Alpha     float64
	Layers    []int
	Matrices  []string
}

// WeightsState is what became of a version of weights.
type WeightsState string

// The states of a version.
const (
	WeightsWriting    WeightsState = "writing"
	WeightsReady      WeightsState = "ready"
	WeightsApplied    WeightsState = "applied" // the adapter's document names it
	WeightsRolledBack WeightsState = "rolled_back"
	WeightsMarked     WeightsState = "marked" // what it was trained with is not all there any more
	WeightsErased     WeightsState = "erased"
)

// Weights is a version of an adapter's weights.
type Weights struct {
	AdapterID string
	Version   int
	UserID    string
	SHA256    string // of params.json; empty: it is being written
	BaseSHA   string
	Rank      int
	Bytes     int64
	JobID     string // that made it
	State     WeightsState
	Path      string // of its folder, below the shared one
	Dataset   string // of what it was trained with, likewise
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Source is an event that a version was trained with, or measured by.
type Source struct {
	EventID int64
	HeldOut bool
}

// WeightsStore keeps which versions of weights there are, and of which events
// each was made. Whoever removes an event marks its versions in the same
// transaction.
type WeightsStore interface {
	// ReserveWeights notes that a version is being written: the next one of its
	// adapter, or the one its job has reserved, with other sources then. path
	// gives the folder of a version. Conflict when one of the sources is gone, or
	// nothing is to be learnt from it any more.
	ReserveWeights(ctx context.Context, v identity.Viewer, w Weights, path func(version int) string, sources []Source) (Weights, error)
	// FinishWeights notes that a version is there. Again it changes nothing.
	// Conflict when it was marked meanwhile.
	FinishWeights(ctx context.Context, v identity.Viewer, w Weights) (Weights, error)
	// Weights returns the versions of an adapter of the viewer's, latest first.
	Weights(ctx context.Context, v identity.Viewer, adapterID string) ([]Weights, error)
	// ApplyWeights notes which version an adapter's document names now; 0: none.
	// For the system only.
	ApplyWeights(ctx context.Context, v identity.Viewer, adapterID string, version int) error
	// AdapterTrained moves an adapter's middle towards events it was trained with,
	// and notes when it was trained (TRAIN-12). score stands for what people say of
	// its answers until somebody does. For the system only.
	AdapterTrained(ctx context.Context, v identity.Viewer, adapterID string, middle []float32, score float64) error
}

// Erasures keeps which paths below the shared folder are to be deleted. For the
// system only.
type Erasures interface {
	// Erase has a path deleted from a time on.
	Erase(ctx context.Context, v identity.Viewer, path string, from time.Time) error
	// Erasures lists paths that are due, those first that are due longest.
	Erasures(ctx context.Context, v identity.Viewer, limit int) ([]string, error)
	// Erased notes that a path is gone.
	Erased(ctx context.Context, v identity.Viewer, path string) error
}
