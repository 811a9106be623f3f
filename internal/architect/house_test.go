package architect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"liminal/artifacts"
	"liminal/internal/architect"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// house is an architect among artifacts, recordings and a desk in memory.
type house struct {
	*testing.T
	*architect.Architect
	store   *memStore
	library *artifacts.Library
	desk    *desk
	ran     *recordings
}

func newHouse(t *testing.T, change ...func(*architect.Options)) *house {
	t.Helper()
	ships, err := stock()
	if err != nil {
		t.Fatal(err)
	}
	s := &memStore{all: maps.Clone(ships.all)}
	h := &house{T: t, store: s, library: artifacts.NewLibrary(s, ships.specs), ran: &recordings{bodies: map[string][]byte{}}}
	h.desk = &desk{library: h.library}
	o := architect.Options{Recordings: h.ran, Library: h.library, Desk: h.desk, Now: func() time.Time { return noon }}
	for _, c := range change {
		c(&o)
	}
	if h.Architect, err = architect.New(o); err != nil {
		t.Fatal(err)
	}
	return h
}

// shipped is what every house begins with.
type shipped struct {
	all   map[string]artifacts.Artifact
	specs []tool.Spec
}

// stock checks and stores it once: nobody changes it in place.
var stock = sync.OnceValues(func() (shipped, error) {
	specs, err := builtin.Specs()
	if err != nil {
		return shipped{}, err
	}
	specs = append(specs, testTools()...)
	s := &memStore{all: map[string]artifacts.Artifact{}}
	err = artifacts.NewLibrary(s, specs).Seed(context.Background())
	return shipped{s.all, specs}, err
})

// testTools are a tool that only reads, one that does not, and one that must
// not be reached.
func testTools() []tool.Spec {
	open := json.RawMessage(`{"type":"object"}`)
	spec := func(name string, change func(*tool.Spec)) tool.Spec {
		s := tool.Spec{Kind: "tool.spec", Name: name, Description: "A tool of tests.", InputSchema: open, OutputSchema: open, TimeoutMS: 60_000}
		change(&s)
		return s
	}
	return []tool.Spec{
		spec("test.read_v1", func(s *tool.Spec) { s.ReadOnly = true }),
		spec("test.write_v1", func(*tool.Spec) {}),
		spec("test.short_v1", func(s *tool.Spec) { s.TimeoutMS = 2000 }),
		spec("test.master_v1", func(s *tool.Spec) { s.Privileged = true }),
	}
}

// workflow stores a workflow that is everybody's.
func (h *house) workflow(name, doc string) artifacts.Artifact {
	h.Helper()
	a, err := h.library.Create(h.Context(), identity.System(), artifacts.Draft{
		Type: artifacts.KindWorkflow, Name: name, Visibility: artifacts.Global, Schema: json.RawMessage(doc),
	})
	if err != nil {
		h.Fatalf("%s: %v\n%v", name, err, artifacts.Problems(err))
	}
	if h.store != nil {
		h.store.change(a.ID, func(a *artifacts.Artifact) { a.CreatedBy = "user" })
	}
	return a
}

// does answers an effect of a run, for its i-th run.
type does func(i int, e graph.Effect) rehearsal.Output

// record plays n runs of a workflow's current version and keeps them.
func (h *house) record(a artifacts.Artifact, n int, input map[string]any, answer does) {
	h.Helper()
	tools, err := h.library.ToolsOf(h.Context(), identity.System(), a.Schema)
	if err != nil {
		h.Fatal(err)
	}
	g, err := graph.Parse(a.Schema, artifacts.GraphTools(tools), artifacts.Limits(identity.System(), a, tools))
	if err != nil {
		h.Fatal(err)
	}
	for i := range n {
		h.ran.keep(h, a, play(g, i, input, answer))
	}
}

// play is one run as the machine goes, with what it is answered.
func play(g *graph.Graph, i int, input map[string]any, answer does) rehearsal.Record {
	now := noon.Add(-time.Hour)
	rec := rehearsal.Record{Input: graph.Input{Input: input, Now: now}, Outputs: map[string][]rehearsal.Output{}}
	r, queue := g.Start(rec.Input)
	for ; len(queue) > 0; queue = queue[1:] {
		e := queue[0]
		if e.Kind == graph.KindWait {
			now = e.Wait.Until
			queue = append(queue, r.Done(e.ID, nil, now)...)
			continue
		}
		out := answer(i, e)
		rec.Outputs[e.ID] = append(rec.Outputs[e.ID], out)
		now = now.Add(out.Took)
		if out.Failure != nil {
			queue = append(queue, r.Fail(e.ID, *out.Failure, now)...)
		} else {
			queue = append(queue, r.Done(e.ID, out.Result, now)...)
		}
	}
	rec.Steps = r.Trace()
	o, _ := r.Outcome()
	rec.Outcome = rehearsal.Ending{Response: o.Response, Err: o.Err, Cancelled: o.Cancelled}
	return rec
}

func said(text string) rehearsal.Output {
	return rehearsal.Output{Result: map[string]any{"answer": text}}
}

func failed(code string) rehearsal.Output {
	return rehearsal.Output{Failure: &graph.Failure{Code: code, Message: "It did not work."}, Took: time.Second}
}

// late is a call that used up so much time.
func late(took time.Duration) rehearsal.Output {
	return rehearsal.Output{Failure: &graph.Failure{Code: graph.CodeTimeout, Message: "It took too long."}, Took: took}
}

// recordings are kept runs.
type recordings struct {
	heads  []run.Recording
	bodies map[string][]byte
	asked  int // bodies
}

func (r *recordings) keep(h *house, a artifacts.Artifact, rec rehearsal.Record) {
	h.Helper()
	body, err := rehearsal.Pack(rec)
	if err != nil {
		h.Fatal(err)
	}
	head := run.Recording{
		RunID: fmt.Sprintf("run-%05d", len(r.heads)), UserID: "ann", Kind: run.KindChat, Status: run.Done, CostUSD: 0.01, MS: 100,
		Graph:  run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version},
		Branch: rehearsal.BranchOf(rec.Steps), At: noon.Add(-time.Hour),
	}
	if f := rec.Outcome.Err; f != nil {
		head.Status, head.Node, head.Code = run.Failed, f.Node, f.Code
	}
	r.heads, r.bodies[head.RunID] = append(r.heads, head), body
}

func (r *recordings) Recordings(_ context.Context, v identity.Viewer, f run.RecordingFilter) ([]run.Recording, error) {
	if !v.IsSystem() {
		return nil, fault.New(fault.Forbidden, "Only the system.")
	}
	var list []run.Recording
	for _, h := range slices.Backward(r.heads) {
		if !h.At.Before(f.Since) && len(list) < f.Limit {
			list = append(list, h)
		}
	}
	return list, nil
}

func (r *recordings) RecordingBodies(_ context.Context, _ identity.Viewer, ids ...string) (map[string][]byte, error) {
	r.asked += len(ids)
	found := map[string][]byte{}
	for _, id := range ids {
		if body, ok := r.bodies[id]; ok {
			found[id] = body
		}
	}
	return found, nil
}

func (r *recordings) Recording(context.Context, identity.Viewer, string) (run.Recording, error) {
	return run.Recording{}, fault.New(fault.NotFound, "There is none.")
}

func (r *recordings) ForgetRecordings(context.Context, identity.Viewer, time.Time) (int, error) {
	return 0, nil
}

// desk keeps what is handed in; it checks documents as the library does.
type desk struct {
	library *artifacts.Library
	patches []changes.Patch
	events  map[int64][]changes.Event
	tries   int
	full    bool // no more is taken this hour
	blocks  bool // every rehearsal shows harm
}

func (d *desk) Propose(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Patch, error) {
	a, err := d.library.Get(ctx, v, p.ArtifactID)
	switch {
	case err != nil:
		return changes.Patch{}, err
	case d.full:
		return changes.Patch{}, fault.New(fault.RateLimited, "Too many proposals.")
	case v != identity.Steward():
		return changes.Patch{}, fault.New(fault.Forbidden, "Not the system.")
	}
	patch := changes.Patch{
		ID: int64(len(d.patches) + 1), Proposer: changes.ByModel, UserID: v.UserID, Status: changes.Pending, CreatedAt: noon, Justification: p.Justification,
		Changes: []changes.Change{{ArtifactID: a.ID, Kind: a.Type, Name: a.Name, Base: p.Base, Ops: p.Patch}},
	}
	d.patches = append(d.patches, patch)
	return patch, nil
}

func (d *desk) Try(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Tried, error) {
	d.tries++
	a, err := d.library.Get(ctx, v, p.ArtifactID)
	if err != nil {
		return changes.Tried{}, err
	}
	after, err := applied(a.Schema, p.Patch)
	if err == nil {
		err = d.library.Check(ctx, v, a.Type, after)
	}
	if err != nil {
		problem := artifacts.Problem{Message: err.Error()}
		return changes.Tried{Checks: []changes.Check{{Name: changes.CheckSchema, State: changes.CheckFailed, Problems: []artifacts.Problem{problem}}}}, nil
	}
	if d.blocks {
		return changes.Tried{OK: true, Verdict: rehearsal.Block, Reasons: []string{"Nine runs fail."}, After: []changes.After{{Before: a.Schema, After: after}}}, nil
	}
	return changes.Tried{OK: true, After: []changes.After{{Before: a.Schema, After: after}}}, nil
}

func (d *desk) List(_ context.Context, _ identity.Viewer, f changes.Filter) ([]changes.Patch, string, error) {
	var list []changes.Patch
	for _, p := range slices.Backward(d.patches) {
		if f.ArtifactID == "" || p.Changes[0].ArtifactID == f.ArtifactID {
			list = append(list, p)
		}
	}
	return list, "", nil
}

func (d *desk) Get(_ context.Context, _ identity.Viewer, id int64) (changes.View, error) {
	return changes.View{Patch: d.patches[id-1], Events: d.events[id]}, nil
}

// end settles a patch as a person would.
func (d *desk) end(id int64, s changes.Status, at time.Time, reason string) {
	d.patches[id-1].Status, d.patches[id-1].DecidedAt = s, at
	if d.events == nil {
		d.events = map[int64][]changes.Event{}
	}
	d.events[id] = append(d.events[id], changes.Event{At: at, What: string(s), Reason: reason})
}

func applied(doc, ops json.RawMessage) (json.RawMessage, error) {
	patch, err := jsonpatch.DecodePatch(ops)
	if err != nil {
		return nil, err
	}
	return patch.Apply(doc)
}

// memStore is a store of artifacts in memory.
type memStore struct {
	mu  sync.Mutex
	all map[string]artifacts.Artifact
}

func (s *memStore) CreateArtifact(_ context.Context, _ identity.Viewer, a artifacts.Artifact, _ string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Version = 1
	s.all[a.ID] = a
	return a, nil
}

func (s *memStore) Artifact(_ context.Context, _ identity.Viewer, id string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.all[id]; ok {
		return a, nil
	}
	return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no such artifact.")
}

func (s *memStore) ArtifactsNamed(ctx context.Context, v identity.Viewer, kind string, names []string) (map[string]artifacts.Artifact, error) {
	return artifacts.EachNamed(ctx, s, v, kind, names)
}

func (s *memStore) ArtifactNamed(_ context.Context, _ identity.Viewer, kind, name string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.all {
		if a.Type == kind && a.Name == name {
			return a, nil
		}
	}
	return artifacts.Artifact{}, fault.New(fault.NotFound, "There is no %s %q.", kind, name)
}

func (s *memStore) ListArtifacts(_ context.Context, _ identity.Viewer, f artifacts.Filter) ([]artifacts.Artifact, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []artifacts.Artifact
	for _, a := range s.all {
		if f.Type == "" || a.Type == f.Type {
			list = append(list, a)
		}
	}
	return list, "", nil
}

func (s *memStore) AppendVersion(_ context.Context, _ identity.Viewer, id string, base int, schema json.RawMessage, by, _ string) (artifacts.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.all[id]
	a.Version, a.Schema, a.CreatedBy = base+1, schema, by
	s.all[id] = a
	return a, nil
}

func (s *memStore) Versions(context.Context, identity.Viewer, string) ([]artifacts.Version, error) {
	return nil, nil
}

func (s *memStore) VersionOf(context.Context, identity.Viewer, string, int) (artifacts.Version, error) {
	return artifacts.Version{}, fault.NotFound
}

func (s *memStore) Seed(_ context.Context, _ identity.Viewer, seeds []artifacts.Seed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seed := range seeds {
		key := id.Derive(seed.Type, seed.Name)
		s.all[key] = artifacts.Artifact{ID: key, Type: seed.Type, Name: seed.Name, Visibility: artifacts.Global, Version: 1, Schema: seed.Schema, CreatedBy: "system"}
	}
	return nil
}

// change alters a stored artifact.
func (s *memStore) change(id string, f func(*artifacts.Artifact)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.all[id]
	f(&a)
	s.all[id] = a
}
