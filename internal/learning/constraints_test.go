package learning

import (
	"fmt"
	"testing"
)

func TestWhatAPersonPutTogetherOrApartHoldsUntilTheySayElse(t *testing.T) {
	t.Parallel()
	all := []Cluster{{ID: "a"}, {ID: "b"}, {ID: "c", Apart: [][2]int64{{8, 9}}}}
	put := func(changed []Cluster) {
		for _, c := range changed {
			for i := range all {
				if all[i].ID == c.ID {
					all[i] = c
				}
			}
		}
	}
	said := func(what, want string) {
		t.Helper()
		got := ""
		for _, c := range all {
			got += fmt.Sprintf("%s%v%v ", c.ID, c.Together, c.Apart)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	joined := Joined(all, "a", []int64{1, 3}, []int64{2, 4})
	if len(joined) != 1 {
		t.Errorf("%d clusters change", len(joined))
	}
	put(joined)
	said("joined", "a[[1 2] [2 3] [3 4]][] b[][] c[][[8 9]] ")
	if again := Joined(all, "a", []int64{1, 3}, []int64{2, 4}); len(again) != 0 {
		t.Errorf("joined twice: %v", again)
	}
	put(Parted(all, "b", []int64{4, 2}, []int64{1, 3}))
	said("parted", "a[][] b[[2 4]][[2 1] [2 3]] c[][[8 9]] ")
	put(Joined(all, "c", []int64{1}, []int64{2}))
	said("joined again", "a[][] b[[2 4]][[2 3]] c[[1 2]][[8 9]] ")
}

func TestAClusterKeepsTheNewestPairsOnly(t *testing.T) {
	t.Parallel()
	all := []Cluster{{ID: "a"}}
	for from := range int64(5) {
		events := make([]int64, MaxPairs/2)
		for i := range events {
			events[i] = from*MaxPairs + int64(i)
		}
		all = Joined(all, "a", events, nil)
	}
	if got := all[0].Together; len(got) != MaxPairs || got[len(got)-1][1] != 4*MaxPairs+MaxPairs/2-1 {
		t.Errorf("%d pairs, the last %v", len(got), got[len(got)-1])
	}
}
