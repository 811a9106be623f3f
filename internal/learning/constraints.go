package learning

import "slices"

// MaxPairs is how many pairs of each kind a cluster keeps, the newest: who ties
// and parts the same events again and again makes no run slower by it.
const MaxPairs = 2000

// Joined ties the events of two clusters, so that every later run finds them in
// one. all are the person's clusters; it returns those of them that change, the
// one the events are to be in among them.
func Joined(all []Cluster, into string, events, more []int64) []Cluster {
	chain := slices.Sorted(slices.Values(slices.Concat(events, more)))
	return constrained(all, into, func(c *Cluster) {
		c.Apart = without(c.Apart, events, more)
	}, func(c *Cluster) {
		c.Together = tied(c.Together, chain)
	})
}

// Parted keeps some events of a cluster together, and apart from the rest of
// its events. It returns the clusters that change, as Joined does.
func Parted(all []Cluster, of string, out, rest []int64) []Cluster {
	out = slices.Sorted(slices.Values(out))
	return constrained(all, of, func(c *Cluster) {
		c.Together = without(c.Together, out, rest)
	}, func(c *Cluster) {
		c.Together = tied(c.Together, out)
		for _, event := range rest {
			if pair := [2]int64{out[0], event}; !slices.Contains(c.Apart, pair) {
				c.Apart = append(c.Apart, pair)
			}
		}
	})
}

// constrained changes the constraints of each of all, and then those of one.
func constrained(all []Cluster, one string, each, that func(c *Cluster)) (changed []Cluster) {
	for _, was := range all {
		c := was
		c.Together, c.Apart = slices.Clone(was.Together), slices.Clone(was.Apart)
		each(&c)
		if c.ID == one {
			that(&c)
		}
		c.Together, c.Apart = newest(c.Together), newest(c.Apart)
		if !slices.Equal(c.Together, was.Together) || !slices.Equal(c.Apart, was.Apart) {
			changed = append(changed, c)
		}
	}
	return changed
}

func newest(pairs [][2]int64) [][2]int64 { return pairs[max(0, len(pairs)-MaxPairs):] }

// without are the pairs that do not have one event of each side.
func without(pairs [][2]int64, a, b []int64) [][2]int64 {
	return slices.DeleteFunc(pairs, func(p [2]int64) bool {
		return slices.Contains(a, p[0]) && slices.Contains(b, p[1]) || slices.Contains(a, p[1]) && slices.Contains(b, p[0])
	})
}

// tied are pairs with each event of a chain tied to the next.
func tied(pairs [][2]int64, chain []int64) [][2]int64 {
	for i := 1; i < len(chain); i++ {
		if pair := [2]int64{chain[i-1], chain[i]}; pair[0] != pair[1] && !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}
