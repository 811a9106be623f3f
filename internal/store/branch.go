package store

import (
	"context"
	"maps"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// copied is how many messages a branch reads at once.
const copied = 200

// Branch implements chat.Versions. What is remembered of the conversation is
// not copied: a summary is made of the new one when it is due.
func (s *Store) Branch(ctx context.Context, v identity.Viewer, conversationID, messageID, to string) (c chat.Conversation, err error) {
	if id.Unkept(conversationID) {
		return c, chat.ErrNothingKept()
	}
	err = s.write(ctx, v, func(tx Tx) error {
		c = chat.Conversation{}
		// A turn that ends moves the messages of those that wait.
		if err := tx.Lock("conversation:" + conversationID); err != nil {
			return err
		}
		from, err := conversation(tx, v, conversationID)
		if err != nil {
			return err
		}
		last, err := endOfTurn(tx, v, conversationID, messageID)
		if err != nil {
			return err
		}
		if err := s.branchable(tx, v, conversationID, last); err != nil {
			return err
		}
		made, err := s.branchTo(tx, v, from, messageID, to, last)
		if err != nil {
			return err
		}
		if made {
			if err := copyPath(tx, v, conversationID, to, last); err != nil {
				return err
			}
		}
		c, err = conversation(tx, v, to)
		return err
	})
	return c, err
}

// endOfTurn is the seq of the last message of the turn that a message on the
// path belongs to.
func endOfTurn(tx Tx, v identity.Viewer, conversationID, messageID string) (last int, err error) {
	p, err := spotOf(tx, v, conversationID, messageID)
	if err != nil {
		return 0, err
	}
	if p.aside > 0 {
		return 0, fault.New(fault.Conflict, "This message is not shown: another version of it is, or of one before it. Show that one first.").
			With(map[string]any{"reason": "aside"})
	}
	turn, found, err := firstRun(tx, `SELECT `+runColumns+` FROM run WHERE id = @run AND user_id = @user`,
		Args{"run": optional(p.runID), "user": v.UserID})
	if err != nil {
		return 0, err
	}
	if found && !turn.Status.Ended() { // it may have gone with the conversation the message is a copy of
		return 0, chat.StillAnswering(turn)
	}
	_, err = first(tx, `SELECT max(seq) FROM message WHERE conversation_id = @conversation AND user_id = @user
		AND aside = 0 AND seq >= @seq AND run_id = @run`,
		Args{"conversation": conversationID, "user": v.UserID, "seq": p.seq, "run": optional(p.runID)}, &last)
	return last, err
}

// branchable refuses what is too much to copy in one go.
func (s *Store) branchable(tx Tx, v identity.Viewer, conversationID string, last int) error {
	var text int
	if _, err := first(tx, `SELECT coalesce(sum(length(content)), 0) FROM message
		WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq <= @last`,
		Args{"conversation": conversationID, "user": v.UserID, "last": last}, &text); err != nil {
		return err
	}
	if last > s.branched || text > s.branchedText {
		return fault.New(fault.Conflict, "This is too much to branch off: a branch copies at most %d messages and %d characters. Branch off at an earlier one.",
			s.branched, s.branchedText).With(map[string]any{"reason": "size"})
	}
	return nil
}

// branchTo makes the empty conversation. It reports false when a request that
// came twice has made it before.
func (s *Store) branchTo(tx Tx, v identity.Viewer, from chat.Conversation, messageID, to string, last int) (made bool, err error) {
	meta := map[string]any{}
	if docs, ok := from.Meta["docs"].(map[string]any); ok {
		docs = maps.Clone(docs)
		delete(docs, graph.ApprovedVar) // it was allowed in that conversation, and this is another
		meta["docs"] = docs
	}
	doc, err := encoded(meta, len(meta) == 0)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`INSERT INTO conversation (id, user_id, title, status, active_context_id, last_seq, created_at, updated_at, meta,
			branched_from, branched_message, backend, workflow)
		VALUES (@id, @user, @title, 'open', @context, @last, @now, @now, @meta, @from, @message, @backend, @workflow) ON CONFLICT (id) DO NOTHING`,
		Args{
			"id": to, "user": v.UserID, "title": from.Title, "context": optional(from.ActiveContextID), "last": last,
			"now": s.now(), "meta": doc, "from": from.ID, "message": messageID, "backend": optional(from.Backend), "workflow": optional(from.WorkflowID),
		})
	if err != nil || n > 0 {
		return n > 0, err
	}
	before, err := conversation(tx, v, to)
	if err == nil && (before.Branched == nil || *before.Branched != chat.Origin{ConversationID: from.ID, MessageID: messageID}) {
		err = fault.New(fault.Conflict, "There is another conversation of this id.")
	}
	return false, err
}

// copyPath copies the path of a conversation up to a seq. The copies belong to
// the runs that said the originals: who looks into an answer finds how it came
// about.
func copyPath(tx Tx, v identity.Viewer, from, to string, last int) error {
	for at := 0; at < last; at += copied {
		list, err := all(tx, `SELECT `+messageColumns+` FROM message
			WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq > @after AND seq <= @last
			ORDER BY seq`,
			Args{"conversation": from, "user": v.UserID, "after": at, "last": min(last, at+copied)}, scanMessage)
		if err != nil {
			return err
		}
		for _, m := range list {
			m.ID, m.ConversationID = id.Derive(to, m.ID), to
			if m.Meta["noted"] != nil { // feedback on the original, which is taken back there
				m.Meta = maps.Clone(m.Meta)
				delete(m.Meta, "noted")
			}
			if err := insertMessage(tx, v.UserID, m); err != nil {
				return err
			}
		}
	}
	return nil
}
