// Package insights counts how a place is used: turns, how long they take, what
// they reach for, what they cost, and how many are given up (GRND-38, GRND-40).
//
// It counts what is kept anyway and writes nothing. What an administrator is
// told of other people is numbers; of their words only what two of them have
// asked alike, where words are shown at all (ISO-01). It may import fault,
// identity, quota and run.
package insights

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// Bounds of one report. Beyond them the newest count, and the report says so.
const (
	TurnsMost     = 200_000
	QuestionsMost = 10_000 // turns whose words are read
	PeopleMost    = 50     // named; the others are summed
	topQuestions  = 10
)

// Turn is a turn of a conversation as far as it is counted.
type Turn struct {
	RunID  string
	UserID string
	Status run.Status
	At     time.Time // when it was asked
	// Took is from its start to its end without the time it waited for a
	// person; negative: nobody knows.
	Took time.Duration
	// ToolCalls is how often it called a tool; negative: nobody knows, because
	// its recording is gone or was never made.
	ToolCalls int
	// Surface is the path of the assistant it was asked at; empty: of none whose
	// turns are audited. What it used is told of those only.
	Surface, Tag string
	Model        string
	Used         quota.Use
}

// Spent is what a person used of a model in a day.
type Spent struct {
	UserID string
	quota.Line
}

// Asked is what a turn was asked.
type Asked struct {
	UserID string
	Text   string
}

// Store is where it is read. Its methods read of the viewer's tenant only, and
// are for the administrators of that.
type Store interface {
	// Turns lists turns asked since a time, newest first, at most so many.
	// surface narrows them to those of an assistant with a page of its own.
	Turns(ctx context.Context, v identity.Viewer, since time.Time, surface string, most int) ([]Turn, error)
	// Spent lists what was used since a day of UTC, oldest first.
	Spent(ctx context.Context, v identity.Viewer, since string) ([]Spent, error)
	// Asked is what turns, which are named by their runs, were asked, as far as
	// it is part of its conversation as that is shown, and no longer than
	// QuestionLength.
	Asked(ctx context.Context, v identity.Viewer, runIDs []string) ([]Asked, error)
}

// Reader makes reports.
type Reader struct {
	store Store
	o     Options
}

// Options of a Reader; the zero value is the defaults.
type Options struct {
	// Wordless leaves out what people asked.
	Wordless bool
	Now      func() time.Time
}

// NewReader returns a reader of a store.
func NewReader(s Store, o Options) *Reader {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Reader{s, o}
}

// Filter says which days are counted.
type Filter struct {
	Days int    // 1 to 90, with today
	Zone string // whose days: "Europe/Berlin"; empty: UTC
	// Surface is the path of an assistant, whose turns alone are counted, with what
	// they used; empty: all turns.
	Surface string
}

// Read counts. It is for administrators, and Forbidden for everybody else.
func (r *Reader) Read(ctx context.Context, v identity.Viewer, f Filter) (Report, error) {
	if !v.IsAdmin() {
		return Report{}, fault.New(fault.Forbidden, "Only an administrator sees how this place is used.")
	}
	if f.Days < 1 || f.Days > 90 {
		return Report{}, fault.New(fault.Invalid, "Between 1 and 90 days are counted.").With(map[string]any{"field": "days"})
	}
	zone, err := time.LoadLocation(f.Zone)
	if err != nil || f.Zone == "Local" {
		return Report{}, fault.New(fault.Invalid, "That is no time zone, as in Europe/Berlin.").With(map[string]any{"field": "tz"})
	}
	days := daysUntil(r.o.Now().In(zone), f.Days)
	turns, err := r.store.Turns(ctx, v, days[0].begins, f.Surface, TurnsMost+1)
	if err != nil {
		return Report{}, err
	}
	var spent []Spent
	if f.Surface == "" {
		spent, err = r.store.Spent(ctx, v, days[0].date)
	} else {
		spent = spentBy(turns[:min(len(turns), TurnsMost)])
	}
	if err != nil {
		return Report{}, err
	}
	t := tally{days: days, zone: zone, people: map[string]*Person{}}
	t.Partial = len(turns) > TurnsMost
	turns = turns[:min(len(turns), TurnsMost)]
	t.turns(turns)
	t.spent(spent)
	report := t.report(r.o.Now())
	if report.Worded = !r.o.Wordless; report.Worded {
		report.Questions, err = r.questions(ctx, v, turns)
	}
	return report, err
}

// day is a day of a zone. Its begin is its first moment, which is not always
// midnight; days last 23 to 25 hours where clocks are changed.
type day struct {
	date    string // "2026-11-20"
	begins  time.Time
	weekday bool // Monday to Friday
}

// daysUntil are the last n days, oldest first, with the one that now is in.
func daysUntil(now time.Time, n int) []day {
	days := make([]day, n)
	for i := range days {
		noon := time.Date(now.Year(), now.Month(), now.Day()-(n-1-i), 12, 0, 0, 0, now.Location())
		days[i] = day{noon.Format(time.DateOnly), firstMoment(noon), noon.Weekday() != time.Saturday && noon.Weekday() != time.Sunday}
	}
	return days
}

// firstMoment is when the day of a noon begins. Where midnight is skipped,
// time.Date may answer with a moment of the day before.
func firstMoment(noon time.Time) time.Time {
	at := time.Date(noon.Year(), noon.Month(), noon.Day(), 0, 0, 0, 0, noon.Location())
	for at.Day() != noon.Day() {
		at = at.Add(15 * time.Minute)
	}
	return at
}
