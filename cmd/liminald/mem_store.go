package main

import (
	"context"
	"encoding/json"
	"slices"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/tool"
)

// memStore keeps artifacts in memory while files are checked against each other.
// Nobody but the system looks at it, so it knows no owners; it is written
// before it is read.
type memStore struct{ all []artifacts.Artifact }

var _ artifacts.Store = (*memStore)(nil)

// put adds a document under a name, or replaces the one there is. A tool spec
// that cannot be read is left out: others would stumble over it, and its own
// check tells what is wrong.
func (s *memStore) put(kind, name string, doc json.RawMessage) {
	if _, err := tool.Decode(doc); kind == artifacts.KindTool && err != nil {
		return
	}
	a := artifacts.Artifact{
		ID: id.Derive(kind, name), Type: kind, Name: name, Schema: doc,
		Visibility: artifacts.Global, Version: 1, CreatedBy: "system",
	}
	s.all = slices.DeleteFunc(s.all, func(b artifacts.Artifact) bool { return b.ID == a.ID })
	s.all = append(s.all, a)
}

func (s *memStore) find(match func(artifacts.Artifact) bool) (artifacts.Artifact, error) {
	if i := slices.IndexFunc(s.all, match); i >= 0 {
		return s.all[i], nil
	}
	return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no such artifact.")
}

// Artifact finds by id.
func (s *memStore) Artifact(_ context.Context, _ identity.Viewer, id string) (artifacts.Artifact, error) {
	return s.find(func(a artifacts.Artifact) bool { return a.ID == id })
}

// ArtifactNamed finds by kind and name.
func (s *memStore) ArtifactNamed(_ context.Context, _ identity.Viewer, kind, name string) (artifacts.Artifact, error) {
	return s.find(func(a artifacts.Artifact) bool { return a.Type == kind && a.Name == name })
}

// ArtifactsNamed finds several by kind and name.
func (s *memStore) ArtifactsNamed(ctx context.Context, v identity.Viewer, kind string, names []string) (map[string]artifacts.Artifact, error) {
	return artifacts.EachNamed(ctx, s, v, kind, names)
}

// ListArtifacts gives everything of a kind on one page.
func (s *memStore) ListArtifacts(_ context.Context, _ identity.Viewer, f artifacts.Filter) ([]artifacts.Artifact, string, error) {
	var page []artifacts.Artifact
	for _, a := range s.all {
		if f.Type == "" || a.Type == f.Type {
			page = append(page, a)
		}
	}
	return page, "", nil
}

// Seed puts the defaults into the store.
func (s *memStore) Seed(_ context.Context, _ identity.Viewer, seeds []artifacts.Seed) error {
	for _, seed := range seeds {
		s.put(seed.Type, seed.Name, seed.Schema)
	}
	return nil
}

// Versions, CreateArtifact and AppendVersion complete the port; checking
// writes nothing and looks at no history.
func (s *memStore) Versions(context.Context, identity.Viewer, string) ([]artifacts.Version, error) {
	return nil, errShelf()
}

// VersionOf: see Versions.
func (s *memStore) VersionOf(context.Context, identity.Viewer, string, int) (artifacts.Version, error) {
	return artifacts.Version{}, errShelf()
}

// CreateArtifact: see Versions.
func (s *memStore) CreateArtifact(context.Context, identity.Viewer, artifacts.Artifact, string) (artifacts.Artifact, error) {
	return artifacts.Artifact{}, errShelf()
}

// AppendVersion: see Versions.
func (s *memStore) AppendVersion(context.Context, identity.Viewer, string, int, json.RawMessage, string, string) (artifacts.Artifact, error) {
	return artifacts.Artifact{}, errShelf()
}

func errShelf() error {
	return fault.New(fault.Internal, "Nothing is written while files are checked.")
}
