package rehearsal

import (
	"encoding/json"
	"time"
)

// Report is what a rehearsal over recorded runs showed of one artifact's
// change (CFG-11). All but TookMS is the same for the same change, sample and
// recordings, to the byte.
type Report struct {
	Sample Sample `json:"sample"`
	// Base and After are the versions compared: After is Base+1 for a document
	// that is not stored.
	Base  int `json:"base_version"`
	After int `json:"after_version"`

	Moved   int `json:"moved"`   // runs that go another way
	Unknown int `json:"unknown"` // runs that the change brings to an effect the record does not hold
	// Compared is how many runs could be followed to their end on both sides. All
	// figures before and after are of these, so that a run that had to be stopped
	// does not count as one that got cheaper.
	Compared int `json:"compared"`
	Failed   Two `json:"failed"` // runs that fail; of a routing policy, with a rule that cannot be evaluated
	Cut      Two `json:"cut"`    // those of them stopped at a bound of theirs: steps, visits, work, time
	// Questions are what people are asked; New and Vanished are those of them
	// only one side puts.
	Questions Two `json:"questions"`
	New       int `json:"new_questions"`
	Vanished  int `json:"vanished_questions"`

	Models Two            `json:"model_calls"`
	Tools  Two            `json:"tool_calls"`
	ByTool map[string]Two `json:"by_tool"`    // calls, by the tool's name
	Cost   BeforeAfter    `json:"cost_usd"`   // estimated: what the recorded calls cost, of all runs together
	MS     BeforeAfter    `json:"median_ms"`  // estimated: what the recorded calls took
	Gates  map[string]Two `json:"gates"`      // of a routing policy: runs that use an adapter, by its name
	Weight BeforeAfter    `json:"mean_gates"` // of a routing policy: the mean sum of gates

	Views *Views `json:"views,omitempty"` // of a policy.palace

	Coverage Coverage `json:"coverage"`
	Places   []Place  `json:"places"` // where runs part, the most frequent first; at most 20
	// Examples are at most five of each kind: moved, failed, mended, unknown,
	// asked, unasked, cut.
	Examples map[string][]Example `json:"examples"`

	Verdict Verdict  `json:"verdict" enum:",pass,warn,second,block"`
	Reasons []string `json:"reasons"` // why the verdict is not pass: one sentence each
	TookMS  int64    `json:"took_ms"`

	scripted int // runs in which a script answered
}

// Two is a figure before and after a change.
type Two struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// BeforeAfter is a measure before and after a change.
type BeforeAfter struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Sample says which recorded runs were rehearsed.
type Sample struct {
	Wanted     int       `json:"wanted"`
	Taken      int       `json:"taken"`
	Population int       `json:"population"` // recordings there are of the artifact
	People     int       `json:"people"`     // whose runs were taken
	Oldest     time.Time `json:"oldest,omitzero"`
	Newest     time.Time `json:"newest,omitzero"`
	Strata     []Stratum `json:"strata"`
	Unreadable int       `json:"unreadable,omitempty"` // recordings this program cannot read or play
	// Short is how many recordings hold too little to follow them to their end
	// even without the change: up to there their ways are compared.
	Short int `json:"short,omitempty"`
}

// Stratum is a part of the recordings that the sample takes its share of:
// recent, failed, or one branch.
type Stratum struct {
	Name       string `json:"name"`
	Population int    `json:"population"`
	Taken      int    `json:"taken"`
}

// Coverage is how much of the new graph the sample came by. Of a routing policy
// the nodes are its rules, seen when they fire.
type Coverage struct {
	Nodes          int      `json:"nodes"`
	NodesSeen      int      `json:"nodes_seen"`
	Branches       int      `json:"branches"`
	BranchesSeen   int      `json:"branches_seen"`
	UnseenNodes    []string `json:"unseen_nodes"`
	UnseenBranches []string `json:"unseen_branches"` // node[1]: condition, counted from 1
}

// Place is a point where runs part.
type Place struct {
	After string `json:"after"` // the last node both ways share; empty: at the start
	Old   string `json:"old"`   // the node that followed; empty: the run ended there
	New   string `json:"new"`
	Runs  int    `json:"runs"`
}

// Example is one recorded run, node by node on both sides. It holds no word of
// what anybody wrote.
type Example struct {
	RunID   string    `json:"run_id"`
	At      time.Time `json:"at"`
	Old     []string  `json:"old"`  // nodes in the order they ran
	New     []string  `json:"new"`  // the same with the change
	Part    int       `json:"part"` // the first place that differs; -1: none does
	Message string    `json:"message"`
}

// Verdict is what a rehearsal means for a decision, the gravest last.
type Verdict string

// The verdicts. Warn: the approver confirms by the artifact's name. Second: two
// people approve. Block: nobody can approve.
const (
	Pass   Verdict = "pass"
	Warn   Verdict = "warn"
	Second Verdict = "second"
	Block  Verdict = "block"
)

// Script is scripted outputs, by tool name or effect id.
type Script map[string]json.RawMessage
