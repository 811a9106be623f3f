package learning

import (
	"context"
	"time"

	"liminal/internal/identity"
)

// MaxLesson is the longest lesson, in characters.
const MaxLesson = 160

// LessonState is whether a lesson is followed.
type LessonState string

// The states of a lesson.
const (
	LessonActive   LessonState = "active"   // followed where its adapter lists it
	LessonOff      LessonState = "off"      // the person switched it off; it is not derived again
	LessonRejected LessonState = "rejected" // the gate found that answers get worse with it
)

// Directive is a lesson that a program can follow without a language model.
type Directive struct {
	Kind  string `json:"kind"`  // length, list, language
	Value string `json:"value"` // length: short, long; list: yes, no; language: de, en
}

// Lesson is one sentence about how a person wants to be answered.
type Lesson struct {
	ID        string
	UserID    string
	AdapterID string // the adapter that it goes with; empty: none yet
	ClusterID string // the situation it is of; empty: of all answers (persona)
	Text      string // 1 to MaxLesson characters, about manner
	Directive *Directive
	Strength  float64 // 0 to 1
	State     LessonState
	MadeBy    string  // ByRule, ByModel, ByPerson
	Sources   []int64 // events that it was read out of; without any left it is gone
	CreatedAt time.Time
	UpdatedAt time.Time
	RemovedAt time.Time // by its person; zero: it is there
}

// LessonChange is what a person changes of a lesson; nil leaves a field.
type LessonChange struct {
	Text  *string // MadeBy becomes ByPerson
	State *LessonState
	// Directive is what a program reads out of Text (lesson.Read); nil: nothing.
	Directive *Directive
}

// RemovedLessons keeps which lessons a person removed, without their words: they
// are not read out of the same events again.
type RemovedLessons interface {
	// RemoveLesson removes one of the viewer's and keeps that it was; NotFound if
	// it is not theirs.
	RemoveLesson(ctx context.Context, v identity.Viewer, id string) error
	// RemovedLessons are those of the viewer's of whose events one is left.
	RemovedLessons(ctx context.Context, v identity.Viewer) ([]Lesson, error)
}

// Lessons keeps lessons, none of which is a removed one. A lesson is removed by the database in the same
// transaction that removes the last event it came from.
type Lessons interface {
	// ListLessons returns the viewer's lessons of every state, oldest first.
	ListLessons(ctx context.Context, v identity.Viewer) ([]Lesson, error)
	// ReadLessons returns those of ids that are the viewer's and active, in the
	// order of ids; the others are left out. It is read when a model is called,
	// so that nothing erased is told.
	ReadLessons(ctx context.Context, v identity.Viewer, ids ...string) ([]Lesson, error)
	// PutLessons stores lessons of the viewer's with their sources: new ids are
	// added, known ones changed. A source that is gone is left out; a lesson of
	// which none is left is not stored. It returns those that stand.
	PutLessons(ctx context.Context, v identity.Viewer, list []Lesson) ([]Lesson, error)
	// ChangeLesson changes one of the viewer's; NotFound if it is not theirs.
	ChangeLesson(ctx context.Context, v identity.Viewer, id string, c LessonChange) (Lesson, error)
	// DropLesson forgets one of the viewer's, which may be found again; NotFound if
	// it is not theirs.
	DropLesson(ctx context.Context, v identity.Viewer, id string) error
	// Examples returns, of event ids, those of the viewer's that still stand, as
	// cases in the order of ids: liked answers that a model is shown.
	Examples(ctx context.Context, v identity.Viewer, eventIDs ...int64) ([]Case, error)
	// OwnAdapters returns the ids of the viewer's own adapter artifacts that are
	// not disabled, with the cluster of each ("" for a persona).
	OwnAdapters(ctx context.Context, v identity.Viewer) (map[string]string, error)
}
