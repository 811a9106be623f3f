package cluster

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
)

// strengths says how well groups predict themselves: of the pairs of a group
// that are in one half of the events, the share that centroids made of the
// other half alone put together, over some halves. Words that happen to meet
// make groups in any pile of events, but other ones in each half of it.
func (s *space) strengths(groups []group, of []int) []float64 {
	free := tiesOf(s.cases, nil)
	sums, counts := make([]float64, len(groups)), make([]int, len(groups))
	for round := range s.o.Halves {
		one, other := s.halves(of, round)
		for _, half := range [2][2][]int{{one, other}, {other, one}} {
			made := s.groups(half[0], free)
			put := make(map[int]int, len(half[1]))
			for _, i := range half[1] {
				put[i] = s.nearest(i, made)
			}
			for g, group := range groups {
				if together, pairs := pairsPut(group.members, put); pairs > 0 {
					sums[g] += float64(together) / float64(pairs)
					counts[g]++
				}
			}
		}
	}
	for g := range sums {
		if counts[g] > 0 {
			sums[g] /= float64(counts[g])
		}
	}
	return sums
}

// pairsPut counts the pairs of members that were put somewhere, and those that
// were put together. -1 is together with nothing.
func pairsPut(members []int, put map[int]int) (together, pairs int) {
	var where []int
	for _, m := range members {
		if g, known := put[m]; known {
			where = append(where, g)
		}
	}
	for i, g := range where {
		for _, h := range where[:i] {
			pairs++
			if g == h && g >= 0 {
				together++
			}
		}
	}
	return together, pairs
}

// halves splits events by lot; a round's lots depend on the events' ids alone.
func (s *space) halves(of []int, round int) (one, other []int) {
	order := slices.Clone(of)
	lots := make(map[int]uint64, len(of))
	for _, i := range of {
		lots[i] = lot(s.cases[i].ID, round)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lots[a], lots[b]) })
	one, other = order[:len(order)/2], order[len(order)/2:]
	slices.Sort(one)
	slices.Sort(other)
	return one, other
}

func lot(id int64, round int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(strconv.FormatInt(id, 10) + "/" + strconv.Itoa(round)))
	x := h.Sum64()
	x ^= x >> 33 // FNV mixes the last signs badly
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}
