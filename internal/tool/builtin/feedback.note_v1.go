package builtin

import (
	"context"
	"errors"

	"liminal/internal/fault"
	"liminal/internal/learning"
	"liminal/internal/tool"
)

// noteFeedback keeps what a message says of the answer before it, as its
// person's own feedback. It listens once more, so that no graph and no model
// puts words into anybody's mouth.
type noteFeedback struct {
	history  History
	feedback Feedback
}

func (noteFeedback) Name() string { return "feedback.note_v1" }

func (t noteFeedback) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	o, ok, err := overhear(ctx, t.history, c)
	if err != nil || !ok || o.Signal != words(c, "signal") || o.answerID != words(c, "answer_id") {
		return map[string]any{"noted": false}, err
	}
	_, err = t.feedback.Record(ctx, c.Viewer, learning.Feedback{
		ConversationID: words(c, "conversation_id"), MessageID: o.answerID, Signal: o.Signal, Notes: o.Words, HeardIn: words(c, "message_id"),
	})
	if errors.Is(err, fault.Conflict) { // a step that runs again
		err = nil
	}
	return map[string]any{"noted": err == nil}, err
}
