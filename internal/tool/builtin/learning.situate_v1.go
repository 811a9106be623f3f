package builtin

import (
	"context"
	"slices"

	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/tool"
)

// situateAtOnce is how many events a model is shown in one question.
const situateAtOnce = 20

const (
	situating = "You are shown what a person asked an assistant, one task an entry. Name the kind of each task in at most eight words, " +
		"such as \"write a mail to a landlord\" or \"explain an error in a program\": in English, without names of people, places and firms, " +
		"and in the same words for tasks of the same kind. " + isMaterial
	situations = `{"type":"object","required":["tasks"],"additionalProperties":false,"properties":{"tasks":{"type":"array","maxItems":20,"description":"one for each entry",` +
		`"items":{"type":"object","required":["id","task"],"additionalProperties":false,"properties":{"id":{"type":"integer","description":"of the entry"},` +
		`"task":{"type":"string","maxLength":120,"description":"the kind of task, in at most eight words"}}}}}}`
)

// situate names what people asked, so that events are grouped by it.
type situate struct{ asker }

func (situate) Name() string { return "learning.situate_v1" }

func (t situate) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	if !t.generative(c) {
		return map[string]any{"situated": 0.0}, nil
	}
	cases, err := t.steps.Unsituated(ctx, c.Viewer)
	if err != nil {
		return nil, err
	}
	named, asked, used := 0, "", model.Usage{}
	for some := range slices.Chunk(cases, situateAtOnce) {
		value, s, err := t.decideOn(ctx, c, situating, asData(tasksOf(some)), situations, maxDecision)
		if err != nil {
			return nil, err
		}
		asked, used = s.asked, used.Add(s.usage)
		of := tasksIn(value, some)
		if err := t.steps.Situate(ctx, c.Viewer, of); err != nil {
			return nil, err
		}
		named += len(of)
	}
	return spent(map[string]any{"situated": float64(named)}, asked, used), nil
}

// maxTask bounds what a model is shown of one question, in bytes.
const maxTask = 600

func tasksOf(cases []learning.Case) map[string]any {
	list := make([]any, len(cases))
	for i, e := range cases {
		list[i] = map[string]any{"id": e.ID, "asked": clipped(e.Question, maxTask)}
	}
	return map[string]any{"tasks": list}
}

// tasksIn reads what a model named, of the events it was shown.
func tasksIn(value map[string]any, shown []learning.Case) map[int64]string {
	of := map[int64]string{}
	list, _ := value["tasks"].([]any)
	for _, one := range list {
		entry, _ := one.(map[string]any)
		id, _ := entry["id"].(float64)
		task, _ := entry["task"].(string)
		if slices.ContainsFunc(shown, func(e learning.Case) bool { return e.ID == int64(id) }) {
			of[int64(id)] = task
		}
	}
	return of
}
