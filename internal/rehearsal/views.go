package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"liminal/artifacts"
	"liminal/internal/view"
)

// Lineages gives recorded histories of agents behind the capture proxy, the newest
// first: those of a person, or with "" of everybody whose agents follow everybody's
// policy.
type Lineages func(ctx context.Context, only string, most int) iter.Seq2[view.Recorded, error]

// Views is what a rehearsal of a policy.palace showed: what would have been set aside
// of recorded histories, what that would have cost, and what was needed again.
type Views struct {
	Histories int `json:"histories"`
	Requests  int `json:"requests"`
	Differ    int `json:"differ"` // histories of which other things are set aside, or at other times
	Epochs    Two `json:"epochs"`
	Results   Two `json:"results"` // set aside
	// Tokens are those of them.
	Tokens Two `json:"tokens"`
	// Recorded is what the requests cost as they were sent, Cost what they would have,
	// in dollars. Low and High are where the second one lies, by how far the model of
	// the cache was off on those histories; Told says that it was measured, and small.
	Recorded  float64     `json:"recorded_usd"`
	Cost      BeforeAfter `json:"usd"`
	Low       float64     `json:"low_usd"`
	High      float64     `json:"high_usd"`
	Told      bool        `json:"told"`
	Thinking  Two         `json:"thinking"` // tokens of it that are not valid any more
	Invalid   Two         `json:"invalid"`  // requests that a backend would refuse
	Regretted Two         `json:"regretted"`
	Regret    BeforeAfter `json:"regret"` // as a share of the results
	// AsView says that neither version changes what is sent, so that both were played
	// as if they did.
	AsView bool `json:"as_view"`

	untold bool // something is set aside of a history on which it was not measured, or badly
}

// errNoLineages says that a policy.palace cannot be rehearsed here.
var errNoLineages = errors.New("there is nothing that the histories of agents could be read from")

// views rehearses a policy.palace over recorded histories: the same code that would
// decide decides, with either version (CFG-11).
func views(ctx context.Context, plan Plan) (*Report, error) {
	began := time.Now()
	if plan.Lineages == nil {
		return nil, errNoLineages
	}
	next, err := view.Parse(plan.Doc)
	if err != nil {
		return nil, err
	}
	r := Prepared{artifact: plan.Artifact}
	old, err := view.Parse(plan.Artifact.Schema)
	if err != nil {
		old, r.broken = next, true
	}
	r.guard, _ = artifacts.GuardOf(orElse(plan.Guard, plan.Artifact.Schema)) // the house's where it cannot be read
	sample := plan.Sample
	if sample == 0 {
		sample = r.guard.Sample
	}
	sample = min(max(sample, 1), artifacts.MaxSample)
	rep := r.totals(Sample{Wanted: sample, Strata: []Stratum{}}).report
	rep.Examples = map[string][]Example{}
	rep.Views = &Views{AsView: old.Mode != view.Live && next.Mode != view.Live}
	only := plan.Only
	if plan.Artifact.OwnerID != "" {
		only = plan.Artifact.OwnerID
	}
	for recorded, err := range plan.Lineages(ctx, only, sample) {
		if err != nil {
			return nil, err
		}
		rep.addLineage(recorded, old, next)
	}
	rep.Views.done(&rep)
	rep = r.judged(rep, plan)
	rep.TookMS = time.Since(began).Milliseconds()
	return &rep, nil
}

func orElse(doc, other json.RawMessage) json.RawMessage {
	if doc == nil {
		return other
	}
	return doc
}

// addLineage plays both versions on one history.
func (rep *Report) addLineage(r view.Recorded, old, next *view.Policy) {
	v := rep.Views
	play := func(p *view.Policy) view.Played {
		if p.Mode == view.Live || v.AsView {
			return p.Play(r)
		}
		return view.Unchanged(r)
	}
	before, after := play(old), play(next)
	rep.Sample.Taken++
	rep.Sample.Population++
	v.Histories++
	v.Requests += len(r.Requests)
	if !reflect.DeepEqual(before.Epochs, after.Epochs) || before.Born != after.Born {
		v.Differ++
		if list := rep.Examples[exampleMoved]; len(list) < maxExamples {
			rep.Examples[exampleMoved] = append(list, lineageExample(r, before, after))
		}
	}
	add := func(t *Two, b, a int) { t.Before, t.After = t.Before+b, t.After+a }
	add(&v.Epochs, len(before.Epochs), len(after.Epochs))
	add(&v.Results, before.Results, after.Results)
	add(&v.Tokens, int(before.Tokens), int(after.Tokens))
	add(&v.Thinking, int(before.Thinking), int(after.Thinking))
	add(&v.Invalid, before.Invalid, after.Invalid)
	add(&v.Regretted, before.Regretted, after.Regretted)
	v.Recorded += after.Raw
	v.Cost.Before, v.Cost.After = v.Cost.Before+before.Cost, v.Cost.After+after.Cost
	off := r.Off * after.Raw
	if after.Cost == after.Raw { // nothing was set aside: that is what was paid
		off = 0
	}
	v.Low, v.High = v.Low+after.Cost-off, v.High+after.Cost+off
	v.Told = v.Told || r.Told
	if after.Cost != after.Raw && !r.Told {
		v.untold = true
	}
	if n := len(r.Requests); n > 0 {
		first, last := r.Requests[0].At, r.Requests[n-1].At
		if rep.Sample.Oldest.IsZero() || first.Before(rep.Sample.Oldest) {
			rep.Sample.Oldest = first
		}
		if last.After(rep.Sample.Newest) {
			rep.Sample.Newest = last
		}
	}
}

func lineageExample(r view.Recorded, before, after view.Played) Example {
	tell := func(p view.Played) []string {
		out := []string{}
		for _, e := range p.Epochs {
			out = append(out, fmt.Sprintf("request %d: %d results, %d tokens (%s)", e.Request, len(e.Results), e.Tokens, e.Why))
		}
		return out
	}
	e := Example{RunID: r.Lineage, Old: tell(before), New: tell(after), Part: -1, Message: fmt.Sprintf("$%.4f → $%.4f in %d requests", before.Cost, after.Cost, len(r.Requests))}
	if n := len(r.Requests); n > 0 {
		e.At = r.Requests[n-1].At
	}
	for i := range max(len(e.Old), len(e.New)) {
		if i >= len(e.Old) || i >= len(e.New) || e.Old[i] != e.New[i] {
			e.Part = i
			break
		}
	}
	return e
}

// done makes the shares, and the figures that all reports have.
func (v *Views) done(rep *Report) {
	v.Regret = BeforeAfter{Before: share(v.Regretted.Before, v.Results.Before), After: share(v.Regretted.After, v.Results.After)}
	v.Told = v.Told && !v.untold
	rep.Moved, rep.Compared, rep.Cost = v.Differ, v.Histories, v.Cost
}

// notes are what a reader of such a report must know beside its verdict.
func (v *Views) notes(add func(format string, args ...any)) {
	add("Of %d histories with %d requests, %d differ: %s epochs, %s results with %s tokens set aside; recorded $%.4f, $%.4f → $%.4f.",
		v.Histories, v.Requests, v.Differ, v.Epochs.arrow(), v.Results.arrow(), v.Tokens.arrow(), v.Recorded, v.Cost.Before, v.Cost.After)
	if v.Told {
		add("By how far the model of the cache was off there, the new cost lies between $%.4f and $%.4f.", v.Low, v.High)
	} else {
		add("How far that is off cannot be told: the model of the cache was not measured on all of these histories, or was off by more than a tenth.")
	}
	if v.Results.After > 0 || v.Results.Before > 0 {
		add("Of what is set aside, %d → %d results (%s → %s) were needed again; %s tokens of thinking would not be valid any more.",
			v.Regretted.Before, v.Regretted.After, fine(v.Regret.Before), fine(v.Regret.After), v.Thinking.arrow())
	}
	if v.AsView {
		add("Neither version changes what agents are sent, so both were played as if they did.")
	}
}

// fine is a share with one digit behind the point: one in fifty is a line that counts.
func fine(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
