package changes

import (
	"context"
	"encoding/json"
	"errors"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/rehearsal"
	"liminal/internal/routing"
)

// played is a patch that was rehearsed.
type played struct {
	reports []*rehearsal.Report // by the place of the change
	check   Check
	verdict rehearsal.Verdict
	moved   int
	taken   int
}

// play rehearses every change, each with all of them made (CFG-11). What is
// created was never run, and is not rehearsed.
func (d *Desk) play(ctx context.Context, j judged, list []Change, r Replay) (played, error) {
	p := played{
		reports: make([]*rehearsal.Report, len(list)), verdict: rehearsal.Pass,
		check: Check{Name: CheckRehearsal, State: CheckOK, Problems: []artifacts.Problem{}, At: d.o.Now()},
	}
	for i, prospect := range j.prospects {
		if list[i].Creates {
			continue
		}
		report, err := d.rehearse(ctx, j.ahead, d.o.Recordings, rehearsal.Plan{
			Artifact: prospect.Artifact, Doc: prospect.After, Guard: d.guard(ctx, prospect),
			Only: r.only, Sample: r.Sample, Unknowns: r.Unknowns, Script: r.Script, Live: d.live(r.live), Lineages: d.o.Lineages,
		})
		if cannotRun(err) {
			report, err = refused(prospect, err), nil
		}
		if err != nil {
			return p, err
		}
		p.add(i, report)
	}
	switch p.verdict {
	case rehearsal.Block:
		p.check.State = CheckFailed
	case rehearsal.Warn, rehearsal.Second:
		p.check.State = CheckWarning
	case rehearsal.Pass:
	default:
	}
	return p, nil
}

// guard is the document whose rules judge a change: the current version's,
// which may be stricter than that of the base.
func (d *Desk) guard(ctx context.Context, p artifacts.Prospect) json.RawMessage {
	now, err := d.o.Library.Get(ctx, p.As, p.Artifact.ID)
	if err != nil {
		return nil // the base's
	}
	return now.Schema
}

func (p *played) add(i int, report *rehearsal.Report) {
	if report == nil {
		return
	}
	p.reports[i] = report
	p.verdict = graver(p.verdict, report.Verdict)
	p.moved, p.taken = p.moved+report.Moved, p.taken+report.Sample.Taken
	for _, reason := range report.Reasons {
		p.check.Problems = append(p.check.Problems, artifacts.Problem{Message: reason})
	}
}

// cannotRun reports whether a document passed its checks and still is none that
// can run: a fault of the checks, and no reason to try again.
func cannotRun(err error) bool {
	_, workflow := errors.AsType[graph.Faults](err)
	_, policy := errors.AsType[routing.Faults](err)
	return workflow || policy
}

func refused(p artifacts.Prospect, err error) *rehearsal.Report {
	return &rehearsal.Report{
		Base: p.Artifact.Version, After: p.Artifact.Version + 1, Verdict: rehearsal.Block,
		Reasons: []string{"The document cannot be rehearsed: " + err.Error()},
	}
}

func graver(a, b rehearsal.Verdict) rehearsal.Verdict {
	if b.Graver(a) {
		return b
	}
	return a
}

// approvals is how many people must agree.
func approvals(v rehearsal.Verdict) int {
	if v == rehearsal.Second {
		return 2
	}
	return 1
}

// reasons are why a patch's verdict is what it is.
func reasons(list []Change) []string {
	all := []string{}
	for _, c := range list {
		if c.Report != nil {
			all = append(all, c.Report.Reasons...)
		}
	}
	return all
}
