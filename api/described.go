package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// As is a value that is written as it was stored or made, and that the document
// describes as a T.
type As[T any] struct{ V any }

// MarshalJSON writes the value.
func (a As[T]) MarshalJSON() ([]byte, error) { return json.Marshal(a.V) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *As[T]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &a.V) }

// Schema is a T's.
func (As[T]) Schema(r huma.Registry) *huma.Schema {
	var v T
	return r.Schema(typeOf(v), true, "")
}

// Trail is how a trace is described: programs before this one kept the steps
// alone.
type Trail struct{}

// Schema is the trace, its steps alone, or null.
func (Trail) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(typeOf(Trace{}), true, ""),
		{Type: "array", Items: r.Schema(typeOf(TraceStep{}), true, "")},
		{Type: "null"},
	}}
}

// Trace describes the way a run went (GRAPH-18). Of another person's run it
// has less: what was said, given and found is left out.
type Trace struct {
	Path    []TraceStage      `json:"path,omitempty" nullable:"true" doc:"what came before the graph"`
	Routing *Nullable[Routed] `json:"routing,omitempty" doc:"which policy and rules chose the adapters"`
	Steps   []TraceStep       `json:"steps,omitempty" nullable:"true"`
	Calls   []TraceCall       `json:"calls,omitempty" nullable:"true"`
}

// TraceStage is a stage of the read path.
type TraceStage struct {
	Name string `json:"name"`
	MS   int64  `json:"ms"`
	Note string `json:"note,omitempty"`
}

// TraceStep is a node that decided, or one attempt of an effect.
type TraceStep struct {
	Node      string         `json:"node"`
	Type      string         `json:"type" doc:"of the node"`
	Effect    string         `json:"effect,omitempty" doc:"missing: the node only decides"`
	Visit     int            `json:"visit" doc:"how often the run had come to the node, this time included"`
	Attempt   int            `json:"attempt,omitempty"`
	Started   time.Time      `json:"started"`
	Ended     *time.Time     `json:"ended,omitempty" doc:"missing: it is open"`
	Outcome   string         `json:"outcome,omitempty" doc:"ok, failed, retried, skipped, asked, abandoned, cancelled or expired"`
	Detail    string         `json:"detail,omitempty"`
	Condition string         `json:"condition,omitempty" doc:"the when that chose the way"`
	Values    map[string]any `json:"values,omitempty" doc:"what the conditions of a switch read"`
}

// TraceCall is a call of a tool.
type TraceCall struct {
	Effect  string          `json:"effect,omitempty"`
	Attempt int             `json:"attempt"`
	Node    string          `json:"node"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"arguments,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Given   int             `json:"arguments_bytes,omitempty" doc:"of another person's run, instead of the arguments"`
	Gave    int             `json:"result_bytes,omitempty" doc:"of another person's run, instead of the result"`
	Status  string          `json:"status"`
	Error   string          `json:"error,omitempty"`
	MS      int64           `json:"ms"`
}

// Routed describes what a router chose and why (ROUTE-09).
type Routed struct {
	Policy   Nullable[Pinned]   `json:"policy" doc:"null: there was none to follow"`
	Adapters []string           `json:"adapters" nullable:"true"`
	Gates    map[string]float64 `json:"gates" nullable:"true" doc:"weights above 0 and at most 1, by adapter"`
	Rules    []RoutedRule       `json:"rules" nullable:"true"`
	Left     []RoutedLeft       `json:"left,omitempty" nullable:"true" doc:"candidates that are not used"`
}

// RoutedRule is what one rule of a policy did.
type RoutedRule struct {
	Rule     string             `json:"rule"`
	Fired    bool               `json:"fired"`
	Adapters []string           `json:"adapters,omitempty" doc:"for which its condition held"`
	Weights  map[string]float64 `json:"weights,omitempty" doc:"that it set, before the guardrails"`
	Kept     []string           `json:"kept,omitempty" doc:"adapters that an earlier rule had decided"`
	Error    string             `json:"error,omitempty" doc:"why it was skipped"`
	Note     string             `json:"note,omitempty"`
}

// RoutedLeft is an adapter that is not used, and why.
type RoutedLeft struct {
	ID     string  `json:"id"`
	Reason string  `json:"reason" doc:"adapter_filtered_by_mode, below_floor or over_cap"`
	Weight float64 `json:"weight"`
}
