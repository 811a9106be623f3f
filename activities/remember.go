package activities

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
)

// workflowRemember is the artifact that summarises the older part of a
// conversation, as a run of its own.
const workflowRemember = "remember"

// remember begins the run that summarises what a turn's models will soon no
// longer be shown (CHAT-19). The turn is over by then and waits for nothing;
// one run of a conversation at a time is enough, as the next turn says again
// what is due. Whatever fails here costs the summary and not the turn.
func (s *Set) remember(ctx context.Context, c *closing) {
	if c.Tally.SummaryDue == 0 || id.Unkept(c.Run.RunID) || c.Run.Kind != run.KindChat || c.Opened.ConversationID == "" || s.Starter == nil {
		return
	}
	if err := s.beginMemory(ctx, c); err != nil {
		s.logger().WarnContext(ctx, "the conversation is not summarised", "conversation", c.Opened.ConversationID, "error", err)
	}
}

func (s *Set) beginMemory(ctx context.Context, c *closing) error {
	name := workflowRemember + ":" + c.Opened.ConversationID + ":"
	under, _, err := s.Runs.ListRuns(ctx, c.Run.Viewer, run.Filter{Kind: run.KindGraph, Status: run.Running, Limit: 100})
	if err != nil || slices.ContainsFunc(under, func(r run.Run) bool { return strings.HasPrefix(r.WorkflowID, name) }) {
		return err
	}
	return s.beginAfter(ctx, c, workflowRemember, name, map[string]any{
		"conversation_id": c.Opened.ConversationID, "upto_seq": c.Tally.SummaryDue,
	})
}

// beginAfter begins a graph as a run of its own, once for a turn that closes;
// the id of its workflow is the prefix and the run's.
func (s *Set) beginAfter(ctx context.Context, c *closing, artifact, prefix string, given map[string]any) error {
	input, err := json.Marshal(GraphInput{Artifact: artifact, Locale: c.Opened.Locale, Input: given})
	if err != nil {
		return err
	}
	r := run.Run{ID: id.Derive(c.Run.RunID, artifact), Kind: run.KindGraph, UserID: c.Run.Viewer.UserID, Status: run.Running, Input: input}
	r.WorkflowID = prefix + r.ID
	// A try before this one may have made it, and gone before it was started.
	if err := s.Runs.CreateRun(ctx, c.Run.Viewer, r); err != nil && fault.CodeOf(err) != fault.Conflict {
		return err
	}
	return s.Starter.StartNext(ctx, c.Run.Viewer, r)
}
