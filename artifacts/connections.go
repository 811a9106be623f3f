package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"liminal/internal/check"
	"liminal/internal/connect"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// Connection finds a connection.spec by name, as the viewer may use it now: it is
// pinned to no run, so that what an administrator takes back is taken back at once.
func (l *Library) Connection(ctx context.Context, v identity.Viewer, name string) (connect.Spec, error) {
	a, err := l.usable(ctx, v, KindConnection, name)
	if err != nil {
		return connect.Spec{}, err
	}
	if a.OwnerID != "" { // one of a person's own would have their token go where they say
		if a, err = l.usable(ctx, identity.System(), KindConnection, name); err != nil {
			return connect.Spec{}, err
		}
	}
	s, err := connect.Decode(a.Schema)
	if err != nil {
		return s, fault.Wrap(fault.Internal, err, "The connection.spec %s is not readable.", name)
	}
	return s, nil
}

// Standing is NotFound once the tool of a pin, or what it stands on, is a draft or
// gone: a run that waited for days does nothing outside with a tool that somebody
// has taken back since.
func (l *Library) Standing(ctx context.Context, v identity.Viewer, pins ...run.Pin) error {
	for _, pin := range pins {
		a, err := l.store.Artifact(ctx, v, pin.ArtifactID)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		if err != nil || a.IsDraft() {
			return fault.New(fault.Forbidden, "The tool %s was taken back since this run began: nothing is done with it.", pin.Name)
		}
	}
	return nil
}

// connection checks a connection.spec.
func (c *checking) connection() {
	if !c.v.IsAdmin() {
		c.add(check.Limits, "", "ask an administrator", "only administrators write a connection.spec: it says where people's tokens go")
	}
	if s, err := connect.Decode(c.doc); err == nil { // else the schema has said so
		c.merge(s.Faults())
	}
}

// connected checks the connection that a request names, and its address.
func (c *checking) connected(at, atURL, name, address string) {
	doc, ships, err := c.shipped(KindConnection, name)
	var s connect.Spec
	switch {
	case err != nil:
	case ships:
		s, err = connect.Decode(doc)
	default:
		s, err = c.library.Connection(c.ctx, c.v, name)
	}
	switch {
	case errors.Is(err, fault.NotFound):
		c.add(check.References, at, "write the name of a connection.spec", "there is no connection %q", name)
	case err != nil:
		c.err = err
	case !s.Reaches(address):
		c.add(check.Limits, atURL, "name one of its origins", "the connection %q is for other hosts", name)
	}
}

// shipped is what ships with the program under a name, where what refers to it
// ships too: that is checked as it ships. An administrator may have turned a
// connection to another server, or a source to other relations, and the program
// starts all the same. A run that finds it so is told then.
func (c *checking) shipped(kind, name string) (doc json.RawMessage, ships bool, err error) {
	if !c.v.IsSystem() {
		return nil, false, nil
	}
	seeds, err := defaults()
	at := slices.IndexFunc(seeds, func(s Seed) bool { return s.Type == kind && s.Name == name })
	if err != nil || at < 0 {
		return nil, false, err
	}
	return seeds[at].Schema, true, nil
}
