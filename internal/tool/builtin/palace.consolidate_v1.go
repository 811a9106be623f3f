package builtin

import (
	"context"
	"encoding/json"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/palace"
	"liminal/internal/tool"
	"liminal/internal/view"
)

// mostConsolidating bounds the notes of a history, in tokens, with what a model may think
// before.
const mostConsolidating = 6000

// consolidate has a model propose notes of a history that has ended. A person keeps them.
type consolidate struct{ palaceAsker }

func (consolidate) Name() string { return "palace.consolidate_v1" }

func (t consolidate) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	q, err := t.palace.Consolidation(ctx, c.Viewer, words(c, "lineage"))
	if err != nil {
		return nil, err
	}
	out := map[string]any{"shown": len(q.Window.Blocks), "proposed": 0}
	if len(q.Window.Blocks) == 0 {
		return out, nil
	}
	q.Classifier.DeadlineMS = int(longestClassifying.Milliseconds()) // nothing waits
	reply, asked, err := t.reply(ctx, c, q, model.Request{
		System: view.Noting, Schema: json.RawMessage(view.NotesForm), MaxTokens: mostConsolidating, Messages: []model.Message{says(model.User, model.Frame("data", q.Window.Text(q.Agent)))},
	})
	if err == nil {
		err = notAllowed(reply)
	}
	if err == nil && reply.Outcome != "" {
		err = fault.New(fault.Internal, "%s", reply.Why)
	}
	if err != nil {
		return nil, err
	}
	var said struct{ Notes []palace.Draft }
	if value, valid := structured(ctx, reply.Text, json.RawMessage(view.NotesForm), nil); valid {
		doc, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(doc, &said)
		}
		if err != nil {
			return nil, err // of what is valid
		}
	}
	out["proposed"], err = t.palace.Note(ctx, c.Viewer, q, reply.Model, said.Notes)
	return spent(out, asked.asked, asked.usage), err
}
