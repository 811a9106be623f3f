package cluster

import (
	"math"
	"slices"

	"liminal/internal/learning"
)

// group is some events with the direction they have together.
type group struct {
	members []int   // of space.cases, ascending
	length  float64 // of the sum of their vectors
}

// groupOf sorts members and makes them a group.
func (s *space) groupOf(members []int) group {
	slices.Sort(members)
	sum := 0.0
	for _, i := range members {
		sum += s.sumOf(i, members)
	}
	return group{members, math.Sqrt(max(0, sum))}
}

// sumOf is what an event has in common with each of members, together.
func (s *space) sumOf(i int, members []int) float64 {
	sum, row := 0.0, s.near[i]
	for _, m := range members {
		sum += float64(row[m])
	}
	return sum
}

// cosine is that of the sum of some events, of a length, and a group's.
func (s *space) cosine(events []int, length float64, g group) float64 {
	if length == 0 || g.length == 0 {
		return 0
	}
	sum := 0.0
	for _, i := range events {
		sum += s.sumOf(i, g.members)
	}
	return sum / length / g.length
}

// ties are what a person said of pairs of events, by their places among the
// cases: those that belong together share a root, those that do not are kept
// apart.
type ties struct {
	root  []int
	apart map[[2]int]bool // of roots, the lower first
}

func tiesOf(cases []learning.Case, had []learning.Cluster) ties {
	at := make(map[int64]int, len(cases))
	t := ties{root: make([]int, len(cases)), apart: map[[2]int]bool{}}
	for i, c := range cases {
		at[c.ID], t.root[i] = i, i
	}
	each := func(pairs [][2]int64, do func(a, b int)) {
		for _, p := range pairs {
			a, okA := at[p[0]]
			b, okB := at[p[1]]
			if okA && okB && a != b {
				do(a, b)
			}
		}
	}
	for _, c := range had {
		each(c.Together, func(a, b int) {
			from, to := max(t.root[a], t.root[b]), min(t.root[a], t.root[b])
			for i, r := range t.root {
				if r == from {
					t.root[i] = to
				}
			}
		})
	}
	for _, c := range had {
		each(c.Apart, func(a, b int) {
			if a, b = t.root[a], t.root[b]; a != b { // together wins: it was said later, or it follows
				t.apart[[2]int{min(a, b), max(a, b)}] = true
			}
		})
	}
	return t
}

func (t ties) parted(a, b int) bool {
	a, b = t.root[a], t.root[b]
	return t.apart[[2]int{min(a, b), max(a, b)}]
}

// bundles are the events of which, as units: those tied together are one.
func (t ties) bundles(of []int) [][]int {
	at := map[int]int{}
	var out [][]int
	for _, i := range of {
		b, known := at[t.root[i]]
		if !known {
			b = len(out)
			at[t.root[i]] = b
			out = append(out, nil)
		}
		out[b] = append(out[b], i)
	}
	return out
}

// groups puts events together: by average link first, then each to the nearest
// centroid for some rounds. What a person tied moves as one.
func (s *space) groups(of []int, t ties) []group {
	bundles := t.bundles(of)
	linked := s.link(bundles, t)
	groups := make([]group, len(linked))
	for i, members := range linked {
		groups[i] = s.groupOf(members)
	}
	for range s.o.Rounds {
		next := s.reassigned(bundles, groups, t)
		if slices.EqualFunc(next, groups, func(a, b group) bool { return slices.Equal(a.members, b.members) }) {
			break
		}
		groups = next
	}
	return groups
}

// link joins bundles by the average similarity of their pairs, down to
// Options.Cut, and returns those of more than one event. It follows chains of
// nearest neighbours, which gives what joining the nearest pair first gives, in
// the square of the number of bundles. Of equals the first counts.
func (s *space) link(bundles [][]int, t ties) [][]int {
	n := len(bundles)
	near := s.similarities(bundles, t)
	size, members, lives := make([]int, n), make([][]int, n), make([]bool, n)
	for i, b := range bundles {
		size[i], members[i], lives[i] = len(b), slices.Clone(b), true
	}
	var chain []int
	for start := 0; start < n; {
		if len(chain) == 0 {
			if !lives[start] {
				start++
				continue
			}
			chain = append(chain, start)
		}
		top := chain[len(chain)-1]
		best := -1
		if len(chain) > 1 {
			best = chain[len(chain)-2] // of equals the one before it, or the chain has no end
		}
		for i := range n {
			if lives[i] && i != top && (best < 0 || near[top][i] > near[top][best]) {
				best = i
			}
		}
		switch {
		case best < 0 || float64(near[top][best]) < s.o.Cut:
			lives[top] = false // nothing comes near it any more: joining others brings none nearer
			chain = chain[:len(chain)-1]
		case len(chain) > 1 && best == chain[len(chain)-2]:
			chain = chain[:len(chain)-2]
			join(near, size, lives, best, top)
			members[best] = append(members[best], members[top]...)
		default:
			chain = append(chain, best)
		}
	}
	var out [][]int
	for i, m := range members {
		if size[i] > 1 {
			slices.Sort(m)
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b []int) int { return a[0] - b[0] })
	return out
}

// join makes one bundle of two: a, which takes over what the other is near to.
func join(near [][]float32, size []int, lives []bool, a, b int) {
	of, other := float32(size[a]), float32(size[b])
	for i := range near {
		if lives[i] && i != a && i != b {
			near[a][i] = (of*near[a][i] + other*near[b][i]) / (of + other)
			near[i][a] = near[a][i]
		}
	}
	size[a] += size[b]
	size[b], lives[b] = 0, false
}

// similarities are the average similarities of the events of bundles; of those
// that a person parted none that anything makes up for.
func (s *space) similarities(bundles [][]int, t ties) [][]float32 {
	near := make([][]float32, len(bundles))
	for i := range near {
		near[i] = make([]float32, len(bundles))
		for j := range i {
			sum := 0.0
			for _, m := range bundles[i] {
				sum += s.sumOf(m, bundles[j])
			}
			v := float32(sum / float64(len(bundles[i])*len(bundles[j])))
			if t.parted(bundles[i][0], bundles[j][0]) {
				v = float32(math.Inf(-1))
			}
			near[i][j], near[j][i] = v, v
		}
	}
	return near
}

// reassigned gives each bundle to the nearest of groups, if one is near enough
// and holds nothing that it was parted from. Groups that end up with less than
// two events are gone.
func (s *space) reassigned(bundles [][]int, groups []group, t ties) []group {
	members := make([][]int, len(groups))
	for _, b := range bundles {
		length := s.groupOf(b).length
		best, most := -1, s.o.Assign
		for g, of := range groups {
			if near := s.cosine(b, length, of); near >= most && (best < 0 || near > most) && !slices.ContainsFunc(members[g], func(m int) bool { return t.parted(m, b[0]) }) {
				best, most = g, near
			}
		}
		if best >= 0 {
			members[best] = append(members[best], b...)
		}
	}
	var out []group
	for _, m := range members {
		if len(m) > 1 {
			out = append(out, s.groupOf(m))
		}
	}
	return out
}

// nearest is the group whose centroid an event is near enough to, -1: none.
func (s *space) nearest(i int, groups []group) int {
	best, most := -1, s.o.Assign
	for g, of := range groups {
		if near := s.cosine([]int{i}, 1, of); near >= most && (best < 0 || near > most) {
			best, most = g, near
		}
	}
	return best
}
