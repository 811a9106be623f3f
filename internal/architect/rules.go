package architect

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The names of the rules.
const (
	RuleTimeout  = "timeout_always_hit"
	RuleFails    = "node_always_fails"
	RuleQuestion = "question_always_answered_the_same"
	RuleBranch   = "branch_never_taken"
)

// From how many cases on, and from which share of them, a rule speaks.
const (
	minCalls     = 20
	failShare    = 0.95
	lateShare    = 0.90
	minAnswers   = 20
	sameShare    = 0.95
	minCrossings = 200
)

// rule looks at one workflow. It changes nothing.
type rule func(c *look)

// look is one workflow under the rules.
type look struct {
	document *Document
	flow     Flow
	since    time.Time
	spoken   map[string]bool // nodes a rule has proposed something for
	out      *Advice
}

// Advice is what the rules have to say.
type Advice struct {
	Proposals []Proposal `json:"proposals"`
	Findings  []Finding  `json:"findings"`
}

// Rules reads figures by rules, each with its threshold, its sentence and its
// change: it needs no model and says so (CFG-13). The gravest come first. A
// workflow that has moved on since, or is being rolled out, is left alone.
func Rules(f Figures, documents []*Document) Advice {
	out := Advice{Proposals: []Proposal{}, Findings: []Finding{}}
	byID := map[string]*Document{}
	for _, d := range documents {
		byID[d.Artifact.ID] = d
	}
	spoken := map[string]map[string]bool{}
	for _, r := range []rule{timeouts, fails, questions, branches} {
		for _, flow := range f.Workflows {
			d := byID[flow.Artifact]
			if d == nil || d.Artifact.Version != flow.Version || d.Artifact.Rollout != nil {
				continue
			}
			r(&look{d, flow, f.Since, into(spoken, flow.Artifact), &out})
		}
	}
	return out
}

// propose notes a change to a node with the sentence that says why.
func (c *look) propose(rule, node string, figures []string, ops []Operation, format string, args ...any) {
	c.spoken[node] = true
	c.out.Proposals = append(c.out.Proposals, Proposal{
		Artifact: c.flow.Artifact, Base: c.flow.Version, Ops: ops, Rule: rule, Figures: figures,
		Justification: "This is a rule, no model's judgement: " + fmt.Sprintf(format, args...),
	})
}

func (c *look) find(rule, node, format string, args ...any) {
	c.out.Findings = append(c.out.Findings, Finding{
		Artifact: c.flow.Artifact, Workflow: c.flow.Name, Version: c.flow.Version, Node: node, Rule: rule,
		Message: fmt.Sprintf(format, args...),
	})
}

// at is where a node stands, with a test that it still is the one that stands
// there: a patch that is rebased must not change another.
func (c *look) at(id string) (path string, test Operation) {
	path = "/nodes/" + strconv.Itoa(c.document.index[id])
	return path, operation("test", path+"/id", id)
}

// of names where the figures are from.
func (c *look) of() string {
	return fmt.Sprintf("of %q (version %d) since %s", c.flow.Name, c.flow.Version, c.since.Format(time.DateOnly))
}

// share reports whether n of all reach a share; none of none do not.
func share(n, all int, least float64) bool {
	return all > 0 && float64(n) >= least*float64(all)-1e-9
}

func percent(n, all int) string {
	return strconv.Itoa(int(math.Floor(100*float64(n)/float64(all)+0.5))) + " %"
}

// timeouts: a node whose calls nearly all use up its time gets half as much
// again, as far as its bounds go.
func timeouts(c *look) {
	for _, t := range c.flow.Nodes {
		n := c.document.node(t.Node)
		if n == nil || t.Calls < minCalls || !share(t.Timeouts, t.Calls, lateShare) {
			continue
		}
		has, bound := c.document.limit(n), c.document.bound(n)
		seen := fmt.Sprintf("node %q %s used up its time of %s in %d of %d calls (%s; the rule speaks from %d calls and %d %%)",
			t.Node, c.of(), has, t.Timeouts, t.Calls, percent(t.Timeouts, t.Calls), minCalls, int(lateShare*100))
		if has >= bound {
			c.find(RuleTimeout, t.Node, "%s. It cannot be given more: %s is what its tool, the run or the program allow.", seen, bound)
			continue
		}
		path, test := c.at(t.Node)
		longer := min(has*3/2, bound)
		c.propose(RuleTimeout, t.Node, []string{seen},
			[]Operation{test, operation("add", path+"/timeout_ms", longer.Milliseconds())},
			"%s. The change gives it %s. If what it calls is simply not there, more time is no help: reject it then.", seen, longer)
	}
}

// fails: a node that nearly always fails and has no on_error gets the one that
// provably fits, or is no longer tried again for nothing.
func fails(c *look) {
	for _, t := range c.flow.Nodes {
		n := c.document.node(t.Node)
		if n == nil || n.OnError != "" || c.spoken[t.Node] || t.Calls < minCalls || !share(t.Failed, t.Calls, failShare) {
			continue
		}
		seen := fmt.Sprintf("node %q %s failed in %d of %d calls%s (%s; the rule speaks from %d calls and %d %%), and no on_error says what happens then",
			t.Node, c.of(), t.Failed, t.Calls, c.causes(t.Node), percent(t.Failed, t.Calls), minCalls, int(failShare*100))
		path, test := c.at(t.Node)
		if handler := c.document.handler(n); handler != "" {
			c.propose(RuleFails, t.Node, []string{seen}, []Operation{test, operation("add", path+"/on_error", handler)},
				"%s. The change sends it to %q, where this workflow's other failures go.", seen, handler)
			continue
		}
		if next := c.document.without(n); next != "" {
			c.propose(RuleFails, t.Node, []string{seen}, []Operation{test, operation("add", path+"/on_error", next)},
				"%s. The change goes on to %q, which nothing of this node's is needed for: the run survives without it.", seen, next)
			continue
		}
		if t.Retried >= minCalls && t.Mended == 0 {
			c.propose(RuleFails, t.Node, []string{seen}, []Operation{test, operation("add", path+"/max_retries", 0)},
				"%s. It was tried again %d times, and no repetition ever helped. The change no longer repeats it, so that whoever waits is told sooner; what follows needs its output, so the cause is for people to mend.",
				seen, t.Retried)
			continue
		}
		c.find(RuleFails, t.Node, "%s. No change is provably safe: what follows needs its output. Look at what it calls.", seen)
	}
}

// causes are the codes a node failed runs with.
func (c *look) causes(node string) string {
	var codes []string
	for _, f := range c.flow.Failures {
		if f.Node == node && f.Code != "" {
			codes = append(codes, f.Code)
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return " with " + strings.Join(codes, ", ")
}

// questions: one that people nearly always answer the same way is answered for
// them, when nothing behind it changes anything.
func questions(c *look) {
	for _, q := range c.flow.Questions {
		n := c.document.node(q.Node)
		if n == nil || q.Answered < minAnswers || !share(q.Same, q.Asked, sameShare) {
			continue
		}
		seen := fmt.Sprintf("people answered the question of node %q %s with the same option in %d of %d cases (%s; the rule speaks from %d answers and %d %%)",
			q.Node, c.of(), q.Same, q.Asked, percent(q.Same, q.Asked), minAnswers, int(sameShare*100))
		guarded := c.document.guarded(q.Node)
		switch {
		case q.Option == "":
			c.find(RuleQuestion, q.Node, "%s. Its options are not a list in the document, so no answer can stand in its place.", seen)
		case guarded != "":
			c.find(RuleQuestion, q.Node, "%s. It stays: behind it %s, and a person's word goes before that.", seen, guarded)
		default:
			path, test := c.at(q.Node)
			c.propose(RuleQuestion, q.Node, []string{seen},
				[]Operation{test, operation("replace", path, answered(n, q.Option))},
				"%s. The change gives that answer, %q, without asking. Whoever wanted another is no longer heard: reject it if they matter.", seen, q.Option)
		}
	}
}

// branches: those that no run takes are removed when a default takes their
// place.
func branches(c *look) {
	for _, x := range c.flow.Switches {
		n := c.document.node(x.Node)
		if n == nil || x.Runs < minCrossings {
			continue
		}
		untaken := slices.DeleteFunc(slices.Clone(x.Untaken), func(u Untaken) bool {
			return u.Branch >= len(n.Branches) || always(n.Branches[u.Branch].When) // the default is there for what nobody expects
		})
		if len(untaken) == 0 {
			continue
		}
		var seen, orphans []string
		for _, u := range untaken {
			seen = append(seen, fmt.Sprintf("branch %d of switch %q %s, to %q when %s, was taken by none of the %d runs that came to it (the rule speaks from %d)",
				u.Branch+1, x.Node, c.of(), u.Next, u.When, x.Runs, minCrossings))
			if c.document.entrances(u.Next) < 2 {
				orphans = append(orphans, u.Next)
			}
		}
		if stays := c.stays(n); stays != "" {
			c.find(RuleBranch, x.Node, "%s. %s", strings.Join(seen, "; "), stays)
			continue
		}
		c.propose(RuleBranch, x.Node, seen, c.without(x.Node, untaken),
			"%s. The change removes it, and the default takes what it was for%s. If it is there for rare cases, reject it.", strings.Join(seen, "; "), orphaned(orphans))
	}
}

// stays is why a branch is not to be removed by a rule; empty: it may be.
func (c *look) stays(n *node) string {
	another := func(p Proposal) bool { return p.Rule == RuleBranch }
	switch {
	case !n.hasDefault():
		return "It stays: without a branch whose condition is true, what it is for would fail."
	case c.document.Artifact.CreatedBy == "system":
		return "It stays: the workflow is as it ships with the program, which others use too."
	case slices.ContainsFunc(c.out.Proposals, another):
		return "It stays for now: branches are removed one switch at a time."
	}
	return ""
}

// without removes branches of a switch, the last first, so that the others stay
// where they are.
func (c *look) without(id string, untaken []Untaken) []Operation {
	path, test := c.at(id)
	ops := []Operation{test}
	for _, u := range slices.Backward(untaken) {
		branch := path + "/branches/" + strconv.Itoa(u.Branch)
		ops = append(ops, operation("test", branch+"/when", c.document.node(id).Branches[u.Branch].When), Operation{Op: "remove", Path: branch})
	}
	return ops
}

// orphaned says what nothing leads to any more.
func orphaned(nodes []string) string {
	if len(nodes) == 0 {
		return ""
	}
	return "; nothing else leads to " + strings.Join(nodes, ", ") + ", which stays in the document"
}

// always reports whether a condition is the default's.
func always(when string) bool { return strings.TrimSpace(when) == "true" }

func (n *node) hasDefault() bool {
	for _, b := range n.Branches {
		if always(b.When) {
			return true
		}
	}
	return false
}
