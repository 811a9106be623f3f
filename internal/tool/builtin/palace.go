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
}

var _ Palace = (*palace.Library)(nil)

func palaceTools(p Parts) []tool.Tool {
	if p.Palace == nil {
		return nil
	}
	return []tool.Tool{pastTime{p.Palace}, retire{p.Palace}}
}
