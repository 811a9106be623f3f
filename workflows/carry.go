package workflows

import (
	"bytes"
	"compress/flate"
	"io"
	"time"

	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/fault"
	"liminal/internal/graph"
)

// Carry is what a run takes into its next execution: everything drive knows,
// as plain data.
type Carry struct {
	Opened   activities.Opened            `json:"opened"`
	Snapshot []byte                       `json:"snapshot"` // of the machine, compressed
	Early    map[string]activities.Answer `json:"early,omitempty"`
	Asked    map[string]time.Time         `json:"asked,omitempty"` // open questions, by interrupt id
	Answered map[string]bool              `json:"answered,omitempty"`
	Tally    activities.Tally             `json:"tally"`
	Away     time.Duration                `json:"away,omitempty"`
	Waited   time.Duration                `json:"waited,omitempty"`
	Paused   time.Time                    `json:"paused,omitzero"`
	Hidden   bool                         `json:"hidden,omitempty"`
	Outcomes []byte                       `json:"happened,omitempty"` // compressed too

	raw []byte // as it was written; nil: here
}

// maxEffects is how many effects one execution carries out, unless Open says
// otherwise.
const maxEffects = 2000

// full reports whether this execution should hand over to the next because its
// history is long. A child cannot be handed over, and may wait for a person
// for days: what has children goes on.
func (d *drive) full(ctx workflow.Context) bool {
	if d.ending() || len(d.children) > 0 {
		return false
	}
	return d.effects >= d.most() || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// most is how many effects this execution carries out.
func (d *drive) most() int {
	if d.opened.MaxEffects > 0 {
		return d.opened.MaxEffects
	}
	return maxEffects
}

// drained takes in the signals that are there, so that none is left behind,
// and reports whether the run can still be handed over.
func (d *drive) drained(ctx workflow.Context) bool {
	var a activities.Answer
	for d.answers.ReceiveAsync(&a) || d.updates.ReceiveAsync(&a) {
		d.receive(ctx, a)
		a = activities.Answer{}
	}
	for d.cancels.ReceiveAsync(nil) {
		d.cancel(ctx)
	}
	return d.full(ctx) && len(d.flight) == 0
}

// carryOn ends this execution in favour of the next.
func (d *drive) carryOn(ctx workflow.Context) error {
	raw, err := d.run.Snapshot()
	if err != nil {
		return err
	}
	snapshot, err := compressed(raw)
	if err != nil {
		return err
	}
	c := Carry{
		Opened: d.opened, Snapshot: snapshot, Early: d.early, Asked: map[string]time.Time{}, Answered: d.answered,
		Tally: d.tally, Away: d.away, Waited: d.waited, Paused: d.paused, Hidden: d.hidden,
		Outcomes: d.packed(),
	}
	for _, id := range keys(d.questions) {
		c.Asked[id] = d.questions[id].at
	}
	trimmed(&c.Tally)
	in, err := d.flows.carriedOn(ctx, d.in, &c)
	if err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, workflow.GetInfo(ctx).WorkflowType.Name, in, c)
}

// restoreCarried is the other side of carryOn.
func (d *drive) restoreCarried(c *Carry) {
	d.opened, d.snapshot, d.carried = c.Opened, c.Snapshot, true
	d.tally, d.away, d.waited, d.paused, d.hidden = c.Tally, c.Away, c.Waited, c.Paused, c.Hidden
	if c.Early != nil {
		d.early = c.Early
	}
	if c.Answered != nil {
		d.answered = c.Answered
	}
	d.asked, d.outcomes = c.Asked, unpacked(c.Outcomes)
}

// restore goes on from the machine's snapshot: its outstanding effects are
// begun again, of which the questions are there already.
func (d *drive) restore(g *graph.Graph) error {
	raw, err := expanded(d.snapshot)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The run cannot go on from where it stood.")
	}
	r, err := g.Restore(raw)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The run cannot go on from where it stood.")
	}
	d.run, d.snapshot = r, nil
	d.next = r.Pending()
	d.effects = -len(d.next) // begun before: they are no progress
	return nil
}

// trimmed cuts what the audit keeps of each call to what it shows, so that it
// can travel.
func trimmed(t *activities.Tally) {
	for i := range t.Records {
		t.Records[i] = t.Records[i].Trimmed()
	}
}

// compressed makes a snapshot small: its trace alone may be over a megabyte of
// JSON, and a payload may be two.
func compressed(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func expanded(small []byte) ([]byte, error) {
	return io.ReadAll(flate.NewReader(bytes.NewReader(small)))
}
