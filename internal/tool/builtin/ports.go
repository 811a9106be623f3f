package builtin

import (
	"context"
	"time"

	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/model"
)

// Parts is what the built-in tools need. A part that is nil takes the tools
// that need it out of the list.
type Parts struct {
	Model   model.Model
	History History // nil: models see no earlier messages
	// MaxDecode is how long one answer may be written for, by plan (STREAM-09);
	// nil or 0: as long as the call itself may take.
	MaxDecode func(plan string) time.Duration
}

// History reads what was said before; chat.Messages is one.
type History interface {
	History(ctx context.Context, v identity.Viewer, conversationID string, upto, limit int) ([]chat.Message, error)
}
