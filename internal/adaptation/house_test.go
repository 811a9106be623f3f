package adaptation_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/adaptation"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/local"
	"liminal/internal/quota"
	"liminal/internal/routing"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/sqlite"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
	"liminal/internal/training"
)

// house is everything that learns over a real store, with the activities of
// runs and the graphs the program ships, and without Temporal: what a run is to
// do next is done at once.
type house struct {
	testing.TB
	store    *store.Store
	library  *artifacts.Library
	desk     *changes.Desk
	steps    *adaptation.Steps
	training *training.Steps // nil: nothing is trained
	data     string          // the shared folder, where something is
	plans    *quota.PlanTable
	set      *activities.Set
	recorder *learning.Recorder
	ann, bob identity.Viewer
	root     identity.Viewer

	mu     sync.Mutex
	now    time.Time
	waits  map[string]*going // patches, by their run
	called []string          // tools, in order
	kept   []string          // what calls gave, as JSON: what a history would hold
	die    func(tool string) bool
	// rowless are the ends of runs whose rows were gone by then.
	rowless []graph.Outcome
}

// going is a run that is under way.
type going struct {
	in    activities.RunInput
	o     activities.Opened
	run   *graph.Run
	asked map[string]string // effects, by their questions
	tally activities.Tally
}

// seeded is the file of a store with everything that ships, made once.
var seeded = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "adaptation")
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

// options are how a house differs from one without a key.
type options struct {
	model model.Model // nil: the one that only quotes
	off   bool
	// postgres is real, with its row-level security.
	postgres bool
	// base is the folder of a model that answers and is trained; trainer trains it.
	base    string
	trainer training.Trainer
	// servers: tools with via.http ask servers, this machine's too.
	servers bool
}

func newHouse(t testing.TB, o options) *house {
	t.Helper()
	h := &house{TB: t, now: time.Now().UTC().Truncate(time.Second), waits: map[string]*going{}}
	var backend routing.Backend
	if o.base != "" {
		h.data = t.TempDir()
		m, err := local.Open(local.Options{Dir: o.base, Root: h.data, Rules: extractive.Model{}, Seed: func() uint64 { return 1 }})
		h.must(err)
		h.Cleanup(func() { _ = m.Close() })
		ours, _ := model.BackendOf("local_lora")
		o.model, backend = m, routing.Backend{Modes: ours.Modes, Max: ours.Max}
	}
	if o.model == nil {
		o.model = extractive.Model{}
	}
	h.store = store.New(h.database(o), store.Options{Now: h.clock})
	specs, err := builtin.Specs()
	h.must(err)
	h.library = artifacts.NewLibrary(h.store, specs)
	if o.postgres {
		h.must(h.library.Seed(t.Context()))
	}
	memory := inproc.New(inproc.Options{})
	h.desk = changes.New(changes.Options{
		Store: h.store, Library: h.library, Recordings: h.store, Now: h.clock,
		Launch: func(_ context.Context, r run.Run) { h.begin(identity.Steward(), r) }, Send: h.send,
	})
	h.steps, err = adaptation.New(adaptation.Options{
		Store: h.store, Library: h.library, Desk: h.desk, Runs: h.store, Encoder: embed.Hash{}, Cache: memory.Cache(),
		Off: o.off, Generative: o.model.Generative(), Trains: o.base != "", Tools: []string{"http.call_v1"}, Now: h.clock, Feedback: learning.NewRecorder(h.store, embed.Hash{}),
	})
	h.must(err)
	h.library.Changed(h.steps.Changed)
	h.library.Refer(h.steps)
	parts := builtin.Parts{Model: o.model, History: h.store, Desk: h.desk, Learning: h.steps}
	if o.servers {
		parts.Servers, parts.Secrets = h.asks(), noSecrets{}
	}
	if o.base != "" {
		h.plans = quota.NewPlanTable(h.store, nil)
		h.must(h.plans.Load(t.Context()))
		h.training, err = training.New(training.Options{
			Store: h.store, Adapters: h.steps, Trainer: o.trainer, Plans: h.plans, Root: h.data, Base: o.base, Untrusted: []string{"web.fetch_v1"}, Now: h.clock,
		})
		h.must(err)
		parts.Training = h.training
	}
	box, err := tool.NewBox(builtin.Tools(parts), tool.Options{})
	h.must(err)
	router := activities.NewRouter(h.library, backend, nil)
	router.Remember(memory.Cache())
	router.Learn(h.steps)
	h.set = &activities.Set{
		Turns: h.store, Messages: h.store, Conversations: h.store, Runs: h.store, Interrupts: h.store, Blobs: h.store, Contexts: h.store,
		Artifacts: h.library, Box: box, Log: memory, Embedder: embed.Hash{}, Router: router, Adapters: h.store, Lessons: h.steps, Now: h.clock,
	}
	h.recorder = learning.NewRecorder(h.store, embed.Hash{})
	h.ann, h.bob = h.person("ann", identity.RoleUser), h.person("bob", identity.RoleUser)
	h.root = h.person("root", identity.RoleAdmin)
	return h
}

// database is an empty one, but for what ships where that is quick.
func (h *house) database(o options) store.DB {
	h.Helper()
	if o.postgres {
		return postgrestest.Open(h, postgrestest.New(h).App, postgres.Options{})
	}
	file := filepath.Join(h.TempDir(), "liminal.db")
	template, err := seeded()
	h.must(err)
	h.must(os.WriteFile(file, template, 0o600))
	db, err := sqlite.Open(h.Context(), file, sqlite.Options{})
	h.must(err)
	h.Cleanup(func() { _ = db.Close() })
	return db
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

// passDatabase goes on past the time of the database's own clock, by which it says from
// when something is to be deleted: on a busy machine that is far ahead.
func (h *house) passDatabase() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now().UTC().Add(time.Second); now.After(h.now) {
		h.now = now
	}
}

func (h *house) person(name string, role identity.Role) identity.Viewer {
	h.Helper()
	u, err := h.store.CreateUser(h.Context(), identity.User{ID: id.New(), Email: name + "@example.org", Handle: name, Role: role, Active: true}, identity.Credential{})
	h.must(err)
	v := u.Viewer(id.New())
	v.Role, v.Locale = role, "en"
	return v
}

// begin opens a run whose row is there and follows it until it has ended or
// waits.
func (h *house) begin(v identity.Viewer, r run.Run) run.Status {
	h.Helper()
	g := h.open(activities.RunInput{RunID: r.ID, Viewer: v, Kind: r.Kind})
	h.waits[r.ID] = g
	return h.end(g)
}

func (h *house) open(in activities.RunInput) *going {
	h.Helper()
	o, err := h.set.Open(h.Context(), in)
	h.must(err)
	tools := graph.Tools{}
	for name, pin := range o.Tools {
		tools[name] = pin.Tool
	}
	parsed, err := graph.Parse(o.Graph, tools, o.Limits())
	h.must(err)
	g := &going{in: in, o: o, asked: map[string]string{}}
	machine, effects := parsed.Start(graph.Input{
		Input: o.Input, Persisted: o.Persisted, Conversation: o.Conversation, User: o.User, Now: h.clock(), Budget: o.Budget,
	})
	g.run = machine
	h.pump(g, effects)
	h.set.ReleaseSlot(in)
	return g
}

// end writes a run's end, if it has ended.
func (h *house) end(g *going) run.Status {
	h.Helper()
	outcome, ended := g.run.Outcome()
	if !ended {
		return run.Waiting
	}
	delete(h.waits, g.in.RunID)
	in := activities.CloseInput{Run: g.in, Opened: g.o, Outcome: outcome, Steps: g.run.Trace(), Tally: g.tally}
	if outcome.Err == nil {
		in.Persist = g.run.Persist()
	}
	result, err := h.set.Close(h.Context(), in)
	if errors.Is(err, fault.NotFound) {
		h.rowless = append(h.rowless, outcome)
		return in.Status()
	}
	h.must(err)
	return result.Status
}

func (h *house) pump(g *going, queue []graph.Effect) {
	h.Helper()
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		switch e.Kind {
		case graph.KindAsk:
			h.ask(g, e)
		case graph.KindWait:
			queue = append(queue, g.run.Done(e.ID, nil, e.Wait.Until)...)
		case graph.KindSpawn:
			queue = append(queue, h.spawn(g, e)...)
		default:
			queue = append(queue, h.call(g, e)...)
		}
	}
}

func (h *house) spawn(g *going, e graph.Effect) []graph.Effect {
	h.Helper()
	h.set.ReleaseSlot(g.in) // it waits for its child
	child := h.open(activities.RunInput{RunID: g.in.RunID, Viewer: g.in.Viewer, Kind: run.KindLearn, Child: &activities.ChildInput{
		Workflow: e.Spawn.Workflow, Inputs: e.Spawn.Inputs, EffectID: e.ID, Budget: e.Spawn.Budget,
		Opened: &activities.Opened{Conversation: g.o.Conversation, User: g.o.User, Scope: g.o.Scope, Models: g.o.Models},
	}})
	outcome, _ := child.run.Outcome()
	if outcome.Err != nil {
		return g.run.Fail(e.ID, *outcome.Err, h.clock())
	}
	return g.run.Done(e.ID, maps.Clone(outcome.Data), h.clock())
}

func (h *house) call(g *going, e graph.Effect) []graph.Effect {
	h.Helper()
	pin := g.o.Tools[e.Call.Tool]
	in := activities.CallInput{
		Run: g.in, Scope: g.o.Scope, Tool: pin.Pin(), Model: pin.Model, Effect: g.in.RunID + e.ID, Node: e.Node, Attempt: e.Attempt,
		Final: e.Call.Final, Inputs: e.Call.Inputs, Resume: e.Call.Resume, Timeout: e.Call.Timeout,
	}
	if pin.Model {
		in.Models, in.Adapters = g.o.Models, g.o.Adapters
	}
	if h.die != nil && h.die(e.Call.Tool) { // the worker dies when the work is done and nobody has heard of it: it is done again
		_, _ = h.set.Call(h.Context(), in)
	}
	out, err := h.set.Call(h.Context(), in)
	if err != nil {
		h.Logf("%s: %v", e.Call.Tool, err)
		return g.run.Fail(e.ID, graph.Failure{Code: string(fault.CodeOf(err)), Message: err.Error()}, h.clock())
	}
	h.called = append(h.called, e.Call.Tool)
	raw, err := json.Marshal([]any{e.Call.Inputs, out.Output})
	h.must(err)
	h.kept = append(h.kept, string(raw))
	g.tally.Usage = g.tally.Usage.Add(model.Usage{Input: 1})
	g.tally.Strange = g.tally.Strange || out.Strange
	if pin.Model {
		g.tally.Lessons = out.Lessons
	}
	if pin.Model {
		g.tally.ModelCalls++
	}
	return g.run.Done(e.ID, out.Output, h.clock())
}

func (h *house) ask(g *going, e graph.Effect) {
	h.Helper()
	q := run.Interrupt{ID: id.New(), RunID: g.in.RunID, EffectID: e.ID, UserID: g.in.Viewer.UserID, Type: e.Ask.Type, Message: e.Ask.Message, ExpiresAt: e.Ask.Expires}
	g.asked[q.ID] = e.ID
	h.must(h.store.Ask(h.Context(), g.in.Viewer, true, q))
}

// send goes on with an answer.
func (h *house) send(ctx context.Context, q run.Interrupt) {
	h.Helper()
	g := h.waits[q.RunID]
	var answer any
	h.must(json.Unmarshal(q.Answer, &answer))
	h.must(h.store.Deliver(ctx, identity.Steward(), q.RunID, q.ID))
	h.pump(g, g.run.Done(g.asked[q.ID], map[string]any{"answer": answer, "expired": q.Status == run.Expired}, h.clock()))
	h.end(g)
}

// turn is a turn of v's from the message to the answer.
func (h *house) turn(v identity.Viewer, message string) turn {
	h.Helper()
	a, err := h.store.Accept(h.Context(), v, chat.NewTurn{Message: message, RequestID: id.New(), NoContext: true, Locale: v.Locale})
	h.must(err)
	if status := h.begin(v, a.Run); status != run.Done {
		h.Fatalf("the turn ended %s", status)
	}
	m, err := h.store.Message(h.Context(), v, chat.AnswerID(a.Run.ID))
	h.must(err)
	return turn{conversation: a.ConversationID, answer: m}
}

type turn struct {
	conversation string
	answer       chat.Message
}

// says gives feedback on an answer.
func (h *house) says(v identity.Viewer, about turn, f learning.Feedback) learning.Event {
	h.Helper()
	f.ConversationID, f.MessageID = about.conversation, about.answer.ID
	e, err := h.recorder.Record(h.Context(), v, f)
	h.must(err)
	return e
}

// learn is a run that learns from v, to its end.
func (h *house) learn(v identity.Viewer) run.Run {
	h.Helper()
	n := strconv.FormatInt(h.clock().UnixNano(), 10)
	r := run.Run{ID: id.New(), WorkflowID: "cluster:" + v.UserID + ":" + n, Kind: run.KindCluster, UserID: v.UserID, Status: run.Running, Input: json.RawMessage(`{}`)}
	h.must(h.store.CreateRun(h.Context(), v, r))
	if status := h.begin(v, r); status != run.Done {
		h.Fatalf("the run that learns ended %s", status)
	}
	ended, err := h.store.Run(h.Context(), v, r.ID)
	h.must(err)
	return ended
}

// lessons are v's lessons.
func (h *house) lessons(v identity.Viewer) []learning.Lesson {
	h.Helper()
	list, err := h.store.ListLessons(h.Context(), v)
	h.must(err)
	return list
}

// adapter is v's adapter of a name, nil where there is none.
func (h *house) adapter(v identity.Viewer, name string) *artifacts.Artifact {
	h.Helper()
	a, err := h.library.Named(h.Context(), v, artifacts.KindAdapter, name)
	if errors.Is(err, fault.NotFound) || err == nil && a.OwnerID != v.UserID {
		return nil
	}
	h.must(err)
	return &a
}

// patches are the changes that were learnt from v, newest first.
func (h *house) patches(v identity.Viewer) []changes.Patch {
	h.Helper()
	list, _, err := h.desk.List(h.Context(), v, changes.Filter{Limit: 100})
	h.must(err)
	return slices.DeleteFunc(list, func(p changes.Patch) bool { return !p.Learned() })
}

// quoting is a model without words of its own that answers each question
// differently, as models do.
type quoting struct{}

func (quoting) Name() string     { return "quoting" }
func (quoting) Generative() bool { return false }
func (quoting) InProcess() bool  { return true }

func (quoting) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	said := req.Messages[len(req.Messages)-1].Content[0].Text
	return func(yield func(model.Event, error) bool) {
		if yield(model.Event{Type: model.TextDelta, Text: said}, nil) {
			yield(model.Event{Type: model.Stop, Reason: model.EndTurn}, nil)
		}
	}
}
