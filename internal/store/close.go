package store

import (
	"context"
	"encoding/json"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// CloseTurn implements chat.Turns. The ids of what it writes are derived from
// the run, and a run ends once: a step that is repeated after a crash writes
// nothing and gets the same answer (CHAT-28).
func (s *Store) CloseTurn(ctx context.Context, v identity.Viewer, c chat.Close) (closed chat.Closed, err error) {
	if !c.End.Status.Ended() {
		return closed, fault.New(fault.Invalid, "A turn cannot end as %q; it ends as done, failed or cancelled.", c.End.Status)
	}
	err = s.write(ctx, v, func(tx Tx) error {
		r, err := lockTurn(tx, v, c.RunID)
		if err != nil {
			return err
		}
		switch {
		case r.Status.Ended():
			closed, err = closedBefore(tx, r.Run)
			return err
		case c.Only != "" && r.Status != c.Only:
			return fault.New(fault.Conflict, "The turn is %s, and not %s any more.", r.Status, c.Only).
				With(map[string]any{"run_id": r.ID, "status": r.Status})
		}
		closed, err = s.closeTurn(tx, r, c)
		return err
	})
	return closed, err
}

func lockTurn(tx Tx, v identity.Viewer, runID string) (lockedRun, error) {
	r, err := lockRun(tx, v, runID)
	if err == nil && r.Kind != run.KindChat {
		err = fault.New(fault.Conflict, "Run %s is no chat turn.", runID)
	}
	return r, err
}

// lockRun reads a run behind the lock that everything takes that depends on
// whether it has ended: its conversation's if it is a turn, else its own.
func lockRun(tx Tx, v identity.Viewer, runID string) (lockedRun, error) {
	r, err := visible(tx, v, runID)
	if err != nil {
		return lockedRun{}, err
	}
	key := "run:" + r.ID
	if r.Kind == run.KindChat {
		key = "conversation:" + r.ConversationID
	}
	if err := tx.Lock(key); err != nil {
		return lockedRun{}, err
	}
	return toldRun(tx, v, runID)
}

func (s *Store) closeTurn(tx Tx, of lockedRun, c chat.Close) (chat.Closed, error) {
	r := of.Run
	owner := identity.Viewer{UserID: r.UserID}
	next, err := s.promote(tx, owner, r)
	if err != nil {
		return chat.Closed{}, err
	}
	closed := chat.Closed{ConversationID: r.ConversationID}
	said := s.said(r, c)
	if closed.Seq, err = s.append(tx, r, said, c.Persist); err != nil {
		return chat.Closed{}, err
	}
	if c.Message != nil {
		closed.MessageID = said[len(said)-1].ID
	} else {
		closed.Seq = 0
	}
	nextID := ""
	if next != nil {
		nextID = next.ID
		if closed.Next, err = s.start(tx, *next); err != nil {
			return chat.Closed{}, err
		}
	}
	if err := s.closeAudit(tx, r, c.End, c.Audit); err != nil {
		return chat.Closed{}, err
	}
	return closed, s.endRun(tx, of, c.End, nextID)
}

// said is what the turn leaves in the conversation, in order.
func (s *Store) said(r run.Run, c chat.Close) []chat.Message {
	list := make([]chat.Message, 0, len(c.Notices)+1)
	for i, m := range c.Notices {
		m.ID = chat.NoticeID(r.ID, i)
		list = append(list, m)
	}
	if c.Message != nil {
		m := *c.Message
		m.ID = chat.AnswerID(r.ID)
		list = append(list, m)
	}
	for i := range list {
		m := &list[i]
		m.ConversationID, m.RunID, m.CreatedAt = r.ConversationID, r.ID, s.orNow(m.CreatedAt)
		if m.Role == "" {
			m.Role = m.Sender
		}
		if m.Sender == "" {
			m.Sender = m.Role
		}
	}
	return list
}

// append writes messages right behind the turn's own question, moves queued
// ones on, and brings the conversation up to date. It returns the last seq.
func (s *Store) append(tx Tx, r run.Run, said []chat.Message, persist map[string]any) (int, error) {
	var lastSeq int
	var meta map[string]any
	if _, err := first(tx, `SELECT last_seq, meta FROM conversation WHERE id = @id AND user_id = @user`,
		Args{"id": r.ConversationID, "user": r.UserID}, &lastSeq, decode{&meta}); err != nil {
		return 0, err
	}
	asked, err := seqOfMessage(tx, r.UserID, chat.AskedID(r.ID))
	if err != nil {
		return 0, err
	}
	if asked == 0 {
		asked = lastSeq
	}
	if len(said) > 0 && asked < lastSeq {
		if err := makeRoom(tx, r.UserID, r.ConversationID, asked+1, len(said)); err != nil {
			return 0, err
		}
	}
	for i, m := range said {
		m.Seq = asked + 1 + i
		if err := insertMessage(tx, r.UserID, m); err != nil {
			return 0, err
		}
	}
	return asked + len(said), s.touch(tx, r, lastSeq+len(said), meta, persist)
}

func (s *Store) touch(tx Tx, r run.Run, lastSeq int, meta, persist map[string]any) error {
	if id.Unkept(r.ID) {
		persist = nil // there is no next turn
	}
	args := Args{"id": r.ConversationID, "user": r.UserID, "seq": lastSeq, "now": s.now()}
	if len(persist) == 0 {
		_, err := tx.Exec(`UPDATE conversation SET last_seq = @seq, updated_at = @now WHERE id = @id AND user_id = @user`, args)
		return err
	}
	doc, err := encoded(persisted(meta, persist), false)
	if err != nil {
		return err
	}
	args["meta"] = doc
	_, err = tx.Exec(`UPDATE conversation SET last_seq = @seq, updated_at = @now, meta = @meta WHERE id = @id AND user_id = @user`, args)
	return err
}

// promote finds the turn that may run once r has ended: the queued one whose
// message stands first.
func (s *Store) promote(tx Tx, owner identity.Viewer, r run.Run) (*run.Run, error) {
	ahead, err := unended(tx, owner, r.ConversationID)
	if err != nil {
		return nil, err
	}
	var next *run.Run
	least := 0
	for i, other := range ahead {
		switch {
		case other.ID == r.ID:
			continue
		case other.Status != run.Queued:
			return nil, nil
		}
		seq, err := seqOfMessage(tx, r.UserID, chat.AskedID(other.ID))
		if err != nil {
			return nil, err
		}
		if next == nil || seq < least {
			next, least = &ahead[i], seq
		}
	}
	return next, nil
}

// start makes a queued turn the running one. Its message is last now, so the
// history it reads ends right before it.
func (s *Store) start(tx Tx, r run.Run) (*run.Run, error) {
	var in chat.TurnInput
	if err := json.Unmarshal(r.Input, &in); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The input of run %s cannot be read.", r.ID)
	}
	seq, err := seqOfMessage(tx, r.UserID, in.MessageID)
	if err != nil {
		return nil, err
	}
	in.UptoSeq = seq
	if r.Input, err = json.Marshal(in); err != nil {
		return nil, err
	}
	r.Status, r.StartedAt = run.Running, s.now()
	_, err = tx.Exec(`UPDATE run SET status = 'running', started_at = @now, input = @input WHERE id = @id AND user_id = @user`,
		Args{"id": r.ID, "user": r.UserID, "now": r.StartedAt, "input": rawJSON(r.Input)})
	return &r, err
}

// closedBefore answers a repeated CloseTurn from what the first one wrote.
func closedBefore(tx Tx, r run.Run) (chat.Closed, error) {
	closed := chat.Closed{ConversationID: r.ConversationID}
	var err error
	if closed.Seq, err = seqOfMessage(tx, r.UserID, chat.AnswerID(r.ID)); err != nil {
		return closed, err
	}
	if closed.Seq > 0 {
		closed.MessageID = chat.AnswerID(r.ID)
	}
	next, found, err := firstRun(tx, `SELECT `+runColumns+` FROM run WHERE user_id = @user
		AND id = (SELECT next_run_id FROM run WHERE id = @id AND user_id = @user)`,
		Args{"id": r.ID, "user": r.UserID})
	if found && !next.Status.Ended() {
		closed.Next = &next
	}
	return closed, err
}
