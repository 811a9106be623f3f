package run

import (
	"encoding/json"

	"liminal/internal/fault"
	"liminal/internal/graph"
)

// Trace is the way a run went (GRAPH-18): the read path, the router's reasons,
// the machine's steps and the calls of tools. The run's row keeps it, the API
// gives it and describes it by this type.
type Trace struct {
	Path []TraceStage `json:"path,omitempty" nullable:"true" doc:"what came before the graph"`
	// Routing is what the router said, as JSON: an activities.Routing.
	Routing json.RawMessage `json:"routing,omitempty" doc:"which policy and rules chose the adapters"`
	Steps   []graph.Step    `json:"steps" required:"false" nullable:"true"`
	Calls   []TraceCall     `json:"calls,omitempty" nullable:"true"`
}

// TraceStage is a stage of the read path (PLAT-12).
type TraceStage struct {
	Name string `json:"name"`
	MS   int64  `json:"ms"`
	Note string `json:"note,omitempty"`
	// Memory is which memory the stage read (PLAT-13): working, what was said here;
	// factual, documents; behavioural, what was learnt of the person; config,
	// artifacts and settings. Empty: none.
	Memory string `json:"memory,omitempty" enum:",working,factual,behavioural,config"`
}

// TraceCall is one attempt of a call of a tool; a chat message has its arguments
// and result (TOOL-14).
type TraceCall struct {
	Effect  string          `json:"effect" required:"false"`
	Attempt int             `json:"attempt"`
	Node    string          `json:"node"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"arguments,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	// Given and Gave are never stored: whoever is shown another person's run is
	// told how much there was, in bytes, and not what.
	Given  int             `json:"arguments_bytes,omitempty" doc:"of another person's run, instead of the arguments"`
	Gave   int             `json:"result_bytes,omitempty" doc:"of another person's run, instead of the result"`
	Status string          `json:"status"`
	Error  string          `json:"error,omitempty"`
	Said   *fault.Sentence `json:"said,omitempty" doc:"the error taken apart, for who says it in another language"`
	MS     int64           `json:"ms"`
	// Adapters are there where they did not all reach the model as routing chose
	// them.
	Adapters *TraceAdapters `json:"adapters,omitempty" doc:"missing: all that routing chose reached the model, each adding up what it does"`
}

// TraceAdapters is how a model was asked with less than the adapters a turn was
// routed to, or otherwise.
type TraceAdapters struct {
	Approximate bool          `json:"approximate,omitempty" doc:"the server put several together in a way of its own, not by adding up what each does"`
	Left        []LeftAdapter `json:"left,omitempty" doc:"what the model did without"`
}

// LeftAdapter is an adapter that a call did without.
type LeftAdapter struct {
	ID     string  `json:"id"`
	Reason string  `json:"reason" doc:"adapter_filtered_by_mode, over_cap, no_weight, no_remote_id, nothing_to_apply, weights_of_others; weights_refused and rank_too_high, where its words are told instead if it has some"`
	Weight float64 `json:"weight"`
}
