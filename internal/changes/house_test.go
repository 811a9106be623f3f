package changes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// house is a desk over a real store, and an engine that follows the graph of
// patches the program ships, without Temporal: what it is sent, it goes on
// with at once.
type house struct {
	*testing.T
	*changes.Desk
	store   *store.Store
	library *artifacts.Library
	records *records
	limits  *limits
	live    rehearsal.Caller
	longest time.Duration
	box     *tool.Box

	mu   sync.Mutex
	now  time.Time
	runs map[string]*patchRun // by run id
	slow bool                 // patches are launched by hand

	root, eve, pat, ann identity.Viewer // two administrators, a power user, a user
}

type patchRun struct {
	row   run.Run
	graph *graph.Graph
	mu    sync.Mutex // two people may answer at the same moment
	run   *graph.Run
	specs map[string]artifacts.Bound
	asked map[string]string // effect, by the id of its question
}

func (p *patchRun) done(id string, out map[string]any, at time.Time) []graph.Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run.Done(id, out, at)
}

func (p *patchRun) fail(id string, f graph.Failure, at time.Time) []graph.Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run.Fail(id, f, at)
}

func (p *patchRun) outcome() (graph.Outcome, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run.Outcome()
}

// seeded is the file of a store with everything that ships, made once: most of
// a house's time would go into it.
var seeded = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "changes")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "liminal.db")
	db, err := sqlite.Open(context.Background(), name, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	specs, err := builtin.Specs()
	if err == nil {
		err = artifacts.NewLibrary(store.New(db, store.Options{}), specs).Seed(context.Background())
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(name)
})

func newHouse(t *testing.T, change ...func(*house)) *house {
	t.Helper()
	h := &house{T: t, now: time.Now().UTC().Truncate(time.Second), runs: map[string]*patchRun{}, records: &records{}, limits: &limits{}}
	for _, c := range change {
		c(h)
	}
	file := filepath.Join(t.TempDir(), "liminal.db")
	template, err := seeded()
	h.must(err)
	h.must(os.WriteFile(file, template, 0o600))
	db, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	h.must(err)
	t.Cleanup(func() { _ = db.Close() })
	h.store = store.New(db, store.Options{Now: h.clock})
	specs, err := builtin.Specs()
	h.must(err)
	h.library = artifacts.NewLibrary(h.store, specs)
	h.Desk = changes.New(changes.Options{
		Store: h.store, Library: h.library, Recordings: h.records, Limits: h.limits, Now: h.clock,
		Who: func(ctx context.Context, id string) (identity.User, error) {
			u, _, err := h.store.User(ctx, id)
			return u, err
		},
		Launch: func(ctx context.Context, r run.Run) {
			if !h.slow {
				h.launch(ctx, r)
			}
		},
		Send: h.send, Longest: h.longest,
		Live: func(ctx context.Context, userID, name string, inputs map[string]any) (map[string]any, error) {
			return h.live(ctx, userID, name, inputs)
		},
	})
	h.box, err = tool.NewBox(builtin.Tools(builtin.Parts{Desk: h.Desk}), tool.Options{})
	h.must(err)
	h.root, h.eve = h.person("root", identity.RoleAdmin), h.person("eve", identity.RoleAdmin)
	h.pat, h.ann = h.person("pat", identity.RolePower), h.person("ann", identity.RoleUser)
	return h
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatalf("%v %v", err, artifacts.Problems(err))
	}
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(time.Millisecond)
	return h.now
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (h *house) person(name string, role identity.Role) identity.Viewer {
	h.Helper()
	u, err := h.store.CreateUser(h.Context(), identity.User{ID: id.New(), Email: name + "@example.org", Handle: name, Role: role, Active: true}, identity.Credential{})
	h.must(err)
	v := u.Viewer(id.New())
	v.Role = role
	return v
}

// launch follows the graph of patches until it waits for a person.
func (h *house) launch(ctx context.Context, row run.Run) {
	h.Helper()
	v := identity.Steward()
	a, err := h.library.Workflow(ctx, v, "config_patch")
	h.must(err)
	p := &patchRun{row: row, asked: map[string]string{}}
	p.specs, err = h.library.ToolsOf(ctx, v, a.Schema)
	h.must(err)
	p.graph, err = graph.Parse(a.Schema, artifacts.GraphTools(p.specs), artifacts.Limits(v, a, p.specs))
	h.must(err)
	var in map[string]any
	h.must(json.Unmarshal(row.Input, &in))
	h.runs[row.ID] = p
	machine, effects := p.graph.Start(graph.Input{Input: in, Now: h.clock()})
	p.run = machine
	h.pump(ctx, p, effects)
}

func (h *house) pump(ctx context.Context, p *patchRun, queue []graph.Effect) {
	h.Helper()
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		switch e.Kind {
		case graph.KindAsk:
			h.ask(ctx, p, e)
		case graph.KindWait:
			queue = append(queue, p.done(e.ID, nil, e.Wait.Until)...)
		default:
			out, err := h.box.Call(ctx, p.specs[e.Call.Tool].Spec, &tool.Call{Viewer: identity.Steward(), Inputs: e.Call.Inputs})
			if err != nil {
				h.Logf("%s: %v", e.Call.Tool, err)
				queue = append(queue, p.fail(e.ID, graph.Failure{Code: string(fault.CodeOf(err)), Message: err.Error()}, h.clock())...)
				continue
			}
			queue = append(queue, p.done(e.ID, out, h.clock())...)
		}
	}
	if outcome, ended := p.outcome(); ended {
		status := run.Done
		if outcome.Err != nil {
			status = run.Failed
		}
		h.must(h.store.EndRun(ctx, identity.Steward(), p.row.ID, run.End{Status: status}))
	}
}

func (h *house) ask(ctx context.Context, p *patchRun, e graph.Effect) {
	h.Helper()
	q := run.Interrupt{ID: id.New(), RunID: p.row.ID, EffectID: e.ID, UserID: p.row.UserID, Type: e.Ask.Type, Message: e.Ask.Message, ExpiresAt: e.Ask.Expires}
	p.asked[q.ID] = e.ID
	h.must(h.store.Ask(ctx, identity.Steward(), true, q))
}

// send goes on with an answer.
func (h *house) send(ctx context.Context, q run.Interrupt) {
	h.Helper()
	p := h.runs[q.RunID]
	var answer any
	h.must(json.Unmarshal(q.Answer, &answer))
	h.must(h.store.Deliver(ctx, identity.Steward(), q.RunID, q.ID))
	h.pump(ctx, p, p.done(p.asked[q.ID], map[string]any{"answer": answer, "expired": q.Status == run.Expired}, h.clock()))
}

// open are the questions that administrators see.
func (h *house) open() []run.Interrupt {
	h.Helper()
	list, err := h.store.PendingInterrupts(h.Context(), h.root, "")
	h.must(err)
	return list
}

// timeIsUp lets the one open question expire.
func (h *house) timeIsUp() {
	h.Helper()
	open := h.open()
	if len(open) != 1 {
		h.Fatalf("%d questions are open", len(open))
	}
	h.pass(open[0].ExpiresAt.Sub(h.clock()))
	q, err := h.store.Answer(h.Context(), identity.Steward(), open[0].ID, run.Expired, nil)
	h.must(err)
	h.send(h.Context(), q)
}

// create stores an artifact of v's.
func (h *house) create(v identity.Viewer, kind, name, doc string) artifacts.Artifact {
	h.Helper()
	visibility := artifacts.Global
	if v.Role != identity.RoleAdmin {
		visibility = artifacts.Private
	}
	a, err := h.library.Create(h.Context(), v, artifacts.Draft{Type: kind, Name: name, Visibility: visibility, Schema: json.RawMessage(doc)})
	h.must(err)
	return a
}

func (h *house) artifact(v identity.Viewer, id string) artifacts.Artifact {
	h.Helper()
	a, err := h.library.Get(h.Context(), v, id)
	h.must(err)
	return a
}

// patch is what a test proposes.
func patch(a artifacts.Artifact, ops string) changes.Proposal {
	return changes.Proposal{ArtifactID: a.ID, Patch: json.RawMessage(ops), Justification: "because it is better"}
}

func (h *house) propose(v identity.Viewer, p changes.Proposal) changes.View {
	h.Helper()
	made, err := h.Propose(h.Context(), v, p)
	h.must(err)
	return h.look(made.ID)
}

func (h *house) look(id int64) changes.View {
	h.Helper()
	view, err := h.Get(h.Context(), h.root, id)
	h.must(err)
	return view
}

// approved takes a proposal of pat's to where it can be applied.
func (h *house) approved(p changes.Proposal) int64 {
	h.Helper()
	view := h.propose(h.pat, p)
	yes := changes.Decision{Approve: true, Confirm: view.Changes[0].Name}
	_, err := h.Decide(h.Context(), h.root, view.ID, yes)
	h.must(err)
	if view.Needs > 1 {
		_, err = h.Decide(h.Context(), h.eve, view.ID, yes)
		h.must(err)
	}
	return view.ID
}

func (h *house) applied(p changes.Proposal, t changes.RolloutPlan) int64 {
	h.Helper()
	id := h.approved(p)
	_, err := h.Apply(h.Context(), h.root, id, t)
	h.must(err)
	return id
}

// story is a patch's events as words, each with its actor.
func (h *house) story(id int64) []string {
	h.Helper()
	var words []string
	for _, e := range h.look(id).Events {
		words = append(words, e.What+" by "+e.Name)
	}
	return words
}

// states are the checks, as a line.
func states(list []changes.Check) string {
	line := ""
	for _, c := range list {
		line += fmt.Sprintf("%s %s;", c.Name, c.State)
	}
	return line
}

// limits counts what is spent, and can be used up.
type limits struct {
	mu    sync.Mutex
	spent []string
	empty bool
}

func (l *limits) Spend(_ context.Context, r quota.Rule, who string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent = append(l.spent, r.Name)
	if l.empty {
		return fault.New(fault.RateLimited, "Too many of %s by %s.", r.Name, who)
	}
	return nil
}

// records are recordings in memory.
type records struct{ list []run.Recording }

func (r *records) Recordings(_ context.Context, _ identity.Viewer, f run.RecordingFilter) ([]run.Recording, error) {
	var heads []run.Recording
	for _, rec := range slices.Backward(r.list) {
		pin := rec.Graph
		if f.PolicyID != "" {
			pin = rec.Policy
		}
		if pin.ArtifactID == f.GraphID+f.PolicyID && (f.Version == 0 || pin.Version == f.Version) &&
			(f.Since.IsZero() || !rec.At.Before(f.Since)) && (f.Until.IsZero() || rec.At.Before(f.Until)) {
			rec.Body = nil
			heads = append(heads, rec)
		}
	}
	return heads, nil
}

func (r *records) RecordingBodies(_ context.Context, _ identity.Viewer, ids ...string) (map[string][]byte, error) {
	bodies := map[string][]byte{}
	for _, rec := range r.list {
		if slices.Contains(ids, rec.RunID) {
			bodies[rec.RunID] = rec.Body
		}
	}
	return bodies, nil
}

func (r *records) Recording(context.Context, identity.Viewer, string) (run.Recording, error) {
	return run.Recording{}, fault.New(fault.NotFound, "none")
}

func (r *records) ForgetRecordings(context.Context, identity.Viewer, time.Time) (int, error) {
	return 0, nil
}

// record plays messages through a workflow, and keeps what came of each.
func (h *house) record(a artifacts.Artifact, messages ...string) {
	h.Helper()
	tools, err := h.library.ToolsOf(h.Context(), h.root, a.Schema)
	h.must(err)
	g, err := graph.Parse(a.Schema, artifacts.GraphTools(tools), graph.ChatLimits())
	h.must(err)
	for _, message := range messages {
		in := graph.Input{Input: map[string]any{"message": message}, Now: h.clock()}
		rec := rehearsal.Record{Input: in, Outputs: map[string][]rehearsal.Output{}}
		r, queue := g.Start(in)
		for len(queue) > 0 {
			e := queue[0]
			result := map[string]any{"answer": "an answer"}
			out := rehearsal.Output{Kind: rehearsal.OutputCall, Result: result}
			if e.Kind == graph.KindAsk {
				out.Kind, out.Result = rehearsal.OutputAsk, map[string]any{"answer": "yes"}
			} else {
				out.Tool = e.Call.Tool
			}
			rec.Outputs[e.ID] = append(rec.Outputs[e.ID], out)
			rec.Order = append(rec.Order, e.ID)
			queue = append(queue[1:], r.Done(e.ID, out.Result, h.clock())...)
		}
		outcome, _ := r.Outcome()
		rec.Steps, rec.Outcome = r.Trace(), rehearsal.Ending{Response: outcome.Response, Err: outcome.Err}
		body, err := rehearsal.Pack(rec)
		h.must(err)
		h.records.list = append(h.records.list, run.Recording{
			RunID: id.New(), UserID: h.ann.UserID, Kind: run.KindChat, Graph: run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version},
			Status: run.Done, Branch: rehearsal.BranchOf(rec.Steps), At: h.clock(), Body: body,
		})
	}
}
