// Package graph is the machine at the heart of Liminal: it reads a
// workflow.chat document and runs it, without knowing a clock, a network or
// Temporal.
//
// Parse refuses a bad document with all its faults at once. Start, Done, Fail
// and Cancel give the effects that are to happen next; the set of effects is
// closed (Call a tool, Ask a person, Wait, Spawn a child run) and control
// nodes never surface. The state of a run is plain JSON. The same answers in
// the same order give the same effects, always: the package runs inside
// Temporal workflows, in rehearsals and in fuzzers alike.
//
// It imports pure packages of the standard library, internal/expr and
// internal/check. No goroutine, channel, select, clock or ordered-by-chance map
// may appear here; maps are ranged over by sortedKeys, except where they are
// only copied or weighed.
package graph

import (
	"encoding/json"
	"fmt"
	"time"

	"liminal/internal/check"
	"liminal/internal/expr"
)

// NodeType is what a node does.
type NodeType string

// The node types. ToolCall, Switch, Parallel and End are 001 §6.1's; the
// others are a superset of it (C-22).
//
// A set gives values to vars and costs nothing: no effect comes of it. A node
// of any type that has effects may be a step of another one, its stage: people
// then see the stage's description under the stage's id, when the step begins
// and when it asks, but not that it is done; only the stage's own effect says
// that. So a stage of several steps is one to a person (LG-30). A tool_call may
// be optional: where its tool is not registered, its on_error runs with the
// code not_found.
const (
	ToolCall  NodeType = "tool_call"
	Switch    NodeType = "switch"
	Parallel  NodeType = "parallel"
	Map       NodeType = "map"
	Interrupt NodeType = "interrupt"
	Agent     NodeType = "agent"
	Workflow  NodeType = "workflow"
	Set       NodeType = "set"
	End       NodeType = "end"
)

// StepTool is the tool an agent node calls for each step of its model.
const StepTool = "llm.step_v1"

// Graph is a document that passed Parse. It is immutable and safe for
// concurrent use by any number of runs.
type Graph struct {
	entry     int
	nodes     []node
	index     map[string]int
	tools     Tools
	timeout   time.Duration
	maxSteps  int
	maxVisits int
	persist   []string
	limits    Limits
	digest    string
}

// node is one node with everything resolved that does not depend on a run:
// templates and conditions compiled, limits applied.
type node struct {
	id            string
	kind          NodeType
	description   template // of text: what people see
	stage         string   // the node this one is a step on the way to, for people
	next, onError string
	when          *expr.Program
	quiet         bool
	final         bool
	stream        *bool         // the author's word on final
	timeout       time.Duration // 0 for an interrupt that waits without limit
	retries       int
	backoff       time.Duration
	outputs       []string
	declared      bool // outputs were given, even if empty
	inputs        template

	tool     string   // tool_call
	absent   bool     // the tool is optional and not there
	values   template // set
	workflow string   // workflow
	branches []branch // switch, parallel

	over        template // map
	as          string
	body        string
	concurrency int

	talk talk  // interrupt, agent
	end  endOf // end
}

type branch struct {
	when *expr.Program
	next string
}

// talk is what only the nodes that talk have: interrupt to a person, agent to
// a model.
type talk struct {
	kind      string
	message   template
	options   template
	schema    json.RawMessage
	onCancel  string
	saveAs    string
	model     template
	system    template
	tools     []string
	caller    bool     // the model may call the tools that the run was brought, too
	unasked   []string // tools that ask first by themselves, and here do not
	confirm   []string // tools a person is asked before, beside those that want it themselves
	maxRounds int
	grounded  *grounding // nil: what the model says is not checked
}

// grounding is how what an agent's model says is held to what its tools
// returned. The model step does it; the machine has it asked again.
type grounding struct {
	rules   map[string]any // for the step, as the document has them, with what it leaves out
	repairs int            // how often the model is asked again
}

type endOf struct {
	response, citations, data template
}

// Fault is one thing wrong with a document.
type Fault = check.Fault

// Faults is everything wrong with a document, in the order of the document.
type Faults = check.Faults

// Tool is what the machine must know of a tool.
type Tool struct {
	Name       string
	Idempotent bool // false: one attempt only (C-49, TOOL-16)
	Privileged bool // a graph may name it only if Limits.Privileged
	Confirm    bool // inside an agent node it asks a person first
	// Approval is how that is asked; nil: yes or no.
	Approval *Approval `json:",omitempty"`
	Workflow string    // non-empty: calling the tool is a Spawn of this workflow artifact
	Outputs  []string  // property names of its output schema if closed, nil if unknown
	Required []string  // names of the inputs it must be given
	Inputs   []string  `json:"-"`          // names of the inputs it takes if closed, nil if unknown; for Warnings alone
	Absent   bool      `json:",omitempty"` // it has a spec and cannot be called here: optional nodes do without it
	// Apart says that calls of it are made elsewhere and cost the engine some
	// writes each: fewer of them are under way at once than of others.
	Apart bool `json:",omitempty"`
	// LateRetries is how often a call is tried again at most when its time was
	// up (LORA-25); 0: as often as after any failure.
	LateRetries int `json:",omitempty"`
	// Speaks says that a model elsewhere writes what a call of it gives, word by
	// word: the time of its node bounds how long it may be silent, and its words
	// count against Limits.Speech instead of the run's time.
	Speaks bool `json:",omitempty"`
}

// Tools are the registered tools by name.
type Tools map[string]Tool

// copied keeps a graph apart from a registry that changes.
func (t Tools) copied() Tools {
	out := make(Tools, len(t))
	for _, name := range sortedKeys(t) {
		out[name] = t[name]
	}
	return out
}

// Limits are the guardrails a document may lower and never raise (PLAT-07).
type Limits struct {
	Timeout     time.Duration // of one node that names none
	MaxTimeout  time.Duration // of one node
	Run         time.Duration // of a run that names none
	MaxRun      time.Duration // of a run, without the time it waits for a person
	Speech      time.Duration // of all tools of a run that speak, on top of its own; 0: they have the run's only
	MaxRetries  int
	MaxBackoff  time.Duration // of the first retry of a node
	MaxSteps    int           // in a run; each item of a map counts its own
	MaxTotal    int           // steps with all items of all maps
	MaxVisits   int           // of one node; each item of a map counts its own
	MaxNodes    int
	MaxBranches int // of a parallel node
	MaxItems    int // of a map node
	MaxRounds   int // of an agent node (GRND-21)
	Privileged  bool
	// Explain notes in the trace what the conditions of switches read. It is for
	// looking at a run again: a run that happens keeps the conditions only.
	Explain bool
	// Stored says that the document was accepted before, perhaps by an earlier
	// version: what that did not know is no fault of it (PLAT-08).
	Stored bool
}

// ChatLimits bound a turn of a conversation: nodes 15 s by default and 60 s at
// most, 3 retries at most (001 §18).
func ChatLimits() Limits {
	return Limits{
		Timeout: 15 * time.Second, MaxTimeout: time.Minute,
		Run: 2 * time.Minute, MaxRun: time.Hour,
		MaxRetries: 3, MaxBackoff: time.Minute,
		MaxSteps: 256, MaxTotal: 20_000, MaxVisits: 32, MaxNodes: 200,
		MaxBranches: 32, MaxItems: 1000, MaxRounds: 5,
	}
}

// JobLimits bound background work, whose nodes may run for minutes (C-24).
func JobLimits() Limits {
	l := ChatLimits()
	l.Timeout, l.MaxTimeout = time.Minute, 6*time.Hour
	l.Run, l.MaxRun = time.Hour, 7*24*time.Hour
	l.MaxSteps, l.MaxTotal, l.MaxVisits = 10_000, 200_000, 1000
	l.MaxRounds = 50
	return l
}

// Edge is a way control may go, for pictures of the graph. Label is empty for
// the plain next, the condition of a branch, or one of error, cancel, each.
type Edge struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Label string `json:"label,omitempty"`
}

// after is the one rule for where control goes from a node that has done its
// work (C-21): its next; or, for a tool_call without one that is directly
// followed in the list by a switch, that switch; else nowhere, which ends the
// run. The literal example of 001 §6.1 depends on it.
func (g *Graph) after(i int) string {
	n := &g.nodes[i]
	switch {
	case n.kind == End || n.kind == Switch:
		return ""
	case n.next != "":
		return n.next
	case n.kind == ToolCall && i+1 < len(g.nodes) && g.nodes[i+1].kind == Switch:
		return g.nodes[i+1].id
	}
	return ""
}

// Edges gives every way control may go, in the order of the document.
func (g *Graph) Edges() []Edge {
	var edges []Edge
	for i := range g.nodes {
		edges = append(edges, g.edgesOf(i)...)
	}
	return edges
}

func (g *Graph) edgesOf(i int) []Edge {
	n := &g.nodes[i]
	var edges []Edge
	add := func(to, label string) {
		if to != "" {
			edges = append(edges, Edge{From: n.id, To: to, Label: label})
		}
	}
	for _, b := range n.branches {
		label := ""
		if b.when != nil {
			label = b.when.String()
		}
		add(b.next, label)
	}
	add(n.body, "each")
	add(g.after(i), "")
	add(n.talk.onCancel, "cancel")
	add(n.onError, "error")
	return edges
}

// Entrypoint gives the id of the first node.
func (g *Graph) Entrypoint() string { return g.nodes[g.entry].id }

// Timeout gives how long a run may take, without the time it waits for a
// person (GRAPH-12, C-23).
func (g *Graph) Timeout() time.Duration { return g.timeout }

// shownAs is the node people see while n is at work: itself, or the stage it
// belongs to.
func (g *Graph) shownAs(n *node) *node {
	if n.stage == "" {
		return n
	}
	return g.node(n.stage)
}

func (g *Graph) node(id string) *node {
	if i, ok := g.index[id]; ok {
		return &g.nodes[i]
	}
	return nil
}

// digest tells documents apart in snapshots; it is no protection against
// anyone (FNV-1a).
func digest(doc []byte) string {
	h := uint64(14695981039346656037)
	for _, b := range doc {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return fmt.Sprintf("%016x", h)
}
