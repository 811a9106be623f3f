package view_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"liminal/internal/view"
)

// The table of the design: after how many requests an epoch has paid for itself, by
// the share of what stands behind it that goes.
func TestWhenAnEpochHasPaidForItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ share, five, hour float64 }{{0.25, 34, 56}, {0.5, 11, 18}, {0.67, 5, 8}, {0.8, 2, 4}, {0.9, 0.3, 1}} {
		const behind = 1_000_000
		e := view.Estimate{Behind: behind, Removed: int64(c.share * behind)}
		for hour, want := range map[bool]float64{false: c.five, true: c.hour} {
			got := view.UsualPrice.Estimate(e, hour).BreakEven()
			if math.Abs(got-want) > 0.5 {
				t.Errorf("R/A = %v, an hour %v: %.2f requests, the design says %v", c.share, hour, got, want)
			}
		}
	}
	// All of it gone costs nothing; nothing gone never pays.
	if n := view.UsualPrice.Estimate(view.Estimate{Behind: 100, Removed: 100}, false).BreakEven(); n != 0 {
		t.Errorf("a beginning that is not there any more costs %v requests", n)
	}
	if n := view.UsualPrice.Estimate(view.Estimate{Behind: 100}, false).BreakEven(); n != -1 {
		t.Errorf("nothing set aside pays after %v requests", n)
	}
	// What was thought behind it is thought again, a quarter of it.
	with := view.UsualPrice.Estimate(view.Estimate{Behind: 100, Removed: 50, Thinking: 40}, false).Extra
	if without := view.UsualPrice.Estimate(view.Estimate{Behind: 100, Removed: 50}, false).Extra; with-without != 50 {
		t.Errorf("40 tokens of thinking cost %v tokens of input", with-without)
	}
}

func TestHowManyRequestsAreExpected(t *testing.T) {
	t.Parallel()
	var many []int
	for n := range 40 {
		many = append(many, n+1) // 1 to 40
	}
	for _, c := range []struct {
		made   int
		totals []int
		want   float64
	}{
		{0, nil, 0},
		{10, nil, 5},
		{10, many[:19], 5},
		{1, many, 9},    // 40 came as far; of 0 to 39 more, the lower quartile
		{21, many, 4},   // 20 came as far; 0 to 19 more
		{30, many, 15},  // too few came as far
		{100, many, 50}, // none did
	} {
		if got := view.Expect(c.made, c.totals); got != c.want {
			t.Errorf("after %d requests %v are expected, want %v", c.made, got, c.want)
		}
	}
}

// big is what a result of so many tokens says.
func big(tokens int, word string) string { return strings.Repeat(word[:1]+" ", tokens*2) }

// session is a history with results that rules set aside: n greps nobody refers to.
func session(n, tokens int) *history {
	h := &history{}
	h.ask("go on")
	for i := range n {
		h.call("Grep", map[string]any{"pattern": fmt.Sprint(i)}, fmt.Sprint(i, big(tokens, "x")), false)
	}
	h.ask(big(10_000, "kept"))
	h.idle(6)
	return h
}

func situation(h *history, requests float64) view.Situation {
	return view.Situation{Client: "session:s", Lineage: "l", Policy: "p/1", Blocks: h.blocks, Requests: requests, Now: began}
}

func TestAPlanOpensWhatPays(t *testing.T) {
	t.Parallel()
	p := view.Default()
	h := session(10, 5000)
	plan := p.Plan(situation(h, 50))
	if len(plan.Replace) != 10 || plan.Warm != 0 || plan.Cold != 0 || !plan.Pays || plan.Estimate.Removed < 50_000 || plan.Mode != view.Shadow || plan.Full {
		t.Errorf("the plan is %+v", plan)
	}
	if r := plan.Replace[0]; r.Block != "2-0002" || r.Label != "Grep 0" || r.Sum == "" || r.Tokens < 5000 {
		t.Errorf("the first is %+v", r)
	}
	if note := plan.Replace[0].Note(true); !strings.HasPrefix(note, "[palace: block 2-0002 set aside: Grep 0, ") || !strings.Contains(note, `mcp__palace__recall {"block":"2-0002"} returns it`) {
		t.Errorf("the note says %q", note)
	}
	if note := plan.Replace[0].Note(false); strings.Contains(note, "recall") {
		t.Errorf("an agent without the tool is told %q", note)
	}
	if few := p.Plan(situation(h, 0)); few.Pays || len(few.Replace) != 10 {
		t.Errorf("with no request to come: %+v", few.Estimate)
	}
	if small := p.Plan(situation(session(3, 5000), 50)); small.Pays {
		t.Errorf("%d tokens open an epoch", small.Estimate.Removed)
	}
	// Nothing that is aside is set aside again.
	s := situation(h, 50)
	s.Aside = plan.Replace[:9]
	if rest := p.Plan(s); len(rest.Replace) != 1 || rest.Replace[0].Result != plan.Replace[9].Result {
		t.Errorf("behind an epoch there is %+v", rest.Replace)
	}
	s.Window, s.Context = 200_000, 150_000
	if full := p.Plan(s); !full.Full {
		t.Error("three quarters of a window are not full")
	}
}

// Where what goes early stands before much that stays, the cut begins later.
func TestAPlanTriesEveryStart(t *testing.T) {
	t.Parallel()
	p := view.Default()
	h := &history{}
	h.ask("go on")
	h.call("Grep", map[string]any{"pattern": "early"}, big(300, "x"), false)
	h.ask(big(60_000, "kept")) // stays, and would be written anew
	for i := range 8 {
		h.call("Grep", map[string]any{"pattern": fmt.Sprint(i)}, fmt.Sprint(i, big(5000, "y")), false)
	}
	h.idle(6)
	plan := p.Plan(situation(h, 20))
	if len(plan.Replace) != 9 || plan.Warm != 1 || plan.Cold != 0 || !plan.Pays {
		t.Errorf("warm from %d, cold from %d of %d, pays %v: %+v", plan.Warm, plan.Cold, len(plan.Replace), plan.Pays, plan.Estimate)
	}
	// The best of all starts, by the design's own words.
	best := -1e18
	for from := range plan.Replace {
		s := situation(h, 20)
		s.Aside = plan.Replace[:from]
		e := p.Plan(s)
		if e.Warm == 0 {
			best = max(best, 20*e.Estimate.Gain-e.Estimate.Extra)
		}
	}
	if got := 20*plan.Estimate.Gain - plan.Estimate.Extra; got < best {
		t.Errorf("the plan wins %v, another start %v", got, best)
	}
}

// What an epoch never changes: the open round, the last answers, tools that are kept,
// what was asked back, what a birth note names, and what a person keeps.
func TestAPlanLeavesAloneWhatItMust(t *testing.T) {
	t.Parallel()
	p, err := view.Parse([]byte(`{"kind":"policy.palace","rules":[{"id":"all","when":"true","do":"--"}],"keep":{"turns":2,"tools":["Task"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	h := &history{}
	h.ask("go on")
	gone := h.call("Grep", map[string]any{"pattern": "a"}, many("alpha"), false)
	h.call("Task", map[string]any{"prompt": "b"}, many("beta"), false)
	h.call(view.RecallTool, map[string]any{"block": "1-0001"}, many("gamma"), false)
	h.call("Bash", map[string]any{"command": "c"}, many("same"), false)
	h.call("Bash", map[string]any{"command": "d"}, many("same"), false)
	kept := h.call("Bash", map[string]any{"command": "e"}, many("kept"), false)
	h.call("Bash", map[string]any{"command": "tiny"}, "ok", false)
	h.ask("and")
	h.call("Bash", map[string]any{"command": "f"}, many("late"), false)
	h.call("Bash", map[string]any{"command": "g"}, many("open"), false)
	for i := range h.blocks {
		if h.blocks[i].Use == kept {
			h.blocks[i].Person = view.Show
		}
	}
	plan := p.Plan(situation(h, 50))
	if len(plan.Replace) != 1 || plan.Replace[0].Result != gone {
		t.Errorf("set aside would be %+v, want the result of %s alone", plan.Replace, gone)
	}
}
