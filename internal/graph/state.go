package graph

import (
	"time"
)

// Run is one execution of a graph. It is not safe for concurrent use; its
// whole state is in the embedded plain data.
type Run struct {
	graph *Graph
	state state
	out   []string // ids of the effects this call of the API emitted
	ready []int    // threads that can go on, in order
	work  int      // what is left of maxWork until the next answer
	made  int      // bytes of what the node at work has made so far
}

// state is everything a snapshot holds.
type state struct {
	Version      int            `json:"version"`
	Digest       string         `json:"digest"`
	Input        map[string]any `json:"input"`
	Conversation map[string]any `json:"conversation"`
	User         map[string]any `json:"user"`
	Threads      []*thread      `json:"threads"` // by rising id; the first is the root
	LastThread   int            `json:"last_thread"`
	Open         []*open        `json:"open"` // in the order they were emitted
	Visits       map[string]int `json:"visits"`
	Steps        map[string]int `json:"steps"` // by item suffix
	Total        int            `json:"total"` // steps of all suffixes
	Clock        time.Time      `json:"clock"`
	Spent        time.Duration  `json:"spent"`
	Spoken       time.Duration  `json:"spoken,omitempty"` // while a tool that speaks was at work; no part of Spent
	Held         int            `json:"held,omitempty"`   // bytes of all values, at most; see room.go
	Trace        []Step         `json:"trace"`
	Dropped      int            `json:"dropped,omitempty"` // steps the full trace has no room for
	Cancelled    bool           `json:"cancelled,omitempty"`
	Suppressed   bool           `json:"suppressed,omitempty"`
	Outcome      *Outcome       `json:"outcome,omitempty"`
	Given        *Budget        `json:"given,omitempty"`  // what the tree began with; nil: without one
	Budget       *Budget        `json:"budget,omitempty"` // what is left of it
	Queue        []waiter       `json:"queue,omitempty"`  // calls that wait for others to end, the oldest first
	Remembers    bool           `json:"remembers,omitempty"`
	Approved     []string       `json:"approved,omitempty"` // what need not be asked again, by Approval.Key
	Allowed      bool           `json:"allowed,omitempty"`  // Approved is another than the conversation's
}

// thread is one line of control: the run's, a parallel branch's or a map
// item's. What it sets stays its own until it is joined.
type thread struct {
	ID        int            `json:"id"`
	Parent    int            `json:"parent,omitempty"` // 0 for the root
	Slot      int            `json:"slot,omitempty"`   // place among its siblings
	Depth     int            `json:"depth,omitempty"`
	Join      string         `json:"join,omitempty"` // the node it ends at
	Suffix    string         `json:"suffix,omitempty"`
	Item      map[string]any `json:"item,omitempty"` // names a map gives
	Node      string         `json:"node"`
	Visit     int            `json:"visit"`
	Vars      map[string]any `json:"vars"`
	Text      *string        `json:"text,omitempty"`
	Citations []any          `json:"citations"`
	Result    *endResult     `json:"result,omitempty"`
	Slots     []*slot        `json:"slots,omitempty"`
	Group     *group         `json:"group,omitempty"`
	Agent     *agentState    `json:"agent,omitempty"`
}

// endResult is what an end node of the thread said.
type endResult struct {
	Response  *string        `json:"response,omitempty"`
	Citations []any          `json:"citations"`
	Data      map[string]any `json:"data"`
}

// slot is one call, spawn or question of a node's visit with its attempts; an
// agent's round has many.
type slot struct {
	ID       string         `json:"id"`
	Use      string         `json:"use,omitempty"` // the model's own id of a tool call
	Tool     string         `json:"tool,omitempty"`
	Workflow string         `json:"workflow,omitempty"`
	Inputs   map[string]any `json:"inputs"`
	Resume   any            `json:"resume,omitempty"`
	Asked    int            `json:"asked,omitempty"`  // questions the tool put
	State    any            `json:"state,omitempty"`  // what it wants back with the answer
	Later    int            `json:"later,omitempty"`  // how often the tool put its answer off
	Rested   time.Duration  `json:"rested,omitempty"` // for how long in all
	Attempt  int            `json:"attempt,omitempty"`
	Retries  int            `json:"retries,omitempty"`
	GivenUp  int            `json:"given_up,omitempty"` // attempts that count as none
	Phase    phase          `json:"phase"`
	Trace    int            `json:"trace"` // open step, -1 for none
	CallID   string         `json:"call_id,omitempty"`
	Output   map[string]any `json:"output"`
	Failure  *Failure       `json:"failure,omitempty"`
	Approved bool           `json:"approved,omitempty"` // a person said yes to this very call
	Edited   []string       `json:"edited,omitempty"`   // what they changed of it
	Caller   bool           `json:"caller,omitempty"`   // a tool of the program that began the run, which makes the call
}

// phase is what a slot waits for.
type phase string

const (
	queued     phase = "queued" // until fewer calls are under way
	calling    phase = "calling"
	waiting    phase = "waiting"    // for the backoff
	resting    phase = "resting"    // until the tool wants to be called again
	asking     phase = "asking"     // the tool's or the interrupt node's question
	confirming phase = "confirming" // the question before a tool
	settled    phase = "settled"    // Output or Failure is set
)

// group is the children of a parallel or map node.
type group struct {
	Items   []any    `json:"items,omitempty"`   // map
	Targets []string `json:"targets,omitempty"` // parallel: where each branch starts
	Next    int      `json:"next"`              // the first child not started
	Live    int      `json:"live"`
	Joined  []*child `json:"joined"` // by place; nil until joined
	Trace   int      `json:"trace"`  // open step, -1 for none
}

func (g *group) size() int { return max(len(g.Items), len(g.Targets)) }

// child is what a joined thread leaves behind.
type child struct {
	Vars      map[string]any `json:"vars"`
	Text      *string        `json:"text,omitempty"`
	Citations []any          `json:"citations"`
	Result    *endResult     `json:"result,omitempty"`
}

// agentState is the loop of an agent node.
type agentState struct {
	Inputs     map[string]any `json:"inputs"`
	Transcript []any          `json:"transcript"`
	Round      int            `json:"round"` // from 1
	Text       string         `json:"text"`
	InTools    bool           `json:"in_tools,omitempty"`

	Called  int            `json:"called,omitempty"`  // rounds in which nothing but the caller's tools was called
	Repairs int            `json:"repairs,omitempty"` // model steps that were asked for since the one before said what no result holds
	Said    map[string]any `json:"said,omitempty"`    // what people were shown of such steps; the next ones go on from it
	Grounds map[string]any `json:"grounds,omitempty"` // what the last model step found its words to stand on
}

// open is an outstanding effect and who waits for it.
type open struct {
	Effect Effect        `json:"effect"`
	Thread int           `json:"thread"`
	Slot   int           `json:"slot"`
	Held   bool          `json:"held,omitempty"`   // a question behind another
	Within time.Duration `json:"within,omitempty"` // how long a question may wait once it is put
	Since  time.Time     `json:"since,omitzero"`   // it was begun; only with a budget
	Given  *Budget       `json:"given,omitempty"`  // to a child
}

func (r *Run) thread(id int) *thread {
	for _, t := range r.state.Threads {
		if t.ID == id {
			return t
		}
	}
	return nil
}

func (r *Run) root() *thread { return r.state.Threads[0] }

// scope is what a thread's templates and conditions can read.
type scope struct {
	run *Run
	at  *thread
}

func (r *Run) scope(t *thread) scope { return scope{r, t} }

// lookup finds the root of a path: a reserved name, an item of a map around,
// else a var.
func (s scope) lookup(name string) (any, bool) {
	switch name {
	case "input":
		return s.run.state.Input, true
	case "conversation":
		return s.run.state.Conversation, true
	case "user":
		return s.run.state.User, true
	case "vars":
		return s.vars(), true
	}
	for t := s.at; t != nil; t = s.run.thread(t.Parent) {
		if v, ok := t.Item[name]; ok {
			return v, true
		}
	}
	for t := s.at; t != nil; t = s.run.thread(t.Parent) {
		if v, ok := t.Vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// vars is every var the thread sees, its own over those of the threads around.
func (s scope) vars() map[string]any {
	if s.at.Parent == 0 {
		return s.at.Vars
	}
	all := map[string]any{}
	for t := s.at; t != nil; t = s.run.thread(t.Parent) {
		s.run.work -= 4 * len(t.Vars)
		for _, key := range sortedKeys(t.Vars) {
			if _, hidden := all[key]; !hidden {
				all[key] = t.Vars[key]
			}
		}
	}
	return all
}

// env is the scope as a condition reads it; what is unset is nil.
func (s scope) env(name string) any {
	v, _ := s.lookup(name)
	return v
}
