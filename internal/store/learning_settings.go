package store

import (
	"context"
	"encoding/json"
	"time"

	"liminal/artifacts"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

var _ learning.Consents = (*Store)(nil)

// When a person is due: so many events that nobody read, so many with a word
// why, or one that has waited so long.
const (
	dueEvents = 5
	dueNoted  = 3
	dueAfter  = 6 * time.Hour
)

// LearningSettings implements learning.Consents.
func (s *Store) LearningSettings(ctx context.Context, v identity.Viewer) (n learning.Settings, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		n = learning.DefaultSettings()
		_, err := first(tx, `SELECT personal, shared, by_rule FROM learning_settings WHERE user_id = @user`,
			Args{"user": v.UserID}, &n.Personal, &n.Shared, &n.ByRule)
		return err
	})
	return n, err
}

// PutLearningSettings implements learning.Consents.
func (s *Store) PutLearningSettings(ctx context.Context, v identity.Viewer, n learning.Settings) error {
	return s.write(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`INSERT INTO learning_settings (user_id, personal, shared, by_rule, updated_at)
			VALUES (@user, @personal, @shared, @rule, @now)
			ON CONFLICT (user_id) DO UPDATE SET personal = @personal, shared = @shared, by_rule = @rule, updated_at = @now`,
			Args{"user": v.UserID, "personal": n.Personal, "shared": n.Shared, "rule": n.ByRule, "now": s.now()})
		return err
	})
}

// Learners implements learning.Consents. Only those are looked at of whom
// something is unread or gone (learning_settings_due).
func (s *Store) Learners(ctx context.Context, v identity.Viewer, limit int) (ids []string, err error) {
	err = s.everybodys(ctx, v, func(tx Tx) error {
		ids, err = all(tx, `SELECT l.user_id FROM learning_settings l JOIN app_user u ON u.id = l.user_id AND u.is_active
			LEFT JOIN preference_event e ON e.user_id = l.user_id AND e.id > l.seen_event_id AND NOT e.excluded
			WHERE (l.waiting OR l.dirty) AND l.personal
			GROUP BY l.user_id, l.dirty, l.updated_at
			HAVING l.dirty OR count(e.id) >= @events OR min(e.created_at) <= @old
				OR sum(CASE WHEN e.corrected_text IS NOT NULL OR CAST(e.meta AS text) LIKE '%"notes":%' THEN 1 ELSE 0 END) >= @noted
			ORDER BY coalesce(min(e.created_at), l.updated_at), l.user_id LIMIT @limit`,
			Args{"events": dueEvents, "noted": dueNoted, "old": s.now().Add(-dueAfter), "limit": limit},
			func(scan Scan) (id string, err error) { return id, scan(&id) })
		return err
	})
	return ids, err
}

// Learnt implements learning.Consents. Whether more waits is asked when the row
// is held, so that an event that is being written is not overlooked.
func (s *Store) Learnt(ctx context.Context, v identity.Viewer, upto int64) error {
	return s.write(ctx, v, func(tx Tx) error {
		args := Args{"user": v.UserID, "upto": upto, "no": false, "now": s.now()}
		if _, err := tx.Exec(`INSERT INTO learning_settings (user_id, seen_event_id, updated_at) VALUES (@user, @upto, @now)
			ON CONFLICT (user_id) DO UPDATE SET seen_event_id = @upto, dirty = @no, updated_at = @now`, args); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE learning_settings SET waiting = EXISTS (SELECT 1 FROM preference_event e
			WHERE e.user_id = @user AND e.id > @upto) WHERE user_id = @user`, Args{"user": v.UserID, "upto": upto})
		return err
	})
}

// UnreadEvents counts the viewer's events that no run has read yet.
func (s *Store) UnreadEvents(ctx context.Context, v identity.Viewer) (n int, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		_, err := first(tx, `SELECT count(*) FROM preference_event WHERE user_id = @user AND NOT excluded
			AND id > coalesce((SELECT seen_event_id FROM learning_settings WHERE user_id = @user), 0)`, Args{"user": v.UserID}, &n)
		return err
	})
	return n, err
}

// learnAgain makes the viewer due: what was read counts no more as it did.
func (s *Store) learnAgain(tx Tx, v identity.Viewer) error {
	_, err := tx.Exec(`INSERT INTO learning_settings (user_id, dirty, updated_at) VALUES (@user, @yes, @now)
		ON CONFLICT (user_id) DO UPDATE SET dirty = @yes`, Args{"user": v.UserID, "yes": true, "now": s.now()})
	return err
}

// Forget implements learning.Consents. Messages in which feedback was heard say
// that it was taken back. Proposals about the adapters that go are ended first,
// by the system, whose their steps are; what is removed is removed in the
// person's own name.
func (s *Store) Forget(ctx context.Context, v identity.Viewer) (n int, err error) {
	if err := s.endLearnt(ctx, v); err != nil {
		return 0, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		if err := lockLearning(tx, v); err != nil {
			return err
		}
		if n, err = forgetEvents(tx, v); err != nil {
			return err
		}
		adapters, err := ownAdapters(tx, v)
		if err != nil {
			return err
		}
		for _, a := range adapters {
			if !a.learnt() {
				continue
			}
			if _, err := tx.Exec(`DELETE FROM artifact WHERE id = @id AND owner_user_id = @user`, Args{"id": a.id, "user": v.UserID}); err != nil {
				return err
			}
		}
		for _, text := range []string{
			`DELETE FROM lesson WHERE user_id = @user`,
			`DELETE FROM semantic_cluster WHERE user_id = @user`,
			`UPDATE learning_settings SET seen_event_id = 0, waiting = @no, dirty = @no WHERE user_id = @user`,
		} {
			if _, err := tx.Exec(text, Args{"user": v.UserID, "no": false}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// lockLearning holds what is learnt of a person.
func lockLearning(tx Tx, v identity.Viewer) error { return tx.Lock("learning:" + v.UserID) }

func forgetEvents(tx Tx, v identity.Viewer) (int, error) {
	list, err := all(tx, `SELECT `+preferenceColumns+` FROM preference_event WHERE user_id = @user ORDER BY id`, Args{"user": v.UserID}, scanPreference)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		if err := drop(tx, v, e); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// endLearnt ends the proposals about adapters that were learnt of a person.
func (s *Store) endLearnt(ctx context.Context, v identity.Viewer) error {
	var list []ownAdapter
	err := s.read(ctx, v, func(tx Tx) (err error) {
		list, err = ownAdapters(tx, v)
		return err
	})
	if err != nil {
		return err
	}
	return s.write(ctx, identity.System(), func(tx Tx) error {
		for _, a := range list {
			if !a.learnt() {
				continue
			}
			if err := s.endPatches(tx, `a.id = @id`, Args{"id": a.id}, "What it was to change was forgotten on its person's wish."); err != nil {
				return err
			}
		}
		return nil
	})
}

// ownAdapter is what learning asks of a person's adapter document.
type ownAdapter struct {
	id, status string
	doc        struct {
		Status  string `json:"status"`
		Scope   string `json:"scope"`
		Cluster string `json:"cluster_id"`
	}
}

// learnt reports whether an adapter was made of its person's feedback. What
// they wrote by hand is theirs to remove.
func (a ownAdapter) learnt() bool { return a.doc.Scope == "per-user" }

func ownAdapters(tx Tx, v identity.Viewer) ([]ownAdapter, error) {
	return all(tx, `SELECT id, status, schema FROM artifact WHERE owner_user_id = @user AND type = @type ORDER BY created_at, id`,
		Args{"user": v.UserID, "type": artifacts.KindAdapter}, func(scan Scan) (a ownAdapter, err error) {
			var doc json.RawMessage
			if err := scan(&a.id, &a.status, decode{&doc}); err != nil {
				return a, err
			}
			_ = json.Unmarshal(doc, &a.doc) // an odd document has no scope and no cluster
			return a, nil
		})
}
