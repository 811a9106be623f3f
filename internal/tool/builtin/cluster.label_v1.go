package builtin

import (
	"context"
	"fmt"
	"strings"

	"liminal/internal/adaptation"
	"liminal/internal/learning"
	"liminal/internal/learning/cluster"
	"liminal/internal/model"
	"liminal/internal/redact"
	"liminal/internal/tool"
)

// labelling is what a model is asked with; the number of examples stands in it
// (CLUS-03).
const (
	labelling = "here are %d examples of tasks this user asked about. please give a short label and a one-sentence description."
	labelForm = `{"type":"object","required":["label","description"],"additionalProperties":false,"properties":{` +
		`"label":{"type":"string","minLength":1,"maxLength":60,"description":"two to five words, in the language of the examples"},` +
		`"description":{"type":"string","maxLength":200,"description":"one sentence, in the language of the examples"}}}`
)

// labelCluster names a situation.
type labelCluster struct{ asker }

func (labelCluster) Name() string { return "cluster.label_v1" }

func (t labelCluster) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	u, err := t.steps.Named(ctx, c.Viewer, words(c, "cluster_id"))
	if err != nil {
		return nil, err
	}
	if len(u.Cases) == 0 {
		return map[string]any{"by": "none"}, nil
	}
	name, sentence, by := "", "", learning.ByRule
	out := map[string]any{}
	if t.generative(c) {
		value, s, err := t.decideOn(ctx, c, isMaterial, examplesOf(c, u), labelForm, maxDecision)
		if err != nil {
			return nil, err
		}
		spent(out, s.asked, s.usage)
		name, _ = value["label"].(string)
		sentence, _ = value["description"].(string)
		by = learning.ByModel
	}
	if strings.TrimSpace(name) == "" {
		name, sentence = cluster.Label(u.Cases)
		by = learning.ByRule
	}
	if strings.TrimSpace(name) == "" {
		out["by"] = "none"
		return out, nil
	}
	out["by"] = by
	return out, t.steps.Label(ctx, c.Viewer, u.Cluster.ID, name, sentence, by)
}

// examplesOf is the question with the tasks of a situation. Of one that is
// everybody's, what tells who somebody is is taken out.
func examplesOf(c *tool.Call, u adaptation.Unnamed) string {
	list := make([]string, len(u.Cases))
	for i, e := range u.Cases {
		if list[i] = clipped(e.Question, maxTask); c.Viewer.IsSystem() {
			list[i] = redact.Text(list[i])
		}
	}
	return paragraphs(model.Frame("data", strings.Join(list, "\n---\n")), fmt.Sprintf(labelling, len(list)))
}
