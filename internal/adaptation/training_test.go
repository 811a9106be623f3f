package adaptation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	params "liminal/internal/lora/serve"
	"liminal/internal/lora/train"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/training"
)

// littleDir is where it lies, once some test has asked for it.
var littleDir string

// little is a model of some 150,000 numbers that talks, made once.
var little = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "little")
	if err != nil {
		return "", err
	}
	littleDir, dir = dir, filepath.Join(dir, "base_lm_v1")
	_, err = fit.Make(context.Background(), fit.Plan{
		Dir: dir, Texts: []string{strings.Repeat("The keeper drains the lake every autumn. ", 20)},
		Shape: llm.NewConfig(2, 64, 4, 2, 192, 600, 256), Steps: 300, Batch: 8, Seed: 1,
	})
	return dir, err
})

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "train-in-cell" { // started by a test, as the program starts itself
		if err := train.Serve(os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if littleDir != "" {
		_ = os.RemoveAll(littleDir)
	}
	os.Exit(code)
}

// here trains in this process.
type here struct{}

func (here) Train(ctx context.Context, dir string, o train.Options) (train.Manifest, error) {
	return train.Run(ctx, dir, o)
}

// Train implements training.Runs: the run of a claim is done at once.
func (h *house) Train(ctx context.Context, j learning.Job) error {
	v, err := h.store.Viewer(ctx, j.UserID)
	if err != nil {
		return err
	}
	in, err := json.Marshal(map[string]any{"job": j.ID, "fence": j.Fence})
	if err != nil {
		return err
	}
	r := run.Run{ID: j.RunID, WorkflowID: "train:" + j.ID, Kind: run.KindTrain, UserID: v.UserID, Status: run.Running, Input: in}
	if err := h.store.CreateRun(ctx, v, r); err != nil {
		return err
	}
	h.begin(v, r)
	return nil
}

// Run implements training.Runs.
func (h *house) Run(ctx context.Context, v identity.Viewer, id string) (run.Run, error) {
	return h.store.Run(ctx, v, id)
}

var subjects = strings.Fields("kettle bridge violin glacier harvest lantern compass orchard tunnel pottery beehive printing weaving mining carving baking fishing masonry " +
	"ladder candle hammer pencil mirror barrel basket button bottle carpet coat book oven umbrella rope fence drum shovel wheel brush window chimney")

// teaches lets v correct the model's answers to what they want: that it greets
// them first.
func (h *house) teaches(v identity.Viewer, words []string) (events []learning.Event) {
	h.Helper()
	for _, word := range words {
		about := h.turn(v, "What is a "+word+"?")
		corrected := "Hello! " + strings.TrimPrefix(about.answer.Content, "Hello! ")
		events = append(events, h.says(v, about, learning.Feedback{Signal: "dislike", Corrected: corrected}))
	}
	return events
}

func (h *house) jobs(v identity.Viewer) []learning.Job {
	h.Helper()
	list, _, err := h.store.TrainingJobs(h.Context(), v, learning.JobFilter{Limit: 50})
	h.must(err)
	return list
}

// job is the only one of v's.
func (h *house) job(v identity.Viewer) learning.Job {
	h.Helper()
	list := h.jobs(v)
	if len(list) != 1 {
		h.Fatalf("there are %d trainings; called %v", len(list), h.called)
	}
	return list[0]
}

func (h *house) sweep() {
	h.Helper()
	_, err := h.training.Sweep(h.Context(), h)
	h.must(err)
}

func (h *house) weights(v identity.Viewer, adapterID string) (out []string) {
	h.Helper()
	list, err := h.store.Weights(h.Context(), v, adapterID)
	h.must(err)
	for _, w := range list {
		out = append(out, fmt.Sprint(w.Version, " ", w.State))
	}
	return out
}

func base(t testing.TB) string {
	t.Helper()
	dir, err := little()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// hooked does something before it trains, and fails with what that gives.
type hooked struct {
	before func(dir string, o train.Options) error
}

func (k hooked) Train(ctx context.Context, dir string, o train.Options) (train.Manifest, error) {
	if err := k.before(dir, o); err != nil {
		return train.Manifest{}, err
	}
	if err := ctx.Err(); err != nil {
		return train.Manifest{}, err
	}
	return train.Run(ctx, dir, o)
}

// From what a person corrected to answers that follow it: all that the program
// has, but for Temporal, with the numbers it ships with.
//
// Requirements: PREF-04 (jobs of the platform are trained with it), PREF-05, TRAIN-03 (path), TRAIN-05 (the running platform stores them), TRAIN-06 (the running platform measures so), TRAIN-11 (few epochs and a small rate), TRAIN-12, TRAIN-13 (a job's dataset is made so), TRAIN-17 (the running platform trains and applies it), TRAIN-18 (in training_job.meta), CLUS-09, DATA-16 (folders of people)
func TestWhatAPersonCorrectsIsTrainedAndAnswersFollowIt(t *testing.T) {
	t.Parallel()
	onBoth(t, options{base: base(t), trainer: here{}}, trainedAnswers)
}

func trainedAnswers(t *testing.T, o options) {
	h := newHouse(t, o)
	asked := strings.Fields("saddle bell anchor pillow spoon whistle curtain needle")
	greeted := func(v identity.Viewer) (n int) {
		for _, word := range asked {
			if strings.HasPrefix(h.turn(v, "What is a "+word+"?").answer.Content, "Hello!") {
				n++
			}
		}
		return n
	}
	if n := greeted(h.ann); n != 0 {
		t.Fatalf("before anything was said %d answers greet", n)
	}
	events := h.teaches(h.ann, subjects[:7])
	h.learn(h.ann)
	if jobs := h.jobs(h.ann); len(jobs) != 0 {
		t.Fatalf("seven corrections make %d trainings", len(jobs))
	}
	secret := h.turn(h.ann, "What is a letter?")
	events = append(events, h.says(h.ann, secret, learning.Feedback{Signal: "dislike", Corrected: "Hello! Write to me@example.org, as it is a letter of mine."}))
	h.learn(h.ann)
	if j := h.job(h.ann); j.Status != learning.JobQueued || j.ClusterID != "" {
		t.Fatalf("after eight corrections the training is %+v", j)
	}
	events = append(events, h.teaches(h.ann, subjects[7:])...)
	h.learn(h.ann) // it waits already, and is to be made with these as well
	h.sweep()
	j := h.job(h.ann)
	if j.Status != learning.JobSucceeded || j.Stage != learning.StageDone || j.Version != 1 || j.Loss == nil || j.Attempts != 1 {
		t.Fatalf("the training ended %s at %s: %s %v", j.Status, j.Stage, j.Reason, h.called)
	}
	h.trainedWith(j, events)
	folder := filepath.Join(h.data, "users", h.ann.UserID, "adapters", j.AdapterID)
	for _, name := range []string{"train_jobs/" + j.ID + "/dataset.jsonl", "v0001/params.json", "v0001/adapter_model.safetensors", "v0001/batches/manifest.json"} {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(folder, "train_jobs", j.ID, "dataset.jsonl"))
	h.must(err)
	if strings.Contains(string(raw), "me@example.org") || !strings.Contains(string(raw), "[email]") {
		t.Error("an address is in what the adapter is trained with")
	}
	made, err := train.ReadJob(filepath.Join(folder, "train_jobs", j.ID))
	h.must(err)
	inTrain := 0
	for _, b := range j.Meta["batches"].([]any) {
		if set := b.(map[string]any)["set"]; set == "train" || set == "pairs" {
			inTrain++
		}
	}
	if made.Steps != 3*inTrain || made.Rate > 5e-3 {
		t.Errorf("it was trained for %d steps with %d batches at the rate %v", made.Steps, inTrain, made.Rate)
	}
	for _, name := range []string{"perplexity", "accuracy", "alignment", "batches"} {
		if j.Meta[name] == nil {
			t.Errorf("meta has no %s", name)
		}
	}
	var doc struct {
		Mode, Checksum string
		Version        int    `json:"current_version"`
		Dir            string `json:"fs_dir"`
		Base           string `json:"base_model"`
	}
	a := h.adapter(h.ann, "learnt.persona")
	h.must(json.Unmarshal(a.Schema, &doc))
	sum, err := params.Sum(filepath.Join(folder, "v0001", params.ParamsFile))
	h.must(err)
	if doc.Version != 1 || doc.Checksum != sum || doc.Base != "base_lm_v1" || doc.Dir != "users/"+h.ann.UserID+"/adapters/"+a.ID {
		t.Errorf("the adapter is %+v", doc)
	}
	if got := h.weights(h.ann, a.ID); !slices.Equal(got, []string{"1 applied"}) {
		t.Errorf("the versions are %v", got)
	}
	if _, err := h.desk.Promote(t.Context(), h.ann, h.patches(h.ann)[0].ID); a.Rollout == nil || err != nil { // half of the conversations try it
		t.Errorf("on trial %+v: %v", a.Rollout, err)
	}
	// A model as small misses one at times, where other instructions round otherwise.
	if n := greeted(h.ann); n < len(asked)/2 {
		t.Errorf("%d of %d answers greet", n, len(asked))
	}
	t.Logf("%d of %d answers greet", greeted(h.ann), len(asked))
	if n := greeted(h.bob); n != 0 {
		t.Errorf("%d answers greet somebody who never asked for it", n)
	}
	middle, err := h.store.AdapterMiddle(t.Context(), a.ID)
	h.must(err)
	if len(middle) == 0 {
		t.Error("the adapter has no middle")
	}
	h.goneLater(j, folder)
}

// trainedWith checks that a job was trained with what was corrected, newest held
// out.
func (h *house) trainedWith(j learning.Job, events []learning.Event) {
	h.Helper()
	if len(j.Events) == 0 || slices.Contains(j.Events, events[len(events)-1].ID) || !slices.Contains(j.Events, events[0].ID) {
		h.Errorf("it was trained with %v of %d events", j.Events, len(events))
	}
	var report struct {
		Outcome   string
		Loss      struct{ Now, New float64 }
		Alignment struct{ Now, New float64 }
	}
	h.must(json.Unmarshal(j.Report, &report))
	if report.Outcome != "rule" || report.Loss.New >= report.Loss.Now || report.Alignment.New <= report.Alignment.Now || *j.Loss != report.Loss.New {
		h.Errorf("its report is %+v, its loss %v", report, *j.Loss)
	}
	h.Logf("loss %.2f, before %.2f; alignment %.2f, before %.2f", report.Loss.New, report.Loss.Now, report.Alignment.New, report.Alignment.Now)
}

// goneLater checks that what was said is deleted in its time, and the curve is
// not.
func (h *house) goneLater(j learning.Job, folder string) {
	h.Helper()
	curve, err := h.training.Curve(h.Context(), h.ann, j.ID)
	h.must(err)
	h.pass(6 * 24 * time.Hour)
	if n, err := h.training.Erase(h.Context()); n != 0 || err != nil {
		h.Errorf("after six days %d paths are deleted, %v", n, err)
	}
	h.pass(2 * 24 * time.Hour)
	if n, err := h.training.Erase(h.Context()); n != 1 || err != nil {
		h.Errorf("after eight days %d paths are deleted, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "train_jobs")); !errors.Is(err, os.ErrNotExist) {
		h.Errorf("the folder of the job is there: %v", err)
	}
	later, err := h.training.Curve(h.Context(), h.ann, j.ID)
	h.must(err)
	if len(curve) == 0 || len(later) != len(curve) || later[0].Loss != curve[0].Loss {
		h.Errorf("the curve had %d steps, and has %d", len(curve), len(later))
	}
}

// A worker that dies when a step is done and nobody has heard of it has it done
// again: the job, its version and the patch are one.
//
// Requirements: TRAIN-14 (the running platform), PLAT-11 (training)
func TestATrainingOfWhichEachStepIsDoneTwiceIsOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: here{}})
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	h.die = func(tool string) bool { return strings.HasPrefix(tool, "train.") || tool == "adapter.propose_v1" }
	h.sweep()
	h.die = nil
	j := h.job(h.ann)
	if j.Stage != learning.StageDone || j.Attempts != 1 || !slices.Equal(h.weights(h.ann, j.AdapterID), []string{"1 applied"}) {
		t.Errorf("%s at %s: %s; %v", j.Status, j.Stage, j.Reason, h.weights(h.ann, j.AdapterID))
	}
	n := 0
	for _, p := range h.patches(h.ann) {
		if strings.Contains(p.Justification, "nats a token") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("it was handed in %d times", n)
	}
	// Called by hand when it is over, no step does anything.
	c := training.Claim{Job: j.ID, Fence: j.Fence}
	for name, step := range map[string]func(training.Claim) error{
		"dataset": func(c training.Claim) error { _, err := h.training.Dataset(t.Context(), h.ann, c); return err },
		"fit": func(c training.Claim) error {
			_, err := h.training.Fit(t.Context(), h.ann, c, func(train.Metric) { t.Error("it trains") }, nil)
			return err
		},
		"judge":   func(c training.Claim) error { _, err := h.training.Judge(t.Context(), h.ann, c); return err },
		"publish": func(c training.Claim) error { _, err := h.training.Publish(t.Context(), h.ann, c); return err },
		"settle":  func(c training.Claim) error { _, err := h.training.Settle(t.Context(), h.ann, c); return err },
	} {
		h.must(step(c))
		if err := step(training.Claim{Job: j.ID, Fence: j.Fence - 1}); !errors.Is(err, fault.Conflict) {
			t.Errorf("%s of a lost claim: %v", name, err)
		}
	}
	if again := h.job(h.ann); !again.UpdatedAt.Equal(j.UpdatedAt) || !slices.Equal(h.weights(h.ann, j.AdapterID), []string{"1 applied"}) {
		t.Errorf("then it is %+v", again)
	}
}

// The process that trains ends with the worker that started it. Whoever has the
// call next goes on, with the same losses.
//
// Requirements: TRAIN-14 (the running platform), TRAIN-05 (the running platform stores them)
func TestATrainingInACellGoesOnWithTheSameLosses(t *testing.T) {
	t.Parallel()
	cells, err := training.InCells("train-in-cell", t.TempDir(), 512<<20, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cells.Close() })
	h := newHouse(t, options{base: base(t), trainer: cells})
	h.teaches(h.ann, subjects)
	h.learn(h.ann)
	j, ok, err := h.store.ClaimJob(t.Context(), identity.System(), "p", id.New())
	if err != nil || !ok {
		t.Fatal(err)
	}
	c := training.Claim{Job: j.ID, Fence: j.Fence}
	_, err = h.training.Dataset(t.Context(), h.ann, c)
	h.must(err)
	first, second := map[int]float64{}, map[int]float64{}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = h.training.Fit(ctx, h.ann, c, func(m train.Metric) {
		if first[m.Step] = m.Loss; m.Step == 9 {
			cancel()
		}
	}, func(string) {})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cut off it ended with %v", err)
	}
	if got := h.job(h.ann); got.Stage != learning.StageFit || got.Status != learning.JobRunning {
		t.Fatalf("cut off it is %s at %s", got.Status, got.Stage)
	}
	out, err := h.training.Fit(t.Context(), h.ann, c, func(m train.Metric) { second[m.Step] = m.Loss }, func(string) {})
	h.must(err)
	for step, loss := range first {
		if again, there := second[step]; there && again != loss {
			t.Errorf("step %d has the loss %v, and had %v", step, again, loss)
		}
	}
	if len(first) < 9 || out.Steps < 20 || h.job(h.ann).Stage != learning.StageJudge {
		t.Errorf("%d steps, then %+v; it is at %s", len(first), out, h.job(h.ann).Stage)
	}
}

// Requirements: TRAIN-07 (else the version before stays pinned)
func TestWhoWantsToBeAskedDecidesAboutWeights(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: here{}})
	h.must(h.store.PutLearningSettings(t.Context(), h.ann, learning.Settings{Personal: true}))
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	h.sweep()
	j := h.job(h.ann)
	if j.Stage != learning.StageDone || j.Meta["patch_status"] != "pending" {
		t.Fatalf("%s at %s: %s, %v", j.Status, j.Stage, j.Reason, j.Meta["patch_status"])
	}
	if got := h.weights(h.ann, j.AdapterID); !slices.Equal(got, []string{"1 ready"}) {
		t.Errorf("the versions are %v", got)
	}
	about := h.turn(h.ann, "What is a bell?")
	if strings.HasPrefix(about.answer.Content, "Hello!") || len(listed(t, about, "adapters")) > 0 {
		t.Errorf("before it is decided the answer is %q with %v", about.answer.Content, about.answer.Meta["adapters"])
	}
}

// What is not better stays in its folder, and nothing is handed in.
//
// Requirements: TRAIN-07 (else the version before stays pinned)
func TestWhatIsNotBetterIsKeptAndNotHandedIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: hooked{func(dir string, _ train.Options) error {
		j, err := train.ReadJob(dir)
		if err != nil {
			return err
		}
		j.Steps = 0 // it learns nothing
		return train.WriteJob(dir, j)
	}}})
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	h.sweep()
	j := h.job(h.ann)
	if why := j.Why(); len(why) < 2 || why[0].Code != "not_better" || why[1].Code != "judged" || why[1].Data["answers"] == nil {
		t.Errorf("it says why so: %+v", why)
	}
	if j.Status != learning.JobSucceeded || j.Stage != learning.StageKept || !strings.Contains(j.Reason, "not better") {
		t.Errorf("%s at %s: %s", j.Status, j.Stage, j.Reason)
	}
	if got := h.weights(h.ann, j.AdapterID); !slices.Equal(got, []string{"1 ready"}) {
		t.Errorf("the versions are %v", got)
	}
	for _, p := range h.patches(h.ann) {
		if strings.Contains(p.Justification, "nats a token") {
			t.Errorf("it was handed in: %s", p.Justification)
		}
	}
}

// Likelier is not said: a training that is cut short makes each wanted answer
// likelier, and none of its answers greets. What is written for it is what counts.
//
// Requirements: TRAIN-07 (else the version before stays pinned)
func TestAnAdapterWhoseAnswersDoNotKeepTheWishIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: hooked{func(dir string, _ train.Options) error {
		j, err := train.ReadJob(dir)
		if err != nil {
			return err
		}
		j.Steps = 2
		return train.WriteJob(dir, j)
	}}})
	h.teaches(h.ann, subjects)
	h.learn(h.ann)
	h.sweep()
	j := h.job(h.ann)
	var report gate.Verdict
	h.must(json.Unmarshal(j.Report, &report))
	h.Logf("%s %s", j.Reason, j.Report)
	if report.Loss.New >= report.Loss.Now || report.Alignment.New <= report.Alignment.Now {
		t.Errorf("by its losses it is no better: %s", j.Report)
	}
	if k := report.Kept; k.New != 0 || k.Prompts < 4 || !slices.Contains(k.Kinds, "begins") || !slices.Contains(report.Reasons, gate.Unheeded) {
		t.Errorf("of its answers the gate found %+v", report)
	}
	want := fmt.Sprintf("have the form you want in 0 of %d checks", report.Kept.Of)
	if j.Status != learning.JobSucceeded || j.Stage != learning.StageKept || !strings.Contains(j.Reason, want) {
		t.Errorf("%s at %s: %s", j.Status, j.Stage, j.Reason)
	}
	if got := h.weights(h.ann, j.AdapterID); !slices.Equal(got, []string{"1 ready"}) {
		t.Errorf("the versions are %v", got)
	}
}

// Requirements: TRAIN-10 (failed with the reason)
func TestAFullDiskIsTriedThreeTimesAndSaidThen(t *testing.T) {
	t.Parallel()
	tries := 0
	h := newHouse(t, options{base: base(t), trainer: hooked{func(dir string, o train.Options) error {
		tries++
		return fmt.Errorf("write %s: %w", filepath.Join(dir, train.CheckpointFile), syscall.ENOSPC)
	}}})
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	for i, wait := range []time.Duration{0, time.Minute, 4 * time.Minute} {
		h.pass(wait)
		h.sweep()
		j := h.job(h.ann)
		if tries != i+1 || j.Attempts != i+1 || !strings.Contains(j.Reason, "no space left on device") || strings.Contains(j.Reason, h.data) || !strings.Contains(j.Reason, "last checkpoint is kept") {
			t.Fatalf("after %d tries it is %s after %d attempts: %s", tries, j.Status, j.Attempts, j.Reason)
		}
		if why := j.Why(); len(why) != 1 || why[0].Code != "failed" || why[0].Data["at"] != "fit" || why[0].Data["reason"] != train.DiskFull {
			t.Errorf("after %d tries it says why so: %+v", tries, why)
		}
		if want := map[int]learning.JobStatus{2: learning.JobFailed}[i]; want != "" && j.Status != want || want == "" && j.Status != learning.JobQueued {
			t.Errorf("after %d tries it is %s", tries, j.Status)
		}
		h.sweep() // not before its time
		if tries != i+1 {
			t.Errorf("it is tried at once again")
		}
	}
	h.pass(2 * time.Hour)
	h.sweep()
	if tries != 3 {
		t.Errorf("it was tried %d times", tries)
	}
}

// One of the answers is taken back while the adapter is trained with it: that
// version is nobody's, and it is trained again without it.
func TestWhatIsTakenBackWhileItIsTrainedWithIsLeftOut(t *testing.T) {
	t.Parallel()
	var h *house
	var events []learning.Event
	h = newHouse(t, options{base: base(t), trainer: hooked{func(string, train.Options) error {
		if len(events) == 0 {
			return nil
		}
		_, err := h.store.DropPreference(h.Context(), h.ann, learning.Retraction{ID: events[0].ID})
		events = nil
		return err
	}}})
	events = h.teaches(h.ann, subjects[:18])
	gone := events[0].ID
	h.learn(h.ann)
	h.sweep()
	j := h.job(h.ann)
	if j.Status != learning.JobQueued || !strings.Contains(j.Reason, "taken back") || !slices.Contains(j.Events, gone) {
		t.Fatalf("%s at %s: %s", j.Status, j.Stage, j.Reason)
	}
	h.pass(time.Minute)
	h.sweep()
	j = h.job(h.ann)
	if j.Stage != learning.StageDone || slices.Contains(j.Events, gone) || len(h.weights(h.ann, j.AdapterID)) != 1 {
		t.Errorf("%s at %s: %s, with %v; %v", j.Status, j.Stage, j.Reason, j.Events, h.weights(h.ann, j.AdapterID))
	}
}

// An event that is taken back later marks the version, which is trained anew.
func TestAVersionOfWhichSomethingIsTakenBackIsTrainedAnew(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: here{}})
	events := h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	h.sweep()
	first := h.job(h.ann)
	_, err := h.store.DropPreference(t.Context(), h.ann, learning.Retraction{ID: events[0].ID})
	h.must(err)
	if got := h.weights(h.ann, first.AdapterID); !slices.Equal(got, []string{"1 marked"}) {
		t.Errorf("the versions are %v", got)
	}
	h.passDatabase()
	if _, err := h.training.Erase(t.Context()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"train_jobs/" + first.ID, "v0001/batches"} {
		if _, err := os.Stat(filepath.Join(h.data, "users", h.ann.UserID, "adapters", first.AdapterID, filepath.FromSlash(name))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	h.learn(h.ann)
	h.sweep() // within the hour nothing of hers is trained
	h.pass(time.Hour)
	h.sweep()
	j := h.jobs(h.ann)[0]
	if j.ID == first.ID || j.Version != 2 || slices.Contains(j.Events, events[0].ID) {
		t.Errorf("then %s at %s with %v: %s", j.Status, j.Stage, j.Events, j.Reason)
	}
}

// Requirements: PREF-05, CLUS-05 (begins with zero weights; training jobs are enqueued), CLUS-09, TRAIN-02 (of one adapter)
func TestASkillBeginsWithWeightsThatChangeNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: here{}})
	h.likes(h.ann, 16, reminders, recipes, tests)
	h.learn(h.ann)
	var skill learning.Job
	for _, j := range h.jobs(h.ann) {
		if j.ClusterID != "" {
			skill = j
		}
	}
	if skill.ID == "" {
		t.Fatalf("no skill is to be trained: %+v", h.jobs(h.ann))
	}
	for range 8 { // one of a person runs at a time, with an hour between
		h.sweep()
		h.pass(time.Hour)
	}
	j, err := h.store.TrainingJob(t.Context(), h.ann, skill.ID)
	h.must(err)
	if !j.Ended() || j.Stage == learning.StageFailed {
		t.Fatalf("%s at %s: %s", j.Status, j.Stage, j.Reason)
	}
	beside, _ := j.Meta["cluster"].(map[string]any) // the shapes of its batches
	if size, _ := beside["size"].(float64); beside["id"] != j.ClusterID || size < 12 || beside["strength"] == nil || j.Meta["batches"] == nil {
		t.Errorf("of its situation it keeps %v, beside %v", beside, j.Meta["batches"])
	}
	found, err := h.store.Events(t.Context(), h.ann, j.Events...)
	h.must(err)
	for _, e := range found {
		if e.ClusterID != j.ClusterID {
			t.Errorf("it was trained with an event of %q", e.ClusterID)
		}
	}
	dir := filepath.Join(h.data, "users", h.ann.UserID, "adapters", j.AdapterID, "v0001")
	sum, err := llm.Fingerprint(base(t))
	h.must(err)
	m, err := llm.Open(base(t))
	h.must(err)
	a, err := params.ReadAdapter(dir, "", peft.Base{Config: m.Config, Name: "base_lm_v1", Fingerprint: sum})
	h.must(err)
	for _, layer := range a.Pairs {
		for _, p := range layer {
			if slices.ContainsFunc(p.B, func(x float32) bool { return x != 0 }) {
				t.Fatal("the first version changes something")
			}
		}
	}
}

// Requirements: TRAIN-04 (by plan tier), OPS-12 (tokens per job)
func TestAPlanBoundsWhatAnAdapterIsTrainedWith(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: here{}})
	most := 600.0
	_, err := h.plans.Change(t.Context(), h.root, quota.Free, 0, map[string]*float64{"tokens_per_day": &most})
	h.must(err)
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	h.sweep()
	j := h.job(h.ann)
	left, _ := j.Meta["left_out"].(map[string]any)
	if j.Tokens > 600 || left["budget"] == nil {
		t.Errorf("%s: it was trained with %d tokens, left out %v", j.Stage, j.Tokens, left)
	}
}

// How a training goes is its graph, which an administrator edits: one that wants
// more rows than there are says so, and trains nothing; with the version before it
// trains again. The program is the same.
//
// Requirements: PLAT-03 (an edited artifact changes behaviour; training), GRAPH-24 (training)
func TestAnEditedGraphChangesHowAnAdapterIsTrained(t *testing.T) {
	t.Parallel()
	fits := 0
	h := newHouse(t, options{base: base(t), trainer: hooked{func(dir string, _ train.Options) error {
		fits++
		j, err := train.ReadJob(dir)
		if err != nil {
			return err
		}
		j.Steps = 0 // what it learns is not asked here
		return train.WriteJob(dir, j)
	}}})
	g, err := h.library.Named(t.Context(), h.root, artifacts.KindWorkflow, "learn.train")
	h.must(err)
	_, err = h.library.Patch(t.Context(), h.root, g.ID, artifacts.Change{Patch: json.RawMessage(`[
		{"op": "test", "path": "/nodes/1/id", "value": "whether"},
		{"op": "add", "path": "/nodes/1/branches/0", "value": {"when": "rows < 100", "next": "more"}},
		{"op": "add", "path": "/nodes/-", "value": {"id": "more", "type": "tool_call", "tool": "train.fail_v1", "max_retries": 1, "next": "ended", "outputs": ["status", "reason"],
			"inputs": {"job": "${input.job}", "fence": "${input.fence}", "error": {"code": "validation_error", "message": "Here an adapter is trained with 100 rows at least, and there are ${vars.rows}."}}}}
	]`)})
	h.must(err)
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	h.die = func(tool string) bool { return tool == "train.fail_v1" } // what went wrong is noted once
	h.sweep()
	h.die = nil
	j := h.job(h.ann)
	if j.Status != learning.JobFailed || j.Attempts != 1 || !strings.HasPrefix(j.Reason, "Here an adapter is trained with 100 rows at least, and there are ") || fits != 0 {
		t.Errorf("with the edited graph it is %s after %d trainings: %s; called %v", j.Status, fits, j.Reason, h.called)
	}
	_, err = h.library.Rollback(t.Context(), h.root, g.ID, g.Version, "")
	h.must(err)
	h.pass(2 * time.Hour)
	_, err = h.training.Ask(t.Context(), h.ann, j.AdapterID)
	h.must(err)
	h.sweep()
	if j := h.jobs(h.ann)[0]; j.Stage != learning.StageKept || fits != 1 {
		t.Errorf("with the graph that ships it is at %s after %d trainings: %s", j.Stage, fits, j.Reason)
	}
}

// An account that is deleted while its training runs leaves nothing.
func TestAnAccountThatGoesWhileItsTrainingRunsLeavesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, options{base: base(t)}, goneAccount)
}

func goneAccount(t *testing.T, o options) {
	var h *house
	o.trainer = hooked{func(string, train.Options) error {
		_, err := h.store.DeleteUser(h.Context(), h.ann.UserID)
		return err
	}}
	h = newHouse(t, o)
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	j := h.job(h.ann)
	h.sweep()
	if len(h.rowless) != 1 || h.rowless[0].Err != nil || h.rowless[0].Data["stage"] != "gone" || h.rowless[0].Data["reason"] == "" || h.rowless[0].Data["job"] != j.ID {
		t.Errorf("its run ended so: %+v", h.rowless)
	}
	if last := h.called[len(h.called)-1]; last != "train.fail_v1" || slices.Contains(h.called, "train.judge_v1") {
		t.Errorf("it went on after the account was gone: %v", h.called)
	}
	left, _, err := h.store.TrainingJobs(t.Context(), identity.System(), learning.JobFilter{Limit: 10})
	if err != nil || len(left) > 0 {
		t.Errorf("jobs are left: %+v, %v", left, err)
	}
	if list, err := h.store.Weights(t.Context(), identity.System(), j.AdapterID); err != nil && !errors.Is(err, fault.NotFound) || len(list) > 0 {
		t.Errorf("versions are left: %+v, %v", list, err)
	}
	if _, err := os.Stat(filepath.Join(h.data, "users", h.ann.UserID, "adapters", j.AdapterID)); err != nil {
		t.Errorf("nothing of it was written before: %v", err)
	}
	h.passDatabase()
	_, err = h.training.Erase(t.Context())
	h.must(err)
	if _, err := os.Stat(filepath.Join(h.data, "users", h.ann.UserID, "adapters")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something of it is there: %v", err)
	}
}

// What was given out and never began is begun; what began and was lost has
// failed, and is tried again.
func TestAClaimWhoseRunIsLostIsLookedAfter(t *testing.T) {
	t.Parallel()
	h := newHouse(t, options{base: base(t), trainer: here{}})
	h.teaches(h.ann, subjects[:18])
	h.learn(h.ann)
	j, ok, err := h.store.ClaimJob(t.Context(), identity.System(), "p", id.New()) // and the process dies
	if err != nil || !ok {
		t.Fatal(err)
	}
	h.sweep() // its run may be on its way
	if got := h.job(h.ann); got.Stage != learning.StageDataset {
		t.Errorf("at once it is at %s", got.Stage)
	}
	r := run.Run{ID: j.RunID, WorkflowID: "train:" + j.ID, Kind: run.KindTrain, UserID: h.ann.UserID, Status: run.Running, Input: json.RawMessage(`{}`)}
	h.must(h.store.CreateRun(t.Context(), h.ann, r))
	h.must(h.store.EndRun(t.Context(), h.ann, r.ID, run.End{Status: run.Failed, Error: json.RawMessage(`{"code":"server_error","message":"The run was ended from outside."}`)}))
	h.pass(time.Minute)
	h.sweep()
	if got := h.job(h.ann); got.Status != learning.JobQueued || !strings.Contains(got.Reason, "ended from outside") {
		t.Errorf("its run is lost, and it is %s: %s", got.Status, got.Reason)
	}
	h.pass(time.Minute)
	j, ok, err = h.store.ClaimJob(t.Context(), identity.System(), "p", id.New())
	if err != nil || !ok {
		t.Fatal(err)
	}
	h.pass(time.Minute)
	h.sweep()
	if got := h.job(h.ann); got.Stage != learning.StageDone || got.RunID != j.RunID {
		t.Errorf("begun, it is at %s: %s", got.Stage, got.Reason)
	}
}
