package artifacts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/artifacts/artifactstest"
	"liminal/internal/graph"
	"liminal/internal/identity"
)

// patched is the graph a proposed change follows, as its runs are given it.
func patched(t *testing.T) *graph.Graph {
	t.Helper()
	library, _ := stocked(t)
	a, err := library.Workflow(t.Context(), identity.Steward(), "config_patch")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := library.ToolsOf(t.Context(), identity.Steward(), a.Schema)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Parse(a.Schema, artifacts.GraphTools(tools), artifacts.Limits(identity.Steward(), a, tools))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// course is what the desk and people do, in the order they are asked; "" is a
// question whose time is up.
type course struct {
	invalid   bool
	withdrawn bool // while it was rehearsed
	broken    string
	answers   []string
	looks     []string // of config.watch_v1: go on, or over
}

// follow plays a course and tells what happened, a word for each effect.
func follow(t *testing.T, g *graph.Graph, c course) (way []string, asked []graph.Ask) {
	t.Helper()
	now := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	run, queue := g.Start(graph.Input{Input: object{"patch_id": 7.0}, Now: now})
	for n := 0; len(queue) > 0 && n < 100; n++ {
		e := queue[0]
		queue = queue[1:]
		switch e.Kind {
		case graph.KindAsk:
			asked = append(asked, *e.Ask)
			answer := any(c.answers[0])
			way = append(way, fmt.Sprintf("%s?%s", e.Node, c.answers[0]))
			if c.answers[0] == "" {
				answer = nil
				now = e.Ask.Expires
			}
			c.answers = c.answers[1:]
			queue = append(queue, run.Done(e.ID, object{"answer": answer, "expired": answer == nil}, now)...)
		case graph.KindWait:
			now = e.Wait.Until
			queue = append(queue, run.Done(e.ID, nil, now)...)
		default:
			way = append(way, step(e))
			queue = append(queue, c.do(run, e, now)...)
		}
		run = restored(t, g, run)
	}
	outcome, ended := run.Outcome()
	if !ended || outcome.Err != nil {
		t.Fatalf("after %v: %v", way, outcome.Err)
	}
	return way, asked
}

func step(e graph.Effect) string {
	name := strings.TrimSuffix(strings.TrimPrefix(e.Call.Tool, "config."), "_v1")
	if stage, ok := e.Call.Inputs["stage"].(string); ok {
		name += ":" + stage
	}
	return name
}

func (c *course) do(run *graph.Run, e graph.Effect, now time.Time) []graph.Effect {
	if e.Call.Tool == c.broken {
		return run.Fail(e.ID, graph.Failure{Code: "server_error", Message: "down"}, now)
	}
	out := object{}
	switch e.Call.Tool {
	case "config.check_v1":
		out = object{"ok": !c.invalid, "problems": 0.0, "about": "the workflow default"}
	case "config.rehearse_v1":
		out = object{"open": !c.withdrawn, "verdict": "pass", "moved": 3.0, "taken": 40.0, "said": "3 of 40 recorded runs go another way."}
	case "config.watch_v1":
		out = object{"over": c.looks[0] == "over", "verdict": "fine", "said": "", "soon": c.looks[0] == "soon"}
		c.looks = c.looks[1:]
	case "config.expire_v1":
		out = object{"status": "expired"}
	}
	return run.Done(e.ID, out, now)
}

// Requirements: CFG-15, CFG-16
func TestAPatchGoesItsWayWhateverPeopleDo(t *testing.T) {
	t.Parallel()
	g := patched(t)
	for name, one := range map[string]struct {
		course course
		way    string
	}{
		"invalid":            {course{invalid: true}, "check"},
		"withdrawn early":    {course{withdrawn: true}, "check rehearse"},
		"rejected":           {course{answers: []string{"reject"}}, "check rehearse decide?reject"},
		"withdrawn":          {course{answers: []string{"withdraw"}}, "check rehearse decide?withdraw"},
		"superseded":         {course{answers: []string{"approve", "superseded"}}, "check rehearse decide?approve apply?superseded"},
		"undecided":          {course{answers: []string{""}}, "check rehearse decide? expire:deciding"},
		"unapplied":          {course{answers: []string{"approve", ""}}, "check rehearse decide?approve apply? expire:applying"},
		"withdrawn late":     {course{answers: []string{"approve", "withdraw"}}, "check rehearse decide?approve apply?withdraw"},
		"not watched":        {course{answers: []string{"approve", "apply"}, looks: []string{"over"}}, "check rehearse decide?approve apply?apply watch"},
		"kept":               {course{answers: []string{"approve", "apply", "keep"}, looks: []string{"go on"}}, "check rehearse decide?approve apply?apply watch watch?keep"},
		"taken back":         {course{answers: []string{"approve", "apply", "roll_back"}, looks: []string{"go on"}}, "check rehearse decide?approve apply?apply watch watch?roll_back"},
		"watched to its end": {course{answers: []string{"approve", "apply", "", ""}, looks: []string{"go on", "go on", "over"}}, "check rehearse decide?approve apply?apply watch watch? watch watch? watch"},
		"looked at often at first": {
			course{answers: []string{"approve", "apply", "", "", "keep"}, looks: []string{"soon", "soon", "go on"}},
			"check rehearse decide?approve apply?apply watch watch_soon? watch watch_soon? watch watch?keep",
		},
		"it cannot be checked": {course{broken: "config.check_v1"}, "check expire:checking"},
		"nor rehearsed":        {course{broken: "config.rehearse_v1"}, "check rehearse expire:rehearsing"},
		"a look that fails is made again": {
			course{broken: "config.watch_v1", answers: []string{"approve", "apply", "", "keep"}},
			"check rehearse decide?approve apply?apply watch watch? watch watch?keep",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way, _ := follow(t, g, one.course)
			if got := strings.Join(way, " "); got != one.way {
				t.Errorf("it went\n  %s\nwant\n  %s", got, one.way)
			}
		})
	}
}

// Requirements: CFG-15
func TestThePatchsQuestionsWaitForPeopleAsLongAsTheySay(t *testing.T) {
	t.Parallel()
	_, asked := follow(t, patched(t), course{answers: []string{"approve", "apply", "", "keep"}, looks: []string{"soon", "go on"}})
	start := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	for i, want := range []struct {
		message string
		within  time.Duration
	}{
		{"Patch 7 to the workflow default waits for a decision. 3 of 40 recorded runs go another way.", 14 * 24 * time.Hour},
		{"Patch 7 to the workflow default is approved. Apply it?", 14 * 24 * time.Hour},
		{"Patch 7 to the workflow default is applied and watched. Keep it, or take it back?", 5 * time.Minute},
		{"Patch 7 to the workflow default is applied and watched. Keep it, or take it back?", 5*time.Minute + time.Hour},
	} {
		if got := asked[i]; got.Message != want.message || got.Expires.Sub(start) != want.within || len(got.Options) != 2 || got.Type != "action_choice" {
			t.Errorf("question %d is %+v", i+1, got)
		}
	}
}

// A week of looks, one each hour, is within the bounds of a run.
//
// Requirements: CFG-15
func TestAPatchIsWatchedForAWeek(t *testing.T) {
	t.Parallel()
	c := course{answers: []string{"approve", "apply"}}
	for range 30 { // the loop of follow is short; the bounds are those of a week
		c.answers, c.looks = append(c.answers, ""), append(c.looks, "go on")
	}
	c.looks = append(c.looks, "over")
	way, _ := follow(t, patched(t), c)
	if len(way) != 4+31+30 {
		t.Errorf("%d steps", len(way))
	}
	if limits := graph.JobLimits(); limits.MaxVisits < 170 || limits.MaxSteps < 5*170 {
		t.Errorf("a week has more looks than a run may make: %+v", limits)
	}
}

// Requirements: CFG-15
func TestTheWaysOfAPatchAreThoseThatWereReviewed(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, e := range patched(t).Edges() {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s → %s  %s", e.From, e.To, e.Label)))
	}
	artifactstest.Golden(t, "testdata/config_patch.ways", b.String(), *update)
}
