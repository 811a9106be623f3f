package train

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"liminal/internal/fault"
	"liminal/internal/lora/kernels"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
)

// MaxChange is how large what an adapter adds to a matrix may be, as a share of
// the matrix itself (both as the root of their squares' sum). What was trained
// is a few hundredths; what exceeds it would take the base's place.
const MaxChange = 1.0

// Bounds of what a trainer leaves.
const (
	maxResult   = 4 << 30 // bytes of the weights
	maxManifest = 1 << 20
)

// Result is what a job came to, checked.
type Result struct {
	Manifest Manifest
	Adapter  *llm.Adapter
	Change   float64 // the largest share of a matrix that is added to it
}

// Check reads what lies in dir/out, whoever left it there, and believes nothing
// of it: plain files only, and none beside those of an adapter and its manifest;
// this job, this fence and this base; exactly the matrices the job asks for, of
// their shapes, all numbers finite, and none so large that it would drown the
// base. Invalid says what is wrong.
func Check(dir string, j Job, m *llm.Model) (Result, error) {
	r, err := check(dir, j, m)
	if err != nil {
		return Result{}, fault.New(fault.Invalid, "What was trained for the job %s is refused: %v.", j.ID, err)
	}
	return r, nil
}

func check(dir string, j Job, m *llm.Model) (r Result, err error) {
	out := filepath.Join(dir, ResultDir)
	if err := plainFiles(out); err != nil {
		return r, err
	}
	if r.Manifest, err = readManifest(out); err != nil {
		return r, err
	}
	switch f := r.Manifest; {
	case f.Job != j.ID:
		return r, fmt.Errorf("it is of the job %q", f.Job)
	case f.Fence != j.Fence:
		return r, fmt.Errorf("it is of the fence %d, and the job has %d", f.Fence, j.Fence)
	case f.Base != j.Base.SHA256:
		return r, fmt.Errorf("it was trained on another base: that had the fingerprint %.12s, the job's has %.12s", f.Base, j.Base.SHA256)
	}
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		sum, err := serve.Sum(filepath.Join(out, name))
		if err != nil {
			return r, err
		}
		if sum != r.Manifest.Files[name] {
			return r, fmt.Errorf("%s is not what %s says", name, ManifestFile)
		}
	}
	base := peft.Base{Config: m.Config, Name: j.Base.Name, Fingerprint: j.Base.SHA256}
	want, err := j.adapter(dir, base)
	if err != nil {
		return r, err
	}
	if r.Adapter, err = peft.Read(out, base); err != nil {
		return r, err
	}
	if err := sameShape(want, r.Adapter); err != nil {
		return r, err
	}
	r.Change, err = change(m, r.Adapter)
	return r, err
}

// plainFiles refuses a folder with anything in it but the files of a result:
// links lead elsewhere, and what is not expected is not wanted.
func plainFiles(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", ResultDir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	most := map[string]int64{ManifestFile: maxManifest, peft.ConfigFile: maxManifest, peft.WeightsFile: maxResult}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		bytes, expected := most[e.Name()]
		switch {
		case !expected:
			return fmt.Errorf("there is a file %q in it", e.Name())
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is no plain file", e.Name())
		case info.Size() > bytes:
			return fmt.Errorf("%s has %d bytes; at most %d are read", e.Name(), info.Size(), bytes)
		}
	}
	return nil
}

// change is the largest share of a matrix that an adapter adds to it.
func change(m *llm.Model, a *llm.Adapter) (most float64, err error) {
	for i, layer := range a.Pairs {
		for k, p := range layer {
			if p.Rank == 0 {
				continue
			}
			out, in := m.Shape(llm.Linear(k))
			added := math.Abs(float64(a.Scale)) * size(p, out, in)
			share := added / max(norm(m.Layers[i].Linear[k]), math.SmallestNonzeroFloat32)
			if !(share <= MaxChange) {
				return share, fmt.Errorf("what it adds to layer %d, %s, is %.3g times as large as the matrix itself; at most %v times is used", i, llm.Linear(k).Name(), share, MaxChange)
			}
			most = max(most, share)
		}
	}
	return most, nil
}

// size is the norm of B·A without computing it: ‖BA‖² = Σ (BᵀB)∘(AAᵀ).
func size(p llm.Pair, out, in int) float64 {
	sum := 0.0
	for i := range p.Rank {
		for j := range p.Rank {
			sum += dot(p.A[i*in:(i+1)*in], p.A[j*in:(j+1)*in]) * dot(p.B[i*out:(i+1)*out], p.B[j*out:(j+1)*out])
		}
	}
	return math.Sqrt(max(sum, 0))
}

func dot(x, y []float32) (sum float64) {
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

func norm(w kernels.Matrix) float64 {
	row := make([]float32, w.Cols)
	sum := 0.0
	for i := range w.Rows {
		w.Row(row, i)
		sum += dot(row, row)
	}
	return math.Sqrt(sum)
}
