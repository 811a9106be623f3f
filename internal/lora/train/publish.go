package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"liminal/internal/fault"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
	"liminal/internal/tensors"
)

// MetadataFile says of a version what it came of (LORA-15).
const MetadataFile = "metadata.json"

// Metadata is a metadata.json. It holds nothing that people said.
type Metadata struct {
	Manifest Manifest `json:"trained"`
	Rank     int      `json:"r"`
	Alpha    float64  `json:"alpha"`
	Targets  []string `json:"targets"`
	Layers   []int    `json:"layers,omitempty"`
	Loss     Loss     `json:"loss"`
	Init     string   `json:"init,omitempty"`
	Change   float64  `json:"change"`
	Batches  string   `json:"batches_sha256,omitempty"` // of the manifest in batches/, which may be gone
	Notes    any      `json:"notes,omitempty"`          // of who publishes: events, the gate's report
}

// Publish checks what lies in dir/out and makes it the version of an adapter in
// to, a folder vNNNN that is there whole or not at all (TRAIN-14), with the
// batches it was trained with. It returns the checksum of its params.json, which
// the adapter's artifact keeps (LORA-16). Done again it finds what it made;
// Conflict when something else is there.
//
// The batches are not among the checked files: they hold what people said, and
// go before the version does.
func Publish(dir, to string, m *llm.Model, notes any) (checksum string, err error) {
	j, err := ReadJob(dir)
	if err != nil {
		return "", err
	}
	r, err := Check(dir, j, m)
	if err != nil {
		return "", err
	}
	parent := filepath.Dir(to)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	stage := filepath.Join(parent, "."+filepath.Base(to)+".new")
	if err := os.RemoveAll(stage); err != nil { // of one who was killed here
		return "", err
	}
	if err := os.Mkdir(stage, 0o700); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(stage) }() // it was moved, or is of no use
	if checksum, err = fill(stage, dir, j, r, notes); err != nil {
		return "", fmt.Errorf("the version %s of the job %s could not be written: %w", filepath.Base(to), j.ID, err)
	}
	if err := os.Rename(stage, to); err == nil {
		return checksum, syncDir(parent)
	} else if _, there := os.Lstat(to); there != nil {
		return "", err
	}
	sum, err := serve.Sum(filepath.Join(to, serve.ParamsFile))
	if err != nil || sum != checksum {
		return "", errors.Join(fault.New(fault.Conflict, "There is another %s of this adapter already; the job %s was not published over it.", filepath.Base(to), j.ID), err)
	}
	return checksum, nil
}

// fill writes a version into a folder that is nobody's yet.
func fill(stage, dir string, j Job, r Result, notes any) (checksum string, err error) {
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		if _, err := copyFile(filepath.Join(stage, name), filepath.Join(dir, ResultDir, name)); err != nil {
			return "", err
		}
	}
	if err := copyBatches(stage, dir); err != nil {
		return "", err
	}
	r.Manifest.Fence = 0 // whoever trained, and however often it was claimed, the version is the same
	meta := Metadata{
		Manifest: r.Manifest, Rank: j.Rank, Alpha: j.Alpha, Targets: j.Targets, Layers: j.Layers, Loss: j.Loss, Init: j.Init, Change: r.Change,
		Batches: j.Files[batches.Dir+"/"+batches.ManifestFile], Notes: notes,
	}
	raw, err := json.MarshalIndent(meta, "", "  ")
	if err != nil {
		return "", err
	}
	if err := put(filepath.Join(stage, MetadataFile), raw); err != nil {
		return "", err
	}
	return serve.WriteParams(stage, j.Base.SHA256, peft.ConfigFile, peft.WeightsFile, MetadataFile)
}

func copyFile(to, from string) (sum string, err error) {
	f, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	return tensors.Replace(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// copyBatches copies the batches of a job; one that did no steps has none.
func copyBatches(stage, dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, batches.Dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	to := filepath.Join(stage, batches.Dir)
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if _, err := copyFile(filepath.Join(to, e.Name()), filepath.Join(dir, batches.Dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// syncDir puts a rename on the disk, where the file system knows how.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every file system knows how
	return d.Close()
}
