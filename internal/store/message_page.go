package store

import (
	"context"
	"slices"
	"strconv"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

// The two kinds of cursor of a conversation: what follows a seq, and what
// comes before one.
const (
	followsSeq = "seq"
	beforeSeq  = "until"
)

// maxSeq is beyond every message there can be.
const maxSeq = 1 << 30

// MessagePage implements chat.Messages.
func (s *Store) MessagePage(ctx context.Context, v identity.Viewer, conversationID string, r chat.MessageRange) (p chat.MessagePage, err error) {
	given := 0
	for _, set := range []bool{r.After != "", r.Before != "", r.Latest} {
		if set {
			given++
		}
	}
	if given > 1 {
		return p, fault.New(fault.Invalid, "Of latest, before and cursor only one can be given.").With(map[string]any{"field": "cursor"})
	}
	after, err := seqOf(r.After, followsSeq, 0)
	if err != nil {
		return p, err
	}
	before, err := seqOf(r.Before, beforeSeq, maxSeq)
	if err != nil {
		return p, err
	}
	err = s.read(ctx, v, func(tx Tx) error {
		asides, err := asidesOf(tx, v, conversationID)
		if err != nil {
			return err
		}
		if r.Before != "" || r.Latest {
			p, err = backwards(tx, v, conversationID, before, r)
		} else {
			p, err = forwards(tx, v, conversationID, after, r)
		}
		if err != nil || asides == 0 {
			return err
		}
		return versionsOf(tx, v, conversationID, p.Messages)
	})
	return p, s.opened(ctx, v, p.Messages, err)
}

func forwards(tx Tx, v identity.Viewer, conversationID string, after int, r chat.MessageRange) (p chat.MessagePage, err error) {
	size := pageSize(r.Limit)
	p.Messages, err = all(tx, `SELECT `+messageColumns+` FROM message
		WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq > @after AND NOT suppressed
		ORDER BY seq LIMIT @limit`,
		Args{"conversation": conversationID, "user": v.UserID, "after": after, "limit": size + 1}, scanMessage)
	if err != nil {
		return p, err
	}
	if len(p.Messages) > size {
		p.Messages = p.Messages[:size]
		p.Next = opaque(followsSeq, strconv.Itoa(p.Messages[size-1].Seq))
	}
	from := after + 1
	if len(p.Messages) > 0 {
		from = p.Messages[0].Seq
	}
	if from == 1 {
		return p, nil
	}
	earlier, err := first(tx, `SELECT 1 FROM message
		WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq < @from AND NOT suppressed LIMIT 1`,
		Args{"conversation": conversationID, "user": v.UserID, "from": from}, new(int))
	if earlier {
		p.Earlier = opaque(beforeSeq, strconv.Itoa(from))
	}
	return p, err
}

func backwards(tx Tx, v identity.Viewer, conversationID string, before int, r chat.MessageRange) (p chat.MessagePage, err error) {
	size := pageSize(r.Limit)
	p.Messages, err = all(tx, `SELECT `+messageColumns+` FROM message
		WHERE conversation_id = @conversation AND user_id = @user AND aside = 0 AND seq < @before AND NOT suppressed
		ORDER BY seq DESC LIMIT @limit`,
		Args{"conversation": conversationID, "user": v.UserID, "before": before, "limit": size + 1}, scanMessage)
	if len(p.Messages) > size {
		p.Messages = p.Messages[:size]
		p.Earlier = opaque(beforeSeq, strconv.Itoa(p.Messages[size-1].Seq))
	}
	if len(p.Messages) > 0 && !r.Latest {
		p.Next = opaque(followsSeq, strconv.Itoa(p.Messages[0].Seq))
	}
	slices.Reverse(p.Messages)
	return p, err
}

// seqOf reads a cursor of a kind; without one it is the given end.
func seqOf(cursor, of string, end int) (int, error) {
	if cursor == "" {
		return end, nil
	}
	kind, seq, err := parse(cursor)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(seq)
	if err != nil || kind != of || n < 0 || n > maxSeq {
		return 0, badCursor()
	}
	return n, nil
}
