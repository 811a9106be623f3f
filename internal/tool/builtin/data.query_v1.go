package builtin

import (
	"context"
	"errors"

	"liminal/internal/data"
	"liminal/internal/fault"
	"liminal/internal/tool"
)

// readSource reads a source as the spec it is called as says: it has none of its own,
// so no graph and no model reaches it but through a spec an administrator wrote.
type readSource struct {
	desk   Sources
	people SourcePeople
}

func (readSource) Name() string { return tool.RunnerQuery }

func (t readSource) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	if c.Spec.Via == nil || c.Spec.Via.Query == nil {
		return nil, fault.New(fault.Invalid, "%s is called by tools that read a source.", t.Name())
	}
	q := c.Spec.Via.Query
	if c.Spec.Over == nil || len(c.Spec.Over.Source) == 0 {
		return nil, fault.New(fault.NotFound, "The tool %s reads the source %q, which is not there.", c.Spec.Name, q.Source)
	}
	s, err := data.Decode(c.Spec.Over.Source)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The source %s is not readable.", q.Source)
	}
	viewer, err := t.people.KnownAs(ctx, c.Viewer, s.Viewer)
	if err != nil {
		return nil, err
	}
	asked := q.Of(c.Spec)
	asked.Inputs = c.Inputs
	who := data.Person{Viewer: viewer, ID: c.Viewer.UserID, Tenant: c.Viewer.TenantID, Locale: c.Locale}
	out, err := t.desk.Ask(ctx, s, who, asked)
	if errors.Is(err, data.ErrMissing) {
		return tool.Missing(), nil
	}
	return out, err
}
