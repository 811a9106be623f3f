package queue_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"liminal/internal/learning/queue"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

func order(s queue.State, l queue.Limits) (ids []string) {
	for _, p := range queue.Order(s, l) {
		ids = append(ids, p.Job.ID)
	}
	return ids
}

// Requirements: TRAIN-09 (admin > paying > free with fairness; densest and untrained first)
func TestJobsAreOrderedByPlanThenWaitThenNeed(t *testing.T) {
	t.Parallel()
	l := queue.DefaultLimits()
	job := func(id string, c queue.Class, waited time.Duration) queue.Job {
		return queue.Job{ID: id, UserID: "of " + id, Class: c, QueuedAt: ago(waited)}
	}
	trained := func(j queue.Job, before time.Duration) queue.Job { j.Trained = ago(before); return j }
	dense := func(j queue.Job, d float64) queue.Job { j.Density = d; return j }
	for name, c := range map[string]struct {
		waiting []queue.Job
		ended   []queue.Ended
		want    []string
	}{
		"by plan": {
			[]queue.Job{job("free", queue.Free, time.Hour), job("paid", queue.Paid, time.Minute), job("admin", queue.Admin, 0)}, nil,
			[]string{"admin", "paid", "free"},
		},
		"six hours are a class": {
			[]queue.Job{job("paid", queue.Paid, 0), job("free", queue.Free, 6*time.Hour), dense(job("short", queue.Free, 6*time.Hour-1), 9)}, nil,
			[]string{"free", "paid", "short"}, // of one class, the one that waits longer
		},
		"eighteen hours pass everybody": {
			[]queue.Job{job("admin", queue.Admin, time.Minute), job("free", queue.Free, 18*time.Hour)}, nil,
			[]string{"free", "admin"},
		},
		"who had less first": {
			[]queue.Job{dense(job("a", queue.Paid, 0), 50), job("b", queue.Paid, 0)},
			[]queue.Ended{{UserID: "of a", At: ago(5 * time.Hour), Tokens: 1000}, {UserID: "of b", At: ago(25 * time.Hour), Tokens: 9000}},
			[]string{"b", "a"},
		},
		"untrained, then dense, first": {
			[]queue.Job{
				trained(dense(job("lately", queue.Free, 0), 90), time.Hour), trained(dense(job("long ago", queue.Free, 0), 5), 30*time.Hour),
				dense(job("never", queue.Free, 0), 7), dense(job("never, little", queue.Free, 0), 1),
			}, nil,
			[]string{"never", "long ago", "never, little", "lately"},
		},
		"then the older": {
			[]queue.Job{job("b", queue.Free, time.Minute), job("a", queue.Free, time.Minute), job("c", queue.Free, time.Hour)}, nil,
			[]string{"c", "a", "b"},
		},
	} {
		s := queue.State{Now: noon, Waiting: c.waiting, Ended: c.ended}
		if got := order(s, l); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
		slices.Reverse(s.Waiting)
		if got := order(s, l); !slices.Equal(got, c.want) {
			t.Errorf("%s, the other way round: %v", name, got)
		}
	}
}

// Requirements: TRAIN-08 (one running job a user; 1 h cooldown; a global cap)
func TestAJobWaitsForItsPersonAndForRoom(t *testing.T) {
	t.Parallel()
	l := queue.DefaultLimits()
	waiting := []queue.Job{{ID: "j", UserID: "ann", QueuedAt: ago(time.Minute)}}
	running := []queue.Running{{UserID: "bob", Process: "one"}}
	for name, c := range map[string]struct {
		s     queue.State
		who   string
		why   queue.Reason
		until time.Time
	}{
		"free":              {queue.State{Waiting: waiting, Running: running}, "two", queue.Ready, time.Time{}},
		"one a process":     {queue.State{Waiting: waiting, Running: running}, "one", queue.Busy, time.Time{}},
		"enough everywhere": {queue.State{Waiting: waiting, Running: append(running, queue.Running{UserID: "cid", Process: "three"})}, "two", queue.Full, time.Time{}},
		"one a person":      {queue.State{Waiting: waiting, Running: []queue.Running{{UserID: "ann", Process: "one"}}}, "two", queue.OnePerson, time.Time{}},
		"cooling": {queue.State{Waiting: waiting, Ended: []queue.Ended{{UserID: "ann", At: ago(59 * time.Minute)}, {UserID: "ann", At: ago(3 * time.Hour)}}},
			"two", queue.Cooling, noon.Add(time.Minute)},
		"cooled": {queue.State{Waiting: waiting, Ended: []queue.Ended{{UserID: "ann", At: ago(time.Hour)}}}, "two", queue.Ready, time.Time{}},
		"later": {queue.State{Waiting: []queue.Job{{ID: "j", UserID: "ann", QueuedAt: ago(time.Minute), NotBefore: noon.Add(time.Second)}}},
			"two", queue.Later, noon.Add(time.Second)},
	} {
		c.s.Now = noon
		j, why, ok := queue.Next(c.s, l, c.who)
		if why != c.why || ok != (c.why == queue.Ready) || ok && j.ID != "j" {
			t.Errorf("%s: %v, %q, %v", name, j, why, ok)
		}
		if p := queue.Order(c.s, l)[0]; !p.Until.Equal(c.until) {
			t.Errorf("%s: until %v", name, p.Until)
		}
	}
	if _, why, ok := queue.Next(queue.State{Now: noon}, l, "two"); ok || why != queue.Ready {
		t.Errorf("of nothing there is a next one: %q", why)
	}
	two := queue.State{Now: noon, Waiting: []queue.Job{{ID: "b", UserID: "ann", QueuedAt: noon}, {ID: "a", UserID: "ann", QueuedAt: noon}}}
	if list := queue.Order(two, l); list[0].Job.ID != "a" || list[1].Reason != queue.Behind {
		t.Errorf("two of one person: %+v", list)
	}
}

// A week of a house in which everybody wants more than there is: ten free
// accounts, three that pay and an administrator, two processes, jobs of half an
// hour. Bounds hold at every moment, nobody is forgotten, and people of a plan
// get the same.
//
// Requirements: TRAIN-08 (fair share; one running job a user; 1 h cooldown; a global cap)
func TestAWeekIsSharedFairly(t *testing.T) {
	t.Parallel()
	l := queue.DefaultLimits()
	r := rand.New(rand.NewPCG(7, 7))
	type claim struct {
		job  queue.Job
		till time.Time
	}
	people := map[string]queue.Class{"admin": queue.Admin}
	for i := range 10 {
		people[fmt.Sprintf("free %d", i)] = queue.Free
	}
	for i := range 3 {
		people[fmt.Sprintf("paid %d", i)] = queue.Paid
	}
	names := make([]string, 0, len(people))
	for name := range people {
		names = append(names, name)
	}
	slices.Sort(names)
	s := queue.State{}
	on := map[string]*claim{}
	got, longest := map[string]int{}, map[queue.Class]time.Duration{}
	trained := map[string]time.Time{}
	id := 0
	for at := noon; at.Before(noon.Add(7 * 24 * time.Hour)); at = at.Add(time.Minute) {
		s.Now = at
		for _, name := range names { // one that wants two adapters always
			waits := 0
			for _, j := range s.Waiting {
				if j.UserID == name {
					waits++
				}
			}
			for ; waits < 2; waits++ {
				id++
				s.Waiting = append(s.Waiting, queue.Job{ID: fmt.Sprint(id), UserID: name, Class: people[name], QueuedAt: at, Trained: trained[name], Density: r.Float64()})
			}
		}
		for _, process := range []string{"one", "two"} {
			if c := on[process]; c != nil && !at.Before(c.till) {
				s.Ended = append(s.Ended, queue.Ended{UserID: c.job.UserID, At: at, Tokens: 1000})
				s.Running = slices.DeleteFunc(s.Running, func(r queue.Running) bool { return r.Process == process })
				trained[c.job.UserID] = at
				on[process] = nil
			}
			j, _, ok := queue.Next(s, l, process)
			if !ok {
				continue
			}
			for _, e := range s.Ended {
				if e.UserID == j.UserID && at.Sub(e.At) < l.Cooldown {
					t.Fatalf("%s runs %v after the one before", j.UserID, at.Sub(e.At))
				}
			}
			s.Waiting = slices.DeleteFunc(s.Waiting, func(w queue.Job) bool { return w.ID == j.ID })
			s.Running = append(s.Running, queue.Running{UserID: j.UserID, Process: process})
			if len(s.Running) > l.Most || len(s.Running) == 2 && s.Running[0].UserID == s.Running[1].UserID {
				t.Fatalf("at once run %+v", s.Running)
			}
			on[process] = &claim{j, at.Add(30 * time.Minute)}
			got[j.UserID]++
			longest[people[j.UserID]] = max(longest[people[j.UserID]], at.Sub(j.QueuedAt))
		}
	}
	of := func(c queue.Class) (least, most int) {
		least = math.MaxInt
		for _, name := range names {
			if people[name] == c {
				least, most = min(least, got[name]), max(most, got[name])
			}
		}
		return least, most
	}
	freeLeast, freeMost := of(queue.Free)
	paidLeast, paidMost := of(queue.Paid)
	adminLeast, _ := of(queue.Admin)
	t.Logf("free %d to %d, paid %d to %d, admin %d; waited at most %v", freeLeast, freeMost, paidLeast, paidMost, adminLeast, longest)
	if freeMost-freeLeast > 2 || paidMost-paidLeast > 2 {
		t.Errorf("people of a plan get between %d and %d, %d and %d", freeLeast, freeMost, paidLeast, paidMost)
	}
	if freeLeast < 7 || paidLeast <= freeMost || adminLeast <= paidMost {
		t.Errorf("free %d, paid %d, admin %d", freeLeast, paidLeast, adminLeast)
	}
	if longest[queue.Free] > 36*time.Hour {
		t.Errorf("a job waited %v", longest[queue.Free])
	}
}

func TestDensityFallsWithAge(t *testing.T) {
	t.Parallel()
	got := queue.Density([]queue.Liked{{noon, 1}, {ago(7 * 24 * time.Hour), 1}, {ago(time.Hour), -1}, {noon.Add(time.Hour), 0.5}}, noon)
	if math.Abs(got-2) > 1e-9 {
		t.Errorf("%v", got)
	}
}

// Requirements: TRAIN-10 (exponential backoff, 3 attempts)
func TestAFailedJobIsTriedThreeTimes(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{1: time.Minute, 2: 4 * time.Minute} {
		if at, ok := queue.Again(attempts, noon); !ok || at.Sub(noon) != want {
			t.Errorf("after %d: %v, %v", attempts, at, ok)
		}
	}
	if _, ok := queue.Again(3, noon); ok {
		t.Error("it is tried a fourth time")
	}
}
