// Package train trains adapters from a folder and leaves what came of it there:
// job.json and batches in, a PEFT folder, metrics and a manifest out. Whoever
// trained, also a program of somebody else, what it left is checked before it is
// published as a version of the adapter.
//
// A job that was killed goes on from its last checkpoint with the same losses,
// bit for bit. The package knows folders only: no database, no Temporal. It may
// import cell, fault, learning, redact, safety, tensors and what is below it in
// internal/lora.
package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/learning/dataset"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/tensors"
)

// The files of a job's folder, beside batches/ and those of its dataset.
const (
	JobFile        = "job.json"
	MetricsFile    = "metrics.jsonl"
	CheckpointFile = "checkpoint.safetensors"
	ResultDir      = "out"           // a PEFT folder, with
	ManifestFile   = "manifest.json" // which is written last
)

// Bounds of what is believed of a job.json.
const (
	maxJob   = 1 << 20
	maxSteps = 1 << 20

	maxTeachers = 8
)

// The losses (TRAIN-01). SFT imitates: cross-entropy times the weight of each
// row, plus λ‖A,B‖². With DPO it also learns, from pairs, which of two answers is
// better, and with KTO, from answers that were disliked, what to avoid; the
// reference of both is the base without an adapter. Distil learns to answer as
// other adapters do, each where its own batches are (CLUS-06).
const (
	SFT    = "sft"
	DPO    = "sft+dpo"
	KTO    = "sft+kto"
	Distil = "distil"
)

// Job is a job.json.
type Job struct {
	ID string `json:"job"`
	// Fence rises with each claim of the job: who finds a higher one than it
	// began with writes nothing more.
	Fence int64 `json:"fence"`
	Base  Base  `json:"base"`
	// Files are the SHA-256 of what the job reads, by its name in the folder:
	// batches/manifest.json, which has those of the batches.
	Files   map[string]string `json:"files"`
	Rank    int               `json:"r"`
	Alpha   float64           `json:"alpha"`            // of PEFT: B·A is multiplied by alpha/r
	Targets []string          `json:"targets"`          // as q_proj; see Targets
	Layers  []int             `json:"layers,omitempty"` // that get an adapter; none: all
	Loss    Loss              `json:"loss"`
	Rate    float64           `json:"lr"`
	Steps   int               `json:"steps"` // at most; 0: the adapter as training begins with
	Seed    uint64            `json:"seed"`
	// Init is a folder of an adapter of the same shape to go on from, seen from
	// the job's folder; empty: A random, B zero.
	Init string `json:"init,omitempty"`
	// Teachers are whose answers are imitated where the loss is Distil; batches name
	// them by number, from 0. They are heard at the same gate.
	Teachers []Teacher `json:"teachers,omitempty"`
	// Gate is what the adapter is going to be served with, such as the 0.5 at which
	// the routing policy activates a persona (ROUTE-08); 0: 1. It is trained as it
	// will be heard, and what is written is larger by as much as the gate takes
	// away: trained at 1 and served at 0.5, half of what it learnt would be missing.
	Gate float64 `json:"gate,omitempty"`
	// Context bounds the tokens of a row; 0: the model does.
	Context int `json:"context,omitempty"`
}

// Base is the model that is trained on, and never changed (LORA-12).
type Base struct {
	Name   string `json:"name"` // as an adapter_config.json calls it
	Dir    string `json:"dir"`  // seen from the job's folder, or absolute
	SHA256 string `json:"sha256"`
}

// Loss is what is made smaller.
type Loss struct {
	Kind   string  `json:"kind"`
	Lambda float64 `json:"lambda"`         // of ‖A,B‖²
	Beta   float64 `json:"beta,omitempty"` // of DPO and KTO: how far from the base is too far
}

// DefaultLoss is cross-entropy with a little of λ.
func DefaultLoss() Loss { return Loss{Kind: SFT, Lambda: 1e-4} }

// enough is how many pairs, or disliked answers, are worth learning from.
const enough = 8

// LossFor is the default loss, with DPO where there are 8 pairs to train with,
// else with KTO where there are 8 answers that were disliked.
func LossFor(d dataset.Dataset) Loss {
	l := DefaultLoss()
	pairs, avoided := 0, 0
	for _, p := range d.Pairs {
		if !p.HeldBack {
			pairs++
		}
	}
	for _, u := range d.Unpaired {
		if !u.HeldBack {
			avoided++
		}
	}
	switch {
	case pairs >= enough:
		l.Kind, l.Beta = DPO, 0.1
	case avoided >= enough:
		l.Kind, l.Beta = KTO, 0.1
	}
	return l
}

// set is what is compared with the base; "": nothing.
func (l Loss) set() string {
	return map[string]string{DPO: batches.Pairs, KTO: batches.Unpaired}[l.Kind]
}

// Targets are products of a layer by the names that PEFT or the seed has for
// them (LORA-14): q_proj or attn_q; mlp_in is gate and up, mlp_out is down.
func Targets(names ...string) ([]llm.Linear, error) {
	seed := map[string][]llm.Linear{
		"attn_q": {llm.Query}, "attn_k": {llm.Key}, "attn_v": {llm.Value}, "attn_o": {llm.Output},
		"mlp_in": {llm.Gate, llm.Up}, "mlp_out": {llm.Down},
	}
	var out []llm.Linear
	for _, name := range names {
		list := seed[name]
		for k := range llm.Linears {
			if k.Name() == "self_attn."+name || k.Name() == "mlp."+name {
				list = []llm.Linear{k}
			}
		}
		if list == nil {
			return nil, fmt.Errorf("there is no product %q in a layer", name)
		}
		out = append(out, list...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// WriteJob writes the job.json of a folder. Written again with a higher fence it
// stops whoever trains with the one before.
func WriteJob(dir string, j Job) error {
	raw, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	return put(filepath.Join(dir, JobFile), raw)
}

// put writes a text, and the end of its last line.
func put(path string, raw []byte) error { return putRaw(path, append(raw, '\n')) }

func putRaw(path string, raw []byte) error {
	_, err := tensors.Replace(path, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	return err
}

// ReadJob reads and checks the job.json of a folder. Invalid says what is wrong
// with it.
func ReadJob(dir string) (Job, error) {
	path := filepath.Join(dir, JobFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Job{}, fault.Wrap(fault.NotFound, err, "%s holds no training job: there is no %s in it.", dir, JobFile)
	case err != nil:
		return Job{}, err
	case info.Size() > maxJob:
		return Job{}, fault.New(fault.Invalid, "%s has %d bytes; a job's has at most %d.", path, info.Size(), maxJob)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Job{}, err
	}
	var j Job
	if err := json.Unmarshal(raw, &j); err != nil {
		return Job{}, fault.New(fault.Invalid, "%s cannot be read: %v.", path, err)
	}
	if err := j.check(); err != nil {
		return Job{}, fault.New(fault.Invalid, "%s cannot be trained: %v.", path, err)
	}
	return j, nil
}

func (j Job) check() error {
	which, err := Targets(j.Targets...)
	switch {
	case err != nil:
		return err
	case j.ID == "":
		return errors.New("job is empty")
	case j.Base.Dir == "" || len(j.Base.SHA256) != 64:
		return errors.New("base needs a dir and the sha256 of the model in it")
	case j.Rank < 1 || j.Rank > peft.MaxRank:
		return fmt.Errorf("r is %d; 1 to %d can be trained", j.Rank, peft.MaxRank)
	case !(j.Alpha > 0) || j.Alpha > 1e4:
		return fmt.Errorf("alpha is %v", j.Alpha)
	case len(which) == 0:
		return errors.New("targets names no product of a layer")
	case !slices.Contains([]string{SFT, DPO, KTO, Distil}, j.Loss.Kind):
		return fmt.Errorf("loss is %q; %q, %q, %q and %q can be trained", j.Loss.Kind, SFT, DPO, KTO, Distil)
	case (j.Loss.Kind == Distil) != (len(j.Teachers) > 0) || len(j.Teachers) > maxTeachers:
		return fmt.Errorf("it has %d teachers; with the loss %q there are 1 to %d, and with others none", len(j.Teachers), Distil, maxTeachers)
	case j.Loss.set() != "" && (!(j.Loss.Beta > 0) || j.Loss.Beta > 100):
		return fmt.Errorf("beta is %v", j.Loss.Beta)
	case !(j.Loss.Lambda >= 0) || j.Loss.Lambda > 1e3:
		return fmt.Errorf("lambda is %v", j.Loss.Lambda)
	case !(j.Rate > 0) || j.Rate > 1:
		return fmt.Errorf("lr is %v", j.Rate)
	case j.Steps < 0 || j.Steps > maxSteps:
		return fmt.Errorf("steps is %d; at most %d are done", j.Steps, maxSteps)
	case j.Steps > 0 && j.Files[batches.Dir+"/"+batches.ManifestFile] == "":
		return fmt.Errorf("files does not name %s/%s", batches.Dir, batches.ManifestFile)
	case !(j.Gate >= 0) || j.Gate > 1:
		return fmt.Errorf("gate is %v; an adapter is served with more than 0, and at most 1", j.Gate)
	case j.Context < 0:
		return fmt.Errorf("context is %d", j.Context)
	}
	return nil
}

// Served is an adapter with the gate the job is for: how it is trained, judged
// and served.
func (j Job) Served(a *llm.Adapter) llm.Gated {
	return llm.Gated{Adapter: a, Gate: float32(cmp.Or(j.Gate, 1))}
}

// scaled is an adapter whose B are larger by a factor.
func scaled(a *llm.Adapter, factor float32) *llm.Adapter {
	if factor == 1 {
		return a
	}
	out := &llm.Adapter{Scale: a.Scale, Pairs: slices.Clone(a.Pairs)}
	for i := range out.Pairs {
		for k, p := range out.Pairs[i] {
			out.Pairs[i][k].B = slices.Clone(p.B)
			for j := range p.B {
				out.Pairs[i][k].B[j] *= factor
			}
		}
	}
	return out
}

// plan tells jobs apart that would train otherwise: all but the fence.
func (j Job) plan() string {
	j.Fence = 0
	raw, _ := json.Marshal(j) // texts and numbers, which were read from JSON or can be written
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// path is what a job names, seen from its folder.
func path(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// adapter is the adapter as training begins.
func (j Job) adapter(dir string, b peft.Base) (*llm.Adapter, error) {
	which, err := Targets(j.Targets...)
	if err != nil {
		return nil, err
	}
	for _, l := range j.Layers {
		if l < 0 || l >= b.Layers {
			return nil, fmt.Errorf("layers names %d, and the model has %d", l, b.Layers)
		}
	}
	a := llm.NewAdapter(b.Config, j.Rank, j.Alpha, j.Seed, which...)
	for i := range a.Pairs {
		if len(j.Layers) > 0 && !slices.Contains(j.Layers, i) {
			a.Pairs[i] = [llm.Linears]llm.Pair{}
		}
	}
	if j.Init == "" {
		return a, nil
	}
	from, err := peft.Read(path(dir, j.Init), b)
	if err != nil {
		return nil, fmt.Errorf("init: %w", err)
	}
	return from, sameShape(a, from)
}

// sameShape refuses an adapter with other matrices, or another scale, than want.
func sameShape(want, got *llm.Adapter) error {
	if math.Abs(float64(want.Scale-got.Scale)) > 1e-6*math.Abs(float64(want.Scale)) {
		return fmt.Errorf("its alpha/r is %v, not %v", got.Scale, want.Scale)
	}
	for i, layer := range want.Pairs {
		for k, p := range layer {
			if q := got.Pairs[i][k]; q.Rank != p.Rank {
				return fmt.Errorf("layer %d, %s, is of rank %d, not %d", i, llm.Linear(k).Name(), q.Rank, p.Rank)
			}
		}
	}
	return nil
}
