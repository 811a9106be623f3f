package insights

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"liminal/internal/quota"
	"liminal/internal/run"
)

// Report is how a place was used in some days.
type Report struct {
	From, Until time.Time
	Zone        string
	Partial     bool // there were more turns than are counted; the oldest are left out

	Turns     int
	People    int // who asked something
	Answered  int
	Failed    int
	Abandoned int // ended without an answer because their person stopped them or asked something else
	Open      int // not over yet

	Times Times // of answered turns
	// Buckets is how many answered turns took how long.
	Buckets []Bucket

	Recorded  int // turns of which it is known what they called
	WithTools int // of those, the ones that called a tool
	ToolCalls int // of those

	// Tags is what answered turns were about, as far as their assistants say, each
	// of the five in their order; empty: none says (GRND-38).
	Tags []TagTurns

	// WorkingDays is how many of the days are from Monday to Friday, and
	// WorkingTurns how many turns were asked on them.
	WorkingDays, WorkingTurns int

	Used   quota.Use
	Days   []Day // oldest first, each of them
	Models []ModelUse
	Named  []Person // who used most, at most PeopleMost
	Others int      // people beyond those
	Rest   Person   // what they used together

	Worded    bool // questions are told
	Questions []Question
}

// Times are how long turns took.
type Times struct {
	Known       int // of how many it is known
	Median, P90 time.Duration
}

// Bucket counts turns that took less than Under and not less than the bucket
// before; the last has no bound, which is 0.
type Bucket struct {
	Under time.Duration
	Turns int
}

// bounds are the buckets' upper ones.
var bounds = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 0}

// TagTurns counts the turns that were about something.
type TagTurns struct {
	Tag   string
	Turns int
}

// tagged are the tags there are (GRND-39).
var tagged = []string{"data", "concept", "navigation", "meta", "other"}

// What a figure says of whether a place is worth its while (GRND-40).
const (
	Green  = "green"
	Yellow = "yellow"
)

// Marks are what the figures say: Green, Yellow, or nothing between the two and
// where nothing is known.
type Marks struct {
	PerWorkingDay, ToolUse string
	FewCalls               bool // fewer than 1.5 calls of tools a turn
}

// Marks of the report.
func (r Report) Marks() Marks {
	var m Marks
	if r.WorkingDays > 0 && r.Turns > 0 {
		m.PerWorkingDay = mark(float64(r.WorkingTurns)/float64(r.WorkingDays), 3, 1)
	}
	if r.Recorded > 0 {
		m.ToolUse = mark(float64(r.WithTools)/float64(r.Recorded), 0.5, 0.3)
		m.FewCalls = float64(r.ToolCalls)/float64(r.Recorded) < 1.5
	}
	return m
}

func mark(figure, green, yellow float64) string {
	switch {
	case figure >= green:
		return Green
	case figure < yellow:
		return Yellow
	}
	return ""
}

// spentBy is what turns used themselves, by person, day of UTC and model.
func spentBy(turns []Turn) []Spent {
	by := map[Spent]quota.Use{}
	for _, t := range turns {
		if t.Used == (quota.Use{}) {
			continue
		}
		key := Spent{UserID: t.UserID, Line: quota.Line{Day: t.At.UTC().Format(time.DateOnly), Model: t.Model}}
		by[key] = by[key].Add(t.Used)
	}
	list := make([]Spent, 0, len(by))
	for key, used := range by {
		key.Use = used
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b Spent) int {
		return cmp.Or(strings.Compare(a.Day, b.Day), strings.Compare(a.UserID, b.UserID), strings.Compare(a.Model, b.Model))
	})
	return list
}

// Day is one day of the zone. Use is that of the day of UTC with the same date:
// by that is it booked.
type Day struct {
	Date                               string
	Turns, Answered, Failed, Abandoned int
	People                             int
	Times                              Times
	Use                                quota.Use
}

// ModelUse is what was used of one model.
type ModelUse struct {
	Model string
	quota.Use
}

// Person is what one person asked and used.
type Person struct {
	UserID string
	Turns  int
	Use    quota.Use
}

// Question is what was asked several times. Small and large letters, spaces and
// the marks at its end are no difference.
type Question struct {
	Text   string // as it was asked last
	Times  int
	People int
}

// tally is a report that is being counted.
type tally struct {
	days []day
	zone *time.Location
	Report
	byDay     []Day
	took      []time.Duration   // of answered turns
	tookByDay [][]time.Duration // the same, by day
	seen      []map[string]bool // who asked, by day
	people    map[string]*Person
	models    map[string]*quota.Use
}

func (t *tally) turns(turns []Turn) {
	t.byDay, t.tookByDay, t.seen = make([]Day, len(t.days)), make([][]time.Duration, len(t.days)), make([]map[string]bool, len(t.days))
	for i, d := range t.days {
		t.byDay[i].Date, t.seen[i] = d.date, map[string]bool{}
		if d.weekday {
			t.WorkingDays++
		}
	}
	for _, one := range turns {
		t.turn(one)
	}
	t.People = len(t.people)
}

func (t *tally) turn(one Turn) {
	at := sort.Search(len(t.days), func(i int) bool { return t.days[i].begins.After(one.At) }) - 1
	if at < 0 {
		return
	}
	d := &t.byDay[at]
	t.Turns++
	d.Turns++
	t.person(one.UserID).Turns++
	t.seen[at][one.UserID] = true
	if t.days[at].weekday {
		t.WorkingTurns++
	}
	switch one.Status {
	case run.Done:
		t.Answered++
		d.Answered++
		if one.Took >= 0 {
			t.took, t.tookByDay[at] = append(t.took, one.Took), append(t.tookByDay[at], one.Took)
		}
	case run.Failed:
		t.Failed++
		d.Failed++
	case run.Cancelled:
		t.Abandoned++
		d.Abandoned++
	default:
		t.Open++
	}
	if at := slices.Index(tagged, one.Tag); at >= 0 && one.Status == run.Done {
		if t.Tags == nil {
			for _, tag := range tagged {
				t.Tags = append(t.Tags, TagTurns{Tag: tag})
			}
		}
		t.Tags[at].Turns++
	}
	if one.ToolCalls >= 0 {
		t.Recorded++
		t.ToolCalls += one.ToolCalls
		if one.ToolCalls > 0 {
			t.WithTools++
		}
	}
}

func (t *tally) person(userID string) *Person {
	p, known := t.people[userID]
	if !known {
		p = &Person{UserID: userID}
		t.people[userID] = p
	}
	return p
}

// spent counts what was used. Lines are of days of UTC, and the zone may be a
// day ahead of those or behind them.
func (t *tally) spent(lines []Spent) {
	t.models = map[string]*quota.Use{}
	for _, l := range lines {
		at, found := slices.BinarySearchFunc(t.byDay, l.Day, func(d Day, date string) int { return strings.Compare(d.Date, date) })
		if !found {
			continue
		}
		t.byDay[at].Use = t.byDay[at].Use.Add(l.Use)
		t.Used = t.Used.Add(l.Use)
		p := t.person(l.UserID)
		p.Use = p.Use.Add(l.Use)
		if t.models[l.Model] == nil {
			t.models[l.Model] = &quota.Use{}
		}
		*t.models[l.Model] = t.models[l.Model].Add(l.Use)
	}
}

func (t *tally) report(now time.Time) Report {
	r := t.Report
	r.From, r.Until, r.Zone = t.days[0].begins, now, t.zone.String()
	r.Times = timesOf(t.took)
	r.Buckets = bucketsOf(t.took)
	for i := range t.byDay {
		t.byDay[i].People, t.byDay[i].Times = len(t.seen[i]), timesOf(t.tookByDay[i])
	}
	r.Days = t.byDay
	for _, model := range slices.Sorted(maps.Keys(t.models)) {
		r.Models = append(r.Models, ModelUse{model, *t.models[model]})
	}
	slices.SortStableFunc(r.Models, func(a, b ModelUse) int { return byUse(a.Use, b.Use) })
	r.Named = t.ranked()
	if len(r.Named) > PeopleMost {
		for _, p := range r.Named[PeopleMost:] {
			r.Rest.Turns += p.Turns
			r.Rest.Use = r.Rest.Use.Add(p.Use)
		}
		r.Others, r.Named = len(r.Named)-PeopleMost, r.Named[:PeopleMost]
	}
	return r
}

// ranked is people, who used most first.
func (t *tally) ranked() []Person {
	list := make([]Person, 0, len(t.people))
	for _, p := range t.people {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b Person) int {
		return cmp.Or(byUse(a.Use, b.Use), cmp.Compare(b.Turns, a.Turns), strings.Compare(a.UserID, b.UserID))
	})
	return list
}

// byUse puts what cost more first, and of what cost the same what has more tokens.
func byUse(a, b quota.Use) int {
	return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(b.Calls, a.Calls))
}

// timesOf sorts what it is given. A percentile is the smallest time that so
// many of all are not above.
func timesOf(took []time.Duration) Times {
	if len(took) == 0 {
		return Times{}
	}
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[(len(took)*percent+99)/100-1] }
	return Times{Known: len(took), Median: at(50), P90: at(90)}
}

// bucketsOf counts times that are sorted.
func bucketsOf(took []time.Duration) []Bucket {
	list, before := make([]Bucket, len(bounds)), 0
	for i, bound := range bounds {
		upto := len(took)
		if bound > 0 {
			upto, _ = slices.BinarySearch(took, bound)
		}
		list[i] = Bucket{bound, upto - before}
		before = upto
	}
	return list
}
