package builtin

import (
	"context"

	"liminal/internal/adaptation"
	"liminal/internal/tool"
)

// proposeAdapter hands in what was learnt, and goes on with it until a rule has
// applied it or somebody is to decide.
type proposeAdapter struct {
	steps    Learning
	training Training // nil: nothing is trained here
}

func (proposeAdapter) Name() string { return "adapter.propose_v1" }

// untilAsked is how soon it is looked again whether the workflow of a patch asks
// for the rule's decision, in milliseconds.
const untilAsked = 500

func (t proposeAdapter) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	if words(c, "job") != "" && t.training != nil {
		p, err := t.proposeWeights(ctx, c)
		return handedIn(p, err)
	}
	var found adaptation.Gated
	if c.Inputs["found"] != nil {
		if err := given(c, "found", &found); err != nil {
			return nil, err
		}
	}
	return handedIn(t.steps.Propose(ctx, c.Viewer, c.RunID, words(c, "cluster_id"), ids(c, "lessons"), found))
}

// handedIn is where a proposal stands, or that it is to be looked again.
func handedIn(p adaptation.Proposed, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	if p.Wait {
		return map[string]any{"later": map[string]any{"after_ms": float64(untilAsked), "state": map[string]any{"patch": float64(p.Patch)}}}, nil
	}
	return object(p)
}
