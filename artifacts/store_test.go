package artifacts_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"sync"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/tool/builtin"
)

// memStore is a Store in memory with the rules the port states.
type memStore struct {
	mu       sync.Mutex
	all      map[string]artifacts.Artifact
	versions map[string][]artifacts.Version
	writes   int
}

func newMemStore() *memStore {
	return &memStore{all: map[string]artifacts.Artifact{}, versions: map[string][]artifacts.Version{}}
}

func sees(v identity.Viewer, a artifacts.Artifact) bool {
	return a.OwnerID == "" || a.OwnerID == v.UserID || v.IsSystem()
}

func (s *memStore) CreateArtifact(_ context.Context, _ identity.Viewer, a artifacts.Artifact, note string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.all {
		if other.OwnerID == a.OwnerID && other.Type == a.Type && other.Name == a.Name {
			return artifacts.Artifact{}, fault.New(fault.Conflict, "The name %s is taken.", a.Name)
		}
	}
	a.Version = 1
	s.put(a, note)
	return a, nil
}

func (s *memStore) put(a artifacts.Artifact, note string) {
	s.writes++
	s.all[a.ID] = a
	s.versions[a.ID] = append(s.versions[a.ID], artifacts.Version{
		ArtifactID: a.ID, Version: a.Version, Schema: a.Schema, CreatedBy: a.CreatedBy, ChangeNote: note,
	})
}

func (s *memStore) Artifact(_ context.Context, v identity.Viewer, id string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.all[id]
	if !ok || !sees(v, a) {
		return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no such artifact.")
	}
	return a, nil
}

func (s *memStore) ArtifactNamed(_ context.Context, v identity.Viewer, kind, name string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *artifacts.Artifact
	for _, a := range s.all {
		if a.Type == kind && a.Name == name && (a.OwnerID == "" || a.OwnerID == v.UserID) {
			if found == nil || found.OwnerID == "" {
				found = &a
			}
		}
	}
	if found == nil {
		return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no %s %q.", kind, name)
	}
	return *found, nil
}

func (s *memStore) ListArtifacts(_ context.Context, v identity.Viewer, f artifacts.Filter) ([]artifacts.Artifact, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page []artifacts.Artifact
	for _, a := range s.all {
		if sees(v, a) && (f.Type == "" || a.Type == f.Type) && (f.Visibility == "" || a.Visibility == f.Visibility) {
			page = append(page, a)
		}
	}
	sort.Slice(page, func(i, j int) bool { return page[i].ID < page[j].ID })
	from, _ := strconv.Atoi(f.Cursor)
	limit := max(f.Limit, 1)
	page = page[min(from, len(page)):]
	if len(page) > limit {
		return page[:limit], strconv.Itoa(from + limit), nil
	}
	return page, "", nil
}

func (s *memStore) AppendVersion(_ context.Context, _ identity.Viewer, id string, base int, schema json.RawMessage, by, note string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.all[id]
	if a.Version != base {
		return artifacts.Artifact{}, fault.New(fault.Conflict, "The version moved.")
	}
	a.Version, a.Schema, a.CreatedBy = base+1, schema, by
	s.put(a, note)
	return a, nil
}

func (s *memStore) Versions(ctx context.Context, v identity.Viewer, id string) ([]artifacts.Version, error) {
	if _, err := s.Artifact(ctx, v, id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.versions[id]), nil
}

func (s *memStore) VersionOf(ctx context.Context, v identity.Viewer, id string, version int) (artifacts.Version, error) {
	all, err := s.Versions(ctx, v, id)
	if i := slices.IndexFunc(all, func(n artifacts.Version) bool { return n.Version == version }); err == nil && i >= 0 {
		return all[i], nil
	}
	return artifacts.Version{}, cmp.Or(err, error(fault.NotFound))
}

func (s *memStore) Seed(_ context.Context, _ identity.Viewer, seeds []artifacts.Seed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seed := range seeds {
		a, ok := s.global(seed.Type, seed.Name)
		switch {
		case !ok:
			s.put(artifacts.Artifact{
				ID: id.Derive(seed.Type, seed.Name), Type: seed.Type, Name: seed.Name, Description: seed.Description,
				Visibility: artifacts.Global, Version: 1, Schema: seed.Schema, CreatedBy: "system",
			}, "")
		case a.CreatedBy == "system" && !bytes.Equal(a.Schema, seed.Schema):
			a.Version++
			a.Schema = seed.Schema
			s.put(a, "")
		}
	}
	return nil
}

func (s *memStore) global(kind, name string) (artifacts.Artifact, bool) {
	for _, a := range s.all {
		if a.OwnerID == "" && a.Type == kind && a.Name == name {
			return a, true
		}
	}
	return artifacts.Artifact{}, false
}

var _ artifacts.Store = (*memStore)(nil)

var (
	ann   = identity.Viewer{UserID: "ann", Role: identity.RoleUser}
	bob   = identity.Viewer{UserID: "bob", Role: identity.RoleUser}
	admin = identity.Viewer{UserID: "root", Role: identity.RoleAdmin}
)

// stocked is a library with everything that ships.
func stocked(t testing.TB) (*artifacts.Library, *memStore) {
	t.Helper()
	specs, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	store := newMemStore()
	library := artifacts.NewLibrary(store, specs)
	if err := library.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	return library, store
}
