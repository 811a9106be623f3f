package store

import (
	"context"

	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

var _ learning.Comparisons = (*Store)(nil)

// PutCompared implements learning.Comparisons. The answers are of no turn of a
// run's: of the answers of one run, all but one count as copies.
func (s *Store) PutCompared(ctx context.Context, v identity.Viewer, c learning.Comparison, a learning.Compared) error {
	return s.write(ctx, v, func(tx Tx) error {
		th, err := s.thread(tx, v, chat.NewTurn{ConversationID: c.ConversationID(), NoWorkflow: true})
		if err != nil {
			return err
		}
		there, err := first(tx, `SELECT 1 FROM message WHERE id = @id AND user_id = @user`, Args{"id": c.AnswerID(a.Which), "user": v.UserID}, new(int))
		if err != nil || there {
			return err
		}
		var of spot
		if a.Which == learning.Second {
			if of, err = spotOf(tx, v, th.id, c.QuestionID(learning.First)); err != nil {
				return err
			}
			if err := setAside(tx, v, th.id, of.seq); err != nil {
				return err
			}
		}
		if err := s.writeCompared(tx, v, c, a); err != nil {
			return err
		}
		if of.id != "" {
			if err := another(tx, v, of, c.QuestionID(a.Which)); err != nil {
				return err
			}
		}
		_, err = tx.Exec(`UPDATE conversation SET title = @title, last_seq = 2, updated_at = @now WHERE id = @id AND user_id = @user`,
			Args{"id": th.id, "user": v.UserID, "title": chat.TitleOf(c.Question), "now": s.now()})
		return err
	})
}

func (s *Store) writeCompared(tx Tx, v identity.Viewer, c learning.Comparison, a learning.Compared) error {
	now := s.now()
	meta := map[string]any{"comparison": c.RunID, "model": a.Model}
	if a.Which == c.With() {
		meta["adapters"], meta["gates"], meta["lessons"] = []string{c.AdapterID}, map[string]float64{c.AdapterID: 1}, a.Lessons
	}
	for _, m := range []chat.Message{
		{ID: c.QuestionID(a.Which), Sender: "user", Role: "user", Content: c.Question, Seq: 1},
		{ID: c.AnswerID(a.Which), Sender: "assistant", Role: "assistant", Content: a.Text, Seq: 2, TokensIn: a.Read, TokensOut: a.Written, Meta: meta},
	} {
		m.ConversationID, m.CreatedAt = c.ConversationID(), now
		if err := insertMessage(tx, v.UserID, m); err != nil {
			return err
		}
	}
	return nil
}
