package batches

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"liminal/internal/tensors"
)

// Dir is the folder of batches below a job's, and below an adapter's version.
const Dir = "batches"

// ManifestFile lists the files of a folder of batches.
const ManifestFile = "manifest.json"

// The sets of batches. In those of pairs each better text is followed by the
// worse one.
const (
	Train     = "train"
	Held      = "held_out"
	Pairs     = "pairs"
	HeldPairs = "held_out_pairs"
	// Answers that were disliked, and of which no better one is known.
	Unpaired     = "unpaired"
	HeldUnpaired = "held_out_unpaired"
)

func setNames() []string { return []string{Train, Held, Pairs, HeldPairs, Unpaired, HeldUnpaired} }

// Sets are batches by set.
type Sets map[string][]Batch

// Bounds of what is believed of a folder.
const (
	maxManifest = 64 << 20
	maxFiles    = 1 << 16
	maxRows     = 1 << 12
	maxLength   = 1 << 16
)

// Manifest lists batches.
type Manifest struct {
	Vocab   int     `json:"vocab"` // ids are below it
	Batches []Entry `json:"batches"`
}

// Entry is what the manifest says of one batch.
type Entry struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Set    string `json:"set"`
	// The shape: Batch rows of at most PromptLen and TargetLen tokens.
	Batch     int    `json:"batch"`
	PromptLen int    `json:"prompt_len"`
	TargetLen int    `json:"target_len"`
	Teacher   int    `json:"teacher,omitempty"` // of the job's, from 0
	Rows      []Line `json:"rows"`
}

// Line is what the manifest says of a row.
type Line struct {
	Source    int64   `json:"source"` // the event
	PromptLen int     `json:"prompt_len"`
	TargetLen int     `json:"target_len"`
	Weight    float32 `json:"weight"`
}

// Write writes batches into dir, which it makes, and the manifest last. It
// returns the SHA-256 of the manifest, in hexadecimal: the same batches give the
// same.
func Write(dir string, vocab int, sets Sets) (sum string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	m := Manifest{Vocab: vocab, Batches: []Entry{}}
	for _, set := range setNames() {
		for i, b := range sets[set] {
			e, err := b.write(dir, fmt.Sprintf("%s-%04d.safetensors", set, i))
			if err != nil {
				return "", err
			}
			e.Set = set
			m.Batches = append(m.Batches, e)
		}
	}
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return "", err
	}
	return tensors.Replace(filepath.Join(dir, ManifestFile), func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
}

func (b Batch) write(dir, name string) (Entry, error) {
	shape := []int{b.Rows, b.Length}
	sum, err := tensors.Write(filepath.Join(dir, name), []tensors.Tensor{
		{Name: "input_ids", Shape: shape, I64: b.Inputs}, {Name: "labels", Shape: shape, I64: b.Labels},
		{Name: "attention_mask", Shape: shape, I64: b.Mask}, {Name: "weights", Shape: []int{b.Rows}, F32: b.Weights},
	}, nil)
	e := Entry{File: name, SHA256: sum, Batch: b.Rows, PromptLen: slices.Max(b.Prompts), TargetLen: slices.Max(b.Targets), Teacher: b.Teacher}
	for i := range b.Rows {
		e.Rows = append(e.Rows, Line{b.Sources[i], b.Prompts[i], b.Targets[i], b.Weights[i]})
	}
	return e, err
}

// Read reads the batches in dir. sum is what its manifest must have; empty:
// anything. The error says which file is not what it should be.
func Read(dir, sum string) (m Manifest, sets Sets, err error) {
	raw, err := bounded(filepath.Join(dir, ManifestFile), maxManifest)
	if err != nil {
		return m, nil, err
	}
	if got := sha256.Sum256(raw); sum != "" && hex.EncodeToString(got[:]) != sum {
		return m, nil, fmt.Errorf("%s is not the one that the job names: its checksum differs", ManifestFile)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, nil, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	if len(m.Batches) > maxFiles {
		return m, nil, fmt.Errorf("%s names %d batches; at most %d are read", ManifestFile, len(m.Batches), maxFiles)
	}
	sets = Sets{}
	for _, e := range m.Batches {
		b, err := read(dir, e, m.Vocab)
		switch {
		case err != nil:
		case !slices.Contains(setNames(), e.Set):
			err = fmt.Errorf("it is of the set %q", e.Set)
		case (e.Set == Pairs || e.Set == HeldPairs) && b.Rows%2 != 0:
			err = fmt.Errorf("it has %d rows, which are no pairs", b.Rows)
		}
		if err != nil {
			return m, nil, fmt.Errorf("%s: %w", e.File, err)
		}
		sets[e.Set] = append(sets[e.Set], b)
	}
	return m, sets, nil
}

func read(dir string, e Entry, vocab int) (b Batch, err error) {
	if filepath.Base(e.File) != e.File || !filepath.IsLocal(e.File) {
		return b, errors.New("the name leaves the folder")
	}
	path := filepath.Join(dir, e.File)
	raw, err := bounded(path, 3*8*maxRows*maxLength)
	if err != nil {
		return b, err
	}
	if got := sha256.Sum256(raw); hex.EncodeToString(got[:]) != e.SHA256 {
		return b, errors.New("it is not the one the manifest names: its checksum differs")
	}
	f, err := tensors.Open(path)
	if err != nil {
		return b, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, _ := f.Info("input_ids")
	if len(info.Shape) != 2 || info.Shape[0] < 1 || info.Shape[0] > maxRows || info.Shape[1] < 1 || info.Shape[1] > maxLength {
		return b, fmt.Errorf("input_ids is of the shape %v", info.Shape)
	}
	b.Rows, b.Length, b.Teacher = info.Shape[0], info.Shape[1], e.Teacher
	if len(e.Rows) != b.Rows {
		return b, fmt.Errorf("the manifest has %d rows, the file %d", len(e.Rows), b.Rows)
	}
	for name, to := range map[string]*[]int64{"input_ids": &b.Inputs, "labels": &b.Labels, "attention_mask": &b.Mask} {
		if *to, err = f.Int64s(name); err != nil {
			return b, err
		}
	}
	if b.Weights, err = f.Float32s("weights"); err != nil {
		return b, err
	}
	for _, row := range e.Rows {
		b.Sources, b.Prompts, b.Targets = append(b.Sources, row.Source), append(b.Prompts, row.PromptLen), append(b.Targets, row.TargetLen)
	}
	return b, b.check(vocab)
}

// check refuses numbers that are no tokens.
func (b Batch) check(vocab int) error {
	n := b.Rows * b.Length
	if len(b.Labels) != n || len(b.Mask) != n || len(b.Weights) != b.Rows {
		return errors.New("its tensors are of different shapes")
	}
	for i, id := range b.Inputs {
		label := b.Labels[i]
		if id < 0 || id >= int64(vocab) || label != Ignored && (label < 0 || label >= int64(vocab)) {
			return fmt.Errorf("number %d is the token %d with the label %d, of %d tokens", i, id, label, vocab)
		}
	}
	for i, w := range b.Weights {
		if w < 0 || b.Prompts[i] < 0 || b.Targets[i] < 0 || b.Prompts[i]+b.Targets[i] > b.Length {
			return fmt.Errorf("row %d weighs %v and has %d and %d tokens of %d", i, w, b.Prompts[i], b.Targets[i], b.Length)
		}
	}
	return nil
}

// bounded reads a file of at most most bytes.
func bounded(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", filepath.Base(path), most)
	}
	return os.ReadFile(path)
}
