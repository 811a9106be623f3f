// Package rehearsal drives a change of an artifact over recorded runs, and judges
// it: which runs would go another way, fail or ask more, and what that means for
// whoever decides about the change (CFG-11).
//
// A Record is a run that happened, as Pack keeps it. Play runs one document on one
// record; Prepare makes a document and its base ready to be compared on any
// number of records, and Run does so on a sample of those that are kept and gives
// a Report with its Verdict. Nothing happens outside: what the machine asks for is
// what was recorded, or unknown.
//
// It may import artifacts, run, tool, graph, routing, view, model, fault and identity.
// It knows no database: run.Recordings and Tools are its ports.
package rehearsal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"liminal/artifacts"
	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/routing"
	"liminal/internal/run"
)

// The bounds of what a sample is drawn from.
const (
	maxHeads = 20_000 // recordings a sample is drawn from: the newest
	bodiesAt = 250    // recordings read and played at once
)

// Tools finds the tools a workflow document may call, as a viewer sees them:
// artifacts.Library does.
type Tools interface {
	ToolsOf(ctx context.Context, v identity.Viewer, doc json.RawMessage) (map[string]artifacts.Bound, error)
}

// Caller calls a tool that only reads, for the person whose run is rehearsed.
type Caller func(ctx context.Context, userID, tool string, inputs map[string]any) (map[string]any, error)

// Plan says what to rehearse, and on how much.
type Plan struct {
	Artifact artifacts.Artifact // at its base version
	Doc      json.RawMessage    // what the change makes of it
	// Guard is the document whose rules judge the change: that of the current
	// version, so that no change weakens the rule it is judged by; nil: the
	// Artifact's.
	Guard json.RawMessage
	// Only is the person whose runs alone are rehearsed; empty: everybody's. The
	// conditions of a document ask what the people of its runs wrote, and a
	// report answers.
	Only     string
	Sample   int                // recorded runs; what the guard says where it is 0, at most artifacts.MaxSample
	Unknowns artifacts.Unknowns // what the guard says where it is empty
	Script   Script             // for artifacts.Scripted
	Live     Caller             // for artifacts.Live; nil: as artifacts.Stop. What it forbids is unknown
	// Lineages are what a policy.palace is rehearsed on.
	Lineages Lineages
}

// Run drives a changed document over recorded runs of its artifact, and
// compares with the base version (CFG-11). The report is nil for kinds that run
// nothing by themselves. A policy.palace is played over recorded histories of agents.
// Errors: check.Faults where the new document cannot run at all, and those of
// recordings and ctx.
func Run(ctx context.Context, tools Tools, recordings run.Recordings, plan Plan) (*Report, error) {
	if plan.Artifact.Type == artifacts.KindPalace {
		return views(ctx, plan)
	}
	if kind := plan.Artifact.Type; kind != artifacts.KindWorkflow && kind != artifacts.KindPolicy {
		return nil, nil
	}
	began := time.Now()
	owner := identity.System()
	if id := plan.Artifact.OwnerID; id != "" {
		owner = identity.Viewer{UserID: id, Role: identity.RoleUser} // who sees their own tools
	}
	r, err := Prepare(ctx, tools, owner, plan.Artifact, plan.Doc)
	if err != nil {
		return nil, err
	}
	if plan.Guard != nil {
		r.guard, _ = artifacts.GuardOf(plan.Guard) // the house's where it cannot be read
	}
	plan.Sample = min(max(cmp.Or(plan.Sample, r.guard.Sample), 1), artifacts.MaxSample)
	plan.Unknowns = cmp.Or(plan.Unknowns, r.guard.Unknown)
	filter := run.RecordingFilter{Limit: maxHeads, UserID: plan.Only}
	if r.policy != nil {
		filter.PolicyID = plan.Artifact.ID
	} else {
		filter.GraphID = plan.Artifact.ID
	}
	heads, err := recordings.Recordings(ctx, identity.System(), filter)
	if err != nil {
		return nil, err
	}
	if plan.Only != "" {
		heads = slices.DeleteFunc(heads, func(h run.Recording) bool { return h.UserID != plan.Only })
	}
	ids, sample := DrawSample(heads, plan.Sample, plan.Artifact.ID)
	byID := make(map[string]run.Recording, len(heads))
	for _, h := range heads {
		byID[h.RunID] = h
	}
	sum := r.totals(sample)
	for chunk := range slices.Chunk(ids, bodiesAt) {
		bodies, err := recordings.RecordingBodies(ctx, identity.System(), chunk...)
		if err != nil {
			return nil, err
		}
		batch := make([]run.Recording, len(chunk))
		for i, id := range chunk {
			batch[i] = byID[id]
			batch[i].Body = bodies[id]
		}
		if err := r.addAll(ctx, sum, batch, plan); err != nil {
			return nil, err
		}
	}
	report := r.judged(sum.done(), plan)
	report.TookMS = time.Since(began).Milliseconds()
	return &report, nil
}

// Report rehearses given recordings with their bodies, in whichever order they
// come: it is the same for the same recordings, but for what Plan.Live gives.
// Of the plan, Unknowns, Script and Live count.
func (r *Prepared) Report(ctx context.Context, recordings []run.Recording, plan Plan) (Report, error) {
	began := time.Now()
	recordings = slices.Clone(recordings)
	slices.SortFunc(recordings, newestFirst)
	people := map[string]bool{}
	for _, rec := range recordings {
		people[rec.UserID] = true
	}
	s := Sample{Wanted: len(recordings), Taken: len(recordings), Population: len(recordings), People: len(people), Strata: []Stratum{}}
	if n := len(recordings); n > 0 {
		s.Newest, s.Oldest = recordings[0].At, recordings[n-1].At
	}
	sum := r.totals(s)
	if err := r.addAll(ctx, sum, recordings, plan); err != nil {
		return Report{}, err
	}
	report := r.judged(sum.done(), plan)
	report.TookMS = time.Since(began).Milliseconds()
	return report, nil
}

// addAll plays recordings on every processor and adds them in their order.
func (r *Prepared) addAll(ctx context.Context, t *totals, recordings []run.Recording, plan Plan) error {
	results := make([]compared, len(recordings))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(recordings)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(recordings) {
					return
				}
				results[i] = r.compare(ctx, recordings[i], plan)
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, c := range results {
		t.add(c)
	}
	return nil
}

// Prepare makes a change ready: the document a change makes of an artifact,
// beside the artifact at its base version, both read as they would run for v.
// What a document may not do is artifacts.Library.Check's to say. A base that
// cannot run any more is compared as it was recorded. The error is graph.Faults
// or routing.Faults of the new document.
func Prepare(ctx context.Context, tools Tools, v identity.Viewer, a artifacts.Artifact, doc json.RawMessage) (*Prepared, error) {
	r := &Prepared{artifact: a}
	r.guard, _ = artifacts.GuardOf(a.Schema) // the house's where it cannot be read
	if a.Type == artifacts.KindPolicy {
		return r, r.compile(a.Schema, doc)
	}
	limits := func(doc json.RawMessage) (map[string]artifacts.Bound, graph.Limits, error) {
		bound, err := tools.ToolsOf(ctx, v, doc)
		return bound, artifacts.Limits(v, artifacts.Artifact{}, bound), err
	}
	was, wasLimits, err := limits(a.Schema)
	if err != nil {
		return nil, err
	}
	is, isLimits, err := limits(doc)
	if err != nil {
		return nil, err
	}
	wasLimits.Stored = true
	after, err := graph.Parse(doc, artifacts.GraphTools(is), isLimits)
	if err != nil {
		return nil, err
	}
	before, err := graph.Parse(a.Schema, artifacts.GraphTools(was), wasLimits)
	if err != nil {
		before, r.broken = after, true // such as a tool of it that is gone
	}
	r.tools = maps.Clone(was)
	maps.Copy(r.tools, is)
	r.between(before, after)
	if !r.broken {
		r.regiven = regiven(a.Schema, doc, r.renamed)
	}
	return r, nil
}

// between sets both versions.
func (r *Prepared) between(before, after *graph.Graph) {
	r.renamed = renamed(before, after)
	r.kept = map[string]bool{}
	same := func(node string) string { return node }
	base := func(node string) string { return cmp.Or(r.renamed[node], node) }
	r.old = version{graph: before, lanes: lanes(before), nodes: shapesOf(before), base: same}
	r.new = version{graph: after, lanes: lanes(after), nodes: shapesOf(after), base: base}
	for id := range r.new.nodes {
		r.kept[base(id)] = true
	}
	for node, lane := range r.new.lanes { // in the names of the base
		r.new.lanes[node] = r.inBase(lane)
	}
}

func shapesOf(g *graph.Graph) map[string]graph.Shape {
	shapes := map[string]graph.Shape{}
	for _, s := range g.Shapes() {
		shapes[s.ID] = s
	}
	return shapes
}

// inBase is a lane with the names nodes have in the base document.
func (r *Prepared) inBase(lane string) string {
	if len(r.renamed) == 0 || lane == "" || lane == unordered {
		return lane
	}
	parts := strings.FieldsFunc(lane, func(c rune) bool { return c == '/' || c == '>' })
	var out strings.Builder
	for i, node := range parts {
		out.WriteByte("/>"[i%2])
		out.WriteString(cmp.Or(r.renamed[node], node))
	}
	return out.String()
}

// compile reads both versions of a routing policy.
func (r *Prepared) compile(before, after json.RawMessage) error {
	next, err := routing.Compile(after)
	if err != nil {
		return err
	}
	old, err := routing.Compile(before)
	if err != nil {
		old, r.broken = nil, true
	}
	var d struct {
		Rules []struct {
			ID string `json:"id"`
		} `json:"rules"`
	}
	if err := json.Unmarshal(after, &d); err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	r.policy = &policies{old: old, new: next}
	for _, rule := range d.Rules {
		r.policy.rules = append(r.policy.rules, rule.ID)
	}
	return nil
}
