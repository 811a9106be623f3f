package activities

import (
	"time"

	"liminal/internal/graph"
	"liminal/internal/model"
)

// RunOutcomes are what came of a run's effects, for its recording (CFG-11). They
// are gathered beside the machine and decide nothing.
type RunOutcomes struct {
	Since time.Time     `json:"since"` // its workflow began
	Began time.Time     `json:"began"` // its graph began, by the machine's clock
	All   []Outcome     `json:"outcomes,omitempty"`
	Cut   bool          `json:"cut,omitempty"`  // there were more
	Bulk  int           `json:"bulk,omitempty"` // of the outcomes, in bytes
	Took  time.Duration `json:"-"`              // from Since to its end, without the time it waited for a person
}

// Full reports whether an outcome is more than a recording takes: the workflow
// need not carry what Close would cut.
func (r *RunOutcomes) Full(o Outcome) bool { return r.Bulk+bulk(o.Result) > maxRaw }

// Add keeps an outcome.
func (r *RunOutcomes) Add(o Outcome) {
	r.All, r.Bulk = append(r.All, o), r.Bulk+bulk(o.Result)
}

// Outcome is what one attempt of an effect gave the machine. Values that were
// stored are references here, as they were for the machine (PLAT-14).
type Outcome struct {
	Effect  string         `json:"effect"`
	Kind    graph.Kind     `json:"kind"`
	Tool    string         `json:"tool,omitempty"` // of a call
	Result  map[string]any `json:"result,omitempty"`
	Failure *graph.Failure `json:"failure,omitempty"`
	Took    time.Duration  `json:"took,omitempty"`
	Model   string         `json:"model,omitempty"` // that spoke
	Usage   model.Usage    `json:"usage,omitzero"`
}
