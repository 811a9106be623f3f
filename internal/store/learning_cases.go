package store

import (
	"context"
	"slices"

	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/safety"
)

var _ learning.Situations = (*Store)(nil)

// idsAtOnce is how many ids of events stand in one statement.
const idsAtOnce = 500

const caseColumns = `e.id, e.user_id, e.conversation_id, e.message_id, e.explicit_signal, e.score, e.context_embedding,
	e.context_text, e.corrected_text, e.cluster_id, e.created_at, e.meta, e.situation, e.excluded, m.content, m.content_struct, m.meta, m.run_id`

// stands is what of an answer holds: what was said of it last.
const stands = `NOT EXISTS (SELECT 1 FROM preference_event later WHERE later.message_id = e.message_id AND later.user_id = @user AND later.id > e.id)`

// storedCase is a case with what decides whether it may be learnt from.
type storedCase struct {
	learning.Case
	answer string   // whose copies in branches are one: its run, or itself
	closed bool     // withheld, or of a turn that nothing is learnt from
	whole  string   // the answer, not clipped
	tools  []string // that were called for it
	// strange: it was made with what a stranger wrote. Answers of before that was
	// noted say it by their tools alone.
	strange bool
}

func scanCase(scan Scan) (c storedCase, err error) {
	var vec []byte
	var m chat.Message
	err = scan(&c.ID, &c.UserID, &c.ConversationID, &c.MessageID, &c.Signal, &c.Score, &vec, &c.ContextText, text{&c.Corrected},
		text{&c.ClusterID}, when{&c.CreatedAt}, decode{&c.Meta}, &c.Situation, &c.Excluded, &m.Content, decode{&m.Struct}, decode{&m.Meta}, text{&m.RunID})
	if err != nil {
		return c, err
	}
	c.Embedding, err = unpacked(vec)
	c.Question, c.Answer, c.answer = c.ContextText, m.Content, m.RunID
	if c.answer == "" {
		c.answer = c.MessageID
	}
	c.closed = m.Withheld() || m.Risk() == string(safety.High)
	c.whole, c.strange = m.Content, m.Strange()
	if m.Struct != nil {
		for _, segment := range m.Struct.Segments {
			if segment.Type == chat.SegmentToolCall {
				c.tools = append(c.tools, segment.Name)
			}
		}
	}
	c.Case = c.Clipped()
	return c, err
}

// cases reads the newest events of the viewer's that a condition holds for, by
// ascending id; of the copies of one answer the latest word.
func cases(tx Tx, v identity.Viewer, condition string, args Args, limit int) ([]learning.Case, error) {
	args["user"], args["limit"] = v.UserID, limit
	list, err := all(tx, `SELECT `+caseColumns+` FROM preference_event e JOIN message m ON m.id = e.message_id
		WHERE e.user_id = @user AND m.user_id = @user AND `+stands+` AND `+condition+` ORDER BY e.id DESC LIMIT @limit`, args, scanCase)
	if err != nil {
		return nil, err
	}
	said := make(map[string]bool, len(list))
	out := make([]learning.Case, 0, len(list))
	for _, c := range list {
		if !c.closed && !said[c.answer] {
			out = append(out, c.Case)
		}
		said[c.answer] = true
	}
	slices.Reverse(out)
	return out, nil
}

// Cases implements learning.Situations.
func (s *Store) Cases(ctx context.Context, v identity.Viewer, limit int) (list []learning.Case, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = cases(tx, v, `NOT e.excluded`, Args{}, limit)
		return err
	})
	return list, err
}

// ClusterCases returns the newest events of one of the viewer's clusters, at
// most limit, by ascending id; those they excluded too, so that they can be
// taken in again. NotFound if it is not theirs.
func (s *Store) ClusterCases(ctx context.Context, v identity.Viewer, clusterID string, limit int) (list []learning.Case, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		var id string
		found, err := first(tx, `SELECT id FROM semantic_cluster WHERE id = @id AND user_id = @user`, Args{"id": clusterID, "user": v.UserID}, &id)
		if err == nil && !found {
			err = missing("situation")
		}
		if err != nil {
			return err
		}
		list, err = cases(tx, v, `e.cluster_id = @cluster`, Args{"cluster": clusterID}, limit)
		return err
	})
	return list, err
}

// SharedCases implements learning.Situations.
func (s *Store) SharedCases(ctx context.Context, v identity.Viewer, each int) (list []learning.Case, err error) {
	err = s.everybodys(ctx, v, func(tx Tx) error {
		list = nil
		people, err := all(tx, `SELECT user_id FROM learning_settings WHERE shared ORDER BY user_id`, nil,
			func(scan Scan) (id string, err error) { return id, scan(&id) })
		if err != nil {
			return err
		}
		for _, id := range people {
			some, err := cases(tx, identity.Viewer{UserID: id}, `NOT e.excluded`, Args{}, each)
			if err != nil {
				return err
			}
			list = append(list, some...)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b learning.Case) int { return int(a.ID - b.ID) })
	return list, err
}

// Examples implements learning.Lessons.
func (s *Store) Examples(ctx context.Context, v identity.Viewer, eventIDs ...int64) ([]learning.Case, error) {
	by := make(map[int64]learning.Case, len(eventIDs))
	err := s.read(ctx, v, func(tx Tx) error {
		for some := range slices.Chunk(eventIDs, idsAtOnce) {
			args := Args{}
			list, err := cases(tx, v, `NOT e.excluded AND e.id IN `+args.numbers("id", some), args, len(some))
			if err != nil {
				return err
			}
			for _, c := range list {
				by[c.ID] = c
			}
		}
		return nil
	})
	var out []learning.Case
	for _, id := range eventIDs {
		if c, there := by[id]; there {
			out = append(out, c)
		}
	}
	return out, err
}

// Events returns, of ids, the viewer's events that are there, as cases by id:
// also those that stand no more or are excluded.
func (s *Store) Events(ctx context.Context, v identity.Viewer, ids ...int64) (by map[int64]learning.Case, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		by = make(map[int64]learning.Case, len(ids))
		for some := range slices.Chunk(ids, idsAtOnce) {
			args := Args{"user": v.UserID}
			list, err := all(tx, `SELECT `+caseColumns+` FROM preference_event e JOIN message m ON m.id = e.message_id
				WHERE e.user_id = @user AND m.user_id = @user AND e.id IN `+args.numbers("id", some), args, scanCase)
			if err != nil {
				return err
			}
			for _, c := range list {
				by[c.ID] = c.Case
			}
		}
		return nil
	})
	return by, err
}

// Exclude implements learning.Situations. A lesson that came from the event
// alone goes with it.
func (s *Store) Exclude(ctx context.Context, v identity.Viewer, eventID int64, excluded bool) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := lockLearning(tx, v); err != nil {
			return err
		}
		n, err := tx.Exec(`UPDATE preference_event SET excluded = @excluded WHERE id = @id AND user_id = @user`,
			Args{"id": eventID, "user": v.UserID, "excluded": excluded})
		if err == nil && n == 0 {
			err = missing("feedback")
		}
		if err != nil {
			return err
		}
		if excluded {
			for _, text := range []string{`DELETE FROM lesson_source WHERE event_id = @id`, `DELETE FROM adapter_lineage WHERE event_id = @id`} {
				if _, err := tx.Exec(text, Args{"id": eventID}); err != nil {
					return err
				}
			}
		}
		return s.learnAgain(tx, v)
	})
}

// Situate implements learning.Situations.
func (s *Store) Situate(ctx context.Context, v identity.Viewer, of map[int64]string) error {
	return s.write(ctx, v, func(tx Tx) error {
		for id, words := range of {
			if _, err := tx.Exec(`UPDATE preference_event SET situation = @words WHERE id = @id AND user_id = @user`,
				Args{"id": id, "user": v.UserID, "words": writable(words)}); err != nil {
				return err
			}
		}
		return nil
	})
}
