package training

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
	"liminal/internal/redact"
)

// Judged is what a gate found of weights that were trained.
type Judged struct {
	Outcome string  `json:"outcome"` // rule, person or none; again: it is trained once more, in its wide shape
	P       float64 `json:"p"`
	Held    int     `json:"held"`
}

// outcomeAgain is that of a narrow shape which learnt nothing.
const outcomeAgain = "again"

// servedAt is the gate that the routing policy which ships gives a persona, and
// about what it gives a skill: weights are trained for it, and judged as they
// would be followed.
const servedAt = 0.5

// Judge measures what was trained against what serves now, on what was held out
// (TRAIN-06, TRAIN-07). A narrow shape that is not better is trained again in its
// wide one, once.
func (s *Steps) Judge(ctx context.Context, v identity.Viewer, c Claim) (Judged, error) {
	j, done, err := s.at(ctx, v, c, learning.StageJudge)
	if err != nil {
		return Judged{}, err
	}
	if done {
		return judged(j), nil
	}
	f, base, err := s.open()
	if err != nil {
		return Judged{}, s.failed("The model could not be read", err)
	}
	p, _, err := s.o.Adapters.Policy(ctx, v)
	if err != nil {
		return Judged{}, err
	}
	a, err := s.o.Adapters.Trainable(ctx, v, j.AdapterID)
	if err != nil {
		return Judged{}, err
	}
	dir, _ := s.dir(j)
	job, err := train.ReadJob(dir)
	if err != nil {
		return Judged{}, s.failed("What was trained could not be read", err)
	}
	r, err := train.Check(dir, job, f.Model)
	if err != nil {
		return Judged{}, err
	}
	_, sets, err := batches.Read(filepath.Join(dir, batches.Dir), job.Files[batches.Dir+"/"+batches.ManifestFile])
	if err != nil {
		return Judged{}, s.failed("What is held out could not be read", err)
	}
	plain := train.Plain(writer(f), f.Model.Context)
	figures, err := s.measure(ctx, f, dir, j, a, base, job, sets, job.Served(r.Adapter), plain)
	if err != nil {
		return Judged{}, s.failed("What is held out could not be answered", err)
	}
	if err := s.probe(ctx, v, j, p.Training, f, r.Adapter, &figures[0]); err != nil {
		return Judged{}, err
	}
	verdict := verdict(figures, job, p.Training)
	if wide, _ := j.Meta["wide"].(bool); verdict.Outcome == gate.None && !wide && 2*j.Tokens <= s.o.Plans.Of(v).JobTokens {
		return s.again(ctx, v, j, a, p.Training, base, dir, job)
	}
	return s.judgedAs(ctx, v, j, verdict)
}

// listened is how many of the dialogues that something was taken out of are had
// again, to hear whether it comes back.
const listened = 16

// probe asks the adapter what no answer may say, and listens for the personal data
// and the secrets that were taken out of what it was trained with.
func (s *Steps) probe(ctx context.Context, v identity.Viewer, j learning.Job, n learning.TrainingNumbers, f *serve.Folder, a *llm.Adapter, figures *gate.Figures) error {
	cases, err := s.cases(ctx, v, j, j.ClusterID, n)
	if err != nil {
		return err
	}
	if from := j.From(); from != "" {
		a, err := s.o.Adapters.Trainable(ctx, v, from)
		if err != nil {
			return err
		}
		more, err := s.cases(ctx, v, j, a.ClusterID, n)
		if err != nil {
			return err
		}
		cases = append(cases, more...)
	}
	var o train.Probing
	for _, c := range cases {
		var told []string
		for _, text := range []string{c.ContextText, c.Answer, c.Corrected} {
			if redact.Text(text) != text {
				told = append(told, text)
			}
		}
		for _, t := range c.Turns {
			if redact.Text(t.Content) != t.Content {
				told = append(told, t.Content)
			}
		}
		if len(told) > 0 && len(c.Turns) > 0 && len(o.Asked) < listened {
			o.Asked = append(o.Asked, c.Turns)
		}
		o.Told = append(o.Told, told...)
	}
	probed, err := train.Probe(ctx, f, o, a)
	if err != nil {
		return s.failed("The adapter could not be asked the probes of safety", err)
	}
	probed.Into(figures)
	return nil
}

// serving are the weights that answers follow now; none where the document names
// none, or they cannot be used.
func (s *Steps) serving(ctx context.Context, j learning.Job, a learning.Trainable, base peft.Base) []llm.Gated {
	if a.Weights < 1 || a.Checksum == "" {
		return nil
	}
	now, err := serve.ReadAdapter(s.versionDir(j, a.Weights), a.Checksum, base)
	if err != nil {
		s.o.Logger.WarnContext(ctx, "weights that an adapter names cannot be read; those that were trained are compared with the base", "adapter", a.ID, "version", a.Weights, "error", err)
		return nil
	}
	return []llm.Gated{{Adapter: now, Gate: servedAt}}
}

// again has a job trained in its wide shape, from the same batches.
func (s *Steps) again(ctx context.Context, v identity.Viewer, j learning.Job, a learning.Trainable, n learning.TrainingNumbers, base peft.Base, dir string, was train.Job) (Judged, error) {
	job := s.job(j, a, n, base, was.Loss, true)
	job.Files, job.Steps, job.Context, job.Seed = was.Files, was.Steps, was.Context, was.Seed
	job.Teachers = was.Teachers
	for _, name := range []string{train.ResultDir, train.CheckpointFile, train.MetricsFile} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return Judged{}, s.failed("The first try could not be put away", err)
		}
	}
	if err := train.WriteJob(dir, job); err != nil {
		return Judged{}, s.failed("The job could not be written", err)
	}
	_, err := s.o.Store.StepJob(ctx, v, learning.JobStep{ID: j.ID, Fence: j.Fence, From: learning.StageJudge, To: learning.StageFit, Meta: map[string]any{"wide": true, "narrow": "not better"}})
	return Judged{Outcome: outcomeAgain}, err
}

func (s *Steps) judgedAs(ctx context.Context, v identity.Viewer, j learning.Job, verdict gate.Verdict) (Judged, error) {
	report, err := json.Marshal(finite(verdict))
	if err != nil {
		return Judged{}, err
	}
	loss := number(verdict.Loss.New)
	step := learning.JobStep{
		ID: j.ID, Fence: j.Fence, From: learning.StageJudge, To: learning.StagePublish, Report: report, Loss: &loss,
		Meta: map[string]any{ // TRAIN-18
			"perplexity": number(verdict.Perplexity.New), "perplexity_before": number(verdict.Perplexity.Now),
			"accuracy": number(verdict.Accuracy.New), "accuracy_before": number(verdict.Accuracy.Now),
			"alignment": number(verdict.Alignment.New), "alignment_before": number(verdict.Alignment.Now), "loss_before": number(verdict.Loss.Now),
		},
	}
	if j, err = s.o.Store.StepJob(ctx, v, step); err != nil {
		return Judged{}, err
	}
	return judged(j), nil
}

func judged(j learning.Job) Judged {
	v, err := verdictOf(j)
	if err != nil {
		return Judged{Outcome: string(gate.None)}
	}
	return Judged{Outcome: string(v.Outcome), P: v.P, Held: v.Events}
}

func verdictOf(j learning.Job) (v gate.Verdict, err error) {
	if len(j.Report) == 0 {
		return v, fault.New(fault.Conflict, "The training job %s was not judged.", j.ID)
	}
	return v, json.Unmarshal(j.Report, &v)
}

// number is a figure as JSON can have it.
func number(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

func finite(v gate.Verdict) gate.Verdict {
	for _, c := range []*gate.Change{&v.Loss, &v.Alignment, &v.Perplexity, &v.Accuracy, &v.Elsewhere} {
		c.Now, c.New = number(c.Now), number(c.New)
	}
	v.P = number(v.P)
	return v
}

// found is what a verdict says, for people.
func found(v gate.Verdict) learning.Remarks {
	figures := func(c gate.Change) map[string]any { return map[string]any{"now": number(c.Now), "new": number(c.New)} }
	out := learning.Remarks{learning.Say("judged", map[string]any{"answers": v.Events, "loss": figures(v.Loss), "alignment": figures(v.Alignment), "p": number(v.P)},
		"Of %s that were kept aside, liked answers went from %.2f to %.2f nats a token, and what you prefer is told apart in %.0f %% (before %.0f %%; P %.2f).",
		plural(v.Events, "answer"), v.Loss.Now, v.Loss.New, 100*v.Alignment.New, 100*v.Alignment.Now, v.P)}
	for _, of := range []struct {
		reason gate.Reason
		text   string
	}{
		{gate.Few, "That is too few to be sure."}, {gate.Chance, "It may be chance."}, {gate.Elsewhere, "Other texts got worse."},
		{gate.Unsafe, "It answers what it should not."}, {gate.Leaks, "It tells what was taken out."},
	} {
		if slices.Contains(v.Reasons, of.reason) {
			out = append(out, learning.Say(string(of.reason), nil, "%s", of.text))
		}
	}
	return append(out, heeded(v)...)
}

// heeded says how often answers keep the wishes that rules can tell; nothing where
// there are none.
func heeded(v gate.Verdict) learning.Remarks {
	k := v.Kept
	if k.Of == 0 {
		return nil
	}
	text := fmt.Sprintf("Asked %s that were kept aside, its answers have the form you want in %d of %d checks (%s); without it they have it in %d",
		plural(k.Prompts, "question"), k.New, k.Of, strings.Join(k.Kinds, ", "), k.Base)
	if k.Now != k.Base {
		text += fmt.Sprintf(", and as you are answered now in %d", k.Now)
	}
	end, verdict := ".", ""
	switch {
	case slices.Contains(v.Reasons, gate.Unheeded):
		end, verdict = ": it does not keep what you want.", string(gate.Unheeded)
	case slices.Contains(v.Reasons, gate.Forgotten):
		end, verdict = ": it keeps less of what you want.", string(gate.Forgotten)
	}
	return learning.Remarks{learning.Say("wishes", map[string]any{
		"questions": k.Prompts, "checks": k.Of, "kinds": k.Kinds, "new": k.New, "base": k.Base, "now": k.Now, "verdict": verdict,
	}, "%s", text+end)}
}
