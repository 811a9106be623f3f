// Package routing is the router as data (001 §8): a policy.routing document
// and the adapters a turn could use give the adapters it does use, their gate
// weights, and the reasons.
//
// Compile refuses a bad document with all its faults at once; Route follows
// the rules. The same input gives the same result, always (ROUTE-10): the
// package imports pure packages of the standard library, internal/expr and
// internal/check, has no clock and no goroutine, and ranges over no map.
//
// # How rules are read
//
// Rules run in order. A rule whose condition reads a name of the candidate
// (adapter_id, adapter_type, adapter_centroid, adapter_cluster, adapter_mode,
// adapter_similarity, adapter_reach),
// or whose action names the adapter "current", is evaluated for every
// candidate; its action is then about those the condition held for. Any other
// rule is evaluated once and is about all of them. An action narrows that by
// adapter_type and cluster_id. Two reach further: one that names an adapter by
// its id, and deactivate_all_adapters, act whenever the condition held for
// any candidate.
//
// The first rule that activates or deactivates an adapter decides its weight.
// A later activation changes it only with "overwrite": true (ROUTE-05).
// Deactivating and scaling exist to change what was decided, and always do; so
// an adapter that was switched off for safety stays off unless a later rule
// says overwrite.
//
// The first rule that names a model backend decides it, unless a later one says
// overwrite: that goes before what a person chose as well.
//
// # From weights to gates
//
// Weights are clamped to 0..1, those below Floor are dropped, the MaxActive
// heaviest are kept (fewer if the backend takes fewer), and what remains is
// divided by its sum if that exceeds 1 (C-57). The floor is not applied again.
// Equal weights are ordered by id.
package routing

import "liminal/internal/check"

// The bounds of a policy and of a routing.
const (
	MaxDocument = 1 << 20   // bytes
	MaxRules    = 200       //
	MaxFactor   = 10        // of scale_adapter_weight
	MaxActive   = 3         // adapters a turn may use (ROUTE-06)
	Floor       = 0.05      // the least weight that counts (ROUTE-06)
	MaxSteps    = 4_000_000 // of all conditions in one Route; each rule has an equal share
)

// Policy is a compiled document. It is immutable and safe for concurrent use.
type Policy struct {
	rules []rule
}

// Input is what a turn is routed by (ROUTE-02). Route does not change it.
type Input struct {
	Embedding  []float64 `json:"ctx_embedding"`
	Clusters   []Cluster `json:"cluster_candidates"`
	Adapters   []Adapter `json:"adapter_candidates"`
	SafetyRisk string    `json:"safety_risk"` // low, med or high; empty is low
	// Usage is how adapters were used, by their ids: usage_count, success_score
	// from -1 to 1, and last_used_hours of one that was used.
	Usage   map[string]any `json:"usage_stats"`
	Backend Backend        `json:"backend"`
}

// Cluster is a semantic cluster near the turn.
type Cluster struct {
	ID       string    `json:"id"`
	Label    string    `json:"label"`
	Centroid []float64 `json:"centroid"`
	// Similarity to the embedding, from -1 to 1. It is computed where there
	// are an embedding and a centroid of one length.
	Similarity float64 `json:"similarity"`
}

// Adapter is an adapter the turn could use. One whose cluster is not among
// the clusters, but which has a centroid, stands for a cluster of its own.
type Adapter struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"` // policies may use it in place of the id
	Type      string    `json:"type"` // such as persona, domain, skill
	Mode      string    `json:"mode"` // local, remote, prompt, hybrid; empty fits every backend
	ClusterID string    `json:"cluster_id"`
	Centroid  []float64 `json:"centroid"`
	// Reach is the similarity from which a turn belongs to the adapter's cluster;
	// 0: nobody has measured it, and nothing is near enough.
	Reach float64 `json:"reach,omitempty"`
}

// Backend is what the active model backend can do with adapters.
type Backend struct {
	Modes []string `json:"modes"` // it can serve; empty: all (LORA-03)
	Max   int      `json:"max"`   // adapters in one request; 0: no bound of its own (LORA-07)
}

// Result is what a policy makes of an Input.
type Result struct {
	Gates []Gate `json:"gates"` // of the adapters to use, the heaviest first
	Trace []Step `json:"rules"` // one for each rule, in order
	Left  []Left `json:"left"`  // the candidates that were filtered or dropped, in that order
	// Backend is the model backend that is to answer; empty: no rule says. Firm
	// says that its rule overwrites what the person chose.
	Backend string `json:"backend,omitempty"`
	Firm    bool   `json:"backend_firm,omitempty"`
}

// Gate is an adapter with its weight, above 0 and at most 1.
type Gate struct {
	ID     string  `json:"id"`
	Weight float64 `json:"weight"`
}

// Step is what one rule did (ROUTE-09).
type Step struct {
	Rule     string             `json:"rule"`
	Fired    bool               `json:"fired"`
	Adapters []string           `json:"adapters,omitempty"` // the condition held for, if it was asked of each
	Weights  map[string]float64 `json:"weights,omitempty"`  // the rule set, before the guardrails
	Kept     []string           `json:"kept,omitempty"`     // adapters an earlier rule had decided
	Error    string             `json:"error,omitempty"`    // why the rule, or one candidate of it, was skipped
	Note     string             `json:"note,omitempty"`
	Backend  string             `json:"backend,omitempty"` // the rule named
}

// Left is a candidate that is not used, and why.
type Left struct {
	ID     string  `json:"id"`
	Reason string  `json:"reason"`
	Weight float64 `json:"weight"`
}

// The reasons to leave an adapter out.
const (
	FilteredByMode = "adapter_filtered_by_mode" // the backend cannot serve it (LORA-04)
	BelowFloor     = "below_floor"
	OverCap        = "over_cap" // LORA-09
)

// Fault is one thing wrong with a document.
type Fault = check.Fault

// Faults is everything wrong with a document, in the order of its rules.
type Faults = check.Faults
