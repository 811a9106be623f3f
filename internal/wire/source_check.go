package wire

import (
	"context"
	"errors"
	"slices"

	"liminal/api"
	"liminal/artifacts"
	"liminal/internal/data"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/tool"
	"liminal/schemas"
)

// sourceAdmin is what people and administrators see of sources, and do to them.
type sourceAdmin struct {
	*sources
	library  *artifacts.Library
	surfaces *artifacts.Surfaces
}

var _ api.DataSources = sourceAdmin{}

// List implements api.DataSources.
func (s sourceAdmin) List(ctx context.Context, v identity.Viewer) ([]api.DataSourceInfo, error) {
	var out []api.DataSourceInfo
	filter := artifacts.Filter{Type: artifacts.KindSource, Limit: 100}
	for {
		page, next, err := s.library.List(ctx, v, filter)
		if err != nil {
			return nil, err
		}
		for _, a := range page {
			d, err := data.Decode(a.Schema)
			if err != nil || a.IsDraft() || slices.ContainsFunc(out, func(o api.DataSourceInfo) bool { return o.Name == a.Name }) {
				continue
			}
			set, err := s.HasSecret(ctx, d.Secret)
			if err != nil {
				return nil, err
			}
			shows, err := s.shows(ctx, v, d)
			if err != nil {
				return nil, err
			}
			out = append(out, api.DataSourceInfo{Shows: shows, Name: a.Name, Title: d.Title.In(v.Locale), Driver: d.Driver, Secret: d.Secret, SecretSet: set, Entities: d.Entities})
		}
		if next == "" {
			return out, nil
		}
		filter.Cursor = next
	}
}

// shows is how the results of the tools are told that a source's entities name.
func (s sourceAdmin) shows(ctx context.Context, v identity.Viewer, d data.Source) (map[string][]tool.Shown, error) {
	var names []string
	for _, e := range d.Entities {
		names = append(names, e.Detail, e.List)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	bound, err := s.library.Tools(ctx, v, names...)
	shows := make(map[string][]tool.Shown, len(bound))
	for name, b := range bound {
		shows[name] = b.Shows
	}
	return shows, err
}

// SetSecret implements api.DataSources.
func (s sourceAdmin) SetSecret(ctx context.Context, v identity.Viewer, name, secret string) error {
	if !v.IsAdmin() {
		return fault.New(fault.Forbidden, "Only administrators set the secrets of sources.")
	}
	d, err := s.library.Source(ctx, v, name)
	if err != nil {
		return err
	}
	defer s.surfaces.Forget() // those that read it may be there now, or gone
	return s.sources.SetSecret(ctx, v, d.Secret, secret)
}

// Check implements api.DataSources.
func (s sourceAdmin) Check(ctx context.Context, v identity.Viewer, name string, as []string) (data.Report, error) {
	if !v.IsAdmin() {
		return data.Report{}, fault.New(fault.Forbidden, "Only administrators check sources.")
	}
	d, err := s.library.Source(ctx, v, name)
	if err != nil {
		return data.Report{}, err
	}
	people, err := s.asked(ctx, v, d, as)
	if err != nil {
		return data.Report{}, err
	}
	specs, err := s.library.Specs(ctx, v)
	if err != nil {
		return data.Report{}, err
	}
	var attempts []data.Attempt
	for _, b := range specs {
		if b.Via != nil && b.Via.Query != nil && b.Via.Query.Source == name {
			attempts = append(attempts, attemptOf(b.Spec))
		}
	}
	return s.Desk.Check(ctx, d, people, attempts)
}

// asked are the people a check is made as: those named, else two who have
// accounts.
func (s sourceAdmin) asked(ctx context.Context, v identity.Viewer, d data.Source, as []string) ([]data.Person, error) {
	var people []data.Person
	for _, viewer := range as {
		people = append(people, data.Person{Viewer: viewer, ID: viewer, Locale: v.Locale})
	}
	if len(people) > 0 {
		return people, nil
	}
	if a := d.Viewer.Aliases; a != nil {
		return []data.Person{{Viewer: a.First, ID: v.UserID}, {Viewer: a.Others, ID: v.UserID}}, nil
	}
	users, _, err := s.store.ListUsers(ctx, identity.UserFilter{State: "active", Limit: 2})
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		known, err := s.KnownAs(ctx, u.Viewer(""), d.Viewer)
		if errors.Is(err, fault.Forbidden) {
			continue
		}
		if err != nil {
			return nil, err
		}
		people = append(people, data.Person{Viewer: known, ID: u.ID, Tenant: u.TenantID, Locale: u.Locale})
	}
	return people, nil
}

// attemptOf is a tool with the inputs of its first example that gives them all.
func attemptOf(spec tool.Spec) data.Attempt {
	t := data.Attempt{Query: spec.Via.Query.Of(spec)}
	for _, e := range spec.Examples {
		inputs, whole := map[string]any{}, true
		for name, v := range e.Inputs {
			if v != nil {
				inputs[name] = v
			} else if slices.Contains(spec.Required(), name) {
				whole = false
			}
		}
		if whole {
			t.Inputs = inputs
			break
		}
	}
	t.Fits = func(ctx context.Context, out map[string]any) error {
		compiled, err := schemas.Compile(spec.OutputSchema)
		if err != nil {
			return err
		}
		faults, err := compiled.Check(ctx, out)
		if err == nil && len(faults) > 0 {
			return errors.New("the result does not fit the tool's output schema: " + faults[0].String())
		}
		return err
	}
	return t
}
