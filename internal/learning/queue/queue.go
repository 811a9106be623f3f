// Package queue decides which training job runs next: by plan, by how long it
// has waited, by what its person has had of late, and by how much there is to
// learn.
//
// It is pure: what waits, runs and ran goes in with the time, the job to claim
// comes out. It knows no database; whoever claims does so in a transaction that
// finds two claims of one person in each other's way. It may import the standard
// library only.
package queue

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Class is what a person's plan weighs (TRAIN-09).
type Class int

// The classes. Each step of waiting is one class more.
const (
	Free Class = iota
	Paid
	Admin
)

// Job is one that waits.
type Job struct {
	ID       string
	UserID   string
	Class    Class
	QueuedAt time.Time
	// NotBefore is when a job that failed may run again; zero: at once.
	NotBefore time.Time
	// Trained is when its adapter was trained last; zero: never.
	Trained time.Time
	// Density is that of what the person liked lately in its situation; see
	// Density.
	Density float64
}

// Running is a job that runs.
type Running struct {
	UserID  string
	Process string // what trains it
}

// Ended is a job that ran, within the last day.
type Ended struct {
	UserID string
	At     time.Time
	Tokens int // trained with
}

// Limits are the bounds of a house.
type Limits struct {
	Most     int           // jobs at once, everywhere
	Cooldown time.Duration // of a person, from the end of a job (TRAIN-08)
	Step     time.Duration // of waiting, which is worth a class
	Window   time.Duration // in which what a person has had counts
}

// DefaultLimits are those a house begins with.
func DefaultLimits() Limits {
	return Limits{Most: 2, Cooldown: time.Hour, Step: 6 * time.Hour, Window: 24 * time.Hour}
}

// State is all that a decision is made of.
type State struct {
	Now     time.Time
	Waiting []Job
	Running []Running
	Ended   []Ended // those older than Limits.Window do not count
}

// Reason is why a job waits.
type Reason string

// The reasons, and none.
const (
	Ready     Reason = ""
	Later     Reason = "retry"    // it failed, and is tried again later
	OnePerson Reason = "person"   // another one of its person runs
	Cooling   Reason = "cooldown" // one of its person ended just now
	Full      Reason = "full"     // enough run everywhere
	Busy      Reason = "busy"     // the process that asks trains already
	Behind    Reason = "behind"   // another one of its person comes first
)

// Place is where a job stands.
type Place struct {
	Job    Job
	Reason Reason    // why it cannot run now; Ready: it can
	Until  time.Time // when that ends, where it is known
}

// Order is the jobs that wait, in the order in which they would run if nothing
// changed: first those that can run now.
func Order(s State, l Limits) []Place {
	had := map[string]int{}
	last := map[string]time.Time{}
	for _, e := range s.Ended {
		if e.At.After(last[e.UserID]) {
			last[e.UserID] = e.At
		}
		if s.Now.Sub(e.At) < l.Window {
			had[e.UserID] += e.Tokens
		}
	}
	running := map[string]bool{}
	for _, r := range s.Running {
		running[r.UserID] = true
	}
	jobs := slices.Clone(s.Waiting)
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(
			cmp.Compare(class(b, s.Now, l), class(a, s.Now, l)),
			cmp.Compare(had[a.UserID], had[b.UserID]),
			untrainedFirst(a, b, s.Now, l),
			cmp.Compare(b.Density, a.Density),
			a.QueuedAt.Compare(b.QueuedAt),
			cmp.Compare(a.ID, b.ID),
		)
	})
	var ready, others []Place
	ahead := map[string]bool{}
	for _, j := range jobs {
		p := Place{Job: j}
		switch cool := last[j.UserID].Add(l.Cooldown); {
		case j.NotBefore.After(s.Now):
			p.Reason, p.Until = Later, j.NotBefore
		case running[j.UserID]:
			p.Reason = OnePerson
		case !last[j.UserID].IsZero() && cool.After(s.Now):
			p.Reason, p.Until = Cooling, cool
		case ahead[j.UserID]:
			p.Reason = Behind
		default:
			ahead[j.UserID] = true
			ready = append(ready, p)
			continue
		}
		others = append(others, p)
	}
	return append(ready, others...)
}

// Next is the job a process is to train now (TRAIN-08): one of a person and one
// of a process at a time. ok is false, with the reason, when there is none.
func Next(s State, l Limits, process string) (j Job, why Reason, ok bool) {
	if slices.ContainsFunc(s.Running, func(r Running) bool { return r.Process == process }) {
		return Job{}, Busy, false
	}
	if len(s.Running) >= l.Most {
		return Job{}, Full, false
	}
	places := Order(s, l)
	if len(places) == 0 {
		return Job{}, Ready, false
	}
	return places[0].Job, places[0].Reason, places[0].Reason == Ready
}

// class is that of a job's plan, and one more for each step it has waited: so
// nobody waits forever.
func class(j Job, now time.Time, l Limits) int {
	c := int(j.Class)
	if waited := now.Sub(j.QueuedAt); waited > 0 && l.Step > 0 {
		c += int(waited / l.Step)
	}
	return c
}

// untrainedFirst puts adapters that were not trained of late before others.
func untrainedFirst(a, b Job, now time.Time, l Limits) int {
	lately := func(j Job) int {
		if j.Trained.IsZero() || now.Sub(j.Trained) >= l.Window {
			return 0
		}
		return 1
	}
	return cmp.Compare(lately(a), lately(b))
}

// halfLife is after how long what was liked counts half in a density.
const halfLife = 7 * 24 * time.Hour

// Liked is one positive event of a person in a situation.
type Liked struct {
	At    time.Time
	Score float64 // 0 to 1
}

// Density is how much there is to learn: what was liked, less of it the longer
// ago, in events of now.
func Density(list []Liked, now time.Time) float64 {
	sum := 0.0
	for _, e := range list {
		if e.Score > 0 {
			sum += e.Score * math.Exp2(-max(0, now.Sub(e.At)).Hours()/halfLife.Hours())
		}
	}
	return sum
}

// Attempts is how often a job is tried (TRAIN-10).
const Attempts = 3

// Again is when a job that failed for something that may pass (a disk, memory, a
// worker that was stopped) is tried again: after 1, then 4 minutes. ok is false
// when it was tried often enough: it has failed, with its reason.
func Again(attempts int, now time.Time) (at time.Time, ok bool) {
	if attempts >= Attempts {
		return time.Time{}, false
	}
	wait := time.Minute
	for range attempts - 1 {
		wait *= 4
	}
	return now.Add(wait), true
}
