package lesson

import (
	"cmp"
	"math/bits"
	"slices"

	"liminal/internal/learning"
	"liminal/internal/words"
)

// How cases are split for a gate.
const (
	leastCases   = 12 // below that all of them are needed to learn from
	leastHeld    = 4
	mostHeld     = 24
	heldShare    = 4 // one of so many is held out
	tellingShare = 3 // and at most one of so many of those with a note or a correction
	near         = 3 // bits in which the hashes of near-duplicates differ at most
)

// HeldOut splits cases into those that lessons are derived from and those that a
// gate is asked with: a quarter, 4 to 24, the newest conversations first. None
// are held out of fewer than 12. Events of one conversation, and those whose
// questions are nearly the same, are on one side, or the gate would ask what
// was learnt. Two thirds of the notes and corrections stay to be learnt from:
// they are what a person expects to see followed. Both sides by ascending id.
func HeldOut(cases []learning.Case) (train, held []learning.Case) {
	cases = slices.Clone(cases)
	slices.SortStableFunc(cases, func(a, b learning.Case) int { return cmp.Compare(a.ID, b.ID) })
	if len(cases) < leastCases {
		return cases, nil
	}
	most := min(mostHeld, max(leastHeld, len(cases)/heldShare))
	spare := 0
	for _, c := range cases {
		spare += tells(c)
	}
	spare /= tellingShare
	out := map[int]bool{}
	for _, group := range slices.Backward(kin(cases)) {
		cost := 0
		for _, i := range group {
			cost += tells(cases[i])
		}
		if len(out)+len(group) > most || cost > spare {
			continue
		}
		spare -= cost
		for _, i := range group {
			out[i] = true
		}
	}
	if len(out) < leastHeld {
		return cases, nil
	}
	for i, c := range cases {
		if out[i] {
			held = append(held, c)
		} else {
			train = append(train, c)
		}
	}
	return train, held
}

// tells is 1 for an event that says why, 0 for a bare thumb.
func tells(c learning.Case) int {
	if c.Notes() != "" || c.Corrected != "" {
		return 1
	}
	return 0
}

// kin are the places of cases that belong on one side, by their newest.
func kin(cases []learning.Case) [][]int {
	root := make([]int, len(cases))
	hashes := make([]uint64, len(cases))
	byConversation := map[string]int{}
	for i, c := range cases {
		root[i], hashes[i] = i, words.Simhash(c.Question)
		for j := range i {
			first, known := byConversation[c.ConversationID]
			if root[i] == root[j] {
				continue
			}
			if c.ConversationID != "" && known && root[first] == root[j] || bits.OnesCount64(hashes[i]^hashes[j]) <= near {
				from, to := root[i], root[j]
				for k := range i + 1 {
					if root[k] == from {
						root[k] = to
					}
				}
			}
		}
		if _, known := byConversation[c.ConversationID]; !known {
			byConversation[c.ConversationID] = i
		}
	}
	at := map[int]int{}
	var out [][]int
	for i, r := range root {
		if _, known := at[r]; !known {
			at[r] = len(out)
			out = append(out, nil)
		}
		out[at[r]] = append(out[at[r]], i)
	}
	slices.SortStableFunc(out, func(a, b []int) int { return cmp.Compare(a[len(a)-1], b[len(b)-1]) })
	return out
}
