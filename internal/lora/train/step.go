package train

import (
	"math"
	"math/rand/v2"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
)

// step trains with one batch.
func (r *runner) step() (Metric, error) {
	s := &r.state
	n := len(r.batches)
	epoch := s.Step / n
	order := rand.New(rand.NewPCG(r.job.Seed, uint64(epoch))).Perm(n) //nolint:gosec // an order, no secret; it is not negative
	at := order[s.Step%n]
	loss, factor := r.gradients(at)
	params := r.pass.Params()
	penalty := r.shape(params, factor)
	r.adam.Rate = r.job.Rate * fit.Rate(s.Step, r.warm(), r.job.Steps)
	length := r.adam.Step(params)
	s.Step++
	if math.IsNaN(loss) || math.IsInf(loss, 0) || math.IsNaN(length) || math.IsInf(length, 0) {
		return Metric{}, fault.New(fault.Invalid, "Training the job %s went astray in step %d: its loss is %v, its gradient %v long. A lower lr, now %v, may help.", r.job.ID, s.Step, loss, length, r.job.Rate)
	}
	s.note(at, n, loss, at < r.against)
	if len(r.teachers) > 0 {
		// Who goes on from one teacher is further from it while the others are learnt:
		// that a batch's loss rises says nothing here.
		s.Rises, s.Stopped = 0, false
	}
	if s.Step%n == 0 || s.Step == r.job.Steps || s.Stopped {
		s.Held = r.heldOut()
	}
	r.spent += r.tokens[at]
	m := Metric{Step: s.Step, Of: r.job.Steps, Compared: at >= r.against, Loss: loss, Penalty: penalty, HeldOut: s.Held, Gradient: length}
	if took := r.o.Now().Sub(r.begun).Seconds(); took > 0 {
		m.Speed = float64(r.spent) / took
		m.ETA = float64(r.job.Steps-s.Step) * took / float64(s.Step-s.From)
	}
	return m, nil
}

// warm is over how many steps the rate rises.
func (r *runner) warm() int { return max(1, min(20, r.job.Steps/10)) }

// gradients are those of one batch; factor is what makes those of its mean those
// of its part in the whole, as its rows weigh.
func (r *runner) gradients(at int) (loss float64, factor float32) {
	b := r.batches[at].Batch
	if i := at - r.against; i >= 0 {
		b.Weights = slices.Clone(b.Weights)
		if r.job.Loss.Kind == KTO {
			return r.pass.Avoid(b, r.without[i], r.job.Loss.Beta, r.far(r.shifted[i])), 1
		}
		return r.pass.Prefer(b, r.without[i], r.job.Loss.Beta), 1
	}
	weights, learnt := weigh(b)
	factor = float32(weights / (float64(learnt) * r.mean))
	if len(r.teachers) > 0 {
		return r.pass.Distil(b, r.taught(r.batches[at])), factor
	}
	return r.pass.Gradients(b), factor
}

// shape multiplies the gradients by a factor and adds those of λ‖A,B‖², which it
// returns.
func (r *runner) shape(params []fit.Param, factor float32) (penalty float64) {
	lambda := float32(r.job.Loss.Lambda)
	for _, p := range params {
		for i, x := range p.Value {
			p.Grad[i] = p.Grad[i]*factor + 2*lambda*x
			penalty += float64(x) * float64(x)
		}
	}
	return penalty * r.job.Loss.Lambda
}

// far is how far the adapter has gone from the base on the whole: the mean of how
// much likelier answers to something else became, or 0.
func (r *runner) far(other reference) float64 {
	sum := 0.0
	for i, now := range r.pass.LogProbs(other.batch) {
		sum += now - other.of[i]
	}
	return max(0, sum/float64(len(other.of)))
}

// compare notes what the base makes of what is compared with it, without an
// adapter.
func (r *runner) compare() {
	if r.against == len(r.batches) {
		return
	}
	bare := fit.NewPass(r.model, &llm.Adapter{Pairs: make([][llm.Linears]llm.Pair, r.model.Config.Layers)})
	for _, b := range r.batches[r.against:] {
		r.without = append(r.without, bare.LogProbs(b.Batch))
	}
	for i := range r.shifted {
		r.shifted[i].of = bare.LogProbs(r.shifted[i].batch)
	}
}

// lossOf is the loss of a batch to imitate: how unlikely its targets are, or how
// far it is from what its teacher answers.
func (r *runner) lossOf(l taughtBatch) float64 {
	if len(r.teachers) > 0 {
		return r.pass.Apart(l.Batch, r.taught(l))
	}
	return r.pass.Loss(l.Batch)
}

// heldOut is the loss of what is held out, nil when nothing is.
func (r *runner) heldOut() *float64 {
	var sum, all float64
	for _, b := range r.held {
		if w, _ := weigh(b.Batch); w > 0 {
			sum, all = sum+w*r.lossOf(b), all+w
		}
	}
	if all == 0 {
		return nil
	}
	sum /= all
	return &sum
}
