package train_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
)

// Requirements: TRAIN-15 (loss falls; only files of the adapter change), LORA-12 (no gradient reaches it), LORA-14
func TestAJobLearnsAndOnlyTheAdapterChanges(t *testing.T) {
	t.Parallel()
	dir := job(t, nil)
	before, err := train.ReadJob(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := run(t, dir, train.Options{})
	if m.Steps != 60 || m.Stopped || *m.Loss.After > 0.6**m.Loss.Before || *m.HeldOut.After > 0.8**m.HeldOut.Before {
		t.Errorf("%d steps, the loss went from %v to %v, held out from %v to %v", m.Steps, *m.Loss.Before, *m.Loss.After, *m.HeldOut.Before, *m.HeldOut.After)
	}
	if sum, err := llm.Fingerprint(before.Base.Dir); err != nil || sum != before.Base.SHA256 {
		t.Errorf("the base was changed: %v", err)
	}
	var files []string
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if !e.IsDir() && filepath.Base(filepath.Dir(path)) != batches.Dir {
			files = append(files, e.Name())
		}
		return err
	})
	slices.Sort(files)
	if want := []string{".lock", peft.ConfigFile, peft.WeightsFile, train.JobFile, train.ManifestFile, train.MetricsFile}; err != nil || !slices.Equal(files, want) {
		t.Errorf("it left %v, %v", files, err)
	}
	list := losses(t, dir)
	if len(list) != 60 || list[0].Step != 1 || list[59].Of != 60 || list[59].Loss != *m.Loss.After || *list[59].HeldOut != *m.HeldOut.After {
		t.Errorf("%d steps were told, the last is %+v", len(list), list[len(list)-1])
	}
	b, err := llm.Open(before.Base.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := train.Check(dir, before, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Adapter.Pairs {
		for k, p := range r.Adapter.Pairs[i] {
			if want := slices.Contains([]llm.Linear{llm.Query, llm.Value, llm.Gate, llm.Up}, llm.Linear(k)); want != (p.Rank == 4) {
				t.Errorf("layer %d, %s is of rank %d", i, llm.Linear(k).Name(), p.Rank)
			}
		}
	}
	// The gate's view of it: what is held out is likelier, and guessed more often.
	_, sets, err := batches.Read(filepath.Join(dir, batches.Dir), "")
	if err != nil {
		t.Fatal(err)
	}
	sum := func(rows []train.Row) (logProb float64, right, tokens int) {
		for _, r := range rows {
			logProb, right, tokens = logProb+r.LogProb, right+r.Right, tokens+r.Tokens
		}
		return logProb, right, tokens
	}
	bare, bareRight, _ := sum(train.Score(b, sets[batches.Held]))
	trained, right, tokens := sum(train.Score(b, sets[batches.Held], llm.Gated{Adapter: r.Adapter, Gate: 1}))
	if trained <= bare || right <= bareRight || right > tokens {
		t.Errorf("log-probability %v, then %v; %d, then %d of %d right", bare, trained, bareRight, right, tokens)
	}
	// Again it does nothing, also under the fence of another claim.
	steps := 0
	again := before
	again.Fence = 9
	if err := train.WriteJob(dir, again); err != nil {
		t.Fatal(err)
	}
	if m := run(t, dir, train.Options{Report: func(train.Metric) { steps++ }}); steps != 0 || m.Fence != 9 {
		t.Errorf("done again it did %d steps, fence %d", steps, m.Fence)
	}
	if _, err := train.Check(dir, again, b); err != nil {
		t.Error(err)
	}
}

// Requirements: TRAIN-01 (the L2 term)
func TestThePenaltyAndTheWeightsCount(t *testing.T) {
	t.Parallel()
	size := func(lambda float64) (sum float64) {
		dir := job(t, func(j *train.Job) { j.Loss.Lambda, j.Steps = lambda, 30 })
		run(t, dir, train.Options{})
		j, _ := train.ReadJob(dir)
		a, err := peft.Read(filepath.Join(dir, train.ResultDir), peft.Base{Config: shape, Fingerprint: j.Base.SHA256})
		if err != nil {
			t.Fatal(err)
		}
		for _, layer := range a.Pairs {
			for _, p := range layer {
				for _, x := range append(slices.Clone(p.A), p.B...) {
					sum += float64(x) * float64(x)
				}
			}
		}
		return sum
	}
	if free, held := size(0), size(0.1); held > 0.7*free {
		t.Errorf("‖A,B‖² is %v without a penalty and %v with one", free, held)
	}

	// Two answers to one question: the one that weighs more is learnt.
	dir := job(t, nil)
	j, _ := train.ReadJob(dir)
	var list []batches.Text
	for i := range 12 {
		list = append(list, batches.Text{Source: int64(i), Prompt: []int{5, 6}, Target: []int{20 + i%2, 30}, Weight: []float64{0.1, 1}[i%2]})
	}
	sum, err := batches.Write(filepath.Join(dir, batches.Dir), shape.Vocab, batches.Sets{batches.Train: batches.Cut(list, 4, 64)})
	if err != nil {
		t.Fatal(err)
	}
	j.Files[batches.Dir+"/"+batches.ManifestFile] = sum
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	if m := run(t, dir, train.Options{}); m.HeldOut.After != nil {
		t.Errorf("nothing is held out, and its loss is %v", *m.HeldOut.After)
	}
	b, _ := llm.Open(j.Base.Dir)
	r, err := train.Check(dir, j, b)
	if err != nil {
		t.Fatal(err)
	}
	rows := train.Score(b, batches.Cut(list[:2], 1, 8), llm.Gated{Adapter: r.Adapter, Gate: 1})
	if light, heavy := rows[0].LogProb, rows[1].LogProb; heavy < light+1.5 || heavy < light {
		t.Errorf("the heavy answer has %v, the light one %v", heavy, light)
	}
}

// Pairs teach which of two answers is better, beside what is imitated.
//
// Requirements: TRAIN-01 (DPO)
func TestPairsTeachWhichIsBetter(t *testing.T) {
	t.Parallel()
	margin := func(loss train.Loss) (sum float64) {
		dir := job(t, func(j *train.Job) { j.Loss, j.Rate, j.Steps = loss, 2e-3, 90 })
		m := run(t, dir, train.Options{})
		of := 0
		for _, one := range losses(t, dir) {
			if one.Compared {
				of++
			}
		}
		if want := loss.Kind == train.DPO; want != (of > 0) || want && of < 20 || *m.HeldOut.After > *m.HeldOut.Before {
			t.Errorf("%s: %d of %d steps are of pairs, held out %v to %v", loss.Kind, of, m.Steps, *m.HeldOut.Before, *m.HeldOut.After)
		}
		j, _ := train.ReadJob(dir)
		b, _ := llm.Open(j.Base.Dir)
		r, err := train.Check(dir, j, b)
		if err != nil {
			t.Fatal(err)
		}
		rows := train.Score(b, pairs(), llm.Gated{Adapter: r.Adapter, Gate: 1})
		for i := 0; i < len(rows); i += 2 {
			sum += rows[i].LogProb - rows[i+1].LogProb
		}
		return sum / float64(len(rows)/2)
	}
	without, with := margin(train.DefaultLoss()), margin(train.Loss{Kind: train.DPO, Lambda: 1e-4, Beta: 0.1})
	t.Logf("margins %v and %v", without, with)
	if with < without+1 {
		t.Errorf("the better answers are likelier by %v, and by %v without the pairs", with, without)
	}
}

// What was disliked becomes less likely, while what was liked is imitated.
func TestWhatWasDislikedIsAvoided(t *testing.T) {
	t.Parallel()
	after := func(loss train.Loss) (sum float64) {
		dir := job(t, func(j *train.Job) { j.Loss, j.Rate, j.Steps = loss, 2e-3, 90 })
		m := run(t, dir, train.Options{})
		if *m.HeldOut.After > *m.HeldOut.Before {
			t.Errorf("%s: held out %v to %v", loss.Kind, *m.HeldOut.Before, *m.HeldOut.After)
		}
		j, _ := train.ReadJob(dir)
		b, _ := llm.Open(j.Base.Dir)
		r, err := train.Check(dir, j, b)
		if err != nil {
			t.Fatal(err)
		}
		rows := train.Score(b, avoided(), llm.Gated{Adapter: r.Adapter, Gate: 1})
		for _, row := range rows {
			sum += row.LogProb
		}
		return sum / float64(len(rows))
	}
	without, with := after(train.DefaultLoss()), after(train.Loss{Kind: train.KTO, Lambda: 1e-4, Beta: 0.1})
	t.Logf("log-probabilities %v and %v", without, with)
	if with > without-1 {
		t.Errorf("what was disliked has %v, and %v when it is not avoided", with, without)
	}
}

// Requirements: TRAIN-11 (early stopping on batch loss)
func TestTrainingStopsWhenLossesRise(t *testing.T) {
	t.Parallel()
	dir := job(t, func(j *train.Job) { j.Rate, j.Steps = 0.9, 400 })
	m := run(t, dir, train.Options{})
	if !m.Stopped || m.Steps >= 400 || m.Steps != len(losses(t, dir)) {
		t.Errorf("with an absurd rate it did %d steps", m.Steps)
	}
	// Where it stopped, and only there, three batches in a row were worse than an
	// epoch before. The order of the batches is the trainer's: it is not known
	// here, but six batches are one epoch.
	if m.Steps < 6+3 {
		t.Errorf("it stopped in step %d, before three could be compared", m.Steps)
	}
}

// Requirements: TRAIN-14 (a restart)
func TestAJobThatIsStoppedGoesOnWithTheSameLosses(t *testing.T) {
	t.Parallel()
	dir := job(t, func(j *train.Job) { j.Steps = 45; j.Loss.Kind, j.Loss.Beta = train.KTO, 0.1 })
	other := copied(t, dir)
	run(t, dir, train.Options{})
	notices := 0
	for at := 7; at <= 42; at += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := train.Run(ctx, other, train.Options{
			Report: func(m train.Metric) {
				if m.Step == at {
					cancel()
				}
			},
			Notice: func(string) { notices++ },
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped in step %d: %v", at, err)
		}
		if n := len(losses(t, other)); n != at {
			t.Errorf("stopped in step %d it told %d", at, n)
		}
	}
	run(t, other, train.Options{})
	same(t, dir, other)
	if notices != 5 {
		t.Errorf("it said %d times that it goes on", notices)
	}
}

func TestAJobThatWasMadeOtherwiseBeginsAnew(t *testing.T) {
	t.Parallel()
	dir := job(t, nil)
	stop := func(at int, o train.Options) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.Report = func(m train.Metric) {
			if m.Step == at {
				cancel()
			}
		}
		if _, err := train.Run(ctx, dir, o); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	stop(10, train.Options{})
	j, _ := train.ReadJob(dir)
	j.Rate, j.Fence = 1e-2, 2
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	said := ""
	stop(3, train.Options{Notice: func(text string) { said += text }})
	if list := losses(t, dir); len(list) != 3 || said == "" {
		t.Errorf("%d steps, it says %q", len(list), said)
	}
	raw, err := os.ReadFile(filepath.Join(dir, train.CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, train.CheckpointFile), raw[:len(raw)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if m := run(t, dir, train.Options{}); m.Steps != 60 || len(losses(t, dir)) != 60 {
		t.Errorf("half a checkpoint: %+v", m)
	}
}

// Requirements: TRAIN-14 (who lost the job writes nothing more)
func TestAnOlderFenceStopsWriting(t *testing.T) {
	t.Parallel()
	dir := job(t, nil)
	j, _ := train.ReadJob(dir)
	_, err := train.Run(t.Context(), dir, train.Options{Every: 5, Report: func(m train.Metric) {
		if m.Step == 12 {
			j.Fence++
			if err := train.WriteJob(dir, j); err != nil {
				t.Error(err)
			}
		}
	}})
	if !errors.Is(err, fault.Conflict) || train.Passes(err) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, train.ResultDir)); err == nil || len(losses(t, dir)) != 12 {
		t.Errorf("it wrote on: %d steps", len(losses(t, dir)))
	}
	// The new claim goes on from the old one's checkpoint.
	first := 0
	run(t, dir, train.Options{Report: func(m train.Metric) {
		if first == 0 {
			first = m.Step
		}
	}})
	if first != 11 {
		t.Errorf("the next began with step %d", first)
	}

	// A job that is taken away ends its training, too.
	dir = job(t, nil)
	_, err = train.Run(t.Context(), dir, train.Options{Report: func(m train.Metric) {
		if m.Step == 2 {
			_ = os.Remove(filepath.Join(dir, train.JobFile))
		}
	}})
	if !errors.Is(err, fault.Conflict) {
		t.Errorf("taken away: %v", err)
	}
}

func TestAJobThatCannotBeTrainedSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(j *train.Job)
		says   string
	}{
		"no id":             {func(j *train.Job) { j.ID = "" }, "job is empty"},
		"a product":         {func(j *train.Job) { j.Targets = []string{"conv1"} }, `"conv1"`},
		"no products":       {func(j *train.Job) { j.Targets = nil }, "targets"},
		"a rank":            {func(j *train.Job) { j.Rank = 0 }, "r is 0"},
		"a loss":            {func(j *train.Job) { j.Loss.Kind = "ppo" }, `"ppo"`},
		"no beta":           {func(j *train.Job) { j.Loss.Kind = train.DPO }, "beta is 0"},
		"a rate":            {func(j *train.Job) { j.Rate = 0 }, "lr is 0"},
		"no batches named":  {func(j *train.Job) { j.Files = nil }, "batches/manifest.json"},
		"other batches":     {func(j *train.Job) { j.Files["batches/manifest.json"] = "00" }, "checksum"},
		"another base":      {func(j *train.Job) { j.Base.SHA256 = string(bytes.Repeat([]byte("a"), 64)) }, "not the one the job is for"},
		"no base":           {func(j *train.Job) { j.Base.Dir = "nowhere" }, "cannot be read"},
		"a layer":           {func(j *train.Job) { j.Layers = []int{2} }, "layers names 2"},
		"too long for it":   {func(j *train.Job) { j.Context = 5 }, "reads 5"},
		"an init elsewhere": {func(j *train.Job) { j.Init = "before" }, "init"},
	} {
		_, err := train.Run(t.Context(), job(t, c.change), train.Options{})
		if !errors.Is(err, fault.Invalid) || !bytes.Contains([]byte(err.Error()), []byte(c.says)) || train.Passes(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := train.Run(t.Context(), t.TempDir(), train.Options{}); !errors.Is(err, fault.NotFound) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := train.Run(t.Context(), job(t, nil), train.Options{Memory: 1 << 10}); !errors.Is(err, fault.Invalid) {
		t.Errorf("in a kilobyte: %v", err)
	}
}

// An adapter goes on from the version before, and of no steps it is as training
// begins: it changes nothing.
func TestAnAdapterBeginsAndGoesOn(t *testing.T) {
	t.Parallel()
	dir := job(t, func(j *train.Job) { j.Steps = 0; j.Files = nil; j.Layers = []int{1} })
	if m := run(t, dir, train.Options{}); m.Steps != 0 || m.Loss.Before != nil {
		t.Errorf("of no steps: %+v", m)
	}
	j, _ := train.ReadJob(dir)
	b, _ := llm.Open(j.Base.Dir)
	r, err := train.Check(dir, j, b)
	if err != nil || r.Change != 0 || r.Adapter.Pairs[0][llm.Query].Rank != 0 || r.Adapter.Pairs[1][llm.Query].Rank != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	on := job(t, func(j *train.Job) { j.Init = filepath.Join(dir, train.ResultDir) })
	if _, err := train.Run(t.Context(), on, train.Options{}); !errors.Is(err, fault.Invalid) {
		t.Errorf("from an adapter of another shape: %v", err)
	}
	first := job(t, nil)
	done := run(t, first, train.Options{})
	next := run(t, job(t, func(j *train.Job) { j.Init, j.Rate = filepath.Join(first, train.ResultDir), 1e-3 }), train.Options{})
	// What is kept is rounded to bfloat16, so it goes on from nearly there.
	if off := *next.HeldOut.Before/(*done.HeldOut.After) - 1; math.Abs(off) > 1e-3 {
		t.Errorf("it begins with %v, where the one before ended with %v", *next.HeldOut.Before, *done.HeldOut.After)
	}
}
