package rehearsal_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// crowd is recordings: so many of each person, in some branches, some failed.
func crowd(of ...int) []run.Recording {
	var heads []run.Recording
	for person, n := range of {
		for i := range n {
			at := len(heads)
			h := run.Recording{
				RunID: fmt.Sprintf("r%05d", at), UserID: fmt.Sprintf("p%d", person), Status: run.Done,
				Branch: fmt.Sprintf("b%d", min(i%40, 3)), At: noon.Add(-time.Duration(at*7919%1000) * time.Minute),
			}
			if i%10 == 9 {
				h.Status = run.Failed
			}
			heads = append(heads, h)
		}
	}
	return heads
}

// Requirements: CFG-11
func TestASampleIsTheSameWhateverTheOrder(t *testing.T) {
	t.Parallel()
	heads := crowd(100, 100, 100, 300, 20)
	ids, sample := rehearsal.DrawSample(heads, 60, "a")
	for range 10 {
		rand.Shuffle(len(heads), func(i, j int) { heads[i], heads[j] = heads[j], heads[i] })
		again, same := rehearsal.DrawSample(heads, 60, "a")
		if !slices.Equal(ids, again) || !reflect.DeepEqual(sample, same) {
			t.Fatalf("%v\n%v", ids, again)
		}
	}
	if other, _ := rehearsal.DrawSample(heads, 60, "b"); slices.Equal(ids, other) {
		t.Error("another seed gives the same sample")
	}
	if len(ids) != 60 || sample.Taken != 60 || sample.Population != 620 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 60 {
		t.Errorf("%d ids, %+v", len(ids), sample)
	}
}

// Requirements: CFG-11
func TestASampleHasTheNewTheFailedAndTheRare(t *testing.T) {
	t.Parallel()
	heads := crowd(200, 200, 200, 200)
	heads[17].Branch = "rare"
	ids, sample := rehearsal.DrawSample(heads, 120, "s")
	failed, branches := 0, map[string]int{}
	for _, h := range heads {
		if slices.Contains(ids, h.RunID) {
			branches[h.Branch]++
			if h.Status == run.Failed {
				failed++
			}
		}
	}
	if failed < 40 || branches["rare"] != 1 || len(branches) != 5 {
		t.Errorf("%d failed, branches %v", failed, branches)
	}
	if newest := slices.MaxFunc(heads, func(a, b run.Recording) int { return a.At.Compare(b.At) }); !sample.Newest.Equal(newest.At) {
		t.Errorf("the newest is not in it: %+v", sample)
	}
	total := 0
	for _, s := range sample.Strata {
		total += s.Taken
	}
	if total != 120 || sample.Strata[0].Name != "recent" || sample.Strata[0].Taken != 40 || sample.Strata[1].Taken != 40 {
		t.Errorf("%+v", sample.Strata)
	}
}

// Requirements: CFG-11
func TestNobodyIsMoreThanAQuarterOfASample(t *testing.T) {
	t.Parallel()
	for _, of := range [][]int{{1000, 40, 40, 40}, {1000, 1, 1, 1}, {5, 5, 5, 5}, {300, 300, 2, 2, 2}, {7, 1, 1, 1, 1, 1, 1}} {
		ids, sample := rehearsal.DrawSample(crowd(of...), 200, "s")
		people := map[string]int{}
		for _, h := range crowd(of...) {
			if slices.Contains(ids, h.RunID) {
				people[h.UserID]++
			}
		}
		for person, n := range people {
			if n > 1 && 4*n > len(ids) {
				t.Errorf("%v: %s has %d of %d", of, person, n, len(ids))
			}
		}
		if sample.People != len(of) {
			t.Errorf("%v: %+v", of, sample)
		}
	}
	if ids, _ := rehearsal.DrawSample(crowd(50, 3), 40, "s"); len(ids) != 40 {
		t.Errorf("of two people %d runs", len(ids))
	}
}

func TestASampleOfNothingIsEmpty(t *testing.T) {
	t.Parallel()
	if ids, s := rehearsal.DrawSample(nil, 10, ""); len(ids) != 0 || s.Taken != 0 || s.Wanted != 10 || !s.Newest.IsZero() {
		t.Errorf("%v %+v", ids, s)
	}
	if ids, _ := rehearsal.DrawSample(crowd(10), -1, ""); len(ids) != 0 {
		t.Errorf("%v", ids)
	}
}
