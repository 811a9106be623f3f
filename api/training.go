package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/lora/train"
	"liminal/internal/quota"
)

func (s *server) trainingRoutes() {
	add(s, route("GET /v1/training", "listTraining", "Trainings of my adapters, the latest first: what waits, runs, and how each ended; everybody's for administrators who ask for them", scopeRead), s.listTraining)
	add(s, route("GET /v1/training/{id}", "getTraining", "One training", scopeRead), s.getTraining)
	add(s, route("GET /v1/training/{id}/metrics", "getTrainingMetrics", "How the loss went, step by step, also while it is trained", scopeRead), s.trainingMetrics)
	add(s, route("POST /v1/training/{id}/cancel", "cancelTraining", "End a training that waits or runs; one that has ended stays as it is"), s.cancelTraining)
	ask := route("POST /v1/adapters/{id}/train", "trainAdapter", "Train an adapter of my own with what I liked and corrected")
	ask.DefaultStatus = 202
	add(s, ask, s.trainAdapter)
}

// Training is a training of an adapter of a person's own.
type Training struct {
	ID        string              `json:"id" format:"uuid"`
	AdapterID string              `json:"adapter_id" format:"uuid"`
	ClusterID string              `json:"cluster_id" doc:"the situation it is of; empty: all answers"`
	Kind      string              `json:"kind" enum:"sft,distil" doc:"sft: with what I said; distil: with what other adapters answer"`
	Status    string              `json:"status" enum:"queued,running,succeeded,failed"`
	Stage     string              `json:"stage" enum:"queue,dataset,fit,judge,publish,propose,settle,done,kept,few,failed,cancelled" doc:"what is done next, or how it ended. kept: not better than what answers now; few: too little to train with"`
	Attempts  int                 `json:"attempts" doc:"of three"`
	RunID     string              `json:"run_id" doc:"of its run; empty: it has not begun"`
	Reason    string              `json:"reason" doc:"why it waits again, or ended as it did; empty: nothing to say"`
	Why       []Remark            `json:"why" doc:"reason sentence by sentence, for who says it in another language; empty: its text is all that is known"`
	Place     Nullable[JobPlace]  `json:"place" doc:"where it stands in the queue; null: it does not wait"`
	Events    int                 `json:"events" doc:"answers it is trained with"`
	Tokens    int                 `json:"tokens"`
	Version   int                 `json:"version" doc:"of the weights; 0: none yet"`
	Loss      Nullable[float64]   `json:"loss" doc:"of what was held out, in nats a token; null: not measured"`
	Report    Nullable[TrainGate] `json:"report" doc:"what the gate found; null: it was not judged"`
	CreatedAt time.Time           `json:"created_at"`
	StartedAt Nullable[time.Time] `json:"started_at"`
	EndedAt   Nullable[time.Time] `json:"ended_at"`
	User      *Person             `json:"user,omitempty" doc:"whose adapter it is, where everybody's are listed"`
}

// JobPlace is where a training stands in the queue of everybody.
type JobPlace struct {
	Ahead  int                 `json:"ahead" doc:"trainings before it, as it looks now"`
	Reason string              `json:"reason" enum:",retry,person,cooldown,full,busy,behind" doc:"why it cannot run now; empty: it is next when a trainer is free"`
	Until  Nullable[time.Time] `json:"until" doc:"when that ends; null: not known"`
}

// TrainGate is what a gate found of weights.
type TrainGate struct {
	Outcome    string      `json:"outcome" enum:"rule,person,none" doc:"rule: surely better, so that a rule applies it; person: its person decides; none: not better"`
	Reasons    []string    `json:"reasons"`
	Events     int         `json:"events" doc:"answers that were held out"`
	P          float64     `json:"p" doc:"probability that it is better"`
	Loss       GateFigure  `json:"loss"`
	Alignment  GateFigure  `json:"alignment" doc:"share of what I prefer that it tells apart"`
	Perplexity GateFigure  `json:"perplexity"`
	Accuracy   GateFigure  `json:"accuracy"`
	Elsewhere  *GateFigure `json:"elsewhere,omitempty" doc:"loss of what should stay as it is"`
	Kept       *GateKept   `json:"kept,omitempty" doc:"what I want of the form of answers, in answers to questions that were kept aside; missing: rules can tell nothing of it"`
}

// GateKept is how often answers keep what is wanted of their form.
type GateKept struct {
	Prompts int      `json:"prompts" doc:"questions that were answered"`
	Of      int      `json:"of" doc:"checks: a question, and a kind of wish"`
	Base    int      `json:"base" doc:"kept by the model alone"`
	Now     int      `json:"now" doc:"kept by what answers now"`
	New     int      `json:"new" doc:"kept by what was trained"`
	Kinds   []string `json:"kinds" doc:"of wishes, such as length or list"`
}

// GateFigure is a figure of what answers now, and of what was trained.
type GateFigure struct {
	Now float64 `json:"now"`
	New float64 `json:"new"`
}

func trainingView(j learning.Job, places map[string]learning.JobPlace) Training {
	out := Training{
		ID: j.ID, AdapterID: j.AdapterID, ClusterID: j.ClusterID, Kind: string(j.Kind), Status: string(j.Status), Stage: string(j.Stage),
		Attempts: j.Attempts, RunID: j.RunID, Reason: j.Reason, Why: remarkViews(j.Why()), Events: len(j.Events), Tokens: j.Tokens, Version: j.Version, CreatedAt: j.CreatedAt.UTC(),
		Loss: Nullable[float64]{j.Loss}, StartedAt: since(j.StartedAt), EndedAt: since(j.EndedAt),
	}
	if p, waits := places[j.ID]; waits {
		out.Place.V = &JobPlace{Ahead: p.Ahead, Reason: p.Reason, Until: since(p.Until)}
	}
	var report TrainGate
	if len(j.Report) > 0 && json.Unmarshal(j.Report, &report) == nil {
		report.Reasons = orList(report.Reasons)
		if report.Kept != nil && report.Kept.Of == 0 {
			report.Kept = nil
		}
		out.Report.V = &report
	}
	return out
}

// since is a time that may be none.
func since(t time.Time) (n Nullable[time.Time]) {
	if !t.IsZero() {
		t = t.UTC()
		n.V = &t
	}
	return n
}

type listTrainingInput struct {
	Paged
	Adapter   string `query:"adapter_id" format:"uuid" doc:"of one adapter"`
	Everybody bool   `query:"everybody" doc:"of all people, for administrators; a key needs the scope admin"`
}

// watches reports whether the viewer may see trainings of others: how they go, in
// numbers, and never what anybody said.
func watches(v identity.Viewer) bool { return v.IsAdmin() && v.Allows(scopeAdmin) == nil }

func (s *server) listTraining(ctx context.Context, in *listTrainingInput) (Page[Training], error) {
	v := viewerOf(ctx)
	if in.Everybody {
		if !watches(v) {
			return Page[Training]{}, fault.New(fault.Forbidden, "Only an administrator sees the trainings of everybody; a key needs the scope admin for it.")
		}
		v = identity.System()
	}
	list, next, err := s.Trainings.TrainingJobs(ctx, v, learning.JobFilter{AdapterID: in.Adapter, Cursor: in.Cursor, Limit: in.Limit})
	if err != nil {
		return Page[Training]{}, err
	}
	places, err := s.Trainings.JobPlaces(ctx, v)
	by := names{desk: s.Proposals}
	return page(list, next, func(j learning.Job) Training {
		out := trainingView(j, places)
		if in.Everybody {
			out.User = by.of(ctx, j.UserID).V
		}
		return out
	}), err
}

func (s *server) getTraining(ctx context.Context, in *ByID) (Training, error) {
	v := viewerOf(ctx)
	j, err := s.Trainings.TrainingJob(ctx, v, in.ID)
	if err != nil {
		return Training{}, err
	}
	places, err := s.Trainings.JobPlaces(ctx, v)
	return trainingView(j, places), err
}

// TrainingStep is one step of a training.
type TrainingStep struct {
	Step     int               `json:"step"`
	Of       int               `json:"of"`
	Compared bool              `json:"compared" doc:"with answers I disliked: its loss is another measure than that of the others"`
	Loss     float64           `json:"loss" doc:"of its batch, in nats a token"`
	HeldOut  Nullable[float64] `json:"held_out" doc:"the latest, of what is held out; null: not measured yet"`
	Speed    float64           `json:"tok_s" doc:"tokens a second"`
	ETA      float64           `json:"eta" doc:"seconds that are left"`
}

// TrainingMetrics are the steps of a training so far.
type TrainingMetrics struct {
	Steps []TrainingStep `json:"steps"`
}

func (s *server) trainingMetrics(ctx context.Context, in *ByID) (TrainingMetrics, error) {
	v := viewerOf(ctx)
	if watches(v) {
		v = identity.System()
	}
	if s.Trainer == nil { // whoever has no trainer has no folders of it either
		_, err := s.Trainings.TrainingJob(ctx, v, in.ID)
		return TrainingMetrics{Steps: []TrainingStep{}}, err
	}
	list, err := s.Trainer.Curve(ctx, v, in.ID)
	return TrainingMetrics{Steps: each(list, func(m train.Metric) TrainingStep {
		return TrainingStep{Step: m.Step, Of: m.Of, Compared: m.Compared, Loss: m.Loss, HeldOut: Nullable[float64]{m.HeldOut}, Speed: m.Speed, ETA: m.ETA}
	})}, err
}

func (s *server) cancelTraining(ctx context.Context, in *ByID) (Training, error) {
	v := viewerOf(ctx)
	var j learning.Job
	var err error
	if s.Trainer == nil {
		j, err = s.Trainings.CancelJob(ctx, v, in.ID, learning.Cancelled())
	} else {
		j, err = s.Trainer.Cancel(ctx, v, in.ID)
	}
	if err != nil {
		return Training{}, err
	}
	if j.Stage == learning.StageCancelled && j.RunID != "" {
		// The job has ended whatever becomes of its run: who trains it finds that out.
		if _, err := s.Engine.Cancel(ctx, v, j.RunID); err != nil && !errors.Is(err, fault.NotFound) && !errors.Is(err, fault.Conflict) {
			s.Logger.WarnContext(ctx, "the run of a cancelled training was not told; it ends when it looks", "run", j.RunID, "error", err)
		}
	}
	return trainingView(j, nil), nil
}

func (s *server) trainAdapter(ctx context.Context, in *ByID) (Training, error) {
	v := viewerOf(ctx)
	if _, err := s.Artifacts.Get(ctx, v, in.ID); err != nil {
		return Training{}, err
	}
	if s.Trainer == nil {
		return Training{}, fault.New(fault.Forbidden, "No adapter is trained here: the installation has it switched off (LIMINAL_LEARNING).")
	}
	if err := s.Limits.Spend(ctx, quota.LearningRuns(), v.UserID); err != nil {
		return Training{}, err
	}
	j, err := s.Trainer.Ask(ctx, v, in.ID)
	if err != nil {
		return Training{}, err
	}
	places, err := s.Trainings.JobPlaces(ctx, v)
	return trainingView(j, places), err
}
