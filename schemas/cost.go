package schemas

import (
	"context"
	"encoding/json"
	"fmt"

	"liminal/internal/check"
)

// The bounds of a check. A unit of work is about a tenth of a microsecond, so
// that the dearest check there is takes some tens of milliseconds.
const (
	maxWork    = 1_000_000
	heavy      = maxWork / 5 // from here on checks take turns
	maxDepth   = 50_000      // levels of a value, well above what encoding/json reads
	maxFaults  = 100         // faults told of one value
	maxMessage = 1000        // bytes of one
	maxShown   = 80          // bytes of what a sentence quotes
)

// turns bounds the heavy checks under way in the process, and so their memory.
var turns = make(chan struct{}, 2)

// measured is what is known of a value before anything is done with it.
type measured struct {
	weight int64 // elements, 64 bytes of text being one
	depth  int64
	path   int64 // bytes of the longest pointer
	fault  string
}

func (m *measured) walk(v any, depth, path int64) {
	m.weight++
	m.depth, m.path = max(m.depth, depth), max(m.path, path)
	switch x := v.(type) {
	case string:
		m.weight += int64(len(x) / 64)
	case json.Number:
		if !isNumberHere(x) {
			m.fault = "the number " + cut(string(x), maxShown) + " is out of range: numbers have at most 400 digits and exponents between -400 and 400"
		}
	case map[string]any:
		if depth == maxDepth {
			m.fault = fmt.Sprintf("the value nests more than %d levels deep", maxDepth)
			return
		}
		for key, e := range x {
			m.weight += 1 + int64(len(key)/64)
			m.walk(e, depth+1, path+1+int64(len(key)))
		}
	case []any:
		if depth == maxDepth {
			m.fault = fmt.Sprintf("the value nests more than %d levels deep", maxDepth)
			return
		}
		for _, e := range x {
			m.walk(e, depth+1, path+4)
		}
	}
}

// deep is what every evaluation costs for standing deep in a value: its place
// is written down, level by level.
func deep(depth, path int64) int64 { return 5*depth + depth*depth/6 + path/6 }

// fixed is what an evaluation of the schema costs whatever the value is.
func (n *node) fixed() int64 {
	return 10 + 5*int64(n.above) + int64(len(n.at))/6 + 3*int64(n.required) + int64(len(n.props))/2
}

// perWeight is what an element of the value costs besides, at most, in a value
// of no more than maxQuick elements.
func (n *node) perWeight() int64 {
	sum := int64(2)
	if n.texts {
		sum += 4
	}
	if n.numbers {
		sum += 20
	}
	sum += 17 * int64(n.program+n.keys)
	sum += 10 * int64(n.choices)
	if n.unique {
		sum += maxQuick
	}
	return sum
}

// maxQuick is the weight up to which a value may be let through by the sums
// alone.
const maxQuick = 2048

// afford says whether a check of v stays within the bounds of work and how
// much it is, at most; it looks closely only where a first estimate is not
// enough. The fault says why it does not.
func (p *plan) afford(ctx context.Context, v any) (work int64, fault string, err error) {
	var m measured
	m.walk(v, 0, 0)
	if m.fault != "" {
		return 0, m.fault, nil
	}
	if s := p.sums; !s.endless && m.weight <= maxQuick {
		work = (s.work + s.nodes*deep(m.depth, m.path)) * m.weight
		if work <= heavy {
			return work, "", nil
		}
	}
	c := counting{plan: p, ctx: ctx, memo: map[uint64]int64{}, left: maxWork}
	work = c.cost(0, c.add(v, 0, 0))
	switch {
	case c.err != nil:
		return 0, "", c.err
	case c.left < 0:
		return 0, "checking it would be too much work: the schema asks for too many checks of a value of this size; make the schema simpler or the value smaller", nil
	}
	return work, "", nil
}

// counting adds up what a check costs: every schema at every place of the
// value once, however many ways lead there. It stops when the sum is beyond
// what a check may cost, and so costs less than that itself.
type counting struct {
	plan  *plan
	ctx   context.Context
	memo  map[uint64]int64 // schema and place
	spots []spot
	left  int64 // of maxWork, less the pairs looked at
	steps int
	err   error
}

// spot is one place of the value.
type spot struct {
	value       any
	depth, path int64
	weight      int64    // 0: not known yet
	names       []string // of members
	below       int      // the first of the places below; the others follow it
	opened      bool
}

func (c *counting) add(v any, depth, path int64) int {
	c.spots = append(c.spots, spot{value: v, depth: depth, path: path})
	return len(c.spots) - 1
}

// spend takes a step and says whether to go on.
func (c *counting) spend(n int64) bool {
	if c.steps++; c.steps%1024 == 0 && c.err == nil {
		c.err = c.ctx.Err()
	}
	c.left -= n
	return c.left >= 0 && c.err == nil
}

// cost is what a schema costs at a place, with all it leads to.
func (c *counting) cost(schema, at int) int64 {
	n, key := c.plan.nodes[schema], uint64(schema)<<32|uint64(at)
	if n.shared { // one way leads to any other, and so once to each place
		if known, ok := c.memo[key]; ok {
			c.spend(1)
			return known
		}
	}
	sum := n.at0(&c.spots[at])
	if !c.spend(sum) {
		return sum
	}
	kind := kindOf(c.spots[at].value)
	if n.types == 0 || n.types&kind != 0 {
		sum += c.same(n, at)
		switch kind {
		case isObject:
			sum += c.members(n, at)
		case isList:
			sum += c.elements(n, at)
		}
	}
	if sum > maxWork {
		c.left = -1
	}
	if n.shared {
		c.memo[key] = sum
	}
	return sum
}

// within adds what one more schema costs, and says whether to go on.
func (c *counting) within(sum *int64, schema, at int) bool {
	*sum += c.cost(schema, at)
	if *sum > maxWork {
		c.left = -1
	}
	return c.left >= 0 && c.err == nil
}

func (c *counting) same(n *node, at int) (sum int64) {
	for _, child := range n.inplace {
		if !c.within(&sum, child, at) {
			break
		}
	}
	return sum
}

func (c *counting) members(n *node, at int) (sum int64) {
	if len(n.props) == 0 && len(n.others) == 0 && len(n.names) == 0 {
		return 0
	}
	c.open(at)
	for i, name := range c.spots[at].names {
		member := c.spots[at].below + i
		child, named := n.props[name]
		if named && !c.within(&sum, child, member) {
			return sum
		}
		for _, other := range n.others {
			if !c.within(&sum, other, member) {
				return sum
			}
		}
		for _, schema := range n.names {
			if !c.within(&sum, schema, c.add(name, c.spots[member].depth, c.spots[member].path)) {
				return sum
			}
		}
	}
	return sum
}

func (c *counting) elements(n *node, at int) (sum int64) {
	if len(n.items) == 0 && len(n.tuple) == 0 {
		return 0
	}
	c.open(at)
	list, _ := c.spots[at].value.([]any)
	for i := range list {
		element := c.spots[at].below + i
		for _, schema := range n.items {
			if !c.within(&sum, schema, element) {
				return sum
			}
		}
		for _, tuple := range n.tuple {
			if i < len(tuple) && !c.within(&sum, tuple[i], element) {
				return sum
			}
		}
	}
	return sum
}

// open gives the places below one their numbers. Once the work is spent no
// more are needed.
func (c *counting) open(at int) {
	s := c.spots[at]
	if s.opened {
		return
	}
	s.opened, s.below = true, len(c.spots)
	switch x := s.value.(type) {
	case map[string]any:
		s.names = make([]string, 0, len(x))
		for name, e := range x {
			s.names = append(s.names, name)
			c.add(e, s.depth+1, s.path+1+int64(len(name)))
		}
	case []any:
		for _, e := range x {
			c.add(e, s.depth+1, s.path+4)
		}
	}
	c.spots[at] = s
}

// at0 is what the schema itself costs at a place, without what it leads to.
func (n *node) at0(s *spot) int64 {
	sum := n.fixed() + deep(s.depth, s.path)
	switch x := s.value.(type) {
	case string:
		size := int64(len(x))
		sum += size / 128
		if n.texts {
			sum += size / 16
		}
		sum += size*int64(n.program)/4 + int64(n.program)
	case map[string]any:
		for key := range x {
			sum += 1 + int64(len(key))/64 + (int64(len(key))/4+1)*int64(n.keys)
		}
	case []any:
		sum += int64(len(x))
		if n.unique {
			sum += unique(x, s)
		}
	case float64, json.Number:
		if n.numbers {
			sum += 20
		}
	}
	return sum + n.compared(s)
}

// compared is the work of enum and const.
func (n *node) compared(s *spot) int64 {
	if n.choices == 0 {
		return 0
	}
	switch s.value.(type) {
	case nil, bool, string:
		return int64(n.choices)
	case map[string]any, []any:
		return 10 * min(int64(n.values), int64(n.choices)*s.weighed())
	}
	return 10 * int64(n.choices) // numbers are reckoned exactly
}

// unique is the work of uniqueItems. Short lists are compared by pairs; long
// ones by hash, and lists and objects can be made to have the same.
func unique(list []any, s *spot) int64 {
	count := int64(len(list))
	if count <= 20 {
		return 5 * count * s.weighed()
	}
	sum := 10 * s.weighed()
	for _, e := range list {
		switch e.(type) {
		case map[string]any, []any:
			return sum + count*count/2
		}
	}
	return sum
}

func (s *spot) weighed() int64 {
	if s.weight == 0 {
		s.weight = int64(weigh(s.value, maxWork))
	}
	return s.weight
}

func kindOf(v any) kinds {
	switch v.(type) {
	case nil:
		return isNull
	case bool:
		return isBool
	case string:
		return isText
	case []any:
		return isList
	case map[string]any:
		return isObject
	}
	return isNumber
}

// limited is the fault of a value that cannot be checked.
func limited(message string) Faults { return Faults{{Message: message, Kind: check.Limits}} }
