package training

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/dataset"
	"liminal/internal/learning/gate"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
)

// distilled is how often each batch is trained with where others teach: what they
// answer is to be met, and nothing is learnt by heart by that.
const distilled = 20

// teachers are the adapters that teach a job: the one it is of, as it is, and the
// one that this is to answer for as well (CLUS-06). None for a job of another kind.
func (s *Steps) teachers(ctx context.Context, v identity.Viewer, j learning.Job) ([]learning.Trainable, error) {
	if j.Kind != learning.JobDistil {
		return nil, nil
	}
	var out []learning.Trainable
	for _, id := range []string{j.AdapterID, j.From()} {
		a, err := s.o.Adapters.Trainable(ctx, v, id)
		if err != nil {
			return nil, err
		}
		if a.Weights < 1 || a.Checksum == "" || a.ClusterID == "" {
			return nil, fault.New(fault.Conflict, "An adapter that was to be merged has no weights of a situation any more.")
		}
		out = append(out, a)
	}
	return out, nil
}

// teacherDir is the folder of the weights that a teacher serves with.
func (s *Steps) teacherDir(j learning.Job, a learning.Trainable) string {
	return filepath.Join(train.AdapterDir(s.o.Root, j.UserID, a.ID), train.VersionName(a.Weights))
}

// union is what the job's teachers learnt from, each with what it holds out; both
// take half of what a job may have.
func (s *Steps) union(ctx context.Context, v identity.Viewer, j learning.Job, teachers []learning.Trainable, n learning.TrainingNumbers, w batches.Writer, c llm.Config) (dataset.Dataset, error) {
	var parts []dataset.Dataset
	for _, a := range teachers {
		d, err := s.make(ctx, v, j, a.ClusterID, len(teachers), n, w, c)
		if err != nil {
			return dataset.Dataset{}, err
		}
		parts = append(parts, d)
	}
	return dataset.Union(parts...), nil
}

// teach makes of a job one that the teachers teach, whose weights it copies; in its
// narrow shape it goes on from the first.
func (s *Steps) teach(dir string, j learning.Job, teachers []learning.Trainable, base peft.Base, job *train.Job) error {
	var folders []string
	for _, a := range teachers {
		folder := s.teacherDir(j, a)
		if _, err := serve.ReadAdapter(folder, a.Checksum, base); err != nil {
			return fault.Wrap(fault.Conflict, err, "The weights of an adapter that was to be merged cannot be used: %s.", s.sentence(err))
		}
		folders = append(folders, folder)
	}
	var err error
	job.Teachers, err = train.Teach(dir, folders...)
	job.Loss.Kind, job.Loss.Beta, job.Init = train.Distil, 0, train.TeacherDir(0)
	return err
}

// measure asks the model for what a job held out: once, or of a job with teachers
// for each of those what is its own.
func (s *Steps) measure(ctx context.Context, f *serve.Folder, dir string, j learning.Job, a learning.Trainable, base peft.Base, job train.Job, sets batches.Sets, fresh llm.Gated, plain []batches.Batch) ([]gate.Figures, error) {
	if len(job.Teachers) == 0 {
		figures, err := measured(ctx, f, sets, s.serving(ctx, j, a, base), fresh, plain)
		return []gate.Figures{figures}, err
	}
	var out []gate.Figures
	for i, t := range job.Teachers {
		teacher, err := peft.Read(filepath.Join(dir, filepath.FromSlash(t.Dir)), base)
		if err != nil {
			return nil, err
		}
		own := batches.Sets{}
		for _, set := range []string{batches.Train, batches.Held} {
			own[set] = slices.DeleteFunc(slices.Clone(sets[set]), func(b batches.Batch) bool { return b.Teacher != i })
		}
		figures, err := measured(ctx, f, own, []llm.Gated{job.Served(teacher)}, fresh, plain)
		if err != nil {
			return nil, err
		}
		out = append(out, figures)
	}
	return out, nil
}

// measured are the losses of what is held out, and the wishes kept in answers.
func measured(ctx context.Context, f *serve.Folder, sets batches.Sets, now []llm.Gated, fresh llm.Gated, plain []batches.Batch) (figures gate.Figures, err error) {
	figures = train.Measure(f.Model, sets, now, []llm.Gated{fresh}, plain)
	figures.Kept, err = train.Wishes(ctx, f, sets, now, []llm.Gated{fresh})
	return figures, err
}

// verdict is what a gate makes of figures: of several, whether the weights may
// stand for all of those they are compared with.
func verdict(figures []gate.Figures, job train.Job, n learning.TrainingNumbers) gate.Verdict {
	o := gate.DefaultOptions()
	o.Surely = cmp.Or(n.Sure, o.Surely)
	if len(job.Teachers) > 0 {
		return gate.Merged(figures, job.Seed, o)
	}
	return gate.Judge(figures[0], job.Seed, o)
}
