package activities

import (
	"context"
	"encoding/json"
	"errors"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
)

// workflowRemember is the artifact that summarises the older part of a
// conversation, as a run of its own.
const workflowRemember = "remember"

// remember begins the run that summarises what a turn's models will soon no
// longer be shown (CHAT-19). The turn is over by then and waits for nothing;
// the row is the promise, and one run of a conversation at a time is enough:
// the next turn says again what is due. Whatever fails here costs the summary
// and not the turn.
func (s *Set) remember(ctx context.Context, c *closing) {
	if c.Tally.SummaryDue == 0 || c.Run.Kind != run.KindChat || c.Opened.ConversationID == "" || s.Starter == nil {
		return
	}
	r, err := memoryRun(c)
	if err == nil {
		err = s.Runs.CreateRun(ctx, c.Run.Viewer, r)
	}
	if err == nil {
		err = s.Starter.StartNext(ctx, c.Run.Viewer, r)
	}
	if err != nil && !errors.Is(err, fault.Conflict) {
		s.logger().WarnContext(ctx, "the conversation is not summarised", "conversation", c.Opened.ConversationID, "error", err)
	}
}

func memoryRun(c *closing) (run.Run, error) {
	input, err := json.Marshal(GraphInput{Artifact: workflowRemember, Locale: c.Opened.Locale, Input: map[string]any{
		"conversation_id": c.Opened.ConversationID, "upto_seq": c.Tally.SummaryDue,
	}})
	return run.Run{
		ID: id.Derive(c.Run.RunID, workflowRemember), WorkflowID: workflowRemember + ":" + c.Opened.ConversationID,
		Kind: run.KindGraph, UserID: c.Run.Viewer.UserID, Status: run.Running, Input: input,
	}, err
}
