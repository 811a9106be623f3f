package training_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/lora/train"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/store/sqlite/sqlitetest"
	"liminal/internal/training"
)

// shop is the steps over a real store, with documents that do not change and a
// trainer that nobody is to call.
type shop struct {
	testing.TB
	store *store.Store
	steps *training.Steps
	ann   identity.Viewer
	one   string // an adapter of ann's

	mu  sync.Mutex
	now time.Time
}

// events is of how many answers an adapter is trained here.
const events = 3

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{TB: t, now: time.Now().UTC().Truncate(time.Second)}
	s.store = store.New(sqlitetest.Open(t, sqlite.Options{}), store.Options{Now: s.clock})
	s.ann = s.person("ann")
	a, err := s.store.CreateArtifact(t.Context(), s.ann, artifacts.Artifact{
		Type: artifacts.KindAdapter, Name: "learnt.persona", OwnerID: s.ann.UserID, Visibility: artifacts.Private,
		Schema: []byte(`{"kind":"adapter.lora","scope":"per-user"}`), CreatedBy: "llm",
	}, "")
	s.must(err)
	s.one = a.ID
	s.steps, err = training.New(training.Options{
		Store: s.store, Adapters: s, Trainer: s, Plans: quota.NewPlanTable(s.store, nil), Root: t.TempDir(), Base: "base_lm_v1", Now: s.clock,
	})
	s.must(err)
	return s
}

func (s *shop) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *shop) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Millisecond)
	return s.now
}

func (s *shop) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *shop) person(name string) identity.Viewer {
	s.Helper()
	u, err := s.store.CreateUser(s.Context(), identity.User{ID: id.New(), Email: name + "@example.org", Handle: name, Role: identity.RoleUser, Active: true}, identity.Credential{})
	s.must(err)
	return u.Viewer(id.New())
}

// Train implements training.Trainer.
func (s *shop) Train(context.Context, string, train.Options) (train.Manifest, error) {
	s.Error("it trains")
	return train.Manifest{}, nil
}

// Trainable implements training.Adapters.
func (s *shop) Trainable(_ context.Context, v identity.Viewer, adapter string) (learning.Trainable, error) {
	if v.UserID != s.ann.UserID || adapter != s.one {
		return learning.Trainable{}, fault.New(fault.NotFound, "There is no such adapter, or it is not yours.")
	}
	return learning.Trainable{ID: s.one, Rank: 8}, nil
}

// Trainables implements training.Adapters.
func (s *shop) Trainables(context.Context, identity.Viewer, string) ([]learning.Trainable, error) {
	return []learning.Trainable{{ID: s.one, Rank: 8}}, nil
}

// Policy implements training.Adapters.
func (s *shop) Policy(context.Context, identity.Viewer) (learning.Policy, int, error) {
	p := learning.DefaultPolicy()
	p.Training.Events = events
	return p, 1, nil
}

// says is n answers that ann says the same of.
func (s *shop) says(n int, f learning.Feedback) {
	s.Helper()
	r := learning.NewRecorder(s.store, embed.Hash{})
	for i := range n {
		a, err := s.store.Accept(s.Context(), s.ann, chat.NewTurn{Message: fmt.Sprintf("What is lemma %d?", i), RequestID: id.New()})
		s.must(err)
		closed, err := s.store.CloseTurn(s.Context(), s.ann, chat.Close{
			RunID: a.Run.ID, End: run.End{Status: run.Done, Result: json.RawMessage(`{}`), Trace: json.RawMessage(`[]`)},
			Message: &chat.Message{Role: "assistant", Content: "A small sentence."},
		})
		s.must(err)
		f.ConversationID, f.MessageID = a.ConversationID, closed.MessageID
		_, err = r.Record(s.Context(), s.ann, f)
		s.must(err)
	}
}

// plans says how many jobs a look queues.
func (s *shop) plans() int {
	s.Helper()
	p, err := s.steps.Plan(s.Context(), s.ann, id.New())
	s.must(err)
	return p.Queued
}

func (s *shop) claim() learning.Job {
	s.Helper()
	j, ok, err := s.store.ClaimJob(s.Context(), identity.System(), "p", id.New())
	if err != nil || !ok {
		s.Fatalf("nothing is to be trained: %v", err)
	}
	return j
}

func (s *shop) moves(j learning.Job, step learning.JobStep) learning.Job {
	s.Helper()
	step.ID, step.Fence, step.From = j.ID, j.Fence, j.Stage
	j, err := s.store.StepJob(s.Context(), s.ann, step)
	s.must(err)
	return j
}

// An adapter is due when as many answers as its policy says were liked or
// corrected since it was last trained: not by what was disliked, not twice, and
// not where its person wants nothing learnt.
func TestAnAdapterIsDueByWhatWasLikedSinceItWasTrained(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.says(events-1, learning.Feedback{Signal: "like"})
	s.says(events, learning.Feedback{Signal: "dislike"})
	if n := s.plans(); n != 0 {
		t.Fatalf("by %d liked answers %d trainings are due", events-1, n)
	}
	s.says(1, learning.Feedback{Signal: "dislike", Corrected: "A lemma is a small sentence."})
	s.must(s.store.PutLearningSettings(t.Context(), s.ann, learning.Settings{}))
	if n := s.plans(); n != 0 {
		t.Fatalf("of somebody who wants nothing learnt %d trainings are due", n)
	}
	s.must(s.store.PutLearningSettings(t.Context(), s.ann, learning.Settings{Personal: true, ByRule: true}))
	if n := s.plans(); n != 1 {
		t.Fatalf("with one that was corrected %d trainings are due", n)
	}
	if n := s.plans(); n != 0 {
		t.Fatalf("while one waits, %d more are due", n)
	}
	s.pass(time.Minute)
	j := s.claim()
	why := learning.Remarks{learning.Say("too_little", nil, "It was too little.")}
	s.moves(j, learning.JobStep{To: learning.StageFew, Status: learning.JobSucceeded, Why: why})
	s.pass(2 * time.Hour)
	s.says(events-1, learning.Feedback{Signal: "always"})
	if n := s.plans(); n != 0 {
		t.Errorf("by what it was trained with %d trainings are due", n)
	}
	s.says(1, learning.Feedback{Signal: "always"})
	if n := s.plans(); n != 1 {
		t.Errorf("by as many new ones %d trainings are due", n)
	}
}

// each calls a step of every stage.
func (s *shop) each(v identity.Viewer, c training.Claim) map[learning.JobStage]error {
	out := map[learning.JobStage]error{}
	_, out[learning.StageDataset] = s.steps.Dataset(s.Context(), v, c)
	_, out[learning.StageFit] = s.steps.Fit(s.Context(), v, c, func(train.Metric) {}, func(string) {})
	_, out[learning.StageJudge] = s.steps.Judge(s.Context(), v, c)
	_, out[learning.StagePublish] = s.steps.Publish(s.Context(), v, c)
	_, _, out[learning.StagePropose] = s.steps.HandIn(s.Context(), v, c)
	_, out[learning.StageSettle] = s.steps.Settle(s.Context(), v, c)
	return out
}

// No step does anything for who lost the job, for somebody else, and before its
// time.
//
// Requirements: TRAIN-14 (who lost the job writes nothing more)
func TestAStepIsForWhoHasTheJobAndInItsOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.says(events, learning.Feedback{Signal: "like"})
	s.plans()
	s.pass(time.Minute)
	j := s.claim()
	for stage, err := range s.each(s.ann, training.Claim{Job: j.ID, Fence: j.Fence - 1}) {
		if !errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "given to somebody else") {
			t.Errorf("%s of a lost claim: %v", stage, err)
		}
	}
	for stage, err := range s.each(s.person("bob"), training.Claim{Job: j.ID, Fence: j.Fence}) {
		if !errors.Is(err, fault.NotFound) {
			t.Errorf("%s of somebody else: %v", stage, err)
		}
	}
	for stage, err := range s.each(s.ann, training.Claim{Job: j.ID, Fence: j.Fence}) {
		if stage != learning.StageDataset && (!errors.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is at dataset, not at "+string(stage))) {
			t.Errorf("%s before its time: %v", stage, err)
		}
	}
	out, err := s.steps.Fail(t.Context(), s.ann, training.Claim{Job: j.ID, Fence: j.Fence - 1}, training.Failure{Code: "internal", Message: "The disk is full."})
	if err != nil || out.Status != string(learning.JobRunning) {
		t.Errorf("who lost the job has it fail: %+v, %v", out, err)
	}
	if now, err := s.store.TrainingJob(t.Context(), s.ann, j.ID); err != nil || now.Stage != learning.StageDataset || !now.UpdatedAt.Equal(j.UpdatedAt) {
		t.Errorf("then it is %+v, %v", now, err)
	}
}

// A step that was done gives again what it gave, and does nothing.
func TestAStepThatWasDoneGivesWhatItGave(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.says(events, learning.Feedback{Signal: "like"})
	s.plans()
	s.pass(time.Minute)
	j := s.claim()
	c := training.Claim{Job: j.ID, Fence: j.Fence}
	j = s.moves(j, learning.JobStep{To: learning.StageFit, Meta: map[string]any{"rows": 7, "held_out": 2}})
	if out, err := s.steps.Dataset(t.Context(), s.ann, c); err != nil || out != (training.Prepared{Enough: true, Rows: 7, HeldOut: 2}) {
		t.Errorf("the dataset again: %+v, %v", out, err)
	}
	j = s.moves(j, learning.JobStep{To: learning.StageJudge, Meta: map[string]any{"done": 9, "of": 12, "stopped": true}})
	if out, err := s.steps.Fit(t.Context(), s.ann, c, func(train.Metric) { t.Error("it trains") }, nil); err != nil || out != (training.Fitted{Steps: 9, Of: 12, Stopped: true}) {
		t.Errorf("the training again: %+v, %v", out, err)
	}
	j = s.moves(j, learning.JobStep{To: learning.StagePublish, Report: json.RawMessage(`{"outcome":"rule","p":0.97,"events":5}`)})
	if out, err := s.steps.Judge(t.Context(), s.ann, c); err != nil || out != (training.Judged{Outcome: "rule", P: 0.97, Held: 5}) {
		t.Errorf("the verdict again: %+v, %v", out, err)
	}
	now, err := s.store.TrainingJob(t.Context(), s.ann, j.ID)
	if err != nil || now.Stage != learning.StagePublish || !now.UpdatedAt.Equal(j.UpdatedAt) {
		t.Errorf("then it is %+v, %v", now, err)
	}
}

// A model of nonsense has losses that JSON cannot have; its report says 0 for
// them, and is one.
func TestAReportHasNumbers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.says(events, learning.Feedback{Signal: "like"})
	s.plans()
	s.pass(time.Minute)
	j := s.claim()
	j = s.moves(s.moves(j, learning.JobStep{To: learning.StageFit}), learning.JobStep{To: learning.StageJudge})
	out, err := s.steps.JudgedAs(t.Context(), s.ann, j, math.Inf(1), math.NaN())
	if err != nil || out.P != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	now, err := s.store.TrainingJob(t.Context(), s.ann, j.ID)
	s.must(err)
	var report struct {
		Loss       struct{ Now, New *float64 }
		Perplexity struct{ Now, New *float64 }
	}
	if err := json.Unmarshal(now.Report, &report); err != nil || report.Loss.New == nil || *report.Loss.New != 0 || *report.Perplexity.New != 0 || *report.Loss.Now != 2 {
		t.Errorf("the report is %s, %v", now.Report, err)
	}
	if now.Loss == nil || *now.Loss != 0 || now.Meta["perplexity"] != 0.0 || now.Meta["loss_before"] != 2.0 {
		t.Errorf("its loss is %v, its meta %v", now.Loss, now.Meta)
	}
}
