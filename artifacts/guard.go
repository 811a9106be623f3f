package artifacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"liminal/internal/check"
	"liminal/internal/expr"
)

// Guard is what an artifact asks of changes to itself: its optional member
// rehearsal. What it leaves out, the rules of the house say; an empty list says
// that there is no such rule.
type Guard struct {
	Sample   int      `json:"sample"`  // recorded runs to rehearse on: 1 to MaxSample
	Unknown  Unknowns `json:"unknown"` // what becomes of an effect the record does not hold
	Block    []Rule   `json:"block"`
	Second   []Rule   `json:"second"`    // two people approve
	RollBack []Rule   `json:"roll_back"` // over what was watched, see WatchNames
}

// The bounds of Guard.Sample, in recorded runs.
const (
	DefaultSample = 200
	MaxSample     = 5000
)

// Unknowns says what becomes of an effect the record does not hold.
type Unknowns string

// The choices. Stop counts the run as unknown and stops it there. Live calls
// tools that only read and ask no model. Scripted answers from a table.
const (
	Stop     Unknowns = "unknown"
	Live     Unknowns = "live"
	Scripted Unknowns = "scripted"
)

// Rule is a condition over figures, and what to tell a person when it is met.
type Rule struct {
	When string `json:"when"`
	Say  string `json:"say"`
}

// The names conditions of a guard may read. In GuardNames those with a member
// before and after are failed, failed_share, cut, cut_share, questions,
// model_calls, tool_calls, cost and ms; in WatchNames all are.
var (
	GuardNames = []string{
		"taken", "compared", "moved", "moved_share", "unknown", "unknown_share", "failed", "failed_share", "cut", "cut_share",
		"questions", "new_questions", "vanished_questions", "model_calls", "tool_calls", "cost", "ms", "coverage",
	}
	WatchNames = []string{
		"runs", "failed", "failed_share", "asked", "asked_share", "cancelled", "cancelled_share", "skipped_share",
		"thumbs_up", "thumbs_down", "thumbs_down_share", "cost", "ms",
	}
)

// House is the guard of an artifact that has none.
func House() Guard {
	return Guard{
		Sample:  DefaultSample,
		Unknown: Stop,
		Block: []Rule{{
			When: "failed_share.after >= failed_share.before + 0.25 and taken >= 8",
			Say:  "many more runs fail",
		}},
		Second: []Rule{{When: "moved_share >= 0.5 and taken >= 4", Say: "half of the runs or more go another way"}},
		RollBack: []Rule{{
			When: "runs.after >= 20 and failed_share.after > failed_share.before + 0.1",
			Say:  "clearly more runs fail than with the version before",
		}},
	}
}

// HousePalace is the guard of a policy.palace that has none.
func HousePalace() Guard {
	return Guard{
		Sample:   DefaultSample,
		Unknown:  Stop,
		Block:    []Rule{{When: "invalid.after > 0", Say: "a backend would refuse requests"}},
		Second:   []Rule{{When: "regret.after > 0.02 and regret.after > regret.before", Say: "more than one in fifty of what is set aside is needed again"}},
		RollBack: []Rule{},
	}
}

// GuardOf reads the guard of a document. The error is for a member that is not
// of its form; the house's guard comes with it.
func GuardOf(doc json.RawMessage) (Guard, error) {
	var d struct {
		Kind      string `json:"kind"`
		Rehearsal *struct {
			Sample   *int      `json:"sample"`
			Unknown  *Unknowns `json:"unknown"`
			Block    *[]Rule   `json:"block"`
			Second   *[]Rule   `json:"second"`
			RollBack *[]Rule   `json:"roll_back"`
		} `json:"rehearsal"`
	}
	g := House()
	if err := json.Unmarshal(doc, &d); err != nil {
		return g, fmt.Errorf("read the member rehearsal: %w", err)
	}
	if d.Kind == KindPalace {
		g = HousePalace()
	}
	if d.Rehearsal == nil {
		return g, nil
	}
	given(&g.Sample, d.Rehearsal.Sample)
	given(&g.Unknown, d.Rehearsal.Unknown)
	given(&g.Block, d.Rehearsal.Block)
	given(&g.Second, d.Rehearsal.Second)
	given(&g.RollBack, d.Rehearsal.RollBack)
	g.Sample = min(max(g.Sample, 1), MaxSample)
	return g, nil
}

func given[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Holds evaluates the rule over figures: numbers, and objects with the members
// before and after.
func (r Rule) Holds(figures map[string]any) (bool, error) {
	program, err := expr.Compile(r.When, expr.Scope{})
	if err != nil {
		return false, err
	}
	return program.True(expr.Map(figures))
}

// Said is the rule as a sentence: what the artifact says, else the condition.
func (r Rule) Said() string {
	if r.Say != "" {
		return strings.TrimRight(r.Say, ". ")
	}
	return "the rule " + r.When + " is met"
}

// faults are what is wrong with the conditions of a document's guard.
func (g Guard) faults(more ...string) []Problem {
	var found []Problem
	compile := func(list string, rules []Rule, names []string) {
		fields := map[string][]string{}
		for _, name := range names {
			if paired(name) {
				fields[name] = []string{"before", "after"}
			}
		}
		for i, r := range rules {
			_, err := expr.Compile(r.When, expr.Scope{Names: names, Fields: fields})
			if fault, ok := errors.AsType[*expr.Error](err); ok {
				message := strings.Replace(fault.Message, "nothing in the graph sets ", "there is no figure ", 1)
				found = append(found, Problem{
					Path: fmt.Sprintf("/rehearsal/%s/%d/when", list, i), Hint: fault.Hint, Kind: check.Expressions,
					Message: fmt.Sprintf("at character %d: %s", fault.Offset+1, message),
				})
			}
		}
	}
	compile("block", g.Block, slices.Concat(GuardNames, more))
	compile("second", g.Second, slices.Concat(GuardNames, more))
	compile("roll_back", g.RollBack, WatchNames)
	return found
}

// PalaceNames are figures that only rehearsals of a policy.palace have: requests that
// a backend would refuse, and the share of results that were set aside and needed
// again. Both have the members before and after.
var PalaceNames = []string{"invalid", "regret"}

// paired reports whether a name has the members before and after.
func paired(name string) bool {
	switch name {
	case "taken", "compared", "moved", "moved_share", "unknown", "unknown_share", "new_questions", "vanished_questions", "coverage":
		return false
	}
	return true
}

// guard checks the member rehearsal of a document; more are figures that its kind has
// beside the others.
func (c *checking) guard(more ...string) {
	if g, err := GuardOf(c.doc); err == nil { // else the schema has said so
		c.merge(g.faults(more...))
	}
}
