package routing

import (
	"cmp"
	"slices"
	"strings"
)

// guard makes gates of weights: clamp, floor, cap, normalise, in this order
// (C-57). The backend's own cap can only lower MaxActive (LORA-09).
func guard(candidates []*candidate, backend int) (gates []Gate, left []Left) {
	for _, c := range candidates {
		w := min(1, max(0, c.weight))
		switch {
		case w >= Floor:
			gates = append(gates, Gate{c.ID, w})
		case c.weight != 0:
			left = append(left, Left{c.ID, BelowFloor, w})
		}
	}
	slices.SortFunc(gates, func(a, b Gate) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.ID, b.ID))
	})
	most := MaxActive
	if backend > 0 {
		most = min(most, backend)
	}
	if len(gates) > most {
		for _, g := range gates[most:] {
			left = append(left, Left{g.ID, OverCap, g.Weight})
		}
		gates = gates[:most]
	}
	normalise(gates)
	return gates, left
}

// normalise divides by the sum where it exceeds 1.
func normalise(gates []Gate) {
	var sum float64
	for _, g := range gates {
		sum += g.Weight
	}
	if sum <= 1 {
		return
	}
	for i := range gates {
		gates[i].Weight /= sum
	}
}
