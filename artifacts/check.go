package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"liminal/internal/check"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/routing"
	"liminal/internal/tool"
)

// Problem is one thing wrong with a document: a JSON pointer into it, a
// sentence, a hint, and the check it belongs to.
type Problem = check.Fault

// Check tells everything that is wrong with a document of a kind at once: its
// schema, the graph it describes, and what it refers to (GRAPH-19, 001 §10.2).
// The error is Invalid with []Problem as its details; nil means that Create
// would accept it.
func (l *Library) Check(ctx context.Context, v identity.Viewer, kind string, doc json.RawMessage) error {
	return l.check(ctx, v, Kind(kind), "", doc)
}

func (l *Library) check(ctx context.Context, v identity.Viewer, kind, name string, doc json.RawMessage) error {
	return l.checkAmong(ctx, v, kind, name, doc, func() ([]Bound, error) { return l.Specs(ctx, v) })
}

// checkAmong is check of a document that may run the tools of specs, which is
// asked only where the kind runs any.
func (l *Library) checkAmong(ctx context.Context, v identity.Viewer, kind, name string, doc json.RawMessage, specs func() ([]Bound, error)) error {
	if len(doc) > MaxSize {
		return fault.New(fault.Invalid, "The document has %d bytes; %d are allowed.", len(doc), MaxSize)
	}
	c := &checking{ctx: ctx, v: v, library: l, specs: specs, name: name, doc: doc}
	if err := l.kinds.Validate(ctx, kind, doc); err != nil && !errors.As(err, (*check.Faults)(&c.problems)) {
		return fault.Wrap(fault.Internal, err, "The schema of %s is broken.", kind)
	}
	for _, row := range kinds {
		if row.kind == kind && row.check != nil && json.Valid(doc) {
			row.check(c)
		}
	}
	if c.err != nil {
		return c.err
	}
	return refusal(kind, c.problems)
}

func refusal(kind string, problems []Problem) error {
	switch len(problems) {
	case 0:
		return nil
	case 1:
		p := problems[0]
		return fault.New(fault.Invalid, "The %s cannot be accepted: %s: %s.", Alias(kind), where(p.Path), p.Message).With(problems)
	}
	return fault.New(fault.Invalid, "The %s cannot be accepted: %d faults, the first at %s: %s.",
		Alias(kind), len(problems), where(problems[0].Path), problems[0].Message).With(problems)
}

func where(path string) string {
	if path == "" {
		return "the document"
	}
	return path
}

// checking is one check under way. An err is a failure of ours, not of the
// document.
type checking struct {
	ctx      context.Context
	v        identity.Viewer
	library  *Library
	specs    func() ([]Bound, error) // of all tools there are
	name     string                  // of the artifact; empty when it has none yet
	doc      json.RawMessage
	problems []Problem
	err      error
}

func (c *checking) add(kind check.Kind, path, hint, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint, Kind: kind})
}

// merge adds problems of a second reader. What the first has found at the same
// place is not told twice.
func (c *checking) merge(found []Problem) {
	told := map[string]bool{}
	for _, p := range c.problems {
		told[p.Path] = true
	}
	for _, p := range found {
		if !told[p.Path] && !told[parent(p.Path)] {
			c.problems = append(c.problems, p)
		}
	}
}

func parent(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}

// exists reports whether the viewer may use an artifact of a kind, by id or
// name.
func (c *checking) exists(kind, idOrName string) bool {
	_, ships, err := c.shipped(kind, idOrName)
	if ships {
		return true
	}
	if id.Valid(idOrName) {
		var a Artifact
		if a, err = c.library.store.Artifact(c.ctx, c.v, idOrName); err == nil {
			return a.Type == kind && !a.IsDraft()
		}
	} else if _, err = c.library.usable(c.ctx, c.v, kind, idOrName); err == nil {
		return true
	}
	if !errors.Is(err, fault.NotFound) {
		c.err = err
	}
	return false
}

// workflow checks a workflow.chat: the graph, and the artifacts it runs.
func (c *checking) workflow() {
	tools, limits, err := c.library.around(c.v, c.doc, c.specs)
	if err != nil {
		c.err = err
		return
	}
	_, err = graph.Parse(c.doc, tools, limits)
	if faults, ok := errors.AsType[graph.Faults](err); ok {
		c.merge(faults)
	} else if err != nil {
		c.err = err
	}
	c.schemas()
	c.children()
	c.workflowCycles()
	c.guard()
	c.surface()
}

// around is what a workflow that a viewer writes is checked with: the tools
// there are, and the guardrails it runs under.
func (l *Library) around(v identity.Viewer, doc json.RawMessage, specs func() ([]Bound, error)) (graph.Tools, graph.Limits, error) {
	bound, err := specs()
	if err != nil {
		return nil, graph.Limits{}, err
	}
	all := make(map[string]Bound, len(bound))
	for _, b := range bound {
		all[b.Name] = b
	}
	if v.IsSystem() {
		if err := l.ships(all); err != nil {
			return nil, graph.Limits{}, err
		}
	}
	named := maps.Clone(all)
	names := toolNames(doc)
	maps.DeleteFunc(named, func(name string, _ Bound) bool { return !slices.Contains(names, name) })
	owner := v.UserID
	if v.IsSystem() {
		owner = ""
	}
	return GraphTools(all), Limits(v, Artifact{OwnerID: owner}, named), nil
}

// ships puts the tools that ship with the program in the place of those there are:
// what ships is checked against what ships (checking.shipped).
func (l *Library) ships(into map[string]Bound) error {
	put := func(spec tool.Spec) {
		b := into[spec.Name]
		b.Spec = l.guarded(spec)
		into[spec.Name] = b
	}
	for _, spec := range l.shipped {
		put(spec)
	}
	specs, err := defaultSpecs()
	for _, spec := range specs {
		put(spec)
	}
	return err
}

// defaultSpecs are the tool.specs among the defaults, read once.
var defaultSpecs = sync.OnceValues(func() (specs []tool.Spec, err error) {
	seeds, err := defaults()
	for _, s := range seeds {
		if s.Type != KindTool {
			continue
		}
		spec, err := tool.Decode(s.Schema)
		if err != nil {
			return nil, fmt.Errorf("the spec of %s: %w", s.Name, err)
		}
		specs = append(specs, spec)
	}
	return specs, err
})

// Warnings tells what a document that Check accepts says and hardly means:
// inputs a tool does not take, nodes nothing leads to, vars that are not set
// where a node was skipped; and of a tool of an MCP server, what in its words may
// be meant to steer a model. It is stored and run all the same. Of other kinds
// there are none.
func (l *Library) Warnings(ctx context.Context, v identity.Viewer, kind string, doc json.RawMessage) ([]Problem, error) {
	if Kind(kind) == KindTool && len(doc) <= MaxSize {
		return l.steering(ctx, v, doc)
	}
	if Kind(kind) != KindWorkflow || len(doc) > MaxSize {
		return nil, nil
	}
	tools, limits, err := l.around(v, doc, func() ([]Bound, error) { return l.Specs(ctx, v) })
	if err != nil {
		return nil, err
	}
	return graph.Warnings(doc, tools, limits), nil
}

// Limits are the guardrails a workflow artifact runs under with its tools.
// Only what an administrator owns may call privileged tools (TOOL-05) or run
// as long as background work does (C-24); no document raises a limit (PLAT-07).
func Limits(v identity.Viewer, a Artifact, tools map[string]Bound) graph.Limits {
	limits := graph.ChatLimits()
	if a.OwnerID != "" && (a.OwnerID != v.UserID || !v.IsAdmin()) {
		return limits
	}
	for _, b := range tools {
		if b.IsJob() {
			limits = graph.JobLimits()
		}
	}
	limits.Privileged = true
	return limits
}

// children checks the workflows that nodes run.
func (c *checking) children() {
	var d struct {
		Nodes []struct {
			Workflow string `json:"workflow"`
		} `json:"nodes"`
	}
	if json.Unmarshal(c.doc, &d) != nil {
		return
	}
	for i, n := range d.Nodes {
		if n.Workflow != "" && n.Workflow != c.name && !c.exists(KindWorkflow, n.Workflow) {
			c.add(check.References, fmt.Sprintf("/nodes/%d/workflow", i), "write the name or id of a workflow you may use", "there is no workflow %q", n.Workflow)
		}
	}
}

// tool checks a tool.spec: its schemas, what it binds, and what only
// administrators may say.
func (c *checking) tool() {
	spec, err := tool.Decode(c.doc)
	if err != nil {
		return // the schema has said so
	}
	c.merge(spec.Validate())
	if c.name != "" && spec.Name != c.name {
		c.add(check.Schema, "/name", "an artifact is found by this name, so both are the same", "the tool is called %q and its artifact %q", spec.Name, c.name)
	}
	if _, callers := graph.CallersOwn(spec.Name); callers {
		c.add(check.Limits, "/name", "give the tool another name", "names that begin with %q are those of tools that a caller brings", graph.CallerTool(""))
	}
	_, known := c.library.known[spec.Name]
	if spec.Via != nil {
		c.via(spec, known)
		return
	}
	switch {
	case described(spec.Name) && c.v.IsSystem():
		return // it binds nothing
	case described(spec.Name):
		c.add(check.Limits, "/name", "give the tool another name", "names that begin with %q describe the program's own HTTP operations, and only the program writes them", describedPrefix)
	case spec.Workflow == "" && !known:
		c.add(check.References, "/name", "bind it to a workflow with \"workflow\", or name one of the program's tools", "the program has no tool %q", spec.Name)
	case spec.Workflow != "" && known && c.library.known[spec.Name].Workflow == "":
		c.add(check.References, "/workflow", "give the tool another name", "the program implements %q itself", spec.Name)
	case spec.Workflow != "" && !c.exists(KindWorkflow, spec.Workflow):
		c.add(check.References, "/workflow", "write the name or id of a workflow you may use", "there is no workflow %q", spec.Workflow)
	}
	if spec.Workflow != "" && (!known || c.library.known[spec.Name].Workflow != "") {
		c.toolCycles(spec.Name, spec.Workflow)
	}
	if !c.v.IsAdmin() {
		c.reserved(spec, known)
	}
}

// reserved refuses what only administrators may declare.
func (c *checking) reserved(spec tool.Spec, known bool) {
	if known {
		c.add(check.References, "/name", "give your tool another name", "%q is one of the program's own tools, which administrators look after", spec.Name)
	}
	if spec.Privileged {
		c.add(check.Limits, "/privileged", "leave it out", "only administrators declare privileged tools")
	}
	if spec.IsJob() {
		c.add(check.Limits, "/queue", "use models or tools", "only administrators declare tools of the queues ingest and training")
	}
}

// policy checks a policy.routing: its rules, and the adapters they name.
func (c *checking) policy() {
	_, err := routing.Compile(c.doc)
	if faults, ok := errors.AsType[routing.Faults](err); ok {
		c.merge(faults)
	}
	c.adapters()
	c.guard()
}

// closestCluster is what a rule writes for the cluster nearest to the turn.
const closestCluster = "closest"

// adapters checks the adapters and clusters a policy's rules name.
func (c *checking) adapters() {
	var d struct {
		Rules []struct {
			Action struct {
				AdapterID string `json:"adapter_id"`
				ClusterID string `json:"cluster_id"`
			} `json:"action"`
		} `json:"rules"`
	}
	if json.Unmarshal(c.doc, &d) != nil {
		return // the schema has said so
	}
	for i, rule := range d.Rules {
		if name := rule.Action.AdapterID; name != "" && name != "current" && !c.exists(KindAdapter, name) {
			c.add(check.References, fmt.Sprintf("/rules/%d/action/adapter_id", i), "write the id of an adapter you may use, or current", "there is no adapter %q", name)
		}
		if id := rule.Action.ClusterID; id != closestCluster {
			c.cluster(fmt.Sprintf("/rules/%d/action/cluster_id", i), id)
		}
	}
}

// Problems are what Check found, from its error; nil for any other error.
func Problems(err error) []Problem {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return nil
	}
	problems, _ := refused.Details.([]Problem)
	return problems
}
