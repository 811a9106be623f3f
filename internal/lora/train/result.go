package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"liminal/internal/fault"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
)

// Manifest is what a trainer says of what it left in dir/out. Trainers of others
// write the fields up to Files; the rest is for people.
type Manifest struct {
	Job   string            `json:"job"`
	Fence int64             `json:"fence"`
	Base  string            `json:"base_sha256"`
	Files map[string]string `json:"files"` // SHA-256 of the adapter's two files

	Plan    string `json:"plan,omitempty"` // tells jobs apart that train otherwise
	Trainer string `json:"trainer,omitempty"`
	Steps   int    `json:"steps"`
	Of      int    `json:"of"`
	Stopped bool   `json:"stopped,omitempty"` // early: losses rose
	Rows    int    `json:"rows"`
	Tokens  int    `json:"tokens"` // of all batches, once
	// Loss and HeldOut are in nats a token; null where nothing was measured.
	Loss    Span `json:"loss"`
	HeldOut Span `json:"held_out"`
}

// Span is a figure before and after.
type Span struct {
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}

// done gives the manifest when this very job has been trained already. Its fence
// may have risen since: what was trained is the same.
func (r *runner) done() (Manifest, bool) {
	m, err := readManifest(filepath.Join(r.dir, ResultDir))
	if err != nil || m.Plan != r.job.plan() || m.Job != r.job.ID {
		return m, false
	}
	if m.Fence != r.job.Fence {
		m.Fence = r.job.Fence
		if err := m.write(filepath.Join(r.dir, ResultDir)); err != nil {
			return m, false
		}
	}
	return m, true
}

// finish leaves the adapter, then the manifest, and takes the checkpoint away.
func (r *runner) finish() (Manifest, error) {
	if err := r.ours(); err != nil {
		return Manifest{}, err
	}
	sum, err := llm.Fingerprint(path(r.dir, r.job.Base.Dir))
	if err != nil {
		return Manifest{}, err
	}
	if sum != r.job.Base.SHA256 {
		return Manifest{}, fault.New(fault.Invalid, "The base model in %s was changed while the job %s was trained; what came of it is of no use.", r.job.Base.Dir, r.job.ID)
	}
	out := filepath.Join(r.dir, ResultDir)
	if err := os.MkdirAll(out, 0o700); err != nil {
		return Manifest{}, r.broken(err, ResultDir)
	}
	trained := scaled(r.adapter, 1/r.job.Served(nil).Gate).Rounded()
	if _, err := peft.Write(out, trained, r.base, 0); err != nil {
		return Manifest{}, r.broken(err, ResultDir)
	}
	m := Manifest{
		Job: r.job.ID, Fence: r.job.Fence, Base: sum, Files: map[string]string{}, Plan: r.state.Plan, Trainer: "liminald",
		Steps: r.state.Step, Of: r.job.Steps, Stopped: r.state.Stopped, Rows: r.rows,
		Loss: Span{r.state.First, r.state.Last}, HeldOut: Span{r.state.HeldBefore, r.state.Held},
	}
	for _, n := range r.tokens {
		m.Tokens += n
	}
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		if m.Files[name], err = serve.Sum(filepath.Join(out, name)); err != nil {
			return m, err
		}
	}
	if err := r.metrics.sync(); err != nil {
		return m, r.broken(err, MetricsFile)
	}
	if err := m.write(out); err != nil {
		return m, r.broken(err, ManifestFile)
	}
	if err := os.Remove(filepath.Join(r.dir, CheckpointFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return m, err
	}
	return m, nil
}

func (m Manifest) write(dir string) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return put(filepath.Join(dir, ManifestFile), raw)
}

func readManifest(dir string) (m Manifest, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return m, nil
}

// Row is what a model makes of one row of a batch.
type Row struct {
	Source  int64   `json:"source"` // the event
	Weight  float32 `json:"weight"`
	Tokens  int     `json:"tokens"`   // of the target
	LogProb float64 `json:"log_prob"` // of the whole target
	Right   int     `json:"right"`    // tokens of it that the model would have chosen
}

// Score asks a model, with some adapters, for the targets of batches: what the
// gate compares (TRAIN-06), and perplexity and accuracy (TRAIN-18).
func Score(m *llm.Model, list []batches.Batch, adapters ...llm.Gated) []Row {
	runner := m.NewRunner()
	var out []Row
	for _, b := range list {
		for r := range b.Rows {
			n := b.Prompts[r] + b.Targets[r]
			tokens := make([]int, n)
			for i := range tokens {
				tokens[i] = int(b.Inputs[r*b.Length+i])
			}
			row := Row{Source: b.Sources[r], Weight: b.Weights[r]}
			logits := runner.Forward(llm.Step{Sequence: m.NewSequence(n, adapters...), Tokens: tokens, All: true})
			for i := max(b.Prompts[r], 1); i < n; i++ {
				before := logits[(i-1)*m.Vocab : i*m.Vocab]
				row.Tokens++
				row.LogProb += llm.LogProb(before, tokens[i])
				if best(before) == tokens[i] {
					row.Right++
				}
			}
			out = append(out, row)
		}
	}
	return out
}

func best(x []float32) int {
	at := 0
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}
