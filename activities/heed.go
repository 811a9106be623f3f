package activities

import (
	"context"
	"slices"

	"liminal/internal/id"
	"liminal/internal/learning"
	"liminal/internal/run"
	"liminal/internal/safety"
	"liminal/internal/tool"
)

// workflowHeed is the artifact that listens to what a message says of the
// answer before it, as a run of its own.
const workflowHeed = "heed"

// heed begins the run that notes what the turn's message says of an answer
// (PREF-02). Whatever fails here costs the feedback and not the turn.
func (s *Set) heed(ctx context.Context, c *closing) {
	if !c.heeded() {
		return
	}
	given := map[string]any{
		"conversation_id": c.Opened.ConversationID, "message_id": c.Opened.Input["message_id"], "upto_seq": c.Opened.UptoSeq,
	}
	if err := s.beginAfter(ctx, c, workflowHeed, workflowHeed+":", given); err != nil {
		s.logger().WarnContext(ctx, "what a message says of an answer is not noted", "conversation", c.Opened.ConversationID, "error", err)
	}
}

// heeded reports whether the turn's message sounds like feedback on what stands
// before it. Nearly none does, and for those nothing is begun; nor for one that
// begins its conversation, or a turn that was withheld or worried about
// (PREF-03). Of a conversation of which nothing is kept nothing is learnt.
func (c *closing) heeded() bool {
	if id.Unkept(c.Run.RunID) || c.Run.Kind != run.KindChat || c.Opened.ConversationID == "" || c.set.Starter == nil || c.Opened.UptoSeq <= 1 || !c.compliant() {
		return false
	}
	message, _ := c.Opened.Input["message"].(string) // a long one is a reference, and says nothing
	_, heard := learning.Hear(message)
	return heard
}

// compliant reports whether something may be learnt from the turn.
func (c *closing) compliant() bool {
	return !c.Outcome.Suppressed && !slices.ContainsFunc(c.Tally.Redactions, func(r tool.Redaction) bool { return r.Whole }) &&
		(c.Opened.Judged == nil || c.Opened.Judged.Risk == safety.Low)
}
