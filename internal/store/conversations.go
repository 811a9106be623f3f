package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ chat.Conversations = (*Store)(nil)

// conversationColumns are of "conversation". A context that is gone, whoever
// deleted it, is none: who goes on may use all of their own again.
const conversationColumns = `id, user_id, title, status,
	(SELECT k.id FROM knowledge_context k WHERE k.id = conversation.active_context_id) AS active_context_id,
	created_at, updated_at, meta, branched_from, branched_message, pinned, backend, workflow`

func scanConversation(scan Scan) (c chat.Conversation, err error) {
	var of chat.Origin
	err = scan(&c.ID, &c.UserID, &c.Title, &c.Status, text{&c.ActiveContextID},
		when{&c.CreatedAt}, when{&c.UpdatedAt}, decode{&c.Meta}, text{&of.ConversationID}, text{&of.MessageID}, &c.Pinned, text{&c.Backend}, text{&c.WorkflowID})
	if of.ConversationID != "" {
		c.Branched = &of
	}
	return c, err
}

func conversation(tx Tx, v identity.Viewer, id string) (chat.Conversation, error) {
	list, err := all(tx, `SELECT `+conversationColumns+` FROM conversation WHERE id = @id AND user_id = @user`,
		Args{"id": id, "user": v.UserID}, scanConversation)
	if err == nil && len(list) == 0 {
		err = missing("conversation")
	}
	if err != nil {
		return chat.Conversation{}, err
	}
	return list[0], activate(tx, list)
}

// Conversation implements chat.Conversations.
func (s *Store) Conversation(ctx context.Context, v identity.Viewer, id string) (c chat.Conversation, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		c, err = conversation(tx, v, id)
		return err
	})
	return c, err
}

// CreateConversation opens an empty conversation of the viewer's with a title
// and a context (CHAT-12). Without a title it takes its first message's.
func (s *Store) CreateConversation(ctx context.Context, v identity.Viewer, c chat.Conversation) (chat.Conversation, error) {
	now := s.now()
	c.ID, c.UserID, c.Status, c.CreatedAt, c.UpdatedAt = id.New(), v.UserID, "open", now, now
	err := s.write(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO conversation (id, user_id, title, status, active_context_id, created_at, updated_at)
			VALUES (@id, @user, @title, @status, @context, @now, @now)`,
			Args{"id": c.ID, "user": v.UserID, "title": c.Title, "status": c.Status, "context": optional(c.ActiveContextID), "now": now})
		return err
	})
	return c, err
}

// ListConversations implements chat.Conversations.
func (s *Store) ListConversations(ctx context.Context, v identity.Viewer, cursor string, limit int) (list []chat.Conversation, next string, err error) {
	pinned, after, err := beginPinned(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+conversationColumns+` FROM conversation
			WHERE user_id = @user AND (pinned, updated_at, id) < (@pinned, @at, @id)
			ORDER BY pinned DESC, updated_at DESC, id DESC LIMIT @limit`,
			Args{"user": v.UserID, "pinned": pinned, "at": after.at, "id": orNil(after.id), "limit": size + 1}, scanConversation)
		if err != nil {
			return err
		}
		list, next = cut(list, size, func(c chat.Conversation) place { return place{c.UpdatedAt, c.ID} })
		if next != "" && list[len(list)-1].Pinned {
			next = pinnedMark + next
		}
		return activate(tx, list)
	})
	return list, next, err
}

// pinnedMark begins the cursor of a place among pinned conversations. No cursor
// of another place begins with it, so that those given out before there were
// pins go on.
const pinnedMark = "~"

// beginPinned is begin for a list whose pinned rows come first.
func beginPinned(cursor string) (pinned bool, after place, err error) {
	rest, pinned := strings.CutPrefix(cursor, pinnedMark)
	if pinned && rest == "" {
		return false, place{}, badCursor()
	}
	after, err = begin(rest)
	return pinned || cursor == "", after, err
}

// activate fills in the runs that are running or waiting, one read for all.
func activate(tx Tx, list []chat.Conversation) error {
	if len(list) == 0 {
		return nil
	}
	args := Args{"user": list[0].UserID}
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	active, err := all(tx, `SELECT `+runColumns+` FROM run WHERE user_id = @user
		AND status IN ('queued', 'running', 'waiting') AND status <> 'queued'
		AND conversation_id IN `+args.in("id", ids), args, scanRun)
	for i, r := range active {
		if at := slices.Index(ids, r.ConversationID); at >= 0 {
			list[at].ActiveRun = &active[i]
		}
	}
	return err
}

// UpdateConversation implements chat.Conversations. It is no activity: the
// place in the list, updated_at, stays.
func (s *Store) UpdateConversation(ctx context.Context, v identity.Viewer, id string, change chat.ConversationChange) (c chat.Conversation, err error) {
	if st := change.Status; st != nil && *st != "open" && *st != "archived" {
		return c, fault.New(fault.Invalid, "A conversation is open or archived, not %q.", *st).With(map[string]any{"field": "status"})
	}
	err = s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("conversation:" + id); err != nil {
			return err
		}
		if c, err = conversation(tx, v, id); err != nil {
			return err
		}
		set(&c.Title, change.Title)
		set(&c.Status, change.Status)
		set(&c.ActiveContextID, change.ActiveContextID)
		set(&c.Pinned, change.Pinned)
		set(&c.Backend, change.Backend)
		set(&c.WorkflowID, change.WorkflowID)
		_, err := tx.Exec(`UPDATE conversation SET title = @title, status = @status, active_context_id = @context, pinned = @pinned, backend = @backend, workflow = @workflow
			WHERE id = @id AND user_id = @user`,
			Args{"id": id, "user": v.UserID, "title": c.Title, "status": c.Status, "context": optional(c.ActiveContextID), "pinned": c.Pinned, "backend": optional(c.Backend), "workflow": optional(c.WorkflowID)})
		return err
	})
	return c, err
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// DeleteConversation implements chat.Conversations: its messages, runs,
// questions, large values and its memory go with it.
func (s *Store) DeleteConversation(ctx context.Context, v identity.Viewer, id string) error {
	return s.write(ctx, v, func(tx Tx) error {
		// Its turns lock rows in another order than its deletion does.
		if err := tx.Lock("conversation:" + id); err != nil {
			return err
		}
		n, err := tx.Exec(`DELETE FROM conversation WHERE id = @id AND user_id = @user`, Args{"id": id, "user": v.UserID})
		if err == nil && n == 0 {
			err = missing("conversation")
		}
		if err != nil {
			return err
		}
		return forget(tx, v, id)
	})
}

// unended lists the turns of a conversation that have not ended, in the order
// they were accepted: at most one is running or waiting.
func unended(tx Tx, v identity.Viewer, conversationID string) ([]run.Run, error) {
	return all(tx, `SELECT `+runColumns+` FROM run WHERE conversation_id = @conversation AND user_id = @user
		AND status IN ('queued', 'running', 'waiting') ORDER BY created_at, id`,
		Args{"conversation": conversationID, "user": v.UserID}, scanRun)
}

// persisted lays the vars a turn keeps over those there are; nil removes one
// (GRAPH-28).
func persisted(meta, vars map[string]any) map[string]any {
	docs := map[string]any{}
	if before, ok := meta["docs"].(map[string]any); ok {
		maps.Copy(docs, before)
	}
	for name, value := range vars {
		if value == nil {
			delete(docs, name)
			continue
		}
		docs[name] = value
	}
	merged := maps.Clone(meta)
	if merged == nil {
		merged = map[string]any{}
	}
	merged["docs"] = docs
	return merged
}
