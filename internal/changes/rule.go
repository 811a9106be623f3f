package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"liminal/artifacts"
)

// rules evaluates the rules of the version before: a patch cannot weaken the
// rule it is judged by. One that cannot be evaluated is not met, nor one that
// compares with runs of before where there were none.
func (d *Desk) rules(ctx context.Context, p Patch, c Change, figures map[string]any, noneBefore bool) ([]Ruled, error) {
	base, err := d.o.Library.At(ctx, p.reader(), c.ArtifactID, c.Base)
	if err != nil {
		return nil, err
	}
	list := []Ruled{}
	guard, err := artifacts.GuardOf(base.Schema) // the house's where it cannot be read
	if err != nil {
		d.o.Logger.WarnContext(ctx, "the guard of an artifact cannot be read", "artifact", c.ArtifactID, "version", c.Base, "error", err)
	}
	for _, r := range p.goingBack(c, guard) {
		if noneBefore && strings.Contains(r.When, ".before") {
			list = append(list, Ruled{When: r.When, Say: r.Say})
			continue
		}
		met, err := r.Holds(figures)
		if err != nil {
			d.o.Logger.WarnContext(ctx, "a rule of going back cannot be evaluated", "artifact", c.ArtifactID, "version", c.Base, "rule", r.When, "error", err)
		}
		list = append(list, Ruled{When: r.When, Say: r.Say, Met: met})
	}
	return list, nil
}

// liked is the house's rule of going back for adapters, whose figures are what
// people say of answers.
var liked = artifacts.Rule{
	When: "thumbs_down_share.after > thumbs_down_share.before + 0.15 and runs.after >= 10",
	Say:  "answers are liked less often",
}

// goingBack are the rules of taking a change back.
func (p Patch) goingBack(c Change, guard artifacts.Guard) []artifacts.Rule {
	switch {
	case len(p.RolloutPlan.Rules) > 0:
		return p.RolloutPlan.Rules
	case c.Kind == artifacts.KindAdapter:
		return []artifacts.Rule{liked}
	}
	return guard.RollBack
}

// figures are what a rule reads, artifacts.WatchNames, each before and after.
func figures(before, after tally) map[string]any {
	f := map[string]any{
		"runs": two(before.runs, after.runs), "failed": two(before.failed, after.failed),
		"cancelled": two(before.cancelled, after.cancelled), "asked": two(before.asking, after.asking),
		"thumbs_up": two(before.up, after.up), "thumbs_down": two(before.down, after.down),
	}
	for _, row := range rows(before, after) {
		f[row.Name] = map[string]any{"before": row.Before.Value, "after": row.After.Value}
	}
	return f
}

func two(before, after int) map[string]any {
	return map[string]any{"before": float64(before), "after": float64(after)}
}

// met is the first rule that is.
func (w Watched) met() (Ruled, bool) {
	for _, r := range w.Rules {
		if r.Met {
			return r, true
		}
	}
	return Ruled{}, false
}

// parts is a reason as who shows it in another language needs it, as what was
// learnt has it (docs/learning.md): a code, figures, and the text.
func (w Watched) parts(text string) []map[string]any {
	r, _ := w.met()
	return []map[string]any{{"code": "rule_met", "data": map[string]any{"runs": w.Runs, "rows": w.read(r)}, "text": text}}
}

// read are the figures that a rule reads.
func (w Watched) read(r Ruled) []Row {
	return slices.DeleteFunc(slices.Clone(w.Rows), func(row Row) bool {
		return !strings.Contains(r.When, row.Name) && (row.Name != rowFailed || !strings.Contains(r.When, "failed"))
	})
}

// because is why a version goes back, with the figures its rule reads.
func (w Watched) because(r Ruled) string {
	var said []string
	for _, row := range w.read(r) {
		said = append(said, row.said())
	}
	return fmt.Sprintf("The rule %q was met, by %d runs and %d before: %s.", cmpOr(r.Say, r.When), w.Runs.After, w.Runs.Before, strings.Join(said, ", "))
}

var called = map[string]string{
	rowFailed: "failures", rowCancelled: "cancelled runs", rowAsked: "runs that asked", rowSkipped: "questions nobody answered",
	rowDisliked: "thumbs down", rowCost: "cost of a run", rowMS: "time of a run",
}

func (r Row) said() string {
	switch r.Unit {
	case "share":
		return fmt.Sprintf("%s %.0f %% → %.0f %% (95 %%: %.0f–%.0f %%)", called[r.Name], 100*r.Before.Value, 100*r.After.Value, 100*r.After.Low, 100*r.After.High)
	case "usd":
		return fmt.Sprintf("%s $%.4f → $%.4f (95 %%: $%.4f–$%.4f)", called[r.Name], r.Before.Value, r.After.Value, r.After.Low, r.After.High)
	}
	return fmt.Sprintf("%s %.0f ms → %.0f ms (95 %%: %.0f–%.0f ms)", called[r.Name], r.Before.Value, r.After.Value, r.After.Low, r.After.High)
}
