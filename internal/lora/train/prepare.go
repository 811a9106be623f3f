package train

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"liminal/internal/fault"
	"liminal/internal/learning/dataset"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
)

// JobDir is where a job of a person's adapter lies, below the folder of shared
// files (TRAIN-03, C-03). The ids must be of the program's own making.
func JobDir(root, user, adapter, job string) string {
	return filepath.Join(AdapterDir(root, user, adapter), "train_jobs", job)
}

// AdapterDir is where the versions of a person's adapter lie (LORA-15).
func AdapterDir(root, user, adapter string) string {
	return filepath.Join(root, "users", user, "adapters", adapter)
}

// VersionName is the folder of a version: v0001 and on.
func VersionName(n int) string { return fmt.Sprintf("v%04d", n) }

// Shape is how a dataset is cut into batches.
type Shape struct {
	Rows   int // texts of a batch at most
	Tokens int // of a batch at most, with filling; a longer text is alone
	Epochs int // how often each batch is trained with (TRAIN-11)
}

// DefaultShape is three epochs of batches that train within a gigabyte beside a
// model of 135 million numbers.
func DefaultShape() Shape { return Shape{Rows: 8, Tokens: 1024, Epochs: 3} }

// DefaultRate is the rate a model of this width is trained with: 3·10⁻³ for 128
// numbers a token, which was measured (docs/training.md), and less for wider
// ones, 2·10⁻⁴ for 4096, as is customary.
func DefaultRate(c llm.Config) float64 {
	return 3e-3 * math.Pow(128/float64(max(c.Width, 128)), 0.75)
}

// Longest is the longest row, up to the model's context, that training has room
// for in so many bytes; what dataset.Options.MostRow is bounded by.
func Longest(c llm.Config, memory int64) int {
	return sort.Search(c.Context, func(n int) bool { return Memory(c, 1, n+1) > memory })
}

// Prepare writes the folder of a job: the dataset, its batches in the tokens of
// w, and job.json last. Files and Steps of j are set here, and Context where it
// is 0; the rest is the caller's. The same dataset and job give the same bytes,
// so that it may be done again after a crash. Invalid for a dataset with nothing
// to train on.
func Prepare(dir string, d dataset.Dataset, w batches.Writer, c llm.Config, s Shape, j Job) (Job, error) {
	if len(d.Train) == 0 {
		return j, fault.New(fault.Invalid, "There is nothing to train the adapter with: %d of %d events can be used.", d.Manifest.Rows, d.Manifest.Cases)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return j, err
	}
	for _, f := range d.Files() {
		if err := putRaw(filepath.Join(dir, f.Name), f.Bytes); err != nil {
			return j, err
		}
	}
	if j.Context == 0 || j.Context > c.Context {
		j.Context = c.Context
	}
	cut := func(rows []dataset.Row) []batches.Batch {
		return batches.Cut(batches.Texts(rows, w, j.Context), s.Rows, s.Tokens)
	}
	pairs := func(held bool) []batches.Batch {
		list := slices.DeleteFunc(slices.Clone(d.Pairs), func(p dataset.Pair) bool { return p.HeldBack != held })
		return batches.CutPairs(batches.PairTexts(list, w, j.Context), s.Rows, s.Tokens)
	}
	sets := batches.Sets{batches.Train: cut(d.Train), batches.Held: cut(d.Held), batches.Pairs: pairs(false), batches.HeldPairs: pairs(true)}
	sets[batches.Unpaired], sets[batches.HeldUnpaired] = cut(disliked(d, false)), cut(disliked(d, true))
	sum, err := batches.Write(filepath.Join(dir, batches.Dir), c.Vocab, sets)
	if err != nil {
		return j, err
	}
	each := len(sets[batches.Train])
	if set := j.Loss.set(); set != "" {
		each += len(sets[set])
	}
	j.Files = map[string]string{batches.Dir + "/" + batches.ManifestFile: sum}
	j.Steps = s.Epochs * each
	if err := j.check(); err != nil {
		return j, fault.New(fault.Invalid, "The job %s cannot be trained: %v.", j.ID, err)
	}
	return j, WriteJob(dir, j)
}

// disliked are the answers to avoid, on one side, as rows.
func disliked(d dataset.Dataset, held bool) []dataset.Row {
	var rows []dataset.Row
	for _, u := range d.Unpaired {
		if u.HeldBack == held {
			rows = append(rows, dataset.Row{EventID: u.EventID, Prompt: u.Prompt, Target: u.Completion, Weight: u.Weight})
		}
	}
	return rows
}
