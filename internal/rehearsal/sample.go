package rehearsal

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"liminal/artifacts"
	"liminal/internal/run"
)

// The strata of a sample.
const (
	stratumRecent = "recent"
	stratumFailed = "failed"
	stratumBranch = "branch " // with the branch's name

	maxStrata = 24 // told of one sample
)

// DrawSample chooses runs to rehearse out of those that were recorded: a third of
// the newest, a third of those that failed, and the rest from each branch in
// turn, so that rare ways are in it. Where four people or more are recorded, no
// one has more than a quarter of the runs that are taken. The same heads, in
// whichever order, and the same seed give the same sample; ids are newest first.
func DrawSample(heads []run.Recording, wanted int, seed string) ([]string, Sample) {
	wanted = min(max(wanted, 0), artifacts.MaxSample)
	pool := slices.Clone(heads)
	slices.SortFunc(pool, newestFirst)
	pool = slices.CompactFunc(pool, func(a, b run.Recording) bool { return a.RunID == b.RunID })
	d := &draw{wanted: wanted, most: mostOfOne(pool, wanted), people: map[string]int{}, taken: map[string]bool{}}
	d.sample = Sample{Wanted: wanted, Population: len(pool), Strata: []Stratum{}}
	d.from(stratumRecent, pool, (wanted+2)/3)
	shuffled := slices.Clone(pool)
	slices.SortFunc(shuffled, byChance(seed))
	failed := slices.DeleteFunc(slices.Clone(shuffled), func(h run.Recording) bool { return h.Status != run.Failed })
	d.from(stratumFailed, failed, wanted/3)
	d.branches(shuffled)
	return d.result(pool)
}

func newestFirst(a, b run.Recording) int {
	return cmp.Or(b.At.Compare(a.At), strings.Compare(a.RunID, b.RunID))
}

// byChance orders runs as a seed says.
func byChance(seed string) func(a, b run.Recording) int {
	lot := func(h run.Recording) uint64 {
		sum := fnv.New64a()
		sum.Write([]byte(seed + "\n" + h.RunID)) // a hash takes everything in
		return sum.Sum64()
	}
	return func(a, b run.Recording) int {
		return cmp.Or(cmp.Compare(lot(a), lot(b)), strings.Compare(a.RunID, b.RunID))
	}
}

// mostOfOne is how many runs of one person may be taken: as many as keeps
// everybody at a quarter of all.
func mostOfOne(pool []run.Recording, wanted int) int {
	of := map[string]int{}
	for _, h := range pool {
		of[h.UserID]++
	}
	if len(of) < 4 {
		return wanted
	}
	most := max(1, wanted/4)
	for ; most > 1; most-- {
		sum := 0
		for _, n := range of {
			sum += min(n, most)
		}
		if min(sum, wanted) >= 4*most {
			break
		}
	}
	return most
}

// draw is a sample being drawn.
type draw struct {
	wanted, most int
	people       map[string]int // runs taken of each
	taken        map[string]bool
	sample       Sample
}

// add takes a run, if it may.
func (d *draw) add(h run.Recording) bool {
	if len(d.taken) >= d.wanted || d.taken[h.RunID] || d.people[h.UserID] >= d.most {
		return false
	}
	d.taken[h.RunID] = true
	d.people[h.UserID]++
	return true
}

// from takes up to so many of a stratum.
func (d *draw) from(name string, runs []run.Recording, share int) {
	n := 0
	for _, h := range runs {
		if n < share && d.add(h) {
			n++
		}
	}
	if n > 0 || name == stratumRecent || name == stratumFailed {
		d.sample.Strata = append(d.sample.Strata, Stratum{Name: name, Population: len(runs), Taken: n})
	}
}

// branches takes one run of each branch in turn, until there is no room.
func (d *draw) branches(runs []run.Recording) {
	of := map[string][]run.Recording{}
	for _, h := range runs {
		of[h.Branch] = append(of[h.Branch], h)
	}
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(len(of[b])-len(of[a]), strings.Compare(a, b))
	})
	count, at := map[string]int{}, map[string]int{}
	for on := true; on; {
		on = false
		for _, name := range names {
			for at[name] < len(of[name]) {
				at[name]++
				if d.add(of[name][at[name]-1]) {
					count[name], on = count[name]+1, true
					break
				}
			}
		}
	}
	for _, name := range names[:min(len(names), maxStrata)] {
		d.sample.Strata = append(d.sample.Strata, Stratum{Name: stratumBranch + name, Population: len(of[name]), Taken: count[name]})
	}
}

// result gives the ids, newest first, and what the sample is of.
func (d *draw) result(pool []run.Recording) ([]string, Sample) {
	ids := make([]string, 0, len(d.taken))
	for _, h := range pool {
		if !d.taken[h.RunID] {
			continue
		}
		ids = append(ids, h.RunID)
		if d.sample.Newest.IsZero() {
			d.sample.Newest = h.At
		}
		d.sample.Oldest = h.At
	}
	d.sample.Taken, d.sample.People = len(ids), len(d.people)
	return ids, d.sample
}
