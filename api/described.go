package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/graph"
	"liminal/internal/palace"
	"liminal/internal/run"
	"liminal/internal/view"
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

// Trail is how a run.Trace is described: programs before this one kept the steps
// alone. Of another person's run it has less: what was said, given and found is
// left out (see Way).
type Trail struct{}

// Schema is the trace, its steps alone, or null.
func (Trail) Schema(r huma.Registry) *huma.Schema {
	trace := r.Schema(typeOf(run.Trace{}), true, "")
	fields := r.SchemaFromRef(trace.Ref).Properties
	routing := Nullable[Routed]{}.Schema(r) // it is JSON there, because its type is of a package above
	routing.Description = fields["routing"].Description
	fields["routing"] = routing
	return &huma.Schema{AnyOf: []*huma.Schema{
		trace,
		{Type: "array", Items: r.Schema(typeOf(graph.Step{}), true, "")},
		{Type: "null"},
	}}
}

// schemaName is what a type's schema is called in the document.
func schemaName(t reflect.Type, hint string) string {
	if t == typeOf(graph.Step{}) {
		return "TraceStep"
	}
	if t.PkgPath() == typeOf(palace.Usage{}).PkgPath() { // others count tokens, too
		return "Palace" + t.Name()
	}
	if t.PkgPath() == typeOf(view.Plan{}).PkgPath() { // and plan, and estimate
		return "View" + t.Name()
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// Routed describes what a router chose and why (ROUTE-09).
type Routed struct {
	Policy   Nullable[Pinned]   `json:"policy" doc:"null: there was none to follow"`
	Adapters []string           `json:"adapters" nullable:"true"`
	Gates    map[string]float64 `json:"gates" nullable:"true" doc:"weights above 0 and at most 1, by adapter"`
	Rules    []RoutedRule       `json:"rules" nullable:"true"`
	Left     []RoutedLeft       `json:"left,omitempty" nullable:"true" doc:"candidates that are not used"`
	Backend  string             `json:"backend,omitempty" doc:"the model backend that a rule named"`
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
	Backend  string             `json:"backend,omitempty" doc:"that it named"`
}

// RoutedLeft is an adapter that is not used, and why.
type RoutedLeft struct {
	ID     string  `json:"id"`
	Reason string  `json:"reason" doc:"adapter_filtered_by_mode, below_floor or over_cap"`
	Weight float64 `json:"weight"`
}
