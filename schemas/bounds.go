package schemas

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"liminal/internal/check"
)

// sums are what a schema costs at most for each element of a value, all it
// leads to written out once.
type sums struct {
	nodes, work int64
	endless     bool // it leads back to itself: a value decides how often
}

// chains looks at the schemas that apply to one value through each other: a
// chain without an end is refused, and one that multiplies.
func (p *plan) chains() {
	order, ok := p.ordered()
	if !ok {
		return
	}
	expansion := make([]int, len(p.nodes))
	for _, i := range order { // what a schema leads to comes before it
		sum := 1
		for _, child := range p.nodes[i].inplace {
			sum = min(sum+expansion[child], maxExpansion+1)
		}
		expansion[i] = sum
	}
	ways := make([]int, len(p.nodes))
	ways[0] = 1
	for _, n := range p.nodes {
		for _, child := range n.children() {
			ways[child]++
			p.nodes[child].shared = ways[child] > 1
		}
	}
	for k := len(order) - 1; k >= 0; k-- {
		n := p.nodes[order[k]]
		for _, child := range n.inplace {
			p.nodes[child].above = max(p.nodes[child].above, n.above+1)
		}
	}
	if p.trusted {
		p.sums = p.summed()
		return
	}
	for _, i := range order {
		switch n := p.nodes[i]; {
		case expansion[i] > maxExpansion:
			p.fault(check.Limits, n.at, "refer to each schema fewer times", "with every reference written out it is more than %d schemas for one value", maxExpansion)
			return
		case n.above > maxChain:
			p.fault(check.Limits, n.at, "refer to the last schema directly", "it stands behind more than %d schemas for the same value", maxChain)
			return
		}
	}
	p.sums = p.summed()
}

// ordered gives the nodes so that each comes after those that apply to the
// same value through it; a circle is a fault.
func (p *plan) ordered() ([]int, bool) {
	const unseen, open, done = 0, 1, 2
	state := make([]int, len(p.nodes))
	var order []int
	var visit func(i int) bool
	visit = func(i int) bool {
		switch state[i] {
		case open:
			p.fault(check.References, p.nodes[i].at, "", "the schema refers to itself without end")
			return false
		case done:
			return true
		}
		state[i] = open
		for _, child := range p.nodes[i].inplace {
			if !visit(child) {
				return false
			}
		}
		state[i] = done
		order = append(order, i)
		return true
	}
	for i := range p.nodes {
		if state[i] == unseen && !visit(i) {
			return nil, false
		}
	}
	return order, true
}

// maxSum is where sums stop.
const maxSum = 1 << 40

// summed adds up the whole schema, written out.
func (p *plan) summed() sums {
	known := make([]*sums, len(p.nodes))
	var visit func(i int) sums
	visit = func(i int) sums {
		if known[i] != nil {
			return *known[i]
		}
		known[i] = &sums{endless: true} // as long as it is looked at
		n := p.nodes[i]
		out := sums{nodes: 1, work: n.fixed() + n.perWeight()}
		for _, child := range n.children() {
			under := visit(child)
			out.nodes = min(out.nodes+under.nodes, maxSum)
			out.work = min(out.work+under.work, maxSum)
			out.endless = out.endless || under.endless
		}
		known[i] = &out
		return out
	}
	return visit(0)
}

func (n *node) children() []int {
	var out []int
	out = append(out, n.inplace...)
	for _, child := range n.props {
		out = append(out, child)
	}
	out = append(append(append(out, n.others...), n.names...), n.items...)
	for _, list := range n.tuple {
		out = append(out, list...)
	}
	return out
}

// programOf is about how many instructions a pattern compiles to; 0 for one
// that does not parse, which the library refuses in its own words.
func programOf(source string) int {
	if len(source) > maxPattern {
		return maxProgram + 1
	}
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return 0
	}
	return instructions(re)
}

func instructions(re *syntax.Regexp) int {
	sum := 1
	switch re.Op {
	case syntax.OpLiteral:
		sum += len(re.Rune)
	case syntax.OpCharClass:
		sum += len(re.Rune) / 16
	case syntax.OpRepeat:
		times := max(re.Min, re.Max, 1)
		return min(1+times*(1+instructions(re.Sub[0])), maxProgram+1)
	}
	for _, sub := range re.Sub {
		sum = min(sum+1+instructions(sub), maxProgram+1)
	}
	return sum
}

// isPattern is the format "regex" for values: what is too large to be compiled
// is no pattern here.
func isPattern(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	if programOf(s) > maxProgram {
		return false
	}
	_, err := regexp.Compile(s)
	return err == nil
}

// maxDigits and maxExponent bound a number as it is written: the library
// reckons with all of its digits.
const (
	maxDigits   = 400
	maxExponent = 400
)

// isNumberHere tells a number that can be reckoned with.
func isNumberHere(n json.Number) bool {
	s := string(n)
	if len(s) > maxDigits {
		return false
	}
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return true
	}
	exponent, err := strconv.Atoi(s[at+1:])
	return err == nil && exponent <= maxExponent && exponent >= -maxExponent
}
