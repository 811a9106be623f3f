package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

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

// CreateConversation opens an empty conversation of the viewer's with a title, a
// context, the workflow they chose and what programs note of it (CHAT-12). Without
// a title it takes its first message's; with an id it is of that id, and NotFound
// where that is taken.
func (s *Store) CreateConversation(ctx context.Context, v identity.Viewer, c chat.Conversation) (chat.Conversation, error) {
	now := s.now()
	c.ID, c.UserID, c.Status, c.CreatedAt, c.UpdatedAt = cmp.Or(c.ID, id.New()), v.UserID, "open", now, now
	meta, err := encoded(c.Meta, c.Meta == nil)
	if err != nil {
		return c, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`INSERT INTO conversation (id, user_id, title, status, active_context_id, workflow, created_at, updated_at, meta)
			VALUES (@id, @user, @title, @status, @context, @workflow, @now, @now, @meta) ON CONFLICT (id) DO NOTHING`,
			Args{
				"id": c.ID, "user": v.UserID, "title": c.Title, "status": c.Status, "context": optional(c.ActiveContextID),
				"workflow": optional(c.WorkflowID), "now": now, "meta": meta,
			})
		if err == nil && n == 0 {
			err = missing("conversation")
		}
		return err
	})
	return c, err
}

// ListConversations implements chat.Conversations.
func (s *Store) ListConversations(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]chat.Conversation, string, error) {
	return s.listConversations(ctx, v, `NOT unlisted`, cursor, limit)
}

// ListProgramConversations implements chat.Conversations.
func (s *Store) ListProgramConversations(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]chat.Conversation, string, error) {
	return s.listConversations(ctx, v, `unlisted AND `+keptConversation("id"), cursor, limit)
}

// keptConversation is the condition that a conversation is not one of which
// nothing is kept: id.Unkept, of a column.
func keptConversation(column string) string {
	return `substr(CAST(` + column + ` AS text), 15, 1) <> '8'`
}

// listConversations lists those of the viewer's of which a condition holds.
func (s *Store) listConversations(ctx context.Context, v identity.Viewer, which, cursor string, limit int) (list []chat.Conversation, next string, err error) {
	pinned, after, err := beginPinned(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+conversationColumns+` FROM conversation
			WHERE user_id = @user AND `+which+` AND (pinned, updated_at, id) < (@pinned, @at, @id)
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
		args := Args{"id": id, "user": v.UserID, "title": c.Title, "status": c.Status, "context": optional(c.ActiveContextID), "pinned": c.Pinned, "backend": optional(c.Backend), "workflow": optional(c.WorkflowID)}
		if _, err := tx.Exec(`UPDATE conversation SET title = @title, status = @status, active_context_id = @context, pinned = @pinned, backend = @backend, workflow = @workflow
			WHERE id = @id AND user_id = @user`, args); err != nil || change.Noted == nil {
			return err
		}
		c.Meta = chat.Note(c.Meta, change.Noted)
		meta, err := encoded(c.Meta, false)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE conversation SET meta = @meta WHERE id = @id AND user_id = @user`, Args{"id": id, "user": v.UserID, "meta": meta})
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

// SweepUnkept deletes the conversations of which nothing is kept once their last
// turn is keep ago, and counts them. They are in no list, so nobody else would. One
// with a run that has not ended stays: its person may have a question to answer.
func (s *Store) SweepUnkept(ctx context.Context, keep time.Duration) (removed int, err error) {
	var people []string
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		people, err = all(tx, `SELECT id FROM app_user`, nil, func(scan Scan) (id string, err error) { return id, scan(&id) })
		return err
	})
	if err != nil {
		return 0, err
	}
	before := s.now().Add(-keep)
	for _, person := range people {
		n, err := s.sweepUnkeptOf(ctx, identity.Viewer{UserID: person}, before)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (s *Store) sweepUnkeptOf(ctx context.Context, v identity.Viewer, before time.Time) (removed int, err error) {
	idle := `updated_at < @before AND unlisted AND NOT (` + keptConversation("id") + `)
		AND NOT EXISTS (SELECT 1 FROM run r WHERE r.user_id = @user AND r.conversation_id = conversation.id AND r.status IN ('queued', 'running', 'waiting'))`
	args := Args{"user": v.UserID, "before": before}
	var due []string
	err = s.read(ctx, v, func(tx Tx) error {
		due, err = all(tx, `SELECT id FROM conversation WHERE user_id = @user AND `+idle, args, func(scan Scan) (id string, err error) { return id, scan(&id) })
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, conversation := range due {
		err := s.write(ctx, v, func(tx Tx) error {
			if err := tx.Lock("conversation:" + conversation); err != nil {
				return err
			}
			n, err := tx.Exec(`DELETE FROM conversation WHERE id = @id AND user_id = @user AND `+idle, Args{"id": conversation, "user": v.UserID, "before": before})
			if err != nil || n == 0 {
				return err
			}
			removed++
			return forget(tx, v, conversation)
		})
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
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
