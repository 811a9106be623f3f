package knowledge

import (
	"fmt"
	"testing"

	"liminal/internal/model"
)

// What the index found first is among the passages though others are rated a
// little higher, and the best rated one is always first.
//
// Requirements: RAG-13
func TestWhatTheIndexFoundFirstIsAmongThePassages(t *testing.T) {
	t.Parallel()
	var rated []Passage
	found := map[string]int{}
	for i := range 40 {
		id := fmt.Sprint(i)
		rated = append(rated, Passage{Source: model.Source{ChunkID: id, Score: 1 - float64(i)/100}})
		found[id] = i + 2
	}
	found["11"] = 1
	for _, k := range []int{1, 2, 8} {
		list := foremost(rated, found, k)
		if len(list) != k || list[0].ChunkID != "0" {
			t.Fatalf("%d asked: %d passages, first %v", k, len(list), list)
		}
		if k == 8 && (list[7].ChunkID != "11" || list[6].ChunkID != "6") {
			t.Errorf("what was found first is not the last of the eight: %v", list)
		}
	}
	if all := foremost(rated[:3], found, 8); len(all) != 3 {
		t.Errorf("of 3 passages %d", len(all))
	}
	if none := foremost(rated, found, 0); len(none) != 0 {
		t.Errorf("none asked: %d passages", len(none))
	}
}
