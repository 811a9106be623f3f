package store

import (
	"context"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// spot is where a message stands in its conversation.
type spot struct {
	id, runID string
	role      string
	seq       int
	aside     int    // 0: on the path
	family    string // its first version; empty: it is the only one
}

func (p spot) begins(tx Tx, v identity.Viewer, conversationID string) (bool, error) {
	if p.role != "user" {
		return false, nil
	}
	earlier, err := first(tx, `SELECT 1 FROM message WHERE conversation_id = @conversation AND user_id = @user
		AND aside = @aside AND seq = @before AND run_id = @run`,
		Args{"conversation": conversationID, "user": v.UserID, "aside": p.aside, "before": p.seq - 1, "run": optional(p.runID)}, new(int))
	return !earlier, err
}

// spotOf finds a message of a conversation of the viewer's.
func spotOf(tx Tx, v identity.Viewer, conversationID, messageID string) (p spot, err error) {
	found, err := first(tx, `SELECT id, run_id, role, seq, aside, version_of FROM message
		WHERE id = @id AND conversation_id = @conversation AND user_id = @user`,
		Args{"id": messageID, "conversation": conversationID, "user": v.UserID},
		&p.id, text{&p.runID}, &p.role, &p.seq, &p.aside, text{&p.family})
	if err == nil && !found {
		err = missing("message")
	}
	return p, err
}

// replaced finds the question that a turn says anew; one without an id when
// the turn replaces nothing.
func replaced(tx Tx, v identity.Viewer, t chat.NewTurn, th thread) (spot, error) {
	if t.Replaces == "" {
		return spot{}, nil
	}
	if th.fresh {
		return spot{}, missing("conversation")
	}
	p, err := spotOf(tx, v, t.ConversationID, t.Replaces)
	if err != nil {
		return p, err
	}
	if p.aside > 0 {
		return p, fault.New(fault.Invalid, "This message is not shown: another version of it is, or of one before it.").With(map[string]any{"field": "replaces"})
	}
	begins, err := p.begins(tx, v, t.ConversationID)
	if err == nil && !begins {
		err = noQuestion("replaces")
	}
	return p, err
}

func noQuestion(field string) error {
	return fault.New(fault.Invalid, "Only a message of yours that begins a turn has other versions.").With(map[string]any{"field": field})
}

// setAside takes everything from seq on off the path of a conversation that is
// locked and in which no turn is under way.
func setAside(tx Tx, v identity.Viewer, conversationID string, seq int) error {
	args := Args{"id": conversationID, "user": v.UserID, "seq": seq}
	if _, err := tx.Exec(`UPDATE conversation SET asides = asides + 1 WHERE id = @id AND user_id = @user`, args); err != nil {
		return err
	}
	var number int
	var c chat.Conversation
	if _, err := first(tx, `SELECT asides, meta FROM conversation WHERE id = @id AND user_id = @user`,
		Args{"id": conversationID, "user": v.UserID}, &number, decode{&c.Meta}); err != nil {
		return err
	}
	args["number"] = number
	if _, err := tx.Exec(`UPDATE message SET aside = @number
		WHERE conversation_id = @id AND user_id = @user AND aside = 0 AND seq >= @seq`, args); err != nil {
		return err
	}
	return unlearn(tx, v, conversationID, c, seq)
}

// unlearn takes what is remembered of a conversation out of use when it covers
// the message at seq or a later one: it tells what is no longer shown. The
// artifact stays as it is, and the next summary is made from the beginning.
func unlearn(tx Tx, v identity.Viewer, conversationID string, c chat.Conversation, seq int) error {
	if c.Summarised() < seq {
		return nil
	}
	// Its owner may be writing a version of it.
	if err := tx.Lock("artifact:" + chat.MemoryID(conversationID)); err != nil {
		return err
	}
	var version int
	if _, err := first(tx, `SELECT version FROM artifact WHERE id = @id AND owner_user_id = @user`,
		Args{"id": chat.MemoryID(conversationID), "user": v.UserID}, &version); err != nil {
		return err
	}
	c.Forget(version)
	return putMeta(tx, v, conversationID, c.Meta)
}

// another makes a message the newest version of the one it replaced.
func another(tx Tx, v identity.Viewer, of spot, messageID string) error {
	family := of.family
	if family == "" {
		family = of.id
		if _, err := tx.Exec(`UPDATE message SET version_of = id WHERE id = @id AND user_id = @user`,
			Args{"id": of.id, "user": v.UserID}); err != nil {
			return err
		}
	}
	var last int
	if _, err := first(tx, `SELECT max(version_no) FROM message WHERE version_of = @family AND user_id = @user`,
		Args{"family": family, "user": v.UserID}, &last); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE message SET version_of = @family, version_no = @number WHERE id = @id AND user_id = @user`,
		Args{"family": family, "number": last + 1, "id": messageID, "user": v.UserID})
	return err
}

// namedAfter reports whether a title is the one a conversation has of its first
// message, and this is that message: then it follows what is said instead. A
// title that a person gave stays (CHAT-13).
func namedAfter(tx Tx, v identity.Viewer, p spot, title string) (bool, error) {
	if p.seq != 1 {
		return false, nil
	}
	content, err := contentOf(tx, v, p.id)
	return err == nil && title == chat.TitleOf(content), err
}

func contentOf(tx Tx, v identity.Viewer, id string) (content string, err error) {
	_, err = first(tx, `SELECT content FROM message WHERE id = @id AND user_id = @user`, Args{"id": id, "user": v.UserID}, &content)
	return content, err
}

// retitle names a conversation after the version of its first message that is
// shown now, where it was named after the one before.
func retitle(tx Tx, v identity.Viewer, conversationID string, before, now spot) error {
	var title string
	if _, err := first(tx, `SELECT title FROM conversation WHERE id = @id AND user_id = @user`,
		Args{"id": conversationID, "user": v.UserID}, &title); err != nil {
		return err
	}
	named, err := namedAfter(tx, v, before, title)
	if err != nil || !named {
		return err
	}
	content, err := contentOf(tx, v, now.id)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE conversation SET title = @title WHERE id = @id AND user_id = @user`,
		Args{"id": conversationID, "user": v.UserID, "title": chat.TitleOf(content)})
	return err
}

// ShowVersion implements chat.Versions. It is no activity: the place of the
// conversation in the list stays.
func (s *Store) ShowVersion(ctx context.Context, v identity.Viewer, conversationID, messageID string) error {
	return s.write(ctx, v, func(tx Tx) error {
		// Turns are accepted and closed behind the same lock.
		if err := tx.Lock("conversation:" + conversationID); err != nil {
			return err
		}
		if _, err := asidesOf(tx, v, conversationID); err != nil {
			return err
		}
		p, err := spotOf(tx, v, conversationID, messageID)
		if err != nil {
			return err
		}
		begins, err := p.begins(tx, v, conversationID)
		switch {
		case err != nil:
			return err
		case !begins:
			return noQuestion("message_id")
		case p.aside == 0:
			return nil
		}
		return show(tx, v, conversationID, p)
	})
}

// show brings what was set aside with a question back, in place of what is
// shown from there on. A question that is not first among what was set aside
// with it has no version on the path: all of one family have the same messages
// before them, and went only when one of those did.
func show(tx Tx, v identity.Viewer, conversationID string, p spot) error {
	ahead, err := unended(tx, v, conversationID)
	if err != nil {
		return err
	}
	if len(ahead) > 0 {
		return chat.StillAnswering(ahead[0])
	}
	args := Args{"conversation": conversationID, "user": v.UserID, "aside": p.aside, "seq": p.seq, "family": optional(p.family)}
	shown := spot{seq: p.seq}
	found, err := first(tx, `SELECT id FROM message WHERE conversation_id = @conversation AND user_id = @user
		AND aside = 0 AND seq = @seq AND version_of = @family`, args, &shown.id)
	if err != nil {
		return err
	}
	if !found {
		return fault.New(fault.Conflict, "This message belongs to another version of one before it. Show that one first.").With(map[string]any{"reason": "aside"})
	}
	if err := retitle(tx, v, conversationID, shown, p); err != nil {
		return err
	}
	if err := setAside(tx, v, conversationID, p.seq); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE message SET aside = 0 WHERE conversation_id = @conversation AND user_id = @user AND aside = @aside`, args); err != nil {
		return err
	}
	// Read, not counted: a program of before 0006, still beside this one, moves
	// what is set aside as well, and leaves a gap.
	_, err = tx.Exec(`UPDATE conversation SET last_seq = (SELECT max(seq) FROM message
		WHERE conversation_id = @conversation AND user_id = @user AND aside = 0) WHERE id = @conversation AND user_id = @user`, args)
	return err
}

// asidesOf is how often something of a conversation was set aside; NotFound
// when it is not the viewer's.
func asidesOf(tx Tx, v identity.Viewer, conversationID string) (n int, err error) {
	found, err := first(tx, `SELECT asides FROM conversation WHERE id = @id AND user_id = @user`,
		Args{"id": conversationID, "user": v.UserID}, &n)
	if err == nil && !found {
		err = missing("conversation")
	}
	return n, err
}

// versionsOf fills in the versions of the messages of a list, which stand on the
// path in order.
func versionsOf(tx Tx, v identity.Viewer, conversationID string, list []chat.Message) error {
	if len(list) == 0 {
		return nil
	}
	families, of := map[string][]string{}, map[string]string{}
	err := tx.Query(`SELECT id, version_of FROM message WHERE user_id = @user AND version_of IN (
			SELECT version_of FROM message WHERE conversation_id = @conversation AND user_id = @user
			AND aside = 0 AND seq >= @from AND seq <= @to AND version_of IS NOT NULL)
		ORDER BY version_of, version_no`,
		Args{"conversation": conversationID, "user": v.UserID, "from": list[0].Seq, "to": list[len(list)-1].Seq},
		func(scan Scan) error {
			var id, family string
			if err := scan(&id, &family); err != nil {
				return err
			}
			families[family], of[id] = append(families[family], id), family
			return nil
		})
	for i := range list {
		if ids := families[of[list[i].ID]]; len(ids) > 1 {
			list[i].Versions = ids
		}
	}
	return err
}
