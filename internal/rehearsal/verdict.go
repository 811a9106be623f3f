package rehearsal

import (
	"fmt"
	"strings"

	"liminal/artifacts"
)

// judged gives the report its verdict: the gravest of what the guard's rules
// and the house's warnings say, each with its figures.
func (r *Prepared) judged(rep Report, plan Plan) Report {
	rep.Verdict = Pass
	figures := rep.figures()
	said := map[string]bool{} // what a graver rule has said of the same figures
	for _, list := range []struct {
		verdict Verdict
		rules   []artifacts.Rule
	}{{Block, r.guard.Block}, {Second, r.guard.Second}, {Warn, rep.warnings()}} {
		for _, rule := range list.rules {
			met, err := rule.Holds(figures)
			switch {
			case err != nil:
				rep.graver(Warn)
				rep.Reasons = append(rep.Reasons, fmt.Sprintf("The rule %q of the artifact could not be evaluated: %v.", rule.When, err))
			case met && list.verdict == Warn && said[rep.readBy(rule)]:
			case met:
				said[rep.readBy(rule)] = true
				rep.graver(list.verdict)
				rep.Reasons = append(rep.Reasons, rep.because(list.verdict, rule))
			}
		}
	}
	if rep.scripted > 0 { // whoever wrote the script may have wanted a good report
		rep.graver(Warn)
		rep.Reasons = append(rep.Reasons, fmt.Sprintf("Whoever approves confirms it: in %d of %d runs a script answered for what was not recorded.", rep.scripted, rep.rehearsed()))
	}
	rep.Reasons = append(rep.Reasons, r.notes(rep, plan)...)
	return rep
}

// warnings are the house's rules whose only effect is that the approver
// confirms. No artifact changes them.
func (rep *Report) warnings() []artifacts.Rule {
	if rep.Views != nil {
		return []artifacts.Rule{
			{When: "cost.after > cost.before", Say: "it costs more"},
			{When: "regret.after > 0.02", Say: "more than one in fifty of what is set aside is needed again"},
		}
	}
	return []artifacts.Rule{
		{When: "failed.after > failed.before", Say: "more runs fail"},
		{When: "cut.after > cut.before", Say: "more runs are stopped at a bound"},
		{When: "unknown_share > 0.1", Say: "many runs come to what was not recorded"},
	}
}

// Graver tells whether a verdict is graver than another; no verdict is the
// least grave.
func (v Verdict) Graver(than Verdict) bool { return v.weight() > than.weight() }

func (v Verdict) weight() int {
	switch v {
	case Pass:
		return 1
	case Warn:
		return 2
	case Second:
		return 3
	case Block:
		return 4
	default:
		return 0
	}
}

func (rep *Report) graver(v Verdict) {
	if v.Graver(rep.Verdict) {
		rep.Verdict = v
	}
}

// because is a rule that is met as a sentence, with the figures it reads.
func (rep *Report) because(v Verdict, r artifacts.Rule) string {
	what := map[Verdict]string{
		Block:  "This blocks the change",
		Second: "Two people must approve",
		Warn:   "Whoever approves confirms it",
	}[v]
	if read := rep.readBy(r); read != "" {
		return fmt.Sprintf("%s: %s (%s).", what, r.Said(), read)
	}
	return fmt.Sprintf("%s: %s.", what, r.Said())
}

// readBy tells the figures a rule reads.
func (rep *Report) readBy(r artifacts.Rule) string {
	var said []string
	for _, f := range []struct {
		name string
		tell func() string
	}{
		{"moved", func() string {
			return fmt.Sprintf("%d of %d runs, %s, go another way", rep.Moved, rep.rehearsed(), percent(rep.Moved, rep.rehearsed()))
		}},
		{"unknown", func() string {
			return fmt.Sprintf("%d of %d runs, %s, come to what the record does not hold", rep.Unknown, rep.rehearsed(), percent(rep.Unknown, rep.rehearsed()))
		}},
		{"failed", func() string { return "failures " + rep.of(rep.Failed) }},
		{"cut", func() string { return "stops at a bound " + rep.of(rep.Cut) }},
		{"questions.", func() string { return "questions " + rep.Questions.arrow() }},
		{"new_questions", func() string { return fmt.Sprintf("%d new questions", rep.New) }},
		{"vanished_questions", func() string { return fmt.Sprintf("%d questions not put any more", rep.Vanished) }},
		{"model_calls", func() string { return "calls to models " + rep.Models.arrow() }},
		{"tool_calls", func() string { return "calls to tools " + rep.Tools.arrow() }},
		{"cost", func() string { return fmt.Sprintf("cost $%.4f → $%.4f", rep.Cost.Before, rep.Cost.After) }},
		{"ms.", func() string { return fmt.Sprintf("median time %.0f ms → %.0f ms", rep.MS.Before, rep.MS.After) }},
		{"invalid", func() string { return fmt.Sprintf("%s requests", rep.views().Invalid.arrow()) }},
		{"regret", func() string {
			return fmt.Sprintf("%s of %s results", rep.views().Regretted.arrow(), rep.views().Results.arrow())
		}},
		{"coverage", func() string { return fmt.Sprintf("%.0f %% of the graph was seen", 100*rep.Coverage.share()) }},
	} {
		if strings.Contains(r.When, f.name) {
			said = append(said, f.tell())
		}
	}
	return strings.Join(said, "; ")
}

// of is a count before and after, of the runs that could be compared.
func (rep *Report) of(t Two) string {
	return fmt.Sprintf("%s of %d runs, %s → %s", t.arrow(), rep.Compared, percent(t.Before, rep.Compared), percent(t.After, rep.Compared))
}

func (two Two) arrow() string { return fmt.Sprintf("%d → %d", two.Before, two.After) }

func (c Coverage) share() float64 { return share(c.NodesSeen+c.BranchesSeen, c.Nodes+c.Branches) }

func percent(n, of int) string {
	return fmt.Sprintf("%.0f %%", 100*share(n, of))
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// rehearsed is how many runs could be read and were played.
func (rep *Report) rehearsed() int { return rep.Sample.Taken - rep.Sample.Unreadable }

// maxNamed bounds the nodes a note names.
const maxNamed = 10

// notes are what a reader of the report must know beside its verdict.
func (r *Prepared) notes(rep Report, plan Plan) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, name := range sortedNames(r.renamed) {
		add("The node %s was renamed: %s → %s; that alone is no other way.", r.renamed[name], r.renamed[name], name)
	}
	if n := len(r.regiven); n > 0 {
		add("What %s gives on changed; the recorded results were taken all the same, so what would come of it now is not known.",
			strings.Join(r.regiven[:min(n, maxNamed)], ", "))
	}
	if r.broken {
		add("Version %d cannot run any more, so it was compared as it was recorded.", rep.Base)
	}
	if plan.Only != "" {
		add("Only runs of your own were rehearsed; those of everybody are when it is proposed.")
	}
	if rep.Views != nil && rep.Sample.Population > 0 {
		rep.Views.notes(add)
	}
	switch {
	case rep.Sample.Population == 0 && rep.Views != nil:
		add("No history of an agent was recorded yet, so nothing was rehearsed.")
	case rep.Sample.Population == 0 && plan.Only != "":
	case rep.Sample.Population == 0:
		add("No run was recorded yet, so nothing was rehearsed.")
	case rep.rehearsed() == 0:
		add("None of the recorded runs could be read, so nothing was rehearsed.")
	}
	if n := rep.Sample.Unreadable; n > 0 && rep.rehearsed() > 0 {
		add("%d of %d recorded runs could not be read and were left out.", n, rep.Sample.Taken)
	}
	if n := rep.Sample.Short; n > 0 {
		add("%d of %d recorded runs hold too little even for version %d: they were compared as far as they go.", n, rep.Sample.Taken, rep.Base)
	}
	if plan.Unknowns == artifacts.Live && plan.Live != nil {
		add("Tools that only read were called where the record had nothing, so another rehearsal may differ.")
	}
	return notes
}

// figures are what conditions of a guard read (artifacts.GuardNames).
func (rep *Report) figures() map[string]any {
	two := func(before, after float64) map[string]any { return map[string]any{"before": before, "after": after} }
	counts := func(t Two) map[string]any { return two(float64(t.Before), float64(t.After)) }
	shares := func(t Two) map[string]any { return two(share(t.Before, rep.Compared), share(t.After, rep.Compared)) }
	return map[string]any{
		"taken": float64(rep.rehearsed()), "compared": float64(rep.Compared),
		"moved": float64(rep.Moved), "moved_share": share(rep.Moved, rep.rehearsed()),
		"unknown": float64(rep.Unknown), "unknown_share": share(rep.Unknown, rep.rehearsed()),
		"failed": counts(rep.Failed), "failed_share": shares(rep.Failed),
		"cut": counts(rep.Cut), "cut_share": shares(rep.Cut),
		"questions": counts(rep.Questions), "new_questions": float64(rep.New), "vanished_questions": float64(rep.Vanished),
		"model_calls": counts(rep.Models), "tool_calls": counts(rep.Tools),
		"cost": two(rep.Cost.Before, rep.Cost.After), "ms": two(rep.MS.Before, rep.MS.After),
		"coverage": rep.Coverage.share(),
		"invalid":  counts(rep.views().Invalid), "regret": two(rep.views().Regret.Before, rep.views().Regret.After),
	}
}

// views are the figures of a policy.palace; of others, nothing.
func (rep *Report) views() Views {
	if rep.Views == nil {
		return Views{}
	}
	return *rep.Views
}
