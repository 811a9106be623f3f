package adaptation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
)

// Material is what lessons of one scope are derived from.
type Material struct {
	Cases []learning.Case // events, without those a gate is asked with
	Held  []learning.Case // those; none where there are too few, or nobody could answer
	Had   []learning.Lesson
	// Removed are lessons the person removed; they come back only when something
	// is said for them since.
	Removed []learning.Lesson
	scope   lesson.Scope
}

// Material reads what the viewer said in a situation, or, for an empty one, of
// all answers.
func (s *Steps) Material(ctx context.Context, v identity.Viewer, clusterID string) (Material, error) {
	m := Material{scope: lesson.Scope{UserID: v.UserID, ClusterID: clusterID, Locale: v.Locale}}
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return m, err
	}
	if m.Cases, err = s.cases(ctx, v); err != nil {
		return m, err
	}
	if clusterID != "" {
		m.Cases = slices.DeleteFunc(m.Cases, func(c learning.Case) bool { return c.ClusterID != clusterID })
	}
	if s.o.Generative {
		if train, held := lesson.HeldOut(m.Cases); len(held) >= p.Gate.Least {
			m.Cases, m.Held = train, held[max(0, len(held)-p.Gate.Most):]
		}
	}
	here := func(list []learning.Lesson) []learning.Lesson {
		return slices.DeleteFunc(list, func(l learning.Lesson) bool { return l.ClusterID != clusterID })
	}
	all, err := s.o.Store.ListLessons(ctx, v)
	if err != nil {
		return m, err
	}
	m.Had = here(all)
	removed, err := s.o.Store.RemovedLessons(ctx, v)
	m.Removed = here(removed)
	return m, err
}

// Derived is what came of deriving lessons.
type Derived struct {
	Lessons []string `json:"lessons"` // ids of those to follow, the strongest first
	Held    []int64  `json:"held"`    // events that a gate can be asked with
	Changed bool     `json:"changed"` // the adapter follows others, or there is none yet
}

// Derive stores the lessons that stand, with what a model made of the material
// besides, and drops those that stand no longer.
func (s *Steps) Derive(ctx context.Context, v identity.Viewer, m Material, made []lesson.Made) (Derived, error) {
	now := lesson.Derive(m.Cases, m.Had, m.scope)
	now = lesson.Merge(now, made, m.Cases, m.Had, m.scope)
	now = slices.DeleteFunc(now, m.removed)
	for _, l := range lesson.Gone(m.Had, now) {
		if err := s.o.Store.DropLesson(ctx, v, l.ID); err != nil && !errors.Is(err, fault.NotFound) {
			return Derived{}, err
		}
	}
	kept, err := s.o.Store.PutLessons(ctx, v, reconsidered(now, m))
	if err != nil {
		return Derived{}, err
	}
	out := Derived{Held: []int64{}}
	for _, c := range m.Held {
		out.Held = append(out.Held, c.ID)
	}
	out.Lessons, out.Changed, err = s.wanted(ctx, v, m, kept)
	return out, err
}

// removed reports whether the person removed a lesson and has said nothing for it
// since.
func (m Material) removed(l learning.Lesson) bool {
	return slices.ContainsFunc(m.Removed, func(r learning.Lesson) bool {
		return r.ID == l.ID && !slices.ContainsFunc(slices.Concat(m.Cases, m.Held), func(c learning.Case) bool {
			return slices.Contains(l.Sources, c.ID) && c.CreatedAt.After(r.RemovedAt)
		})
	})
}

// reconsidered gives lessons that a gate turned down another trial once more was
// said for them.
func reconsidered(now []learning.Lesson, m Material) []learning.Lesson {
	since := map[string]time.Time{}
	for _, l := range m.Had {
		if l.State == learning.LessonRejected {
			since[l.ID] = l.UpdatedAt
		}
	}
	for i, l := range now {
		at, was := since[l.ID]
		if was && slices.ContainsFunc(m.Cases, func(c learning.Case) bool { return slices.Contains(l.Sources, c.ID) && c.CreatedAt.After(at) }) {
			now[i].State = learning.LessonActive
		}
	}
	return now
}

// wanted are the lessons of a scope to follow, and whether its adapter follows
// others: the active ones, but for those the person took back.
func (s *Steps) wanted(ctx context.Context, v identity.Viewer, m Material, list []learning.Lesson) ([]string, bool, error) {
	a, err := s.adapterOf(ctx, v, m.scope.ClusterID)
	if err != nil {
		return nil, false, err
	}
	undone, err := s.undone(ctx, v, a)
	if err != nil {
		return nil, false, err
	}
	follow := slices.DeleteFunc(slices.Clone(list), func(l learning.Lesson) bool {
		return l.State != learning.LessonActive || undone.still(l, m)
	})
	slices.SortStableFunc(follow, func(a, b learning.Lesson) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(a.ID, b.ID))
	})
	ids := []string{}
	for _, l := range follow[:min(len(follow), lesson.MaxLessons)] {
		ids = append(ids, l.ID)
	}
	changed, err := s.differs(ctx, v, m.scope.ClusterID, a, ids)
	return ids, changed, err
}

// differs reports whether the adapter of a scope is to be another with these
// lessons. A situation gets its adapter even without any (CLUS-04).
func (s *Steps) differs(ctx context.Context, v identity.Viewer, clusterID string, a adapter, ids []string) (bool, error) {
	switch {
	case a.document.Status == statusDisabled:
		return false, nil
	case !a.usable():
		return clusterID != "" || len(ids) > 0, nil
	case !sameSet(ids, a.Lessons):
		return true, nil
	case clusterID == "":
		return false, nil
	}
	want := a.document
	err := s.exemplify(ctx, v, clusterID, &want)
	return !alike(a.document, want), err
}

func sameSet(a, b []string) bool {
	x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(x, y)
}

// Checked is what came of checking lessons.
type Checked struct {
	Lessons []string `json:"lessons"` // ids of those that are sentences about manner
	Refused int      `json:"refused"` // that are none, and were dropped
}

// Check drops lessons that are no sentences about manner: they were read out of
// what people wrote, and are told to a model.
func (s *Steps) Check(ctx context.Context, v identity.Viewer, clusterID string, ids []string) (Checked, error) {
	out := Checked{Lessons: []string{}}
	list, err := s.o.Store.ReadLessons(ctx, v, ids...)
	if err != nil {
		return out, err
	}
	cases, err := s.cases(ctx, v)
	if err != nil {
		return out, err
	}
	for _, l := range list {
		if l.ClusterID != clusterID {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(cases), func(c learning.Case) bool { return !slices.Contains(l.Sources, c.ID) })
		if err := lesson.Check(l, of, s.o.Tools); err == nil {
			out.Lessons = append(out.Lessons, l.ID)
			continue
		}
		out.Refused++
		s.o.Logger.InfoContext(ctx, "a lesson is no sentence about manner and was dropped", "lesson", l.ID, "made_by", l.MadeBy)
		if err := s.o.Store.DropLesson(ctx, v, l.ID); err != nil && !errors.Is(err, fault.NotFound) {
			return out, err
		}
	}
	return out, nil
}

// HeldOut is one of the viewer's events a gate is asked with; NotFound where it
// is gone, or excluded by now.
func (s *Steps) HeldOut(ctx context.Context, v identity.Viewer, eventID int64) (learning.Case, error) {
	list, err := s.o.Store.Examples(ctx, v, eventID)
	if err != nil {
		return learning.Case{}, err
	}
	if len(list) == 0 || list[0].Excluded {
		return learning.Case{}, fault.New(fault.NotFound, "There is no such event of yours.")
	}
	return list[0], nil
}
