// Package artifactstest keeps artifacts in memory for tests, with everything
// that ships.
//
// It may import artifacts and what it imports, and the built-in tools.
package artifactstest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/tool/builtin"
)

// Store is an artifacts.Store in memory with the rules the port states.
type Store struct {
	mu       sync.Mutex
	all      map[string]artifacts.Artifact
	versions map[string][]artifacts.Version
	// Writes is how many versions were written.
	Writes int
}

// NewStore is an empty Store.
func NewStore() *Store {
	return &Store{all: map[string]artifacts.Artifact{}, versions: map[string][]artifacts.Version{}}
}

// clone is a store of its own with the same in it. Documents are not written to,
// and so they are shared.
func (s *Store) clone() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Store{all: maps.Clone(s.all), versions: make(map[string][]artifacts.Version, len(s.versions)), Writes: s.Writes}
	for id, list := range s.versions {
		c.versions[id] = slices.Clone(list)
	}
	return c
}

func sees(v identity.Viewer, a artifacts.Artifact) bool {
	return a.OwnerID == "" || a.OwnerID == v.UserID || v.IsSystem()
}

func (s *Store) CreateArtifact(_ context.Context, _ identity.Viewer, a artifacts.Artifact, note string) (artifacts.Artifact, error) {
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

// Put stores a document as it is, at version 1 where it has none: as a proposal
// stores a draft.
func (s *Store) Put(a artifacts.Artifact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Version = max(a.Version, 1)
	s.put(a, "")
}

func (s *Store) put(a artifacts.Artifact, note string) {
	s.Writes++
	s.all[a.ID] = a
	s.versions[a.ID] = append(s.versions[a.ID], artifacts.Version{
		ArtifactID: a.ID, Version: a.Version, Schema: a.Schema, CreatedBy: a.CreatedBy, ChangeNote: note,
	})
}

func (s *Store) Artifact(_ context.Context, v identity.Viewer, id string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.all[id]
	if !ok || !sees(v, a) {
		return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no such artifact.")
	}
	return a, nil
}

func (s *Store) ArtifactNamed(_ context.Context, v identity.Viewer, kind, name string) (artifacts.Artifact, error) {
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

// ArtifactsNamed implements artifacts.Store.
func (s *Store) ArtifactsNamed(ctx context.Context, v identity.Viewer, kind string, names []string) (map[string]artifacts.Artifact, error) {
	return artifacts.EachNamed(ctx, s, v, kind, names)
}

func (s *Store) ListArtifacts(_ context.Context, v identity.Viewer, f artifacts.Filter) ([]artifacts.Artifact, string, error) {
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

func (s *Store) AppendVersion(_ context.Context, _ identity.Viewer, id string, base int, schema json.RawMessage, by, note string) (artifacts.Artifact, error) {
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

func (s *Store) Versions(ctx context.Context, v identity.Viewer, id string) ([]artifacts.Version, error) {
	if _, err := s.Artifact(ctx, v, id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.versions[id]), nil
}

func (s *Store) VersionOf(ctx context.Context, v identity.Viewer, id string, version int) (artifacts.Version, error) {
	all, err := s.Versions(ctx, v, id)
	if i := slices.IndexFunc(all, func(n artifacts.Version) bool { return n.Version == version }); err == nil && i >= 0 {
		return all[i], nil
	}
	return artifacts.Version{}, cmp.Or(err, error(fault.NotFound))
}

func (s *Store) Seed(_ context.Context, _ identity.Viewer, seeds []artifacts.Seed) error {
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

func (s *Store) global(kind, name string) (artifacts.Artifact, bool) {
	for _, a := range s.all {
		if a.OwnerID == "" && a.Type == kind && a.Name == name {
			return a, true
		}
	}
	return artifacts.Artifact{}, false
}

var _ artifacts.Store = (*Store)(nil)

// seeded is a store with everything that ships, made once: its documents are
// checked, which took more time than most of the tests that want them.
var seeded = sync.OnceValues(func() (*Store, error) {
	specs, err := builtin.Specs()
	if err != nil {
		return nil, err
	}
	store := NewStore()
	return store, artifacts.NewLibrary(store, specs).Seed(context.Background())
})

// Library is a library with everything that ships, and its store, which is a
// copy of one that Seed has filled.
func Library(t testing.TB) (*artifacts.Library, *Store) {
	t.Helper()
	specs, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := seeded()
	if err != nil {
		t.Fatal(err)
	}
	store := shipped.clone()
	return artifacts.NewLibrary(store, specs), store
}

// Shipped is a workflow that ships, by its name.
func Shipped(t testing.TB, name string) json.RawMessage {
	t.Helper()
	library, _ := Library(t)
	a, err := library.Workflow(t.Context(), identity.Viewer{UserID: "ann", Role: identity.RoleUser}, name)
	if err != nil {
		t.Fatal(err)
	}
	return a.Schema
}

// Problems is every problem of a refusal with its check, one a line.
func Problems(err error) string {
	var b strings.Builder
	for _, p := range artifacts.Problems(err) {
		b.WriteString(artifacts.CheckOf(p) + " " + p.Path + ": " + p.Message)
		if p.Hint != "" {
			b.WriteString(" | " + p.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Golden compares what a test got with a file; update writes it there instead.
// The line in which the file says what it proves is no part of it.
func Golden(t testing.TB, file, got string, update bool) {
	t.Helper()
	raw, err := os.ReadFile(file)
	proves, want := "", string(raw)
	if line, rest, more := strings.Cut(want, "\n"); more && strings.HasPrefix(line, "# Requirements:") {
		proves, want = line+"\n", rest // for scripts/requirements
	}
	if update {
		if err := os.WriteFile(file, []byte(proves+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v; run the test with -update and read what it wrote", err)
	}
	if got != want {
		t.Errorf("it is\n%swant\n%s", got, want)
	}
}
