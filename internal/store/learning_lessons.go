package store

import (
	"context"
	"errors"
	"slices"

	"liminal/internal/identity"
	"liminal/internal/learning"
)

var (
	_ learning.Lessons        = (*Store)(nil)
	_ learning.RemovedLessons = (*Store)(nil)
)

// lessonTries is how often lessons are stored again when a source went while
// they were: it is left out then.
const lessonTries = 3

const lessonColumns = `id, user_id, adapter_id, cluster_id, text, directive, strength, state, made_by, created_at, updated_at, removed_at`

func scanLesson(scan Scan) (l learning.Lesson, err error) {
	err = scan(&l.ID, &l.UserID, text{&l.AdapterID}, text{&l.ClusterID}, &l.Text, decode{&l.Directive}, &l.Strength, &l.State, &l.MadeBy,
		when{&l.CreatedAt}, when{&l.UpdatedAt}, when{&l.RemovedAt})
	return l, err
}

// sourced adds the events that lessons came from, by ascending id.
func sourced(tx Tx, v identity.Viewer, list []learning.Lesson) error {
	at := make(map[string]int, len(list))
	ids := make([]string, len(list))
	for i, l := range list {
		at[l.ID], ids[i] = i, l.ID
	}
	for some := range slices.Chunk(ids, idsAtOnce) {
		args := Args{"user": v.UserID}
		err := tx.Query(`SELECT s.lesson_id, s.event_id FROM lesson_source s JOIN lesson l ON l.id = s.lesson_id
			WHERE l.user_id = @user AND s.lesson_id IN `+args.in("id", some)+` ORDER BY s.event_id`, args, func(scan Scan) error {
			var id string
			var event int64
			err := scan(&id, &event)
			if i, there := at[id]; there {
				list[i].Sources = append(list[i].Sources, event)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ListLessons implements learning.Lessons.
func (s *Store) ListLessons(ctx context.Context, v identity.Viewer) (list []learning.Lesson, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = lessons(tx, v)
		list = slices.DeleteFunc(list, func(l learning.Lesson) bool { return !l.RemovedAt.IsZero() })
		return err
	})
	return list, err
}

// RemovedLessons implements learning.RemovedLessons.
func (s *Store) RemovedLessons(ctx context.Context, v identity.Viewer) (list []learning.Lesson, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = lessons(tx, v)
		list = slices.DeleteFunc(list, func(l learning.Lesson) bool { return l.RemovedAt.IsZero() })
		return err
	})
	return list, err
}

// RemoveLesson implements learning.RemovedLessons.
func (s *Store) RemoveLesson(ctx context.Context, v identity.Viewer, id string) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := lockLearning(tx, v); err != nil {
			return err
		}
		n, err := tx.Exec(`UPDATE lesson SET text = '', directive = NULL, state = 'active', made_by = 'rule', removed_at = @now, updated_at = @now
			WHERE id = @id AND user_id = @user AND removed_at IS NULL`, Args{"id": id, "user": v.UserID, "now": s.now()})
		if err == nil && n == 0 {
			err = missing("lesson")
		}
		return err
	})
}

// lessons are all of the viewer's, those they removed included.
func lessons(tx Tx, v identity.Viewer) ([]learning.Lesson, error) {
	list, err := all(tx, `SELECT `+lessonColumns+` FROM lesson WHERE user_id = @user ORDER BY created_at, id`, Args{"user": v.UserID}, scanLesson)
	if err != nil {
		return nil, err
	}
	return list, sourced(tx, v, list)
}

// ReadLessons implements learning.Lessons.
func (s *Store) ReadLessons(ctx context.Context, v identity.Viewer, ids ...string) (list []learning.Lesson, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list = nil
		for some := range slices.Chunk(ids, idsAtOnce) {
			args := Args{"user": v.UserID}
			found, err := all(tx, `SELECT `+lessonColumns+` FROM lesson WHERE user_id = @user AND state = 'active' AND removed_at IS NULL AND id IN `+args.in("id", some), args, scanLesson)
			if err != nil {
				return err
			}
			list = append(list, found...)
		}
		return sourced(tx, v, list)
	})
	slices.SortFunc(list, func(a, b learning.Lesson) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return list, err
}

// PutLessons implements learning.Lessons. What the person wrote or switched off
// stays so.
func (s *Store) PutLessons(ctx context.Context, v identity.Viewer, list []learning.Lesson) (stored []learning.Lesson, err error) {
	for range lessonTries {
		err = s.write(ctx, v, func(tx Tx) error {
			stored, err = s.putLessons(tx, v, list)
			return err
		})
		if broken, ok := errors.AsType[*Violation](err); !ok || broken.Unique {
			break
		}
	}
	return stored, err
}

func (s *Store) putLessons(tx Tx, v identity.Viewer, list []learning.Lesson) (stored []learning.Lesson, err error) {
	if err := lockLearning(tx, v); err != nil {
		return nil, err
	}
	had, err := lessons(tx, v)
	if err != nil {
		return nil, err
	}
	sources, err := standing(tx, v, list)
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		l.UserID, l.CreatedAt, l.UpdatedAt = v.UserID, s.now(), s.now()
		l.Sources = slices.DeleteFunc(slices.Clone(l.Sources), func(id int64) bool { return !sources[id] })
		slices.Sort(l.Sources)
		if l.Sources = slices.Compact(l.Sources); len(l.Sources) == 0 {
			continue
		}
		if l.State == "" {
			l.State = learning.LessonActive
		}
		i := slices.IndexFunc(had, func(h learning.Lesson) bool { return h.ID == l.ID })
		if i < 0 {
			err = insertLesson(tx, l)
		} else {
			l, err = updateLesson(tx, had[i], l)
		}
		if err == nil {
			err = putSources(tx, l)
		}
		if err != nil {
			return nil, err
		}
		stored = append(stored, l)
	}
	return stored, nil
}

// standing are those of the lessons' sources that are there to learn from.
func standing(tx Tx, v identity.Viewer, list []learning.Lesson) (map[int64]bool, error) {
	var ids []int64
	for _, l := range list {
		ids = append(ids, l.Sources...)
	}
	slices.Sort(ids)
	there := map[int64]bool{}
	for some := range slices.Chunk(slices.Compact(ids), idsAtOnce) {
		args := Args{"user": v.UserID}
		err := tx.Query(`SELECT id FROM preference_event WHERE user_id = @user AND NOT excluded AND id IN `+args.numbers("id", some), args, func(scan Scan) error {
			var id int64
			err := scan(&id)
			there[id] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}

func lessonArgs(l learning.Lesson) (Args, error) {
	directive, err := encoded(l.Directive, l.Directive == nil)
	return Args{
		"id": l.ID, "user": l.UserID, "adapter": optional(l.AdapterID), "cluster": optional(l.ClusterID), "text": writable(l.Text),
		"directive": directive, "strength": l.Strength, "state": string(l.State), "by": l.MadeBy, "created": l.CreatedAt, "updated": l.UpdatedAt, "removed": moment(l.RemovedAt),
	}, err
}

func insertLesson(tx Tx, l learning.Lesson) error {
	args, err := lessonArgs(l)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO lesson (`+lessonColumns+`) VALUES (@id, @user, @adapter, @cluster, @text, @directive, @strength,
		@state, @by, @created, @updated, @removed)`, args)
	return err
}

// updateLesson writes what a run makes of a lesson that was there.
func updateLesson(tx Tx, was, l learning.Lesson) (learning.Lesson, error) {
	l.CreatedAt = was.CreatedAt
	if was.MadeBy == learning.ByPerson {
		l.Text, l.Directive, l.MadeBy = was.Text, was.Directive, was.MadeBy
	}
	if was.State == learning.LessonOff {
		l.State = was.State
	}
	return l, writeLesson(tx, l)
}

func writeLesson(tx Tx, l learning.Lesson) error {
	args, err := lessonArgs(l)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE lesson SET adapter_id = @adapter, cluster_id = @cluster, text = @text, directive = @directive,
		strength = @strength, state = @state, made_by = @by, updated_at = @updated, removed_at = @removed WHERE id = @id AND user_id = @user`, args)
	return err
}

// putSources makes a lesson's sources those it has. The new ones come first: one
// without any is gone.
func putSources(tx Tx, l learning.Lesson) error {
	for _, event := range l.Sources {
		if _, err := tx.Exec(`INSERT INTO lesson_source (lesson_id, event_id) VALUES (@lesson, @event) ON CONFLICT (lesson_id, event_id) DO NOTHING`,
			Args{"lesson": l.ID, "event": event}); err != nil {
			return err
		}
	}
	args := Args{"lesson": l.ID}
	_, err := tx.Exec(`DELETE FROM lesson_source WHERE lesson_id = @lesson AND event_id NOT IN `+args.numbers("id", l.Sources), args)
	return err
}

// ChangeLesson implements learning.Lessons.
func (s *Store) ChangeLesson(ctx context.Context, v identity.Viewer, id string, c learning.LessonChange) (l learning.Lesson, err error) {
	if c, err = c.Checked(); err != nil {
		return l, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		if err := lockLearning(tx, v); err != nil {
			return err
		}
		list, err := all(tx, `SELECT `+lessonColumns+` FROM lesson WHERE id = @id AND user_id = @user AND removed_at IS NULL`, Args{"id": id, "user": v.UserID}, scanLesson)
		if l, err = only(list, err, "lesson"); err != nil {
			return err
		}
		if c.Text != nil && *c.Text != l.Text {
			l.Text, l.MadeBy, l.Directive = *c.Text, learning.ByPerson, c.Directive
		}
		set(&l.State, c.State)
		l.UpdatedAt = s.now()
		if err := writeLesson(tx, l); err != nil {
			return err
		}
		one := []learning.Lesson{l}
		err = sourced(tx, v, one)
		l = one[0]
		return err
	})
	return l, err
}

// DropLesson implements learning.Lessons.
func (s *Store) DropLesson(ctx context.Context, v identity.Viewer, id string) error {
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`DELETE FROM lesson WHERE id = @id AND user_id = @user`, Args{"id": id, "user": v.UserID})
		if err == nil && n == 0 {
			err = missing("lesson")
		}
		return err
	})
}

// OwnAdapters implements learning.Lessons. A draft is none yet: nothing uses it.
// Whose own answers must not change has none either.
func (s *Store) OwnAdapters(ctx context.Context, v identity.Viewer) (of map[string]string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		of = map[string]string{}
		n := learning.DefaultSettings()
		if _, err := first(tx, `SELECT personal FROM learning_settings WHERE user_id = @user`, Args{"user": v.UserID}, &n.Personal); err != nil || !n.Personal {
			return err
		}
		list, err := ownAdapters(tx, v)
		for _, a := range list {
			if a.status != isDraft && a.doc.Status != "disabled" {
				of[a.id] = a.doc.Cluster
			}
		}
		return err
	})
	return of, err
}
