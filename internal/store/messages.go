package store

import (
	"context"
	"slices"

	"liminal/internal/chat"
	"liminal/internal/identity"
)

var _ chat.Messages = (*Store)(nil)

const messageColumns = `id, conversation_id, run_id, sender, role, content, content_struct, seq,
	token_count_in, token_count_out, created_at, meta`

func scanMessage(scan Scan) (m chat.Message, err error) {
	err = scan(&m.ID, &m.ConversationID, text{&m.RunID}, &m.Sender, &m.Role, &m.Content, decode{&m.Struct}, &m.Seq,
		&m.TokensIn, &m.TokensOut, when{&m.CreatedAt}, decode{&m.Meta})
	return m, err
}

// insertMessage writes a message of user's conversation; one that is there
// stays as it is (CHAT-28).
func insertMessage(tx Tx, user string, m chat.Message) error {
	suppressed, _ := m.Meta["suppressed"].(bool)
	m, err := sealMessage(tx, user, m)
	if err != nil {
		return err
	}
	structure := m.Struct.Normalised()
	content, err := encoded(structure, structure == nil)
	if err != nil {
		return err
	}
	meta, err := encoded(m.Meta, len(m.Meta) == 0)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO message (`+messageColumns+`, user_id, suppressed) VALUES (@id, @conversation, @run, @sender, @role,
		@content, @struct, @seq, @in, @out, @created, @meta, @user, @suppressed) ON CONFLICT (id) DO NOTHING`,
		Args{
			"id": m.ID, "conversation": m.ConversationID, "run": optional(m.RunID), "sender": m.Sender, "role": m.Role,
			"content": writable(m.Content), "struct": content, "seq": m.Seq, "in": m.TokensIn, "out": m.TokensOut,
			"created": m.CreatedAt, "meta": meta, "user": user, "suppressed": suppressed,
		})
	return err
}

// ListMessages implements chat.Messages.
func (s *Store) ListMessages(ctx context.Context, v identity.Viewer, conversationID, cursor string, limit int) ([]chat.Message, string, error) {
	p, err := s.MessagePage(ctx, v, conversationID, chat.MessageRange{After: cursor, Limit: limit})
	return p.Messages, p.Next, err
}

// History implements chat.Messages. What was suppressed was not said.
func (s *Store) History(ctx context.Context, v identity.Viewer, conversationID string, upto, limit int) (list []chat.Message, err error) {
	err = s.look(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT `+messageColumns+` FROM message
			WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq < @upto AND NOT suppressed
			ORDER BY seq DESC LIMIT @limit`,
			Args{"conversation": conversationID, "user": v.UserID, "upto": upto, "limit": max(limit, 0)}, scanMessage)
		return err
	})
	slices.Reverse(list)
	return list, s.opened(ctx, v, list, err)
}

// Message implements chat.Messages.
func (s *Store) Message(ctx context.Context, v identity.Viewer, id string) (m chat.Message, err error) {
	err = s.look(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+messageColumns+` FROM message WHERE id = @id AND user_id = @user`,
			Args{"id": id, "user": v.UserID}, scanMessage)
		if err == nil && len(list) == 0 {
			err = missing("message")
		}
		if err == nil {
			m = list[0]
		}
		return err
	})
	one := []chat.Message{m}
	err = s.opened(ctx, v, one, err)
	return one[0], err
}

// seqOfMessage is 0 when there is no such message.
func seqOfMessage(tx Tx, user, id string) (seq int, err error) {
	_, err = first(tx, `SELECT seq FROM message WHERE id = @id AND user_id = @user`, Args{"id": id, "user": user}, &seq)
	return seq, err
}

// makeRoom moves the messages of the path from seq from on by n places. They
// belong to turns that still wait; a turn's own messages stand together. The
// two steps keep the index of seq unique at every row.
func makeRoom(tx Tx, user, conversationID string, from, n int) error {
	args := Args{"conversation": conversationID, "user": user, "from": from, "n": n}
	if _, err := tx.Exec(`UPDATE message SET seq = -(seq + @n)
		WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq >= @from`, args); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE message SET seq = -seq WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq < 0`,
		Args{"conversation": conversationID, "user": user})
	return err
}

// MessageHeads implements chat.MessageHeads.
func (s *Store) MessageHeads(ctx context.Context, v identity.Viewer, ids []string, length int) (map[string]string, error) {
	type head struct{ id, text string }
	var list []head
	args := Args{"user": v.UserID, "length": length}
	query := `SELECT id, substr(content, 1, CAST(@length AS integer)) FROM message WHERE user_id = @user AND id IN ` + args.in("id", ids)
	err := s.read(ctx, v, func(tx Tx) (err error) {
		list, err = all(tx, query, args, func(scan Scan) (h head, err error) {
			err = scan(&h.id, &h.text)
			return h, err
		})
		return err
	})
	heads := make(map[string]string, len(list))
	for _, h := range list {
		heads[h.id] = h.text
	}
	return heads, err
}
