package dataset

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"liminal/internal/words"
)

// distinct leaves out rows that are nearly the same as a newer one: the same
// question in nearly the same words with nearly the same answer.
func (m *maker) distinct(rows []Row) []Row {
	var kept []Row
	var hashes []uint64
	for _, r := range slices.Backward(rows) { // the newest is kept
		h := words.Simhash(r.asked + "\n" + r.Target)
		if slices.ContainsFunc(hashes, func(other uint64) bool { return alike(h, other, m.o.Near) }) {
			m.left[Duplicate]++
			continue
		}
		kept, hashes = append(kept, r), append(hashes, h)
	}
	slices.Reverse(kept)
	return kept
}

// alike reports whether two hashes are of nearly the same words. That of no
// words is like no other.
func alike(a, b uint64, near int) bool { return a != 0 && b != 0 && bits.OnesCount64(a^b) <= near }

// bound holds what one target, and where people share one person, weighs of all:
// whoever says the same a hundred times is not heard a hundred times.
func (m *maker) bound(rows []Row) []Row {
	before := make([]float64, len(rows))
	for i, r := range rows {
		before[i] = r.Weight
	}
	for range 16 { // each bound moves the sum of the other
		held := hold(rows, m.o.TargetShare, func(r Row) string { return strings.Join(strings.Fields(strings.ToLower(r.Target)), " ") })
		if m.o.Shared {
			held = hold(rows, m.o.PersonShare, func(r Row) string { return r.UserID }) || held
		}
		if !held {
			break
		}
	}
	for i, r := range rows {
		if r.Weight < before[i] {
			m.capped++
		}
	}
	return rows
}

// hold makes each group of rows weigh at most a share of all. Of fewer groups
// than can have that share each weighs as much as the lightest.
func hold(rows []Row, share float64, group func(Row) string) (held bool) {
	if share <= 0 || len(rows) == 0 {
		return false
	}
	at := map[string]int{}
	var sums []float64 // in the order of the rows: sums of floats depend on it
	for _, r := range rows {
		i, known := at[group(r)]
		if !known {
			i = len(sums)
			at[group(r)] = i
			sums = append(sums, 0)
		}
		sums[i] += r.Weight
	}
	most := limit(slices.Clone(sums), share)
	for i, r := range rows {
		if sum := sums[at[group(r)]]; sum > most*(1+1e-9) {
			rows[i].Weight *= most / sum
			held = true
		}
	}
	return held
}

// limit is the largest weight c for which the weights, none above c, sum up to
// at least c/share.
func limit(list []float64, share float64) float64 {
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
	rest := 0.0
	for _, w := range list {
		rest += w
	}
	for k, w := range list { // the k heaviest are held
		if float64(k)*share >= 1 {
			break
		}
		if c := share * rest / (1 - float64(k)*share); w <= c {
			return c
		}
		rest -= w
	}
	return list[len(list)-1]
}

// within keeps the rows that weigh most, then pairs, then unpaired answers, so
// many as the budget of tokens has room for.
func (m *maker) within(rows []Row) []Row {
	if m.o.Budget <= 0 {
		return rows
	}
	left := m.o.Budget
	rows = m.afford(rows, &left)
	m.d.Pairs = affordable(m, m.d.Pairs, &left, func(p Pair) (int, float64, int64) { return p.Tokens, p.Weight, p.EventID })
	m.d.Unpaired = affordable(m, m.d.Unpaired, &left, func(u Unpaired) (int, float64, int64) { return u.Tokens, u.Weight, u.EventID })
	return rows
}

func (m *maker) afford(rows []Row, left *int) []Row {
	return affordable(m, rows, left, func(r Row) (int, float64, int64) { return r.Tokens, r.Weight, r.EventID })
}

// affordable keeps those of a list that weigh most, the newer of two alike, in
// the order they had.
func affordable[T any](m *maker, list []T, left *int, of func(T) (tokens int, weight float64, id int64)) []T {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		_, wi, a := of(list[i])
		_, wj, b := of(list[j])
		return cmp.Or(cmp.Compare(wj, wi), cmp.Compare(b, a))
	})
	keep := make([]bool, len(list))
	for _, i := range order {
		if n, _, _ := of(list[i]); n <= *left {
			keep[i] = true
			*left -= n
		} else {
			m.left[Budget]++
		}
	}
	var out []T
	for i, x := range list {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}
