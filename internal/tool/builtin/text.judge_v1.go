package builtin

import (
	"context"
	"hash/fnv"
	"slices"

	"liminal/internal/learning/lesson"
	"liminal/internal/tool"
)

// judgeText says whether answers are better with lessons.
type judgeText struct{ steps Learning }

func (judgeText) Name() string { return "text.judge_v1" }

func (t judgeText) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	var scores []*lesson.Scored
	if err := given(c, "scores", &scores); err != nil {
		return nil, err
	}
	scores = slices.DeleteFunc(scores, func(s *lesson.Scored) bool { return s == nil })
	list := make([]lesson.Scored, len(scores))
	for i, s := range scores {
		list[i] = *s
	}
	gated, err := t.steps.Judge(ctx, c.Viewer, list, seedOf(c.RunID))
	if err != nil {
		return nil, err
	}
	out, err := object(gated)
	if err != nil {
		return nil, err
	}
	rejected := 0
	if gated.Outcome == string(lesson.OutcomeNone) && gated.Worse > gated.Better {
		if rejected, err = t.steps.Reject(ctx, c.Viewer, words(c, "cluster_id"), ids(c, "lessons")); err != nil {
			return nil, err
		}
	}
	out["rejected"] = float64(rejected)
	return out, nil
}

// seedOf is the same for every attempt in a run.
func seedOf(runID string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(runID)) // never fails
	return h.Sum64()
}
