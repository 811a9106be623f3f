package architect

import (
	"context"
	"time"

	"liminal/internal/changes"
	"liminal/internal/identity"
)

// Brief is what the architect has before it: the figures, the documents that
// may be changed, and what became of earlier proposals.
type Brief struct {
	Figures   Figures   `json:"figures"`
	Documents []Shown   `json:"documents"`
	Lately    []Earlier `json:"lately"`
}

// Earlier is a proposal of the last 30 days.
type Earlier struct {
	Workflow string `json:"workflow"`
	Status   string `json:"status"`
	Proposal string `json:"proposal"`         // its justification, cut
	Reason   string `json:"reason,omitempty"` // why it was turned down or taken back
}

// maxEarlier bounds the earlier proposals that are told.
const maxEarlier = 10

// Brief counts what happened since a time, and gives what there is to change.
func (a *Architect) Brief(ctx context.Context, since time.Time) (Brief, error) {
	figures, documents, err := a.figures(ctx, since)
	if err != nil {
		return Brief{}, err
	}
	lately, err := a.lately(ctx)
	return Brief{Figures: figures, Documents: show(documents), Lately: lately}, err
}

// Advise reads figures by the rules, on the documents as they are now.
func (a *Architect) Advise(ctx context.Context, f Figures) (Advice, error) {
	var documents []*Document
	for _, flow := range f.Workflows {
		d, err := a.document(ctx, flow.Artifact)
		if err != nil {
			return Advice{}, err
		}
		if d != nil {
			documents = append(documents, d)
		}
	}
	return Rules(f, documents), nil
}

// lately are the architect's own proposals of the last 30 days, newest first.
func (a *Architect) lately(ctx context.Context) ([]Earlier, error) {
	list := []Earlier{}
	page, _, err := a.o.Desk.List(ctx, identity.Steward(), changes.Filter{Limit: 100})
	if err != nil {
		return nil, err
	}
	recent := a.o.Now().Add(-quiet)
	for _, p := range page {
		if p.Proposer != changes.ByModel || p.CreatedAt.Before(recent) || len(p.Changes) == 0 || len(list) == maxEarlier {
			continue
		}
		e := Earlier{Workflow: p.Changes[0].Name, Status: string(p.Status), Proposal: clean(p.Justification, 400)}
		if p.Status == changes.Rejected || p.Status == changes.RolledBack {
			if e.Reason, err = a.reason(ctx, p); err != nil {
				return nil, err
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// reason is what a person, or a rule, said when a patch was turned down or
// taken back.
func (a *Architect) reason(ctx context.Context, p changes.Patch) (string, error) {
	view, err := a.o.Desk.Get(ctx, identity.Steward(), p.ID)
	if notThere(err) {
		return "", nil
	}
	for _, e := range view.Events {
		if e.What == string(p.Status) {
			return clean(e.Reason, 400), err
		}
	}
	return "", err
}

// latest is the last moment something is known to have happened to a patch.
func latest(p changes.Patch) time.Time {
	at := p.CreatedAt
	for _, t := range []time.Time{p.DecidedAt, p.AppliedAt} {
		if t.After(at) {
			at = t
		}
	}
	return at
}
