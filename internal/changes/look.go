package changes

import (
	"context"
	"errors"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// Get gives a patch whole; NotFound when it is not the viewer's to see.
func (d *Desk) Get(ctx context.Context, v identity.Viewer, id int64) (View, error) {
	p, err := d.patch(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	events, err := d.o.Store.PatchEvents(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	view := View{Patch: p, ProposedBy: d.Name(ctx, p.By()), Events: events, Reasons: reasons(p.Changes)}
	behind, overtaken := false, false
	for i, c := range p.Changes {
		after, owner, err := d.after(ctx, p, c)
		if err != nil {
			return View{}, err
		}
		if !p.open() && owner != "" && owner != v.UserID {
			after.Now = nil // they showed what was to be decided on, and no more
		}
		if owner == "" && !v.IsAdmin() {
			view.Changes[i].Report = withoutExamples(c.Report)
		}
		behind, overtaken = behind || after.Current != c.Base, overtaken || after.Current != c.Applied
		view.After = append(view.After, after)
	}
	view.May = p.may(v, behind, overtaken)
	return view, nil
}

// open reports whether a patch may still be decided on or applied.
func (p Patch) open() bool { return p.Status == Pending || p.Status == Approved }

// withoutExamples is a report without the runs of others: to open them is for
// administrators.
func withoutExamples(r *rehearsal.Report) *rehearsal.Report {
	if r == nil {
		return nil
	}
	told := *r
	told.Examples = nil
	return &told
}

// after is what a change does to its artifact, and whose that is. One that is
// gone has nothing.
func (d *Desk) after(ctx context.Context, p Patch, c Change) (a After, owner string, err error) {
	now, err := d.o.Library.Get(ctx, p.reader(), c.ArtifactID)
	if errors.Is(err, fault.NotFound) {
		return a, "", nil
	}
	if err != nil {
		return a, "", err
	}
	base, err := d.o.Library.At(ctx, p.reader(), c.ArtifactID, c.Base)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return a, "", err
	}
	a = After{Current: now.Version, Before: base.Schema}
	if after, err := artifacts.Applied(base.Schema, c.Ops); err == nil {
		a.After = after
	}
	if now.Version != c.Base {
		a.Now = now.Schema
	}
	if a.Title = title(a.After); a.Title == "" {
		a.Title = title(base.Schema)
	}
	return a, now.OwnerID, nil
}

// List gives a page of patches, newest first, and the cursor of the next
// (CFG-03). The reports are left out.
func (d *Desk) List(ctx context.Context, v identity.Viewer, f Filter) ([]Patch, string, error) {
	return d.o.Store.ListPatches(ctx, v, f)
}
