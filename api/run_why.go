package api

import (
	"context"

	"liminal/internal/graph"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// reasons are what the switches of a run read, by node, in the order they were
// come to.
type reasons map[string][]graph.Step

// why finds out why a recorded run went its way: the version it was pinned to
// is driven through what it met once more, and its switches say what they read
// (GRAPH-18). Nothing of it is stored with the run. Where that cannot be done,
// there are the conditions still, and no reasons.
func (s *server) why(ctx context.Context, r run.Run, kept run.Recording) reasons {
	if len(kept.Body) == 0 {
		return nil
	}
	steps, err := s.again(ctx, r, kept)
	if err != nil {
		s.Logger.DebugContext(ctx, "a recorded run does not say why it went its way", "run", r.ID, "error", err)
		return nil
	}
	found := reasons{}
	for _, step := range steps {
		if step.Type == graph.Switch {
			found[step.Node] = append(found[step.Node], step)
		}
	}
	return found
}

// again is the trace of a recorded run on its own version, explained.
func (s *server) again(ctx context.Context, r run.Run, kept run.Recording) ([]graph.Step, error) {
	rec, err := rehearsal.Unpack(kept.Body)
	if err != nil {
		return nil, err
	}
	v := viewerOf(ctx)
	a, err := s.Shapes.At(ctx, v, kept.Graph.ArtifactID, kept.Graph.Version)
	if err != nil {
		return nil, err
	}
	tools, err := s.Shapes.ToolsOf(ctx, v, a.Schema)
	if err != nil {
		return nil, err
	}
	limits := replayLimits(r)
	limits.Stored = true
	played, err := rehearsal.Play(a.Schema, tools, limits, rec) //nolint:contextcheck // one run is over in milliseconds
	return played.Trace, err
}

// replayLimits are the bounds of a run that is looked at again: nothing is called,
// so it may name privileged tools.
func replayLimits(r run.Run) graph.Limits {
	limits := graph.JobLimits()
	if r.Kind == run.KindChat {
		limits = graph.ChatLimits()
	}
	limits.Privileged, limits.Explain = true, true
	return limits
}

// of takes what the next visit of a step's node read; nil when it went another
// way then.
func (r reasons) of(step map[string]any) map[string]any {
	node, _ := step["node"].(string)
	if len(r[node]) == 0 {
		return nil
	}
	next := r[node][0]
	r[node] = r[node][1:]
	if step["condition"] != next.Condition || len(next.Values) == 0 {
		return nil
	}
	return next.Values
}
