package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"liminal/internal/lora/fit"
	"liminal/internal/tensors"
)

// state is where a job is, beside the numbers of the adapter and of AdamW. The
// order of the batches is drawn from the seed and the epoch.
type state struct {
	Plan       string    `json:"plan"`
	Step       int       `json:"step"`
	Losses     []float64 `json:"losses"` // of each batch, the last; -1: none yet
	Rises      int       `json:"rises"`
	Stopped    bool      `json:"stopped"`
	First      *float64  `json:"first"`
	Last       *float64  `json:"last"`
	HeldBefore *float64  `json:"held_before"`
	Held       *float64  `json:"held"`

	From int `json:"-"` // step this process began with
	Kept int `json:"-"` // step of the last checkpoint
}

// note takes down the loss of batch at of n, which is to be imitated or is
// compared with the base.
func (s *state) note(at, n int, loss float64, imitated bool) {
	for len(s.Losses) < n {
		s.Losses = append(s.Losses, -1)
	}
	if imitated {
		s.Last = &loss
		if s.First == nil {
			s.First = &loss
		}
	}
	switch before := s.Losses[at]; {
	case before < 0:
	case loss > before:
		s.Rises++
	default:
		s.Rises = 0
	}
	s.Losses[at] = loss
	s.Stopped = s.Rises >= rises
}

const stateKey = "state"

// checkpoint keeps where the job is. It is there whole or as it was before.
func (r *runner) checkpoint() error {
	if err := r.ours(); err != nil {
		return err
	}
	if err := r.metrics.sync(); err != nil {
		return r.broken(err, MetricsFile)
	}
	raw, err := json.Marshal(r.state)
	if err != nil {
		return err
	}
	var list []tensors.Tensor
	adam := r.adam.State()
	for i, p := range r.pass.Params() {
		add := func(name string, x []float32) {
			list = append(list, tensors.Tensor{Name: fmt.Sprintf("%s.%d", name, i), Shape: []int{len(x)}, F32: x})
		}
		add("value", p.Value)
		if adam.Step > 0 {
			add("mean", adam.Mean[i])
			add("square", adam.Square[i])
		}
	}
	if _, err := tensors.Write(filepath.Join(r.dir, CheckpointFile), list, map[string]string{stateKey: string(raw)}); err != nil {
		return r.broken(err, CheckpointFile)
	}
	r.state.Kept = r.state.Step
	r.kept = r.o.Now()
	return nil
}

// resume takes the job up where its checkpoint left it, or begins it. Without a
// checkpoint that can be used nothing is lost but time.
func (r *runner) resume() error {
	sweep(r.dir)
	r.state = state{Plan: r.job.plan()}
	switch err := r.restore(); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		r.o.Notice(fmt.Sprintf("The checkpoint of the job %s is not used, it begins anew: %v.", r.job.ID, err))
	default:
		r.o.Notice(fmt.Sprintf("The job %s goes on from step %d of %d.", r.job.ID, r.state.Step, r.job.Steps))
	}
	var err error
	if r.metrics, err = openMetrics(filepath.Join(r.dir, MetricsFile), r.state.Step); err != nil {
		return r.broken(err, MetricsFile)
	}
	return nil
}

func (r *runner) restore() error {
	f, err := tensors.Open(filepath.Join(r.dir, CheckpointFile))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	var s state
	if err := json.Unmarshal([]byte(f.Metadata()[stateKey]), &s); err != nil {
		return err
	}
	if s.Plan != r.state.Plan {
		return errors.New("it is of a job that was made otherwise")
	}
	if s.Step < 0 || s.Step > r.job.Steps || len(s.Losses) > len(r.batches) {
		return fmt.Errorf("it is of step %d of %d", s.Step, r.job.Steps)
	}
	params := r.pass.Params()
	adam := fit.State{Step: s.Step}
	values := make([][]float32, len(params))
	for i, p := range params {
		if values[i], err = read(f, "value", i, len(p.Value)); err != nil {
			return err
		}
		if s.Step == 0 {
			continue
		}
		mean, err := read(f, "mean", i, len(p.Value))
		if err != nil {
			return err
		}
		square, err := read(f, "square", i, len(p.Value))
		if err != nil {
			return err
		}
		adam.Mean, adam.Square = append(adam.Mean, mean), append(adam.Square, square)
	}
	if err := r.adam.Restore(adam, params); err != nil {
		return err
	}
	for i, p := range params { // only now: what cannot be read whole changes nothing
		copy(p.Value, values[i])
	}
	s.From, s.Kept = s.Step, s.Step
	r.state = s
	return nil
}

// read are n numbers of a tensor.
func read(f *tensors.File, name string, i, n int) ([]float32, error) {
	x, err := f.Float32s(fmt.Sprintf("%s.%d", name, i))
	if err == nil && len(x) != n {
		err = fmt.Errorf("%s.%d has %d numbers, not %d", name, i, len(x), n)
	}
	return x, err
}
