package adaptation

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/learning/lesson"
	"liminal/internal/model"
)

// Manner is what a model is told because of what a person said.
type Manner struct {
	Instructions string
	Directives   []model.Directive
	Lessons      []string // ids of the lessons that are in it
}

// Tell reads what an adapter lists by id, and makes of it what a model is told.
// It is read each time: what was removed, or switched off, is not there.
func (s *Steps) Tell(ctx context.Context, v identity.Viewer, lessons []string, examples []int64, locale string) (Manner, error) {
	list, cases, err := s.read(ctx, v, lessons, examples)
	if err != nil {
		return Manner{}, err
	}
	return tell(list, cases, locale), nil
}

func (s *Steps) read(ctx context.Context, v identity.Viewer, lessons []string, examples []int64) (list []learning.Lesson, cases []learning.Case, err error) {
	if s.o.Off {
		return nil, nil, nil
	}
	if len(lessons) > 0 {
		if list, err = s.o.Store.ReadLessons(ctx, v, lessons...); err != nil {
			return nil, nil, err
		}
	}
	if len(examples) > 0 {
		cases, err = s.o.Store.Examples(ctx, v, examples...)
	}
	return list, cases, err
}

func tell(list []learning.Lesson, examples []learning.Case, locale string) Manner {
	t := Manner{Instructions: lesson.Compose(list, examples, locale)}
	for _, l := range list {
		t.Lessons = append(t.Lessons, l.ID)
		if d := directiveOf(l); d != nil {
			t.Directives = append(t.Directives, model.Directive{Kind: d.Kind, Value: d.Value})
		}
	}
	return t
}

// directiveOf is what a program can follow of a lesson: of one that a person
// worded, what their words say.
func directiveOf(l learning.Lesson) *learning.Directive {
	if l.MadeBy == learning.ByPerson {
		return lesson.Read(l.Text)
	}
	return l.Directive
}
