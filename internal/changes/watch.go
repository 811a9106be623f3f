package changes

import (
	"context"
	"errors"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// maxWatched bounds the runs of one version that are looked at.
const maxWatched = 5000

// Watch compares the runs of an applied version with those of the one before.
// Conflict for a patch that was never applied.
func (d *Desk) Watch(ctx context.Context, v identity.Viewer, id int64) (Watched, error) {
	p, err := d.patch(ctx, v, id)
	if err != nil {
		return Watched{}, err
	}
	return d.watch(ctx, p)
}

func (d *Desk) watch(ctx context.Context, p Patch) (Watched, error) {
	if p.AppliedAt.IsZero() {
		return Watched{}, p.wrong("only an applied one has runs to be looked at")
	}
	w := Watched{RolloutPlan: p.RolloutPlan, Over: p.Stage != Watching, Since: p.AppliedAt, Until: d.o.Now(), Rows: []Row{}, Rules: []Ruled{}}
	if end := p.watchedUntil(); p.RolloutPlan.Hours > 0 && end.Before(w.Until) {
		w.Until = end
	}
	w.Earlier = Period{Since: p.AppliedAt.Add(-w.Until.Sub(w.Since)), Until: p.AppliedAt}
	if p.RolloutPlan.Partial() {
		w.Earlier = Period{Since: w.Since, Until: w.Until}
	}
	c, ok := p.watched()
	if !ok {
		return w, nil
	}
	w.Artifact, w.Versions = c.ArtifactID, TwoOf{Before: c.Base, After: c.Applied}
	before, err := d.tally(ctx, c, c.Base, w.Earlier)
	if err != nil {
		return w, err
	}
	after, err := d.tally(ctx, c, c.Applied, Period{Since: w.Since, Until: w.Until})
	if err != nil {
		return w, err
	}
	w.Runs = TwoOf{Before: before.runs, After: after.runs}
	if w.Rows = rows(before, after); c.Kind == artifacts.KindPalace {
		w.Rows = []Row{} // what its histories cost, the ledger tells
	}
	if c.Kind == artifacts.KindAdapter { // which questions were asked, and what it cost, is not an adapter's doing alone
		w.Rows = slices.DeleteFunc(w.Rows, func(r Row) bool {
			return r.Name != rowFailed && r.Name != rowCancelled && r.Name != rowDisliked
		})
	}
	w.Rules, err = d.rules(ctx, p, c, figures(before, after), before.runs == 0)
	return w, err
}

// watchedUntil is when a patch is no longer watched.
func (p Patch) watchedUntil() time.Time {
	return p.AppliedAt.Add(time.Duration(p.RolloutPlan.Hours) * time.Hour)
}

// watched is the change whose runs are looked at: the first that runs follow.
func (p Patch) watched() (Change, bool) {
	for _, c := range p.Changes {
		if artifacts.SupportsRollout(c.Kind) && !c.Creates && c.Applied > 0 {
			return c, true
		}
	}
	return Change{}, false
}

// tally is what became of the runs of one version in a time.
type tally struct {
	runs, failed, cancelled, asking int
	questions, skipped              int
	up, down                        int
	cost, ms                        []float64
}

func (d *Desk) tally(ctx context.Context, c Change, version int, p Period) (tally, error) {
	f := run.RecordingFilter{GraphID: c.ArtifactID, Version: version, Since: p.Since, Until: p.Until, Limit: maxWatched}
	if c.Kind == artifacts.KindPolicy {
		f.GraphID, f.PolicyID = "", c.ArtifactID
	}
	var t tally
	if c.Kind == artifacts.KindPalace { // no runs follow it, but histories of agents
		n, err := d.o.Store.PalaceFollowed(ctx, c.ArtifactID, version, p.Since, p.Until)
		return tally{runs: n.Histories, cost: n.TurnUSD}, err
	}
	if c.Kind == artifacts.KindAdapter {
		n, err := d.o.Store.AdapterRuns(ctx, c.ArtifactID, version, p.Since, p.Until)
		return tally{runs: n.Runs, failed: n.Failed, cancelled: n.Cancelled, up: n.Up, down: n.Down}, err
	}
	heads, err := d.o.Recordings.Recordings(ctx, identity.System(), f)
	if err != nil {
		return t, err
	}
	for _, head := range heads {
		t.count(head)
	}
	if c.Kind == artifacts.KindWorkflow {
		t.up, t.down, err = d.o.Store.Rated(ctx, c.ArtifactID, version, p.Since, p.Until)
	}
	return t, err
}

func (t *tally) count(r run.Recording) {
	t.runs++
	switch r.Status {
	case run.Failed:
		t.failed++
	case run.Cancelled:
		t.cancelled++
	case run.Queued, run.Running, run.Waiting, run.Done:
	default:
	}
	if r.Asked > 0 {
		t.asking++
	}
	t.questions, t.skipped = t.questions+r.Asked, t.skipped+min(r.Skipped, r.Asked)
	t.cost, t.ms = append(t.cost, r.CostUSD), append(t.ms, float64(r.MS))
}

// The rows, by the name that a rule has for the figure.
const (
	rowFailed    = "failed_share"
	rowCancelled = "cancelled_share"
	rowAsked     = "asked_share"
	rowSkipped   = "skipped_share"
	rowDisliked  = "thumbs_down_share"
	rowCost      = "cost"
	rowMS        = "ms"
)

func rows(before, after tally) []Row {
	list := []Row{
		shares(rowFailed, before.failed, before.runs, after.failed, after.runs),
		shares(rowCancelled, before.cancelled, before.runs, after.cancelled, after.runs),
		shares(rowAsked, before.asking, before.runs, after.asking, after.runs),
		shares(rowSkipped, before.skipped, before.questions, after.skipped, after.questions),
		shares(rowDisliked, before.down, before.up+before.down, after.down, after.up+after.down),
	}
	list = append(list, medians(rowCost, "usd", before.cost, after.cost), medians(rowMS, "ms", before.ms, after.ms))
	return list
}

func shares(name string, k, n, k2, n2 int) Row {
	r := Row{Name: name, Unit: "share", Before: share(k, n), After: share(k2, n2)}
	if n > 0 && n2 > 0 {
		r.Worse = worse(r.Before, r.After)
	}
	return r
}

func medians(name, unit string, before, after []float64) Row {
	r := Row{Name: name, Unit: unit, Before: median(before), After: median(after)}
	if len(before) > 5 && len(after) > 5 {
		r.Worse = worse(r.Before, r.After)
	}
	return r
}

// Looked is what StepWatch found.
type Looked struct {
	Over    bool   // there is nothing to watch any more
	Verdict string // fine, worse, rolled_back; empty: nothing was to be watched
	Said    string // why, for people
	Soon    bool   // it is to be looked at again within minutes, not an hour
}

// young is how long after it was applied a version is looked at often: a bad one
// shows at once.
const young = time.Hour

// What a look at a version comes to.
const (
	fine       = "fine"
	worsened   = "worse"
	rolledBack = "rolled_back"
)

// StepWatch looks at an applied patch, takes it back if its rule is met and
// the plan says so, and ends the watch when its time is over.
func (d *Desk) StepWatch(ctx context.Context, id int64) (Looked, error) {
	p, err := d.patch(ctx, identity.System(), id)
	if err != nil {
		return Looked{Over: true}, forgotten(err)
	}
	if p.Status != Applied || p.Stage != Watching {
		return Looked{Over: true}, nil
	}
	w, err := d.watch(ctx, p)
	if err != nil {
		return Looked{}, err
	}
	look := Looked{Verdict: fine}
	if met, ok := w.met(); ok {
		look = Looked{Verdict: worsened, Said: w.because(met)}
		if p.RolloutPlan.RollBack {
			return d.byRule(ctx, p, w, look)
		}
	}
	look.Soon = d.o.Now().Before(p.AppliedAt.Add(young))
	if d.o.Now().Before(p.watchedUntil()) || look.Verdict == worsened && d.onTrial(ctx, p) {
		return look, nil
	}
	look.Over = true
	_, err = d.settle(ctx, identity.System(), p, "watched", look.Said, w.brief(look.Verdict))
	return look, d.faster(err)
}

// onTrial reports whether a share of the runs still takes the version before.
// Where the new one is worse, that does not end by itself: it is for a person to
// say that everybody shall have it.
func (d *Desk) onTrial(ctx context.Context, p Patch) bool {
	rollouts, err := d.ended(ctx, p)
	return err == nil && len(rollouts) > 0
}

// byRule takes a patch back. Where that is not possible, because somebody has
// changed the artifact since, people are told and the watch ends.
func (d *Desk) byRule(ctx context.Context, p Patch, w Watched, look Looked) (Looked, error) {
	look.Over, look.Verdict = true, rolledBack
	data := w.brief(rolledBack)
	data["why"] = w.parts(look.Said)
	_, err := d.takeBack(ctx, identity.System(), p, look.Said, data)
	if !errors.Is(err, fault.Conflict) {
		return look, err
	}
	look.Verdict = worsened
	look.Said += " It was not taken back: " + fault.From(err).Message
	_, err = d.settle(ctx, identity.System(), p, "watched", look.Said, w.brief(worsened))
	return look, d.faster(err)
}

// faster forgives that a person ended the watch at the same moment.
func (d *Desk) faster(err error) error {
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// brief is what the event of a look keeps.
func (w Watched) brief(verdict string) map[string]any {
	return map[string]any{"verdict": verdict, "runs": w.Runs, "rows": w.Rows, "rule": w.Rules}
}
