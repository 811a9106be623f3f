package builtin

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/tool"
)

// Palace looks after what the capture proxy kept of people's agents; *palace.Library is
// one.
type Palace interface {
	DueBlocks(ctx context.Context, v identity.Viewer, after string) (palace.PastTime, error)
	Retire(ctx context.Context, v identity.Viewer, deletes, archives []string) (deleted, archived int, err error)
	// Question is what a model is asked of a history, and Heard takes in what came of it.
	Question(ctx context.Context, v identity.Viewer, lineage string) (palace.Question, error)
	// Consolidation is what one is asked of a history that has ended, and Note keeps what it
	// proposes.
	Consolidation(ctx context.Context, v identity.Viewer, lineage string) (palace.Question, error)
	Note(ctx context.Context, v identity.Viewer, q palace.Question, model string, drafts []palace.Draft) (int, error)
	Heard(ctx context.Context, v identity.Viewer, q palace.Question, r palace.Reply) (c palace.Classified, more bool, err error)
}

var _ Palace = (*palace.Library)(nil)

func palaceTools(p Parts) []tool.Tool {
	if p.Palace == nil {
		return nil
	}
	tools := []tool.Tool{pastTime{p.Palace}, retire{p.Palace}}
	if p.Model != nil {
		tools = append(tools, classifyHistory{palaceAsker{newCompleter(p), p.Palace}}, consolidate{palaceAsker{newCompleter(p), p.Palace}})
	}
	return tools
}
