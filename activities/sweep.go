package activities

import (
	"context"
	"errors"
	"time"

	"liminal/internal/fault"
)

// NameSweep is the activity that does one sweep once.
const NameSweep = "Sweep"

// Sweep is work the house does for itself again and again, such as removing
// what has expired. It may run twice at a time, after a crash, and must then do
// no harm.
type Sweep struct {
	// Every is the time between two of them, at least a minute.
	Every time.Duration
	// Run does it once. It should return soon after its context ends.
	Run func(ctx context.Context) (Swept, error)
}

// NameArchitect is the sweep that lets the architect look at what runs left.
const NameArchitect = "architect"

// Architect is the sweep that starts the architect's run (CFG-13). begin
// creates and launches it, and may be called twice for one time.
func Architect(every time.Duration, begin func(ctx context.Context) error) Sweep {
	return Sweep{Every: every, Run: func(ctx context.Context) (Swept, error) { return Swept{}, begin(ctx) }}
}

// The sweeps that let something be learnt from what people say of answers.
const (
	NameLearning       = "learning"
	NameLearningGlobal = "learning-global"
)

// The sweeps of training: one gives out jobs and looks after them, the other
// deletes what is due to be deleted.
const (
	NameTraining = "training"
	NameErasures = "erasures"
)

// maxLearners is how many people's runs one sweep begins: the others are still
// due a minute later.
const maxLearners = 20

// Learning is the sweep that begins a run for each person of whom there is
// something new to learn (CLUS-01). due lists them, those who wait longest
// first; begin may be called again for one whose run is under way. One person's
// failure holds up nobody else.
func Learning(due func(ctx context.Context, limit int) ([]string, error), begin func(ctx context.Context, userID string) error) Sweep {
	return eachPerson(time.Minute, maxLearners, due, begin)
}

// eachPerson is a sweep that begins a run for each of those who are listed. One
// person's failure holds up nobody else.
func eachPerson(every time.Duration, most int, list func(ctx context.Context, limit int) ([]string, error), begin func(ctx context.Context, userID string) error) Sweep {
	return Sweep{Every: every, Run: func(ctx context.Context) (s Swept, err error) {
		people, err := list(ctx, most)
		if err != nil {
			return s, err
		}
		var faults []error
		for _, userID := range people {
			if err := begin(ctx, userID); err != nil {
				faults = append(faults, err)
				continue
			}
			s.Changed++
		}
		return s, errors.Join(faults...)
	}}
}

// SweepInput names one of Set.Sweeps, and the task queue it is to run on; an
// empty queue is the workflow's own.
type SweepInput struct {
	Name  string `json:"name"`
	Queue string `json:"queue,omitempty"`
}

// Swept is what came of a sweep.
type Swept struct {
	Removed int    `json:"removed"`
	Changed int    `json:"changed"`
	Note    string `json:"note,omitempty"` // never text of people
}

// Sweep does one sweep. A name it does not know is another version's, whose
// workers will take it when it is tried again.
func (s *Set) Sweep(ctx context.Context, in SweepInput) (Swept, error) {
	sweep, known := s.Sweeps[in.Name]
	if !known {
		return Swept{}, fault.New(fault.Internal, "There is no sweep %s in this version.", in.Name)
	}
	stop := pulse(ctx)
	defer stop()
	swept, err := sweep.Run(ctx)
	if err != nil {
		return Swept{}, err
	}
	s.logger().InfoContext(ctx, "swept", "sweep", in.Name, "removed", swept.Removed, "changed", swept.Changed, "note", swept.Note)
	return swept, nil
}
