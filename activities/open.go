package activities

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/run"
	"liminal/internal/telemetry"
	"liminal/internal/tool"
)

// Open finds the graph a run is to follow with everything it may need, and
// pins it: what is edited later does not alter this run (PLAT-08).
func (s *Set) Open(ctx context.Context, in RunInput) (Opened, error) {
	if err := local(ctx); err != nil {
		return Opened{}, err
	}
	ctx = telemetry.WithRun(ctx, in.RunID, "")
	if err := s.awaitSlot(ctx, in); err != nil {
		return Opened{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if in.Child != nil {
		return s.openChild(ctx, in)
	}
	row, err := s.Runs.Run(ctx, in.Viewer, in.RunID)
	if err != nil {
		return Opened{}, err
	}
	if row.Status.Ended() {
		// Whoever reaches Temporal can start again what has ended, as it was.
		return Opened{}, fault.New(fault.Conflict, "The run %s has ended.", row.ID)
	}
	o := opening{set: s, in: in, row: row, at: s.now(), out: Opened{MaxEffects: s.MaxEffects}}
	if err := o.chosenBackend(ctx); err != nil {
		return Opened{}, err
	}
	switch in.Kind {
	case run.KindChat:
		err = o.chat(ctx)
	case run.KindIngest:
		err = o.ingest(ctx)
	case run.KindTool:
		err = o.tool(ctx)
	case run.KindGraph:
		err = o.graph(ctx)
	case run.KindPatch:
		err = o.house(ctx, workflowPatch)
	case run.KindArchitect:
		err = o.house(ctx, workflowArchitect)
	case run.KindCluster:
		err = o.learning(ctx, workflowCluster)
	case run.KindTrain:
		err = o.learning(ctx, workflowTrain)
	case run.KindPalace:
		err = o.palace(ctx)
	default:
		err = fault.New(fault.Invalid, "There is no kind of run %q.", in.Kind)
	}
	if err == nil {
		err = errors.Join(o.models(ctx), o.profile(ctx))
	}
	if err != nil {
		return Opened{}, err
	}
	o.out.RequestID, o.out.ConversationID = row.RequestID, row.ConversationID
	if in.Kind == run.KindChat {
		// A turn is over in milliseconds or it asks: Close or Ask writes the
		// pins, and the turn is spared a transaction. Until then the history
		// has them.
		return o.out, nil
	}
	return o.out, s.Runs.OpenRun(ctx, in.Viewer, in.RunID, o.out.Pins)
}

// openChild opens a run another one spawned: its own graph, its parent's
// conversation.
func (s *Set) openChild(ctx context.Context, in RunInput) (Opened, error) {
	o := opening{set: s, in: in, at: s.now()}
	if in.Child.Opened != nil {
		o.out = *in.Child.Opened
		o.out.Pins, o.out.MaxEffects = nil, s.MaxEffects
	}
	o.out.Input = in.Child.Inputs
	open := o.pin
	if in.Kind == run.KindLearn {
		open = o.learning
	}
	if err := open(ctx, in.Child.Workflow); err != nil {
		return Opened{}, err
	}
	o.out.Budget = childBudget(in.Child)
	return o.out, errors.Join(o.models(ctx), o.profile(ctx))
}

// openTime bounds one attempt at opening a run, once it has its turn.
const openTime = 10 * time.Second

const (
	// storeLimit is how long a store that is down is waited for before a run has
	// begun; once it has, its end waits as long as it takes.
	storeLimit = time.Minute
	// turnLimit is how long a run that waits for its turn may take to open.
	turnLimit = time.Hour
)

// OpenLimit is how long the run may take to open, with all attempts.
func (in RunInput) OpenLimit() time.Duration {
	if in.Queued {
		return turnLimit + storeLimit
	}
	return storeLimit
}

// childBudget is what a child's parent gave it. One that was begun before there
// were budgets gave none: its children get little, so that no tree grows on
// without bounds.
func childBudget(c *ChildInput) *graph.Budget {
	if c.Budget != nil {
		return c.Budget
	}
	b := graph.ChatBudget()
	b.Runs, b.Depth = 100, 2
	return &b
}

// opening is the work of one Open.
type opening struct {
	set *Set
	in  RunInput
	row run.Run
	at  time.Time // when the last stage ended
	job bool      // nobody waits with open eyes, whatever the graph calls

	routed    RoutedBackend        // what the routing policy says of the model backend
	chosen    string               // the model backend the person chose; empty: none
	elsewhere bool                 // a model of the run is asked over the network
	asked     bool                 // found are
	found     []artifacts.Artifact // the policies of models
	out       Opened
}

// stage records that a stage of the read path is done (PLAT-12).
func (o *opening) stage(name, note string) {
	now := o.set.now()
	o.out.Path = append(o.out.Path, run.TraceStage{Name: name, MS: now.Sub(o.at).Milliseconds(), Note: note, Memory: memories[name]})
	o.at = now
}

// memories are which memory a stage reads (PLAT-13).
var memories = map[string]string{"conversation": "working", "contexts": "factual", "route": "behavioural", "workflow": "config"}

// pin fixes a workflow artifact and its tools at their current versions.
func (o *opening) pin(ctx context.Context, workflow string) error {
	a, err := o.set.Artifacts.Workflow(ctx, o.in.Viewer, workflow)
	if err != nil {
		return err
	}
	return o.follow(ctx, a)
}

// key is by what a run takes its versions of artifacts that are being rolled
// out: its conversation, which keeps to one of them, or itself. A child's is its
// parent's.
func (o *opening) key() string {
	return cmp.Or(o.row.ConversationID, o.out.ConversationID, o.in.RunID)
}

// follow makes a workflow the run's.
func (o *opening) follow(ctx context.Context, a artifacts.Artifact) error {
	a, err := o.set.Artifacts.ResolveVersion(ctx, o.in.Viewer, a, o.key())
	if err != nil {
		return err
	}
	bound, err := o.set.Artifacts.ToolsOf(ctx, o.in.Viewer, a.Schema)
	if err == nil {
		err = o.backend(ctx, a, bound)
	}
	if err != nil {
		return err
	}
	// The workflow's pin comes first: it is the one a run is listed by.
	o.out.Pins = slices.Insert(o.out.Pins, 0, run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version})
	o.out.Owned = a.OwnerID != ""
	o.bind(a, bound)
	return nil
}

// bind makes a graph and its tools the run's.
func (o *opening) bind(a artifacts.Artifact, bound map[string]artifacts.Bound) {
	limits := artifacts.Limits(o.in.Viewer, a, bound)
	o.out.Graph, o.out.Privileged = a.Schema, limits.Privileged
	o.out.Job = o.job || limits.MaxRun > graph.ChatLimits().MaxRun
	b := graph.ChatBudget()
	if o.out.Job {
		b = graph.JobBudget()
	}
	o.out.Budget = &b
	o.out.Speech = 0 // of a child whose parent's models speak
	o.out.Tools = make(map[string]ToolPin, len(bound))
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		p := o.toolPin(bound[name])
		if p.Speaks {
			o.out.Speech = o.set.MaxDecode(o.in.Viewer.Plan)
		}
		o.out.Tools[name] = p
		o.out.Pins = append(append(o.out.Pins, p.Pin()), p.Under...)
	}
	o.out.Digest = digest(&o.out)
}

func (o *opening) toolPin(b artifacts.Bound) ToolPin {
	p := ToolPin{
		Tool: b.Graph(), ArtifactID: b.ArtifactID, Version: b.Version,
		Runs: b.Where(), Model: b.On() == tool.QueueModels, Plain: b.Plain, Under: b.Under,
	}
	p.Inputs = nil // for whoever writes a graph; a history has none
	p.Absent = b.Workflow == "" && !o.set.Box.Has(b.Runner())
	if p.Model && o.inProcess() && !b.IsJob() {
		p.Runs = tool.Inline // the queue and the heartbeat are for what leaves the process
	}
	if p.Runs == tool.Activity {
		p.Apart, p.Shared, p.Queue = true, b.IsJob(), o.set.Queues[b.On()]
	}
	if p.Model {
		p.LateRetries = 1 // LORA-25
	}
	p.Acts, p.Changes = b.ActsOnce() && p.Runs == tool.Activity && o.set.Acts != nil, !b.ReadOnly && !b.Plain && !p.Model
	p.Speaks = p.Model && p.Runs == tool.Activity && o.set.MaxDecode != nil
	return p
}

// models pins the policies that choose models, where one may speak. A child
// keeps to its parent's.
func (o *opening) models(ctx context.Context) error {
	speaks := false
	for _, p := range o.out.Tools {
		speaks = speaks || p.Model
	}
	if !speaks || len(o.out.Models) > 0 {
		return nil
	}
	policies, err := o.policies(ctx)
	if err != nil {
		return err
	}
	for _, a := range policies {
		o.out.Models = append(o.out.Models, run.Pin{ArtifactID: a.ID, Name: a.Name, Version: a.Version})
	}
	o.out.Pins = append(o.out.Pins, o.out.Models...)
	return nil
}

// digest names what a parsed graph depends on.
func digest(o *Opened) string {
	h := sha256.New()
	h.Write(o.Graph)
	// Tools marshals with sorted keys, so the same pins give the same digest.
	raw, _ := json.Marshal(o.Tools)
	h.Write(raw)
	raw, _ = json.Marshal([]bool{o.Job, o.Privileged})
	h.Write(raw)
	if o.Speech > 0 {
		h.Write([]byte(o.Speech.String()))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// user is what a graph may read of the person.
func (o *opening) user() map[string]any {
	v := o.in.Viewer
	return map[string]any{"id": v.UserID, "plan": v.Plan, "locale": o.out.Locale}
}

// profile tells a graph that asks for it what the person's line of business is
// and where they are (TOOL-13): user.industry and user.location, without a value
// where they did not say.
func (o *opening) profile(ctx context.Context) error {
	if err := o.person(ctx); err != nil {
		return err
	}
	asks := bytes.Contains(o.out.Graph, []byte("user.industry")) || bytes.Contains(o.out.Graph, []byte("user.location"))
	if o.set.Settings == nil || !asks {
		return nil
	}
	chosen, err := o.set.Settings(ctx, o.in.Viewer.UserID)
	if err != nil {
		return err
	}
	for name, word := range map[string]string{"industry": chosen.Industry(), "location": chosen.Location()} {
		if word != "" {
			o.out.User[name] = word
		}
	}
	return nil
}

// largeText is a text, or a reference when it is too long to travel.
func (o *opening) largeText(ctx context.Context, key, text string) (any, error) {
	if len(text) <= maxValue {
		return text, nil
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	ref, err := o.set.Blobs.PutBlob(ctx, o.in.Viewer, o.in.RunID, key, raw)
	if err != nil {
		return nil, err
	}
	return map[string]any{refKey: ref}, nil
}

// named are the words of a graph that speaks of a person by name.
var named = [][]byte{[]byte("user.name"), []byte("user.office"), []byte("user.firm"), []byte("user.language"), []byte("user.today")}

// person tells a graph that asks for it who it speaks with, and which day it is
// (GRND-15). It is fixed when the run opens, so that a replay reads the same.
func (o *opening) person(ctx context.Context) error {
	asks := slices.ContainsFunc(named, func(word []byte) bool { return bytes.Contains(o.out.Graph, word) })
	if !asks || o.out.User == nil {
		return nil
	}
	o.out.User["today"] = o.set.now().Format(time.DateOnly)
	if o.set.Person == nil {
		return nil
	}
	words, err := o.set.Person(ctx, o.in.Viewer, o.out.Locale)
	for name, word := range words {
		o.out.User[name] = word
	}
	return err
}
