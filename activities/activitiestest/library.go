package activitiestest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

type library struct{ w *World }

func (l library) Workflow(_ context.Context, _ identity.Viewer, name string) (artifacts.Artifact, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	doc, ok := l.w.Workflows[name]
	if !ok || l.w.Hidden[name] {
		return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no workflow %q that you may use.", name)
	}
	a := artifacts.Artifact{ID: id.Derive("workflow", name), Type: artifacts.KindWorkflow, Name: name, Version: l.w.Version, Schema: json.RawMessage(doc)}
	if l.w.Own {
		a.OwnerID = Viewer.UserID
	}
	return a, nil
}

// ResolveVersion draws as the real library does, for the workflows of the world.
func (l library) ResolveVersion(ctx context.Context, v identity.Viewer, a artifacts.Artifact, key string) (artifacts.Artifact, error) {
	l.w.mu.Lock()
	a.Rollout = l.w.Rollout
	doc, there := l.w.Old[a.Name]
	l.w.mu.Unlock()
	if a.Rollout == nil || a.Type != artifacts.KindWorkflow || !there {
		return a, nil
	}
	store := memStore{old: artifacts.Version{ArtifactID: a.ID, Version: a.Rollout.From, Schema: json.RawMessage(doc)}, now: a}
	return artifacts.NewLibrary(store, nil).ResolveVersion(ctx, v, a, key)
}

// memStore is as much of a store as a draw of versions needs.
type memStore struct {
	artifacts.Store
	old artifacts.Version
	now artifacts.Artifact
}

func (s memStore) Artifact(context.Context, identity.Viewer, string) (artifacts.Artifact, error) {
	return s.now, nil
}

func (s memStore) Versions(context.Context, identity.Viewer, string) ([]artifacts.Version, error) {
	return []artifacts.Version{s.old}, nil
}

func (s memStore) VersionOf(_ context.Context, _ identity.Viewer, _ string, version int) (artifacts.Version, error) {
	if s.old.Version != version {
		return artifacts.Version{}, fault.NotFound
	}
	return s.old, nil
}

func (l library) Get(ctx context.Context, v identity.Viewer, name string) (artifacts.Artifact, error) {
	if a, ok := l.w.current()[name]; ok {
		return a, nil
	}
	return l.Workflow(ctx, v, name)
}

func (l library) At(_ context.Context, _ identity.Viewer, name string, version int) (artifacts.Artifact, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	for _, a := range l.w.Others {
		if a.ID == name && a.Version == version {
			return a, nil
		}
	}
	return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no %s at version %d.", name, version)
}

// Policy makes the library a place to route by.
func (l library) Policy(context.Context, identity.Viewer) (artifacts.Artifact, error) {
	for _, a := range l.w.current() {
		if a.Type == artifacts.KindPolicy {
			return a, nil
		}
	}
	return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no policy.")
}

func (l library) Models(context.Context, identity.Viewer) ([]artifacts.Artifact, error) {
	var own, all []artifacts.Artifact
	for _, a := range l.w.current() {
		switch {
		case a.Type != artifacts.KindModels:
		case a.OwnerID == Viewer.UserID:
			own = append(own, a)
		case a.OwnerID == "":
			all = append(all, a)
		}
	}
	return append(own, all...), nil
}

// Apply makes a document the next version of a workflow, in the middle of a run
// too.
func (w *World) Apply(name, doc string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Workflows[name] = doc
	w.Version++
}

// Put puts a version of an artifact into the store, in the middle of a run too.
func (w *World) Put(a artifacts.Artifact) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Others = append(w.Others, a)
}

func (w *World) current() map[string]artifacts.Artifact {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]artifacts.Artifact{}
	for _, a := range w.Others {
		out[a.ID] = a
	}
	return out
}

func (l library) Tools(_ context.Context, _ identity.Viewer, names ...string) (map[string]artifacts.Bound, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	out := map[string]artifacts.Bound{}
	if slices.Contains(names, "*") {
		names = slices.Collect(maps.Keys(l.w.Tools))
	}
	for _, name := range names {
		if spec, ok := l.w.Tools[name]; ok {
			out[name] = artifacts.Bound{Spec: spec, ArtifactID: id.Derive("tool", name), Version: l.w.Version}
		}
	}
	return out, nil
}

func (l library) ToolsOf(ctx context.Context, v identity.Viewer, _ json.RawMessage) (map[string]artifacts.Bound, error) {
	names := make([]string, 0, len(l.w.Tools))
	for name := range l.w.Tools {
		names = append(names, name)
	}
	return l.Tools(ctx, v, names...)
}

// Standing is Forbidden for the tools that were taken back.
func (l library) Standing(_ context.Context, _ identity.Viewer, pins ...run.Pin) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	for _, pin := range pins {
		if l.w.Hidden[pin.Name] {
			return fault.New(fault.Forbidden, "The tool %s was taken back since this run began: nothing is done with it.", pin.Name)
		}
	}
	return nil
}

func (l library) SpecAt(_ context.Context, _ identity.Viewer, pin run.Pin, _ ...run.Pin) (artifacts.Bound, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	spec, ok := l.w.Tools[pin.Name]
	if !ok {
		return artifacts.Bound{}, fault.New(fault.NotFound, "There is no tool %q.", pin.Name)
	}
	return artifacts.Bound{Spec: spec, ArtifactID: pin.ArtifactID, Version: pin.Version}, nil
}
