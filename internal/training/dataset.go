package training

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/dataset"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
)

// imitated is an answer to imitate, as planning reads it.
type imitated struct {
	id      int64
	cluster string
	at      time.Time
}

// imitable are the events that make rows to imitate.
func imitable(cases []dataset.Case) (out []imitated) {
	for _, c := range cases {
		if !c.Withheld && !c.Excluded && (c.Corrected != "" || c.Score > 0 && !c.Untrusted) {
			out = append(out, imitated{c.ID, c.ClusterID, c.CreatedAt})
		}
	}
	return out
}

// Prepared is what came of making a dataset.
type Prepared struct {
	Enough  bool   `json:"enough"`
	Rows    int    `json:"rows"`
	HeldOut int    `json:"held_out"`
	Reason  string `json:"reason"` // why it is not enough
}

// Dataset makes the folder that a job is trained from: what its person said until
// the claim, in batches of the base's tokens. Of the same events it makes the same
// bytes. Where it is too little the job has ended.
func (s *Steps) Dataset(ctx context.Context, v identity.Viewer, c Claim) (Prepared, error) {
	j, done, err := s.at(ctx, v, c, learning.StageDataset)
	if err != nil {
		return Prepared{}, err
	}
	if done {
		return prepared(j), nil
	}
	f, base, err := s.open()
	if err != nil {
		return Prepared{}, s.failed("The model could not be read", err)
	}
	a, err := s.o.Adapters.Trainable(ctx, v, j.AdapterID)
	if err != nil {
		return Prepared{}, err
	}
	p, _, err := s.o.Adapters.Policy(ctx, v)
	if err != nil {
		return Prepared{}, err
	}
	w := writer(f)
	teachers, err := s.teachers(ctx, v, j)
	if err != nil {
		return Prepared{}, err
	}
	var d dataset.Dataset
	if teachers == nil {
		d, err = s.make(ctx, v, j, j.ClusterID, 1, p.Training, w, f.Model.Config)
	} else {
		d, err = s.union(ctx, v, j, teachers, p.Training, w, f.Model.Config)
	}
	if err != nil {
		return Prepared{}, err
	}
	if !d.Enough() {
		return s.tooLittle(ctx, v, j, d)
	}
	seed := seedOf(d)
	begin, err := s.begin(ctx, v, j, a, base, seed)
	if err != nil {
		return Prepared{}, s.failed("The adapter's first version could not be written", err)
	}
	wide := a.ClusterID == ""
	dir, path := s.dir(j)
	reserved, err := s.reserve(ctx, v, j, base, d, path)
	if err != nil {
		return Prepared{}, err
	}
	job := s.job(j, a, p.Training, base, train.LossFor(d), wide)
	job.Seed = seed
	if !wide && begin != "" {
		job.Init = begin
	}
	shape := train.DefaultShape()
	if teachers != nil {
		shape.Epochs = distilled
		if err := s.teach(dir, j, teachers, base, &job); err != nil {
			return Prepared{}, s.failed("What teaches the adapter could not be copied", err)
		}
	}
	job, err = train.Prepare(dir, d, w, f.Model.Config, shape, job)
	if err != nil {
		return Prepared{}, s.failed("What the adapter is trained with could not be written", err)
	}
	meta, err := s.diagnostics(ctx, v, j, d, dir)
	if err != nil {
		return Prepared{}, err
	}
	meta["wide"], meta["steps"], meta["weights"] = wide, job.Steps, reserved.Version
	j, err = s.o.Store.StepJob(ctx, v, learning.JobStep{
		ID: j.ID, Fence: j.Fence, From: learning.StageDataset, To: learning.StageFit, BaseSHA: &base.Fingerprint, Dataset: &path,
		Tokens: &d.Manifest.Tokens, Events: trainedWith(d), Meta: meta,
	})
	return prepared(j), err
}

// prepared is what a job's row says of its dataset.
func prepared(j learning.Job) Prepared {
	number := func(name string) int { n, _ := j.Meta[name].(float64); return int(n) }
	return Prepared{Enough: j.Stage != learning.StageFew, Rows: number("rows"), HeldOut: number("held_out"), Reason: j.Reason}
}

// make reads what the person said until the claim, of one of their situations or of
// all, and makes a dataset of it. It is bounded by its share of what their plan
// allows a job (TRAIN-04, OPS-12).
func (s *Steps) make(ctx context.Context, v identity.Viewer, j learning.Job, clusterID string, shares int, n learning.TrainingNumbers, w batches.Writer, c llm.Config) (dataset.Dataset, error) {
	cases, err := s.cases(ctx, v, j, clusterID, n)
	if err != nil {
		return dataset.Dataset{}, err
	}
	o := dataset.DefaultOptions(j.StartedAt)
	o.Tokens, o.Budget, o.Owner = batches.Count(w), s.o.Plans.Of(v).JobTokens/shares, j.UserID
	if o.MostRow = min(o.MostRow, train.Longest(c, s.o.Memory)); o.MostRow < 1 {
		return dataset.Dataset{}, fault.New(fault.Invalid, "Training on this model takes more than the %d MiB a trainer may have.", s.o.Memory>>20)
	}
	return dataset.Make(cases, o), nil
}

// cases are what the person said until the claim, of one of their situations or of
// all.
func (s *Steps) cases(ctx context.Context, v identity.Viewer, j learning.Job, clusterID string, n learning.TrainingNumbers) ([]dataset.Case, error) {
	cases, err := s.o.Store.TrainingCases(ctx, v, clusterID, n.Newest, s.o.Untrusted)
	return slices.DeleteFunc(cases, func(e dataset.Case) bool { return e.CreatedAt.After(j.StartedAt) }), err
}

// tooLittle ends a job that has not enough to train with.
func (s *Steps) tooLittle(ctx context.Context, v identity.Viewer, j learning.Job, d dataset.Dataset) (Prepared, error) {
	m := d.Manifest
	missing := map[string]string{
		dataset.FewRows:    "too few answers that you liked or corrected",
		dataset.FewTargets: "too few different ones",
		dataset.FewPeople:  "of too few people",
	}[m.Missing]
	why := learning.Say("too_little", map[string]any{"events": m.Cases, "usable": m.Rows + m.HeldOut, "missing": m.Missing},
		"There is too little to train with: of %s %d can be used, %s.", plural(m.Cases, "event"), m.Rows+m.HeldOut, missing)
	left := map[string]any{}
	for why, n := range m.LeftOut {
		left[string(why)] = n
	}
	j, err := s.o.Store.StepJob(ctx, v, learning.JobStep{
		ID: j.ID, Fence: j.Fence, From: learning.StageDataset, To: learning.StageFew, Status: learning.JobFailed, Why: learning.Remarks{why},
		Meta: map[string]any{"rows": m.Rows, "held_out": m.HeldOut, "left_out": left},
	})
	return prepared(j), err
}

// job is the job.json of a training, but for what Prepare knows. The narrow shape
// is the document's; the wide one is of all matrices.
func (s *Steps) job(j learning.Job, a learning.Trainable, n learning.TrainingNumbers, base peft.Base, loss train.Loss, wide bool) train.Job {
	out := train.Job{
		ID: j.ID, Fence: j.Fence, Base: train.Base{Name: base.Name, Dir: s.o.Base, SHA256: base.Fingerprint},
		Rank: a.Rank, Alpha: a.Alpha, Targets: a.Matrices, Loss: loss, Rate: train.DefaultRate(base.Config), Gate: servedAt,
	}
	if abs, err := filepath.Abs(s.o.Base); err == nil {
		out.Base.Dir = abs
	}
	for _, l := range a.Layers {
		if l < base.Layers {
			out.Layers = append(out.Layers, l)
		}
	}
	if wide || out.Rank == 0 || len(out.Targets) == 0 {
		out.Rank, out.Alpha, out.Layers = n.Rank, 0, nil
		out.Targets = []string{"attn_q", "attn_k", "attn_v", "attn_o", "mlp_in", "mlp_out"}
	}
	if out.Alpha == 0 {
		out.Alpha = 2 * float64(out.Rank)
	}
	return out
}

// seedOf is of the words that are trained with: what is trained again with the
// same ones comes out the same, whatever numbers and ids a database gave them.
func seedOf(d dataset.Dataset) uint64 {
	h := fnv.New64a()
	said := func(prompt []dataset.Turn, texts ...string) {
		for _, t := range prompt {
			texts = append(texts, t.Role, t.Content)
		}
		fmt.Fprintf(h, "%q\n", texts) // never fails
	}
	for _, r := range d.Train {
		said(r.Prompt, r.Target)
	}
	for _, p := range d.Pairs {
		said(p.Prompt, p.Chosen, p.Rejected)
	}
	for _, u := range d.Unpaired {
		said(u.Prompt, u.Completion)
	}
	return h.Sum64()
}

// begin writes the first version of a situation's adapter, which changes nothing
// (CLUS-05), and gives its folder; empty where there is another one already, or
// it is of all answers. Its numbers are drawn from seed.
func (s *Steps) begin(ctx context.Context, v identity.Viewer, j learning.Job, a learning.Trainable, base peft.Base, seed uint64) (string, error) {
	if a.ClusterID == "" {
		return "", nil
	}
	list, err := s.o.Store.Weights(ctx, v, a.ID)
	if err != nil {
		return "", err
	}
	first := s.versionDir(j, 1)
	var w learning.Weights
	switch at := slices.IndexFunc(list, func(w learning.Weights) bool { return w.Version == 1 && w.JobID == "" && w.BaseSHA == base.Fingerprint }); {
	case at >= 0 && list[at].SHA256 != "":
		return first, nil
	case at >= 0: // who was writing it was killed
		w = list[at]
	case len(list) > 0:
		return "", nil
	default:
		w, err = s.o.Store.ReserveWeights(ctx, v, learning.Weights{AdapterID: a.ID, BaseSHA: base.Fingerprint, Rank: a.Rank}, func(n int) string { return s.below(s.versionDir(j, n)) }, nil)
		if err != nil || w.Version != 1 {
			return "", err
		}
	}
	dir, _ := s.dir(j)
	dir = filepath.Join(dir, "begin")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	job := s.job(j, a, learning.TrainingNumbers{Rank: a.Rank}, base, train.DefaultLoss(), false)
	job.ID, job.Fence, job.Seed = a.ID, 0, seed
	if err := train.WriteJob(dir, job); err != nil {
		return "", err
	}
	if _, err := train.Run(ctx, dir, train.Options{}); err != nil {
		return "", err
	}
	sum, bytes, err := s.publish(dir, first, map[string]any{"begins": true})
	if err != nil {
		return "", err
	}
	w.SHA256, w.Bytes = sum, bytes
	if _, err := s.o.Store.FinishWeights(ctx, v, w); err != nil {
		return "", err
	}
	return first, os.RemoveAll(dir)
}

// reserve notes which version is written and out of which events, before any of
// them is on the disk: who takes one back meanwhile marks it.
func (s *Steps) reserve(ctx context.Context, v identity.Viewer, j learning.Job, base peft.Base, d dataset.Dataset, path string) (learning.Weights, error) {
	var sources []learning.Source
	seen := map[int64]int{}
	add := func(id int64, held bool) {
		if id == 0 {
			return
		}
		if at, there := seen[id]; there {
			sources[at].HeldOut = sources[at].HeldOut && held
			return
		}
		seen[id] = len(sources)
		sources = append(sources, learning.Source{EventID: id, HeldOut: held})
	}
	for _, src := range d.Manifest.Sources {
		held := src.Side == dataset.SideHeld || src.HeldOut
		add(src.EventID, held)
		add(src.WorseID, held)
	}
	w := learning.Weights{AdapterID: j.AdapterID, BaseSHA: base.Fingerprint, Rank: 1, JobID: j.ID, Dataset: path}
	return s.o.Store.ReserveWeights(ctx, v, w, func(n int) string { return s.below(s.versionDir(j, n)) }, sources)
}

// trainedWith are the events of a dataset, without those that only measure.
func trainedWith(d dataset.Dataset) []int64 {
	ids := []int64{}
	for _, src := range d.Manifest.Sources {
		if src.Side != dataset.SideHeld && !src.HeldOut {
			ids = append(ids, src.EventID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// diagnostics are the shapes of the batches beside what the situation is, in
// numbers (CLUS-09). The name of a situation is what its person reads, so it is
// not here.
func (s *Steps) diagnostics(ctx context.Context, v identity.Viewer, j learning.Job, d dataset.Dataset, dir string) (map[string]any, error) {
	m := d.Manifest
	left := map[string]any{}
	for why, n := range m.LeftOut {
		left[string(why)] = n
	}
	list, _, err := batches.Read(filepath.Join(dir, batches.Dir), "")
	if err != nil {
		return nil, err
	}
	shapes := make([]any, 0, len(list.Batches))
	for _, b := range list.Batches {
		shapes = append(shapes, map[string]any{"set": b.Set, "batch": b.Batch, "prompt_len": b.PromptLen, "target_len": b.TargetLen})
	}
	meta := map[string]any{
		"rows": m.Rows, "held_out": m.HeldOut, "pairs": m.Pairs, "unpaired": m.Unpaired, "left_out": left, "redacted": m.Redacted,
		"batches": shapes[:min(len(shapes), 200)],
	}
	clusters, err := s.o.Store.ListClusters(ctx, v, false)
	if err != nil {
		return nil, err
	}
	for _, c := range clusters {
		if c.ID == j.ClusterID {
			meta["cluster"] = map[string]any{"id": c.ID, "size": c.Size, "strength": c.Strength}
		}
	}
	return meta, nil
}
