package insights

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// memStore is a Store with a few lines in them.
type memStore struct {
	turns []Turn
	spent []Spent
	asked []Asked
	since time.Time
	day   string
}

func (s *memStore) Turns(_ context.Context, _ identity.Viewer, since time.Time, surface string, most int) ([]Turn, error) {
	s.since = since
	turns := slices.DeleteFunc(slices.Clone(s.turns), func(t Turn) bool { return surface != "" && t.Surface != surface })
	return turns[:min(len(turns), most)], nil
}

func (s *memStore) Spent(_ context.Context, _ identity.Viewer, since string) ([]Spent, error) {
	s.day = since
	return s.spent, nil
}

func (s *memStore) Asked(_ context.Context, _ identity.Viewer, runIDs []string) ([]Asked, error) {
	return s.asked[:min(len(s.asked), len(runIDs))], nil
}

var admin = identity.Viewer{UserID: "ada", Role: identity.RoleAdmin, TenantID: "default"}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func read(t *testing.T, s *memStore, now string, f Filter, o Options) Report {
	t.Helper()
	o.Now = func() time.Time { return at(now) }
	r, err := NewReader(s, o).Read(t.Context(), admin, f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func done(user, when string, took time.Duration, tools int) Turn {
	return Turn{RunID: when, UserID: user, Status: run.Done, At: at(when), Took: took, ToolCalls: tools}
}

// Requirements: GRND-38 (turns with median and p90; daily series; tool use and abandonment; usage and cost per person), GRND-40 (turns per working day; tool-use rate; tool calls per turn)
func TestTurnsAreCountedByHowTheyEnded(t *testing.T) {
	t.Parallel()
	s := &memStore{
		turns: []Turn{
			done("ada", "2026-05-04T10:00:00Z", 400*time.Millisecond, 0),
			done("ada", "2026-05-04T09:00:00Z", 2*time.Second, 3),
			done("bob", "2026-05-03T09:00:00Z", 90*time.Second, 1), // a Sunday
			done("bob", "2026-05-02T09:00:00Z", -1, -1),            // nobody knows how long, or with what
			{UserID: "bob", Status: run.Failed, At: at("2026-05-01T09:00:00Z"), Took: time.Second, ToolCalls: 2},
			{UserID: "bob", Status: run.Cancelled, At: at("2026-05-01T08:00:00Z"), Took: time.Second, ToolCalls: -1},
			{UserID: "eve", Status: run.Waiting, At: at("2026-05-01T07:00:00Z"), Took: -1, ToolCalls: -1},
		},
		spent: []Spent{
			{"ada", quota.Line{Day: "2026-05-04", Model: "large", Use: quota.Use{Calls: 1, Input: 100, Output: 10, CostUSD: 0.5}}},
			{"bob", quota.Line{Day: "2026-05-03", Model: "small", Use: quota.Use{Calls: 9, Input: 900}}},
			{"gus", quota.Line{Day: "2026-05-03", Model: "large", Use: quota.Use{Calls: 1, CostUSD: 1}}},
		},
	}
	r := read(t, s, "2026-05-04T12:00:00Z", Filter{Days: 7}, Options{})
	got := fmt.Sprintf("%d turns of %d people: %d answered, %d failed, %d abandoned, %d open; known %d, median %v, p90 %v; %d of %d with tools, %d calls; %d on %d working days",
		r.Turns, r.People, r.Answered, r.Failed, r.Abandoned, r.Open, r.Times.Known, r.Times.Median, r.Times.P90, r.WithTools, r.Recorded, r.ToolCalls, r.WorkingTurns, r.WorkingDays)
	if want := "7 turns of 3 people: 4 answered, 1 failed, 1 abandoned, 1 open; known 3, median 2s, p90 1m30s; 3 of 4 with tools, 6 calls; 5 on 5 working days"; got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	if got := fmt.Sprint(r.Buckets); got != "[{1s 1} {3s 1} {10s 0} {30s 0} {1m0s 0} {0s 1}]" {
		t.Errorf("buckets: %s", got)
	}
	if len(r.Days) != 7 || r.Days[6].Date != "2026-05-04" || r.Days[6].Turns != 2 || r.Days[6].People != 1 || r.Days[6].Times.Median != 400*time.Millisecond || r.Days[3].Abandoned != 1 || r.Days[5].Use.CostUSD != 1 {
		t.Errorf("days: %+v", r.Days)
	}
	if len(r.Models) != 2 || r.Models[0].Model != "large" || r.Models[0].CostUSD != 1.5 || r.Used.Tokens() != 1010 {
		t.Errorf("models: %+v of %+v", r.Models, r.Used)
	}
	order := ""
	for _, p := range r.Named {
		order += p.UserID + " "
	}
	if order != "gus ada bob eve " || r.Others != 0 {
		t.Errorf("people: %s and %d", order, r.Others)
	}
	if s.day != "2026-04-28" || r.Partial {
		t.Errorf("since %s, partial %v", s.day, r.Partial)
	}
}

// Requirements: GRND-38 (histogram by classifier_tag), GRND-39 (counted), GRND-40 (its thresholds)
func TestTurnsOfAnAssistantAreCountedByWhatTheyWereAbout(t *testing.T) {
	t.Parallel()
	at := func(tag string, tools int) Turn {
		one := done("ada", "2026-05-04T10:00:00Z", time.Second, tools)
		one.Surface, one.Tag, one.Model, one.Used = "desk", tag, "m", quota.Use{Calls: 1, Input: 10, CostUSD: 0.5}
		return one
	}
	failed := at("data", 0)
	failed.Status = run.Failed
	s := &memStore{turns: []Turn{at("data", 2), at("data", 1), at("meta", 0), at("gossip", 1), failed, done("bob", "2026-05-04T10:00:00Z", time.Second, 9)},
		spent: []Spent{{"gus", quota.Line{Day: "2026-05-04", Model: "large", Use: quota.Use{Calls: 1, CostUSD: 9}}}}}
	r := read(t, s, "2026-05-04T12:00:00Z", Filter{Days: 1, Surface: "desk"}, Options{Wordless: true})
	if got := fmt.Sprint(r.Tags, r.Turns, r.Used.CostUSD, len(r.Models)); got != "[{data 2} {concept 0} {navigation 0} {meta 1} {other 0}] 5 2.5 1" {
		t.Error(got)
	}
	if m := r.Marks(); m != (Marks{PerWorkingDay: Green, ToolUse: Green, FewCalls: true}) {
		t.Errorf("%+v", m)
	}
	if r := read(t, s, "2026-05-04T12:00:00Z", Filter{Days: 1}, Options{Wordless: true}); r.Turns != 6 || r.Used.CostUSD != 9 {
		t.Errorf("%d turns for %v", r.Turns, r.Used)
	}
	for figures, want := range map[[5]int]Marks{
		{0, 5, 0, 0, 0}:       {},
		{4, 5, 10, 2, 20}:     {PerWorkingDay: Yellow, ToolUse: Yellow},
		{10, 5, 10, 4, 15}:    {},
		{15, 5, 100, 50, 149}: {PerWorkingDay: Green, ToolUse: Green, FewCalls: true},
	} {
		if got := (Report{Turns: figures[0], WorkingTurns: figures[0], WorkingDays: figures[1], Recorded: figures[2], WithTools: figures[3], ToolCalls: figures[4]}).Marks(); got != want {
			t.Errorf("%v: %+v", figures, got)
		}
	}
}

func TestDaysAreThoseOfTheZone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone, now     string
		since, counts string
	}{
		// Clocks go forward on 29 March: that day has 23 hours.
		"spring":  {"Europe/Berlin", "2026-03-30T10:00:00Z", "2026-03-23T23:00:00Z", "[0 0 0 0 0 2 2]"},
		"autumn":  {"Europe/Berlin", "2026-10-26T10:00:00Z", "2026-10-19T22:00:00Z", "[0 0 0 0 0 2 2]"},
		"utc":     {"", "2026-03-30T10:00:00Z", "2026-03-24T00:00:00Z", "[0 0 0 0 0 2 2]"},
		"skipped": {"America/Santiago", "2026-09-07T12:00:00Z", "2026-09-01T04:00:00Z", "[0 0 0 0 0 2 2]"}, // midnight of the 6th is not
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, _ := time.LoadLocation(c.zone)
			now := at(c.now).In(zone)
			today := firstMoment(time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, zone))
			before := firstMoment(time.Date(now.Year(), now.Month(), now.Day()-1, 12, 0, 0, 0, zone))
			var turns []Turn
			for _, when := range []time.Time{now, today, today.Add(-time.Second), before, before.AddDate(0, 0, -30)} {
				turns = append(turns, Turn{Status: run.Done, At: when, Took: -1, ToolCalls: -1})
			}
			s := &memStore{turns: turns}
			r := read(t, s, c.now, Filter{Days: 7, Zone: c.zone}, Options{})
			var counts []int
			for _, d := range r.Days {
				counts = append(counts, d.Turns)
			}
			if got := fmt.Sprint(counts); got != c.counts || !s.since.Equal(at(c.since)) {
				t.Errorf("%s since %v", got, s.since.UTC())
			}
		})
	}
}

func TestOthersWordsAreToldWhereTwoAskedTheSame(t *testing.T) {
	t.Parallel()
	s := &memStore{asked: []Asked{
		{"bob", "What is due  this week?"},
		{"eve", "what is due this week"},
		{"bob", "WHAT IS DUE THIS WEEK ?!"},
		{"bob", "My salary?"},
		{"bob", "My salary"},
		{"ada", "Summarise it."},
		{"ada", "Summarise it"},
		{"ada", "Once only"},
		{"eve", "???"},
		{"bob", "???"},
	}}
	s.turns = make([]Turn, len(s.asked))
	for i := range s.turns {
		s.turns[i].At = at("2026-05-04T09:00:00Z")
	}
	r := read(t, s, "2026-05-04T12:00:00Z", Filter{Days: 7}, Options{})
	if got := fmt.Sprint(r.Worded, r.Questions); got != "true [{What is due this week? 3 2} {Summarise it. 2 1}]" {
		t.Error(got)
	}
	if r := read(t, s, "2026-05-04T12:00:00Z", Filter{Days: 7}, Options{Wordless: true}); r.Worded || r.Questions != nil {
		t.Errorf("%+v", r.Questions)
	}
}

func TestAReportIsForAdministratorsAndBounded(t *testing.T) {
	t.Parallel()
	reader := NewReader(&memStore{}, Options{})
	somebody := admin
	somebody.Role = identity.RolePower
	if _, err := reader.Read(t.Context(), somebody, Filter{Days: 7}); !errors.Is(err, fault.Forbidden) {
		t.Errorf("somebody: %v", err)
	}
	for _, f := range []Filter{{Days: 0}, {Days: 91}, {Days: 7, Zone: "Mars/Olympus"}, {Days: 7, Zone: "Local"}, {Days: 7, Zone: "../etc/passwd"}} {
		if _, err := reader.Read(t.Context(), admin, f); !errors.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	s := &memStore{turns: make([]Turn, TurnsMost+1)}
	for i := range s.turns {
		s.turns[i] = Turn{UserID: fmt.Sprint(i % (PeopleMost + 5)), Status: run.Done, At: at("2026-05-04T09:00:00Z"), Took: time.Duration(i), ToolCalls: -1}
	}
	r := read(t, s, "2026-05-04T12:00:00Z", Filter{Days: 1}, Options{Wordless: true})
	if !r.Partial || r.Turns != TurnsMost || len(r.Named) != PeopleMost || r.Others != 5 || r.Rest.Turns == 0 {
		t.Errorf("%d turns, partial %v, %d people and %d", r.Turns, r.Partial, len(r.Named), r.Others)
	}
	empty := read(t, &memStore{}, "2026-05-04T12:00:00Z", Filter{Days: 90}, Options{})
	if len(empty.Days) != 90 || empty.Times.Known != 0 {
		t.Errorf("%+v", empty.Times)
	}
}
